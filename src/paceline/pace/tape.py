"""A tape: the calls that an attempt has made before it was cut off, in their order, to be answered again.

An attempt that is made anew asks the same as long as nothing is different. Each of its calls is held against
the tape: the same question at the same place has its answer there, for free. The first call that differs is
made, and with its answer the tape ends: what comes after it may depend on it, so that all that is made too.

Calls that were under way together may come in any order the second time. So a call may be overtaken by those
that had begun before it was over, and by no others. And one that was under way when the attempt was cut off
is not on the tape; what is asked before it is answered does not depend on it.

Knows questions by their hash, and times. Knows nothing of HTTP, or of where calls are recorded.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence

import msgspec

from paceline.errors import PaceError


class Taped(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was answered."""

    request: str
    """Hash of what was asked."""
    began: float
    ended: float
    ordinal: int = 0
    status: int = 200
    content_type: str = ""
    simulated: bool = False
    body: bytes = b""
    asked: str = ""
    """What was asked, where that is known: to say where a replay diverges."""
    path: str = ""


class Divergence(msgspec.Struct, frozen=True, kw_only=True):
    """Where an attempt began to differ from the tape."""

    call: int
    """The number of the call in this attempt, from 1."""
    expected: Taped | None
    """What the tape holds at this place; None where it was at its end."""

    def __str__(self) -> str:
        if self.expected is None:
            return f"call {self.call} comes after the last one on record"
        return f"call {self.call} is not the one on record ({self.expected.request})"


_RECORD_ANEW = "run it once without `--replay always`, or tell with `replay_ignore` what is new each time"


class Normal:
    """Takes out of a request what is new each time and means nothing: what these expressions find."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = [re.compile(pattern.encode()) for pattern in patterns]

    def __call__(self, body: bytes) -> bytes:
        for pattern in self._patterns:
            body = pattern.sub(b"", body)
        return body


class NotOnTape(PaceError):
    """A call that may only be answered from the record is not there."""

    cause = "replay"


class Tape:
    """The calls of one attempt. Any thread may ask."""

    def __init__(
        self,
        calls: Iterable[Taped] = (),
        *,
        normal: Normal | None = None,
        closed: bool = False,
        kept: bool = True,
    ) -> None:
        """`normal` takes out of a body what is different each time and means nothing. `closed`: nothing is
        asked of a provider, so that what is not on the tape is an error. `kept`: calls go on record."""
        self.normal = normal
        self.kept = kept
        self._closed = closed
        self._left = sorted(calls, key=lambda call: (call.began, call.ordinal))
        self._lock = threading.Lock()
        self._asked = 0
        self.played = 0
        """Calls that were answered from here."""
        self.diverged: Divergence | None = None
        self._over = False

    def __reduce__(self) -> tuple[object, ...]:
        # To a child process it goes as it is before its first call.
        return _tape, (tuple(self._left), self.normal, self._closed, self.kept)

    def __len__(self) -> int:
        """Calls that were not asked for again so far."""
        return len(self._left)

    def play(self, request: str) -> Taped | None:
        """The answer to this question, if it stands at this place; None where the call has to be made: then
        `made` is to be told when it was."""
        with self._lock:
            self._asked += 1
            for position, call in enumerate(() if self._over else self._left):
                if call.request == request:
                    del self._left[position]
                    self.played += 1
                    return call
                if not self._may_be_overtaken(position):
                    break
            if self.diverged is None:
                self.diverged = Divergence(call=self._asked, expected=self._left[0] if self._left else None)
        if self._closed:
            raise NotOnTape(f"{self.diverged}, and only what is on record is answered", hint=_RECORD_ANEW)
        return None

    def made(self) -> None:
        """A call that was not on the tape is over: whatever comes now may depend on its answer."""
        self._over = True

    def _may_be_overtaken(self, position: int) -> bool:
        """Whether the call after the one at this position was begun before that, and all before it, ended."""
        if position + 1 >= len(self._left):
            return False
        return self._left[position + 1].began < min(call.ended for call in self._left[: position + 1])


def _tape(calls: Sequence[Taped], normal: Normal | None, closed: bool, kept: bool) -> Tape:
    return Tape(calls, normal=normal, closed=closed, kept=kept)


def spliced(before: list[Taped], played: Iterable[str], live: Iterable[Taped]) -> list[Taped]:
    """The tape of an attempt that was itself begun with a tape, and cut off as well.

    `played` are the questions that were answered from the tape, `live` the calls that it made. Where it
    made none, it had not come to the end of its tape.
    """
    made = list(live)
    tape = Tape(before)
    kept = [call for request in played if (call := tape.play(request)) is not None]
    return [*kept, *made] if made else before
