"""A plain callable as a model: for tests, for stubs, and for models that no SDK of ours reaches.

Takes the text of the messages and returns text, or takes the messages and returns an `Answer`; sync (on a
thread) or async. It takes messages where its first parameter is named `messages`; `tools` and `schema` are
passed where it has parameters of these names.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from paceline.errors import UsageError
from paceline.models.messages import (
    Answer,
    Conversation,
    Message,
    Text,
    Tool,
)
from paceline.models.plain import messages_of, tools_of
from paceline.models.schemas import read_json


class Function:
    """A model made of a callable."""

    def __init__(self, call: Callable[..., Any], *, name: str | None = None) -> None:
        self._call = call
        self._name = name or _name_of(call)
        try:
            parameters = list(inspect.signature(call).parameters)
        except (TypeError, ValueError):
            parameters = []
        self._wants_messages = parameters[:1] == ["messages"]
        self._also = [word for word in ("tools", "schema") if word in parameters[1:]]

    @property
    def name(self) -> str:
        """The callable's, unless another was given."""
        return self._name

    @property
    def version(self) -> str:
        """Its name, and the version that it declares."""
        declared = getattr(self._call, "version", None)
        return f"{self._name}, version={declared!r}" if isinstance(declared, str) else self._name

    def __repr__(self) -> str:
        return f"<model {self.version}>"

    def check_ready(self) -> None:
        """A callable is there."""

    async def ask(
        self,
        messages: Conversation,
        *,
        tools: Sequence[Tool | Mapping[str, Any]] = (),
        schema: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Answer:
        """One call of it."""
        if options:
            raise UsageError(
                f"the model {self._name} is a function, and has no option {next(iter(options))!r}",
                hint="bind arguments with functools.partial",
            )
        said = messages_of(messages)
        beside = {"tools": tools_of(tools), "schema": schema}
        call = functools.partial(self._call, **{word: beside[word] for word in self._also})
        returned = await self._called(call, said if self._wants_messages else text_of(said))
        answer = self._answer(returned)
        return answer if schema is None or answer.parsed is not None else read_json(answer)

    async def _called(self, call: Callable[..., Any], said: object) -> object:
        if _is_async(self._call):
            return await call(said)
        returned = await asyncio.to_thread(call, said)
        return await returned if inspect.isawaitable(returned) else returned

    def _answer(self, returned: object) -> Answer:
        match returned:
            case Answer():
                return returned
            case str():
                return Answer(text=returned, model=self._name, raw=returned)
        raise TypeError(
            f"the model {self._name} returned a {type(returned).__name__}, not a text or an Answer"
        )


def text_of(messages: Sequence[Message]) -> str:
    """All that was said as one text, for those who know nothing of messages."""
    return "\n\n".join(text for each in messages if (text := _text(each)))


def _text(message: Message) -> str:
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(part.text for part in content if isinstance(part, Text))


def _name_of(call: Callable[..., Any]) -> str:
    while isinstance(call, functools.partial):
        call = call.func
    return str(getattr(call, "__qualname__", None) or type(call).__qualname__).rpartition("<locals>.")[2]


def _is_async(call: Callable[..., Any]) -> bool:
    while isinstance(call, functools.partial):
        call = call.func
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(
        getattr(call, "__call__", None)  # noqa: B004  # an object whose `__call__` is async
    )
