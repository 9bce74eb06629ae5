"""The watch over the event loop: whether it comes round, and who holds it up when it does not.

A coroutine that blocks (`time.sleep`, a sync client, a tight loop) stops every other case, every deadline and
every timer. A thread notices by a heartbeat that stops, looks at what the loop's thread is doing, and names
file and line. If the loop is blocked for longer than anything may take, the thread ends the process: what is
on record is safe, and the case that blocks is recorded as a timeout, so that the resume does not walk into it
again.
"""

from __future__ import annotations

import asyncio
import functools
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

BEAT: Final = 0.25
BLOCKED_AFTER: Final = 1.0
"""Seconds without a heartbeat that are worth a word."""


class LoopWatch:
    """A heartbeat on the loop and a thread that listens to it.

    `blocked(seconds, where)` is called on the watching thread, once for each spell; `stuck(seconds, where)`
    when the spell has lasted `patience` seconds.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        blocked: Callable[[float, str], None],
        stuck: Callable[[float, str], None],
        patience: float | None,
    ) -> None:
        self._loop = loop
        self._blocked = blocked
        self._stuck = stuck
        self._patience = patience
        self._loop_thread = threading.get_ident()
        self._last = time.monotonic()
        self._over = threading.Event()
        self._beat_handle = loop.call_later(BEAT, self._beat)
        threading.Thread(target=self._listen, name="paceline-watch", daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._over.set()
        self._beat_handle.cancel()

    def _beat(self) -> None:
        self._last = time.monotonic()
        self._beat_handle = self._loop.call_later(BEAT, self._beat)

    def _listen(self) -> None:
        told: float | None = None
        while not self._over.wait(BEAT):
            since = self._last
            silent = time.monotonic() - since - BEAT
            if silent < BLOCKED_AFTER:
                continue
            if told != since:
                told = since
                self._blocked(silent, where_is(self._loop_thread))
            if self._patience is not None and silent > self._patience:
                self._stuck(silent, where_is(self._loop_thread))
                return


def where_is(thread: int) -> str:
    """`file:line in function` of the frame that a thread is in, the innermost one of the user's."""
    frame = sys._current_frames().get(thread)  # noqa: SLF001  # documented for exactly this
    innermost = frame
    while frame is not None and not _is_users(frame):
        frame = frame.f_back
    shown = frame or innermost
    if shown is None:
        return "somewhere that cannot be seen"
    return f"{shown.f_code.co_filename}:{shown.f_lineno} in {shown.f_code.co_qualname}"


_OURS: Final = __file__.rsplit("/engine/", 1)[0] + "/"


@functools.cache
def _not_users() -> tuple[str, ...]:
    """Where the code lies that is nobody's own: ours, the standard library, what is installed."""
    import sysconfig

    installed = ("stdlib", "platstdlib", "purelib", "platlib")
    places = {sysconfig.get_path(name).rstrip("/") + "/" for name in installed}
    return ("<frozen", _OURS, *sorted(places))


def _is_users(frame: FrameType) -> bool:
    return not frame.f_code.co_filename.startswith(_not_users())
