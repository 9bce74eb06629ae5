"""Cascades: the cheap evaluators first, and the dear one only where they leave it open.

    Cascade(EqualsExpected(), JSONEquals(), LLMJudge("It says the same as the expected output.", ...))

What one of them passes has passed, and nobody further is asked. What none but the last has passed is for the
last to decide, either way. So string equality settles what it can settle, and a model is paid for the rest.

A check in code that raises (`JSONEquals` where no JSON is expected) has passed nothing, so it leaves the case
to those after it, and the reason tells. One that asks a model and fails is an error of the cascade, tried
again like any: an outage of the cheap judge must not send all cases to the dear one.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, Asks, EvaluationReason, EvaluationScalar, Evaluator, Spared
from paceline.evaluators.prepare import Prepared, prepare, scores_of
from paceline.evaluators.spelling import spell
from paceline.evaluators.verdicts import digest_of
from paceline.evaluators.wording import brief
from paceline.journal.records import Score, verdict

Results = dict[str, EvaluationScalar | EvaluationReason]


@dataclass(init=False)
class Cascade(Evaluator[object, object, object]):
    """The first of several evaluators that passes the output decides; else the last one does."""

    evaluators: Sequence[Any]
    """In the order in which they are asked."""
    evaluation_name: str | None = field(default=None, kw_only=True)

    nests = True

    def __init__(
        self, *these: Any, evaluators: Sequence[Any] = (), evaluation_name: str | None = None
    ) -> None:
        """`Cascade(one, other)`; in a file, a list of evaluators."""
        only = these[0] if len(these) == 1 else None
        listed = list(only) if isinstance(only, list | tuple) else list(these)
        self.evaluators = (*listed, *evaluators)
        self.evaluation_name = evaluation_name
        if len(self.evaluators) < 2:
            raise UsageError(
                "a cascade has at least two evaluators, the last of which decides what the others leave open",
                hint="Cascade(EqualsExpected(), LLMJudge(...))",
            )
        self._stages: tuple[Prepared, ...] | None = None

    # What it is

    def stages(self) -> tuple[Prepared, ...]:
        """The evaluators, made ready."""
        if self._stages is None:
            self._stages = prepare(self.evaluators)
        return self._stages

    def check_ready(self) -> None:
        self._stages = None  # a default may have changed since the last run
        self.stages()

    def asks(self) -> tuple[Asks, ...]:
        return tuple(
            asked for each in self.evaluators if isinstance(each, Evaluator) for asked in each.asks()
        )

    def get_evaluator_version(self) -> str | None:
        """A digest of those that have a version; None where none has."""
        versions = [each.version for each in self.stages()]
        return digest_of(versions) if any(versions) else None

    def build_serialization_arguments(self) -> dict[str, Any]:
        named = {} if self.evaluation_name is None else {"evaluation_name": self.evaluation_name}
        return {"evaluators": [spell(each) for each in self.evaluators], **named}

    # What it does

    async def evaluate(self, ctx: AnyContext) -> Results:
        *cheap, last = self.stages()
        raised: list[str] = []
        for place, stage in enumerate(cheap):
            try:
                said = await _asked(stage, ctx)
            except Exception as error:
                if _asks(self.evaluators[place]):
                    raise
                raised.append(f"{stage.label} could not tell: {brief(str(error) or type(error).__name__)}")
                continue
            if verdict(said) is True:
                return self._decided(stage, said, raised, spared=self._calls_after(place))
        return self._decided(last, await _asked(last, ctx), raised, spared=0)

    def _calls_after(self, place: int) -> int:
        """The calls of models that nobody makes who comes after this place."""
        rest = [each for each in self.evaluators[place + 1 :] if isinstance(each, Evaluator)]
        return sum(asked.calls for each in rest for asked in each.asks())

    def _decided(self, by: Prepared, said: Sequence[Score], raised: Sequence[str], *, spared: int) -> Results:
        name = self.get_default_evaluation_name()
        results: Results = {}
        passed = verdict(said)
        if passed is not None:
            results[name] = Spared(passed, _reason(by, said, raised, passed=passed), spared)
        # What else was said (a score, how far votes agree) keeps its name.
        results |= {
            score.name: EvaluationReason(score.value, score.reason)
            for score in said
            if not isinstance(score.value, bool)
        }
        return results


def _asks(evaluator: object) -> bool:
    return isinstance(evaluator, Evaluator) and bool(evaluator.asks())


def _reason(by: Prepared, said: Sequence[Score], raised: Sequence[str], *, passed: bool) -> str:
    """Who has decided, and why; and who could not tell."""
    reasons = [score.reason for score in said if score.value is passed and score.reason]
    told = f"{by.label}: {'; '.join(reasons)}" if reasons else f"by {by.label}"
    return f"{told} [{'; '.join(raised)}]" if raised else told


async def _asked(stage: Prepared, ctx: AnyContext) -> list[Score]:
    """What one of them says, asked where it belongs."""
    returned = await asyncio.to_thread(stage.call, ctx) if stage.mode == "thread" else stage.call(ctx)
    if inspect.isawaitable(returned):
        returned = await returned
    return scores_of(stage, returned, seconds=0.0)


__all__ = ["Cascade"]
