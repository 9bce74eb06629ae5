"""A bucket that fills at a rate and is drawn from: the arithmetic of "so many a second", with no clock in it.

A draw larger than the bucket goes through once the bucket is full and leaves it in debt, so that a single
huge call waits its turn but is never impossible. What was drawn for an estimate is put right later, by
`give_back` with either sign.

The bucket holds a second's worth, not a minute's: providers who say "per minute" enforce it by the second.
"""

from __future__ import annotations

from math import inf
from typing import Final

BURST_S: Final = 1.0


class Bucket:
    """So many units a second; a rate of None is no limit."""

    __slots__ = ("_at", "_level", "rate", "unit")

    def __init__(self, rate: float | None, *, now: float, unit: float = 1.0) -> None:
        self.rate = rate
        self.unit = unit
        """What the bucket can hold at least, however slowly it fills."""
        self._at = now
        self._level = self.capacity if rate is not None else 0.0

    @property
    def capacity(self) -> float:
        """What is there after a long rest."""
        return inf if self.rate is None else max(self.unit, self.rate * BURST_S)

    def level(self, now: float) -> float:
        """What is there now; below 0 where more was drawn than there was."""
        if self.rate is None:
            return inf
        if now > self._at:
            self._level += (now - self._at) * self.rate
            self._at = now
        self._level = min(self._level, self.capacity)
        return self._level

    def set_rate(self, rate: float | None, now: float) -> None:
        """Fill at another rate from now on. A bucket that gets its first limit starts empty."""
        if rate == self.rate:
            return
        if self.rate is None:
            self._level, self._at = 0.0, now
        else:
            self.level(now)
        self.rate = rate

    def wait(self, amount: float, now: float) -> float:
        """Seconds until `amount` can be drawn; 0 where it can be now."""
        if self.rate is None or amount <= 0:
            return 0.0
        lacks = min(amount, self.capacity) - self.level(now)
        # A hair's breadth short is there: the sum of many small fillings never is quite what it should be.
        return lacks / self.rate if lacks > 1e-9 * self.capacity else 0.0

    def draw(self, amount: float, now: float) -> None:
        """Take `amount`, whether or not it is there."""
        if self.rate is not None:
            self._level = self.level(now) - amount

    def give_back(self, amount: float, now: float) -> None:
        """Put back what was drawn too much, or draw what was drawn too little."""
        if self.rate is not None:
            self._level = min(self.level(now) + amount, self.capacity)

    def at_most(self, level: float, now: float) -> None:
        """Somebody who knows says that no more than this is there."""
        if self.rate is not None:
            self._level = min(self.level(now), level)
