"""Ctrl-C outside of a run, from the first line of the program to its last.

While a run is under way, signals are the run's (`engine.interrupts`). Before and after that this room has
Ctrl-C in hand: the first becomes a `KeyboardInterrupt`, and from then on, and once the program has nothing
left to do but to leave, another one ends it at once. Either way the exit code is 130, and never that of a
program that a signal has killed: what a run has recorded is safe, and scripts are told so.

Knows nothing of runs.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import Final

CUT_OFF: Final = 130


class CtrlC:
    """What Ctrl-C does to this program."""

    def __init__(self) -> None:
        self._is_the_last = False

    def take_in_hand(self) -> None:
        """Handle it from here on, unless whoever started us wants it ignored."""
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return
        signal.signal(signal.SIGINT, self._heard)
        # Whoever registers first is called last. What then remains is the interpreter's own end, a moment
        # within which it lets go of all handlers: Ctrl-C would kill it there, and the exit code be lost.
        atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)

    def leaving(self) -> None:
        """There is nothing left to interrupt but the wait for threads and exit hooks of the user's."""
        self._is_the_last = True
        # Where one has interrupted an `exec` of text, as making a dataclass is, CPython takes it for the
        # end of the program, handled or not: `python -m` then dies of the signal. Another `exec` undoes that.
        exec("")  # noqa: S102  # of nothing

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if self._is_the_last:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):  # a write to it may be what was interrupted
                    stream.flush()
            os._exit(CUT_OFF)
        self._is_the_last = True
        signal.default_int_handler(number, frame)
