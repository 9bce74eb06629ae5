"""Ctrl-C, SIGTERM and SIGHUP: the first drains, the second cancels, the third goes at once.

Handlers are put in place by whoever owns the process (the command line, or `evaluate_sync` in the main
thread), never in somebody else's loop. A process that a task forks has none of them: `terminate()` has to
end the workers of a `multiprocessing` pool.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Final

Handler = Callable[[int, FrameType | None], Any] | int | None
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_runs_listening: Final[list[object]] = []
_taken: Final[list[tuple[signal.Signals, Handler]]] = []
"""Signals that go to runs, each with what it did before; the run that was begun last comes last."""


def in_hand() -> bool:
    """Whether Ctrl-C goes to a run of this process, and to nobody as a `KeyboardInterrupt`."""
    return bool(_runs_listening)


@contextlib.contextmanager
def interrupts(
    loop: asyncio.AbstractEventLoop,
    *,
    drain: Callable[[str], None],
    cancel: Callable[[str], None],
) -> Iterator[list[signal.Signals]]:
    """Turn signals into messages to the run; yields the list of those that came."""
    came: list[signal.Signals] = []

    def arrived(number: int, _frame: FrameType | None) -> None:
        came.append(signal.Signals(number))
        if len(came) > 2:
            os._exit(130)
        heed, how_often = (drain, "") if len(came) == 1 else (cancel, " twice")
        with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(heed, f"{came[-1].name} received{how_often}")

    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    taken: list[tuple[signal.Signals, Handler]] = []
    for number in SIGNALS:
        before = signal.getsignal(number)
        if before == signal.SIG_IGN:
            continue  # `nohup` and friends said so
        # The first wakes the loop; alone it would come too late where that is blocked.
        loop.add_signal_handler(number, _nothing)
        signal.signal(number, arrived)
        taken.append((number, before))
        _taken.append(taken[-1])
    _runs_listening.append(came)
    try:
        yield came
    finally:
        # By identity: the lists of two runs are equal as long as nothing has come.
        _runs_listening[:] = [other for other in _runs_listening if other is not came]
        _taken[:] = [each for each in _taken if all(each is not mine for mine in taken)]
        for number, before in taken:
            loop.remove_signal_handler(number)
            if before is not None:
                signal.signal(number, before)


def _nothing() -> None:
    """What was to be done is done already."""


class _Mask(threading.local):
    """Which signals a thread held back before it forked."""

    before: set[int] | None = None


_mask: Final = _Mask()


def _hold_back() -> None:
    # One that came to the child before its handlers are gone would be lost on them.
    if _taken:
        _mask.before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def _let_come() -> None:
    before, _mask.before = _mask.before, None
    if before is not None:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _be_nobody() -> None:
    """In a forked child: there is no run here, and signals do what they did before it began."""
    for number, before in reversed(_taken):
        signal.signal(number, signal.SIG_DFL if before is None else before)
    if _taken:
        signal.set_wakeup_fd(-1)  # it leads to the parent's loop
    _taken.clear()
    _runs_listening.clear()
    _let_come()


os.register_at_fork(before=_hold_back, after_in_parent=_let_come, after_in_child=_be_nobody)
