"""Ctrl-C, SIGTERM and SIGHUP: the first drains, the second cancels, the third goes at once.

Handlers are put in place by whoever owns the process (the command line, or `evaluate_sync` in the main
thread), never in somebody else's loop.
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
    _runs_listening.append(came)
    try:
        yield came
    finally:
        # By identity: the lists of two runs are equal as long as nothing has come.
        _runs_listening[:] = [other for other in _runs_listening if other is not came]
        for number, before in taken:
            loop.remove_signal_handler(number)
            if before is not None:
                signal.signal(number, before)


def _nothing() -> None:
    """What was to be done is done already."""
