"""Judges to try evaluators with: models that say what they are told, and remember what they were asked."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any

from paceline.evaluators.prepare import prepare, scores_of
from paceline.models import Answer, Message, Usage
from tests.evaluators.cases import finished


class Said:
    """A model that says these one after the other, and the last one again and again."""

    def __init__(self, *said: Any, name: str = "test:judge", called: str = "") -> None:
        self.said = list(said)
        self.name, self.version = name, name
        self.model = called or name
        self.asked: list[tuple[Message, ...]] = []
        self.options_asked: list[dict[str, Any]] = []
        self.under_way = self.most = 0

    def check_ready(self) -> None:
        """It always is."""

    async def ask(self, messages: Any, *, tools: Any = (), schema: Any = None, **options: Any) -> Answer:
        from paceline.models.schemas import read_json

        self.asked.append(messages)
        self.options_asked.append(options)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        said = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        if isinstance(said, BaseException):
            raise said
        if callable(said):
            said = said(messages)
        text = said if isinstance(said, str) else json.dumps(said)
        return read_json(Answer(text=text, model=self.model, usage=Usage(input=100, output=10)))


def yes(reason: str = "as it should be", **more: Any) -> dict[str, Any]:
    return {"reason": reason, "pass": True, **more}


def no(reason: str = "not as it should be", **more: Any) -> dict[str, Any]:
    return {"reason": reason, "pass": False, **more}


def score(value: float, reason: str = "so so") -> dict[str, Any]:
    return {"reason": reason, "score": value}


def judged(evaluator: object, output: Any = "out", expected: Any = None, **known: Any) -> dict[str, Any]:
    """What an evaluator that waits says about a case, as it would be recorded: value and reason by name."""
    (prepared,) = prepare([evaluator])

    async def ask() -> object:
        returned = prepared.call(finished(output, expected, **known))
        return await returned if inspect.isawaitable(returned) else returned

    scores = scores_of(prepared, asyncio.run(ask()), seconds=0)
    return {each.name: each.value if each.reason is None else (each.value, each.reason) for each in scores}
