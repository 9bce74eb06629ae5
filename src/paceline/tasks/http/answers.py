"""The answer out of a response: text, JSON at a path, or the pieces of a stream put together.

An answer that is not there is a failure and never an empty answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from paceline.journal.records import ErrorClass
from paceline.tasks.failures import TaskFailure
from paceline.tasks.http.spec import Spec
from paceline.tasks.template import MissingField, Place, found

SHOWN = 300
"""Characters of a response that an error shows."""


class HttpFailed(TaskFailure):
    """The endpoint said no."""

    def __init__(self, status: int, said: str, retry_after: float | None = None) -> None:
        super().__init__(status, said, retry_after)
        self.status_code = status
        self.said = said

    def __str__(self) -> str:
        return f"status {self.status_code}" + (f": {self.said}" if self.said else "")

    @property
    def error_class(self) -> ErrorClass:  # type: ignore[override]  # this one depends on what was said
        """Whether another attempt could help."""
        if self.status_code == 429:
            return "rate_limited"
        return "transient" if self.status_code >= 500 or self.status_code in (408, 425) else "permanent"


class HttpUnreachable(TaskFailure):
    """Nobody answered, or the answer broke off."""

    error_class: ClassVar[ErrorClass] = "transient"


class NoAnswer(TaskFailure):
    """The response does not hold an answer where it was to be."""


def answer_in(spec: Spec, status: int, content_type: str, body: bytes) -> Any:
    """The answer of a response."""
    if not 200 <= status < 300:
        raise HttpFailed(status, _excerpt(body))
    if spec.stream and (content_type.startswith("text/event-stream") or body.startswith(b"data:")):
        return _joined(body, spec.answer)
    is_json = "json" in content_type.partition(";")[0]
    if spec.answer is None and not is_json:
        return body.decode(errors="backslashreplace")
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NoAnswer(f"the response is not JSON ({error}): {_excerpt(body)!r}") from None
    return document if spec.answer is None else _at(document, spec.answer)


def _at(document: Any, place: Place) -> Any:
    try:
        return found(document, place, "the response")
    except MissingField as error:
        raise NoAnswer(str(error).replace("the response wants", "the answer was to be at")) from None


def _joined(body: bytes, place: Place | None) -> str:
    """The texts of all events; of those that are JSON, what stands at the place, where there is something."""
    pieces = [piece for event in _events(body) if (piece := _piece(event, place)) is not None]
    if not pieces:
        raise NoAnswer(f"no piece of the stream holds an answer: {_excerpt(body)!r}")
    return "".join(pieces)


def _events(body: bytes) -> Iterator[bytes]:
    for line in body.splitlines():
        if line.startswith(b"data:"):
            event = line[5:].removeprefix(b" ")
            if event.strip() != b"[DONE]":
                yield event


def _piece(event: bytes, place: Place | None) -> str | None:
    if place is None:
        return event.decode(errors="backslashreplace")
    try:
        value = found(msgspec.json.decode(event), place, "the stream")
    except (MissingField, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # events that say something else: roles, usage, the end
    return value if isinstance(value, str) else None


def _excerpt(body: bytes) -> str:
    text = " ".join(body[: 4 * SHOWN].decode(errors="backslashreplace").split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
