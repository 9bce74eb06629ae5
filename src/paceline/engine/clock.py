"""Time as an argument: what the engine asks the clock, and the clock of the real world.

Waiting is done by the event loop (`call_at`, `sleep`), so a test that wants waiting to take no time brings a
loop whose time moves by itself, and a clock that reads that loop.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Two readings: one to measure with, one to write down."""

    def now(self) -> float:
        """Seconds that only ever grow, on the same scale as the event loop's `time()`."""
        ...

    def epoch(self) -> float:
        """Seconds since 1970, for the record."""
        ...


class SystemClock:
    """The real clock; asyncio and uvloop both measure with the monotonic one."""

    __slots__ = ()
    now = staticmethod(time.monotonic)
    epoch = staticmethod(time.time)
