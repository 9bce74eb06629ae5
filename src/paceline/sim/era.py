"""An era: a provider, what was counted of it, and its own time, from one reset to the next.

Its clock stands at 0 until the first call, so that steps and outages come when they are expected, however
long nobody has called; and it runs `time_scale` times as fast as the world's.

Knows how time passes. Knows nothing of HTTP.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import msgspec

from paceline.pace.messages import Advertised
from paceline.sim.provider import Provider
from paceline.sim.scenario import Scenario
from paceline.sim.tally import TOLD_SECONDS, Seen, Tally

Clock = Callable[[], float]

EARLY: Final = 0.0005
"""Seconds of the world's: loops wake sleepers a hair too early, who shall not go to sleep again for it."""


class Era:
    """From one reset to the next."""

    def __init__(self, scenario: Scenario, clock: Clock) -> None:
        self.scenario = scenario
        self.scale = scenario.time_scale
        self.provider = Provider(scenario)
        self.tally = Tally()
        self.requests = 0
        """Of any kind, for their names."""
        self._clock = clock
        self._began: float | None = None

    def now(self) -> float:
        """Seconds of the provider's own time since the first call."""
        return 0.0 if self._began is None else (self._clock() - self._began) * self.scale

    def begin(self) -> float:
        """The time of a call; the first one starts the clock."""
        if self._began is None:
            self._began = self._clock()
        return self.now()

    def outside(self, seconds: float) -> float:
        """So many seconds of its own, as the world counts them."""
        return seconds / self.scale

    async def until(self, when: float) -> None:
        """Wait until its clock shows `when`."""
        left = self.outside(when - self.now())
        if left > EARLY:
            await asyncio.sleep(left)

    def told(self, advertised: Advertised | None) -> Advertised | None:
        """What headers say of limits, in the world's minutes and seconds: callers know no others."""
        if advertised is None or self.scale == 1:
            return advertised
        of = msgspec.structs.replace
        for limit, reset in (("requests", "requests_reset"), ("tokens", "tokens_reset")):
            if (value := getattr(advertised, limit)) is not None:
                advertised = of(advertised, **{limit: value * self.scale})
            if (value := getattr(advertised, reset)) is not None:
                advertised = of(advertised, **{reset: self.outside(value)})
        return advertised

    def seen(self, connections: int) -> Seen:
        """What it has seen until now."""
        now = self.now()
        return self.tally.seen(
            self.provider.stats(now, last=TOLD_SECONDS),
            scenario=self.scenario.name,
            time_scale=self.scale,
            seconds=now,
            connections=connections,
        )
