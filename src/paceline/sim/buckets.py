"""How the simulated provider counts: a bucket that fills at a rate, and a watch over growth.

Not those of the pace: what a limit is judged by must not share its mistakes.
"""

from __future__ import annotations

import math
from typing import Final

from paceline.sim.scenario import Ramp

HAIR: Final = 1e-9
"""What rounding may cost: a caller that comes at the very moment it was told to is not refused."""


class Bucket:
    """So much a second, and some seconds' worth of it at once; at least one."""

    __slots__ = ("at", "capacity", "level", "rate")

    def __init__(self, rate: float, seconds: float, now: float) -> None:
        self.rate = rate
        self.capacity = max(1.0, rate * seconds)
        self.level = self.capacity
        self.at = now

    def level_at(self, now: float) -> float:
        """What is in it."""
        if now > self.at:
            self.level = min(self.capacity, self.level + (now - self.at) * self.rate)
            self.at = now
        return self.level

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be had; what is larger than the bucket can be had when it is full."""
        missing = min(amount, self.capacity) - self.level_at(now)
        return missing / self.rate if missing > HAIR * self.capacity else 0.0

    def take(self, amount: float, now: float) -> None:
        """Have it. A call larger than the bucket leaves a debt."""
        self.level = self.level_at(now) - amount

    def waste(self, amount: float, now: float) -> None:
        """Have it for nothing, as far as it is there: whoever stops asking is let in again soon."""
        level = self.level_at(now)
        self.level = max(level - amount, min(level, 0.0))

    def give(self, amount: float, now: float) -> None:
        """Give back what was not needed."""
        self.level = min(self.capacity, self.level_at(now) + amount)

    def until_full(self, now: float) -> float:
        """Seconds until all of it is there."""
        return (self.capacity - self.level_at(now)) / self.rate

    def change(self, rate: float, seconds: float, now: float) -> None:
        """Fill at another rate from now on."""
        self.level_at(now)
        self.rate = rate
        self.capacity = max(1.0, rate * seconds)
        self.level = min(self.level, self.capacity)


class Growth:
    """Allows a caller some more than its average of the last while, second by second."""

    __slots__ = ("_average", "_bucket", "at", "rules")

    def __init__(self, rules: Ramp, now: float) -> None:
        self.rules = rules
        self.at = now
        self._average = 0.0
        self._bucket = Bucket(rules.above / 60.0, 1.0, now)

    def allows(self, now: float) -> bool:
        """Whether one more call is not too fast a growth."""
        rate = max(self.rules.above / 60.0, (1.0 + self.rules.growth) * self._average_at(now))
        self._bucket.change(rate, 1.0, now)
        return self._bucket.wait(1.0, now) == 0.0

    def take(self, now: float) -> None:
        """One more call was accepted."""
        self._average = self._average_at(now) + 1.0 / self.rules.over
        self._bucket.take(1.0, now)

    def _average_at(self, now: float) -> float:
        """Calls a second, the older the less they count."""
        if now > self.at:
            self._average *= math.exp(-(now - self.at) / self.rules.over)
            self.at = now
        return self._average
