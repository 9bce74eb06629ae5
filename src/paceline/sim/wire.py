"""What the two wire formats have in common: a request understood, and the pieces of an answer to it.

A `Format` reads a request into an `Asked` and writes an answer whole, a `Streamed` one also as events; a
`Dialect` is how a provider refuses. What is written is marked as simulated: by ids, and by `x-paceline-sim`.

Knows JSON. Knows nothing of connections or of time that passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

import msgspec

from paceline.pace.messages import Advertised
from paceline.sim.answers import Prompt, Reply, tokens_of
from paceline.sim.provider import Refused

MARK: Final = ("x-paceline-sim", "1")
FINGERPRINT: Final = "paceline-sim"
MOST_PIECES: Final = 64
"""That a text is streamed in: enough to be a stream, few enough to be cheap."""

Headers = list[tuple[str, str]]


class BadRequest(Exception):
    """What was asked cannot be answered, and asking again will not help."""

    def __init__(self, message: str, *, param: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.status = status


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request, understood."""

    prompt: Prompt
    body: dict[str, Any]
    stream: bool
    input_tokens: int
    choices: int = 1
    """Answers to one prompt; they are the same here."""

    @property
    def most_tokens(self) -> int | None:
        """Of output, by all choices."""
        most = self.prompt.max_tokens
        return None if most is None else most * self.choices


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer says besides what the model does."""

    number: int
    """Of the call among all that were accepted."""
    created: float
    """Seconds since 1970."""
    cached: int = 0
    """Input tokens that were read from the cache."""
    written: int = 0
    """Input tokens that were put there."""


class Event(msgspec.Struct, frozen=True):
    """One piece of a stream."""

    data: bytes
    timed: bool = False
    """Whether it took the model time to come up with."""


class Format(Protocol):
    """One way to ask and to answer over HTTP."""

    def read(self, body: dict[str, Any]) -> Asked:
        """A request; BadRequest for what cannot be answered."""

    def whole(self, asked: Asked, reply: Reply, context: Context) -> bytes:
        """An answer in one piece."""


class Streamed(Format, Protocol):
    """One that can be streamed."""

    def events(self, asked: Asked, reply: Reply, context: Context) -> list[Event]:
        """The same as a stream."""

    def broken(self, number: int, sent: int) -> Event:
        """An error within the stream of a request, after so many events that were well."""


class Dialect(Protocol):
    """How a provider refuses, and what its headers are called."""

    def refusal(self, refused: Refused, model: str, number: int) -> bytes:
        """The body of a refusal."""

    def failure(self, status: int, message: str, number: int, *, param: str | None = None) -> bytes:
        """The body of any other error."""

    def headers(self, advertised: Advertised | None, number: int, now: float) -> Headers:
        """The headers of an answer; `now` is seconds since 1970."""

    def waits(self, seconds: float, *, exactly: bool) -> Headers:
        """How long to wait, in headers; to the millisecond where whole seconds are too coarse."""


def text_of(content: Any, where: str) -> str:
    """The text of a message's content: text, or a list of parts, of which those that hold text count."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "\n".join(filter(None, (_text_of_part(part, where) for part in content)))
        case _:
            raise BadRequest(f"{where}: expected text or a list of parts", param=where)


def _text_of_part(part: Any, where: str) -> str:
    match part:
        case str():
            return part
        case {"text": str() as text} | {"refusal": str() as text}:
            return text
        case {"type": "tool_result", "content": content}:
            return text_of(content, where)
        case {"type": str()}:
            return ""
        case _:
            raise BadRequest(f"{where}: a part is an object with a `type`", param=where)


def required(body: Mapping[str, Any], name: str, kind: type | tuple[type, ...], wanted: str) -> Any:
    """A field that has to be there."""
    value = body.get(name)
    if value is None:
        raise BadRequest(f"Missing required parameter: '{name}'.", param=name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadRequest(f"Invalid type for '{name}': expected {wanted}.", param=name)
    return value


def optional_count(body: Mapping[str, Any], *names: str) -> int | None:
    """The first of these fields that is there: a whole number from 1 up."""
    for name in names:
        value = body.get(name)
        if value is not None:
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise BadRequest(f"Invalid value for '{name}': expected an integer above 0.", param=name)
            return value
    return None


def mapping_in(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A field that is an object, or nothing."""
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadRequest(f"Invalid type for '{name}': expected an object.", param=name)
    return value


def input_tokens_of(prompt: Prompt) -> int:
    """What a prompt counts: its messages, and the tools and the schema that go with it."""
    total = sum(tokens_of(message.text) + 4 for message in prompt.messages)
    for tool in prompt.tools:
        total += tokens_of(tool.name) + tokens_of(msgspec.json.encode(tool.schema).decode())
    return total + (tokens_of(msgspec.json.encode(prompt.schema).decode()) if prompt.schema else 0)


def pieces_of(text: str) -> list[str]:
    """A text as it is streamed: some tokens at a time."""
    size = max(4, math.ceil(len(text) / MOST_PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def event_writer(name_events: bool) -> Callable[..., Event]:
    """Writes the events of a stream, each with its name in front or without."""

    def event(content: Mapping[str, Any], *, timed: bool = False) -> Event:
        data = b"data: " + msgspec.json.encode(content) + b"\n\n"
        return Event(f"event: {content['type']}\n".encode() + data if name_events else data, timed)

    return event


def waiting(seconds: float, *, exactly: bool) -> str:
    """`retry-after`: whole seconds, and at least one, as providers have it; or what it is."""
    return shown_number(math.ceil(seconds * 1000) / 1000) if exactly else str(max(1, math.ceil(seconds)))


def shown_number(value: float) -> str:
    """A number in a header: whole where it is."""
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}".rstrip("0").rstrip(".")
