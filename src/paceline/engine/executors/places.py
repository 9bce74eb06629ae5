"""Places: how many attempts an executor carries out at once.

There may be more cases in progress than that. An attempt that waits for its place is not late and not slow:
its clock stands still meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from paceline.engine.ports import Work


class Places:
    """A number of places, taken for a while each."""

    def __init__(self, number: int, now: Callable[[], float]) -> None:
        self._free = asyncio.Semaphore(number)
        self._now = now

    async def take(self, work: Work) -> None:
        """Wait for a place; whoever has got one leaves it again."""
        if self._free.locked():
            with clock_held(work, self._now):
                await self._free.acquire()
        else:
            await self._free.acquire()

    def leave(self) -> None:
        """Give a place back."""
        self._free.release()


@contextmanager
def clock_held(work: Work, now: Callable[[], float]) -> Iterator[None]:
    """Within it the clock of an attempt stands still."""
    since = now()
    if work.stopwatch is not None:
        work.stopwatch.hold()
    try:
        yield
    finally:
        work.waited += now() - since
        if work.stopwatch is not None:
            work.stopwatch.go()
