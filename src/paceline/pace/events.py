"""What passes by in a streamed answer: its first content, its usage, an error, its end.

A stream that comes to its end without having said so has broken off, however orderly the connection was
closed: most of an answer looks like a whole one to those who only read texts.

The bytes are looked at as they pass and are kept no longer than to the end of their line; a line of more than
a megabyte is let go unread. Nearly no line is decoded once content has begun: only those that speak of usage
or of an error. Whatever passes, nothing is raised.
"""

from __future__ import annotations

import re
import zlib
from typing import Any, Final

import msgspec

from paceline.pace.calls import Usage
from paceline.pace.usages import merged, usage_of

LONGEST_LINE: Final = 1_048_576

_PRELUDE: Final = frozenset(
    # Events that come before anything was said. A stream that breaks here can be asked for again.
    {
        "message_start",
        "content_block_start",
        "ping",
        "response.created",
        "response.in_progress",
        "response.queued",
    }
)
_ENDS: Final = frozenset({"message_stop", "response.completed", "response.incomplete", "response.failed"})
SAY_THEIR_END: Final = frozenset({"/chat/completions", "/completions", "/responses", "/messages"})
"""Endpoints whose streams say when they are at their end."""


class _Event(msgspec.Struct):
    """What of an event is of interest."""

    type: Any = None
    usage: Any = None
    usageMetadata: Any = None  # noqa: N815  # Gemini's word
    error: Any = None
    message: Any = None
    response: Any = None
    choices: Any = None
    candidates: Any = None


_EVENT: Final = msgspec.json.Decoder(_Event)
_PLAIN: Final = msgspec.json.Decoder()


class Events:
    """The lines of a stream of server-sent events, as far as they are of interest."""

    def __init__(self, encoding: str = "", *, says_end: bool = False) -> None:
        """`says_end`: whether it is a stream of the kind that says when it is at its end."""
        self.content = False
        """Whether anything was said yet."""
        self.whole = not says_end
        """Whether it may end here: the model has said all, or nobody can know."""
        self.usage: Usage | None = None
        self.error: Any = None
        """The event that said that it went wrong, as JSON."""
        self.complete = False
        """Whether the event that ends an answer has passed."""
        self._line = b""
        self._too_long = False
        self._inflate = zlib.decompressobj(wbits=47) if encoding in ("gzip", "x-gzip", "deflate") else None
        if encoding not in ("", "identity") and self._inflate is None:
            self._opaque()

    def saw(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        if self._inflate is not None:
            chunk = self._inflated(chunk)
        if self.content and not self._line and chunk[-1:] == b"\n" and not _of_interest(chunk):
            # Nearly all of a stream: whole lines of text. What is too long ends with one of these, too.
            self._too_long = False
            return
        if b"\n" not in chunk:
            self._keep(chunk)
            return
        first, *lines, rest = chunk.split(b"\n")
        if self._too_long:
            self._too_long = False
        else:
            self._read_line(self._line + first)
        self._line = b""
        for line in lines:
            self._read_line(line)
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        if self._too_long or not part:
            return
        self._line += part
        if len(self._line) > LONGEST_LINE:
            self._line, self._too_long, self.content, self.whole = b"", True, True, True

    def _inflated(self, chunk: bytes) -> bytes:
        assert self._inflate is not None
        try:
            return self._inflate.decompress(chunk)
        except zlib.error:
            self._opaque()
            return b""

    def _opaque(self) -> None:
        """It cannot be looked into: what comes is content, for all that is known."""
        self._inflate, self.content, self.whole, self._too_long = None, True, True, True

    def _read_line(self, line: bytes) -> None:
        if not line.startswith(b"data:"):
            return
        payload = line[5:].strip()
        if payload == b"[DONE]":
            self.complete = self.whole = True
            return
        if self.content and not _of_interest(payload):
            return
        try:
            event = _EVENT.decode(payload)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self.content = True  # not ours to understand
            return
        self._read_event(event, payload)

    def _read_event(self, event: _Event, payload: bytes) -> None:
        kind = event.type if isinstance(event.type, str) else ""
        inner = event.response or event.message
        inside: dict[str, Any] = inner if isinstance(inner, dict) else {}
        for told in (event.usage, event.usageMetadata, inside.get("usage")):
            self.usage = merged(self.usage, usage_of(told))
        if event.error or inside.get("error"):
            self.error = {"error": event.error or inside.get("error")}
        elif kind == "error":
            self.error = _PLAIN.decode(payload)
        elif kind in _ENDS:
            self.complete = self.content = self.whole = True
        elif kind not in _PRELUDE and _says(event):
            self.content = True
        # Servers that are nearly compatible leave out what comes after this.
        self.whole = self.whole or _finishes(event)


# A quote within a text is escaped, so these stand where fields and types do, never in what a model says.
_of_interest: Final = re.compile(
    rb'"(?:usage":(?! ?null)|finish_reason": ?"|message_stop"|error"|usageMetadata"'
    rb'|response\.(?:completed|incomplete|failed)")|\[DONE\]'
).search
"""Whether there is more than text in lines of a stream."""


def _finishes(event: _Event) -> bool:
    choices = event.choices if isinstance(event.choices, list) else ()
    return any(isinstance(choice, dict) and choice.get("finish_reason") for choice in choices)


def _says(event: _Event) -> bool:
    """Whether an event has content; chunks that only name a role, or count, have none."""
    if isinstance(event.choices, list):
        return any(_says_something(choice) for choice in event.choices)
    if isinstance(event.candidates, list):
        return bool(event.candidates)
    return True


def _says_something(choice: object) -> bool:
    if not isinstance(choice, dict):
        return True
    if choice.get("finish_reason") == "error":  # OpenRouter: the error stands beside it
        return False
    if choice.get("finish_reason") or choice.get("text"):
        return True
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(value for name, value in delta.items() if name != "role")


class Opaque:
    """The same for a stream of a form that is not looked into: the first byte is content."""

    def __init__(self) -> None:
        self.content = False
        self.whole = True
        self.usage: Usage | None = None
        self.error: Any = None
        self.complete = False

    def saw(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        self.content = self.content or bool(chunk)
