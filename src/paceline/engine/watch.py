"""The watch over the event loop: whether it comes round, and who holds it up when it does not.

A coroutine that blocks (`time.sleep`, a sync client, a tight loop) stops every other case, every deadline and
every timer. A thread notices by a heartbeat that stops, looks at what the loop's thread is doing, and names
file and line. If the loop is blocked for longer than anything may take, the thread ends the process: what is
on record is safe, and the case that blocks is recorded as a timeout, so that the resume does not walk into it
again.

Code that holds the interpreter's lock, as Python's `re` does while it backtracks, stops this thread as well,
and every signal's handler. Then nothing of ours can do anything: the system ends the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import functools
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

BEAT: Final = 0.25
BLOCKED_AFTER: Final = 1.0
"""Seconds without a heartbeat that are worth a word."""
STOPPED_AFTER: Final = 5.0
"""Seconds without a look that no busy machine explains."""
LAST_RESORT: Final = 20.0
"""Seconds after its patience has come to an end that the watch has for its own way out."""


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
        self._last_resort = None if patience is None else LastResort(patience + LAST_RESORT)
        self._beat_handle = loop.call_later(BEAT, self._beat)
        threading.Thread(target=self._listen, name="paceline-watch", daemon=True).start()

    def close(self) -> None:
        """Listen no more."""
        self._over.set()
        self._beat_handle.cancel()
        if self._last_resort is not None:
            self._last_resort.close()

    def _beat(self) -> None:
        self._last = time.monotonic()
        self._beat_handle = self._loop.call_later(BEAT, self._beat)

    def _listen(self) -> None:
        told: float | None = None
        last = self._last
        looked, busy, stopped = time.monotonic(), time.process_time(), 0.0
        while not self._over.wait(BEAT):
            if self._last_resort is not None:
                self._last_resort.put_off()
            since, now, work = self._last, time.monotonic(), time.process_time()
            if since != last:
                last, stopped = since, 0.0
            stopped += _stopped(now - looked, work - busy)
            looked, busy = now, work
            silent = now - since - BEAT - stopped
            if silent < BLOCKED_AFTER:
                continue
            if told != since:
                told = since
                self._blocked(silent, where_is(self._loop_thread))
            if self._patience is not None and silent > self._patience:
                self._stuck(silent, where_is(self._loop_thread))
                return


def _stopped(unwatched: float, busy: float) -> float:
    """Seconds for which the whole process was stopped, by Ctrl-Z say: nobody looked, and nobody worked."""
    return max(unwatched - busy, 0.0) if unwatched > STOPPED_AFTER else 0.0


class LastResort:
    """Has the system end this process if it is busy for so many seconds and nobody puts that off.

    By a timer that counts processor time, so a process that is only stopped is not taken for one that hangs.
    Its signal, SIGPROF, is told to nobody's code: the traces of all threads go to stderr, without the
    interpreter's lock, and then it does what it does by itself. Where somebody else uses it, there is none.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        unused = signal.getsignal(signal.SIGPROF) is signal.SIG_DFL
        self._is_ours = unused and not signal.getitimer(signal.ITIMER_PROF)[0]
        if self._is_ours:
            with contextlib.suppress(OSError, ValueError):  # there is no stderr: it ends without a word
                faulthandler.register(signal.SIGPROF, file=2, all_threads=True, chain=True)
            self.put_off()

    def put_off(self) -> None:
        """It need not be yet."""
        with self._lock:
            if self._is_ours:
                signal.setitimer(signal.ITIMER_PROF, self._seconds)

    def close(self) -> None:
        """It need not be at all."""
        with self._lock:
            if self._is_ours:
                self._is_ours = False
                signal.setitimer(signal.ITIMER_PROF, 0)
                faulthandler.unregister(signal.SIGPROF)


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
