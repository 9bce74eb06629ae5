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

import threading
from collections.abc import Iterable

import msgspec


class Taped(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was answered."""

    request: str
    """Hash of what was asked."""
    began: float
    ended: float
    ordinal: int = 0
    status: int = 200
    content_type: str = ""
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


class Tape:
    """The calls of one attempt. Any thread may ask."""

    def __init__(self, calls: Iterable[Taped]) -> None:
        self._left = sorted(calls, key=lambda call: (call.began, call.ordinal))
        self._lock = threading.Lock()
        self._asked = 0
        self.played = 0
        """Calls that were answered from here."""
        self.diverged: Divergence | None = None
        self._over = False

    def __len__(self) -> int:
        """Calls that were not asked for again so far."""
        return len(self._left)

    def play(self, request: str) -> Taped | None:
        """The answer to this question, if it stands at this place; None where the call has to be made: then
        `made` is to be told when it was."""
        with self._lock:
            self._asked += 1
            if self._over:
                return None
            for position, call in enumerate(self._left):
                if call.request == request:
                    del self._left[position]
                    self.played += 1
                    return call
                if not self._may_be_overtaken(position):
                    break
            if self.diverged is None:
                self.diverged = Divergence(call=self._asked, expected=self._left[0] if self._left else None)
            return None

    def made(self) -> None:
        """A call that was not on the tape is over: whatever comes now may depend on its answer."""
        self._over = True

    def _may_be_overtaken(self, position: int) -> bool:
        """Whether the call after the one at this position was begun before that, and all before it, ended."""
        if position + 1 >= len(self._left):
            return False
        return self._left[position + 1].began < min(call.ended for call in self._left[: position + 1])


def spliced(before: list[Taped], played: Iterable[str], live: Iterable[Taped]) -> list[Taped]:
    """The tape of an attempt that was itself begun with a tape, and cut off as well.

    `played` are the questions that were answered from the tape, `live` the calls that it made. Where it
    made none, it had not come to the end of its tape.
    """
    made = list(live)
    tape = Tape(before)
    kept = [call for request in played if (call := tape.play(request)) is not None]
    return [*kept, *made] if made else before
