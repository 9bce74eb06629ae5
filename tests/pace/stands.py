"""What the tests of the desk stand on: a clock that moves when told, with an alarm that rings when it gets
there.
"""

from __future__ import annotations

import asyncio
import heapq
import math
import random
from collections.abc import Callable
from typing import Any

from paceline.pace.desk import Desk
from paceline.pace.messages import Limits, PoolId

POOL = PoolId(provider="openai", host="https://example.test", model="gpt", account="a1b2")
OTHER = PoolId(provider="openai", host="https://example.test", model="gpt-mini", account="a1b2")


class Clock:
    """Time that a test moves; alarms that were set ring on the way."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self.rings: list[float] = []
        self._set: list[tuple[float, int, Callable[[], None]]] = []
        self.started = 0
        """Alarms that were asked for."""

    def now(self) -> float:
        return self.time

    def alarm(self, ring: Callable[[], None]) -> Bell:
        return Bell(self, ring)

    def put(self, at: float, ring: Callable[[], None]) -> None:
        self.started += 1
        heapq.heappush(self._set, (at, self.started, ring))

    def move(self, seconds: float) -> None:
        """Let time pass, ringing whatever is due at its own time."""
        until = self.time + seconds
        while self._set and self._set[0][0] <= until:
            at, _, ring = heapq.heappop(self._set)
            self.time = max(self.time, at)
            self.rings.append(self.time)
            ring()
        self.time = until

    def skip(self) -> None:
        """Let time pass until the next alarm."""
        assert self._set, "somebody waits, and nothing will ever wake them"
        self.move(max(0.0, self._set[0][0] - self.time))


class Bell:
    """One desk's alarm."""

    def __init__(self, clock: Clock, ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring: Callable[[], None] | None = ring

    def set(self, at: float) -> None:
        self._clock.put(at, self._rung)

    def stop(self) -> None:
        self._ring = None

    def _rung(self) -> None:
        if self._ring is not None:
            self._ring()


def desk_with(
    clock: Clock, *, learned: Any = None, per_pool: dict[str, Limits] | None = None, **limits: Any
) -> Desk:
    """A desk of fixed limits on a test's clock."""
    return Desk(
        limits=Limits(**limits),
        per_pool=per_pool or {},
        learned=learned,
        adaptive=False,
        now=clock.now,
        dice=random.Random(7),
        alarm=clock.alarm,
        time_to_live_s=math.inf,
    )


async def turns(number: int = 5) -> None:
    """Let everything on the loop that can go on do so."""
    for _ in range(number):
        await asyncio.sleep(0)
