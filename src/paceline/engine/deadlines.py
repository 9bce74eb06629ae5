"""Deadlines for many at once, with one timer.

Attempts of a run share one timeout, so the earliest deadline is nearly always that of the longest-running
one: it is enough to look when that one is due. Setting a deadline is an attribute and a comparison; most
never cost a timer.
"""

from __future__ import annotations

import asyncio
from typing import Final, Protocol

NEVER: Final = float("inf")
HELD_UP: Final = 0.1
"""Seconds by which a look at the deadlines is too late only where something has blocked the loop."""
A_MOMENT: Final = 0.1
"""Seconds that answers may then take to land which came in meanwhile: they were in time."""


class Watched(Protocol):
    """Something with a deadline."""

    deadline: float
    """When it is due, in the loop's time; `NEVER` for not at all."""

    def overdue(self) -> None:
        """The deadline has passed. Called on the loop; may set a new deadline."""
        ...


class Deadlines:
    """Calls `overdue()` on whatever is past its deadline."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._watched: set[Watched] = set()
        self._next = NEVER
        self._timer: asyncio.TimerHandle | None = None
        self._patient = False

    def watch(self, watched: Watched) -> None:
        """Keep an eye on something until `forget`."""
        self._watched.add(watched)

    def forget(self, watched: Watched) -> None:
        """Look no more."""
        self._watched.discard(watched)

    def set(self, watched: Watched, when: float) -> None:
        """Give something a deadline; `NEVER` takes it away."""
        watched.deadline = when
        if when < self._next:
            self._arm(when)

    def close(self) -> None:
        """Stop looking."""
        self._watched.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _arm(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._next = when
        self._timer = self._loop.call_at(when, self._look)

    def _look(self) -> None:
        due, self._next, self._timer = self._next, NEVER, None
        now = self._loop.time()
        self._patient = now - due > HELD_UP and not self._patient  # once: some loops are always late
        if self._patient:
            self._arm(now + A_MOMENT)
            return
        for watched in [each for each in self._watched if each.deadline <= now]:
            watched.deadline = NEVER
            watched.overdue()
        earliest = min((each.deadline for each in self._watched), default=NEVER)
        if earliest < self._next:
            self._arm(earliest)
