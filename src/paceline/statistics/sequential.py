"""Deciding before the end: is a rate above a bar or below it, looking at every case as it comes in?

Whoever looks again after each case and stops as soon as an ordinary interval leaves the bar is fooled by
chance in four of ten runs whose rate is at the bar. Evidence that may be looked at as often as one likes is a
bet: what a gambler who starts with 1 would have, playing fairly against the claim that is to be refuted. Were
that claim true, the chance of ever having 20 is no more than 1 in 20 (Ville 1939).

The gambler spreads the stake evenly over all rates on the other side of the bar (the mixture of a beta prior
and binomial observations, cut off at the bar). Values between 0 and 1, such as the share of a case's repeats
that passed, count as fractions of a success, and the promise holds for them too; one case is one observation.

Whether a rate above the bar is called below it or the other way round, the chance of a wrong decision is at
most `alpha` in all, whatever the truth is, the bar included, and whenever one stops. It rests on the order
of the cases: it must be random, and observations must be taken in that order, not in the order in which they
came to their end, or the quick ones would decide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from paceline.statistics.interval import CONFIDENCE, Interval

ALPHA: Final = 0.05
_HALVINGS: Final = 60

Side = Literal["above", "below"]


class Evidence(NamedTuple):
    """What a gambler would have after some observations, as natural logarithms."""

    above: float
    """Against the rate being at the bar or below."""
    below: float


class Decision(NamedTuple):
    """On which side of the bar the rate lies, and after how many observations that was known."""

    side: Side
    n: int


class Deciding:
    """Takes one observation after the other, and says once it is decided."""

    def __init__(self, bar: float, *, alpha: float = ALPHA) -> None:
        if not 0 < bar < 1:
            raise ValueError(f"a rate cannot be held against {bar}: it has to lie between 0 and 1")
        if not 0 < alpha < 1:
            raise ValueError(f"the chance of a wrong decision cannot be {alpha}")
        self._bar = bar
        self._needed = math.log(2 / alpha)  # half of it for each side
        self.n = 0
        self.successes = 0.0
        self.decision: Decision | None = None
        """None until it is decided; stays as it is from then on."""

    def take(self, value: float) -> Decision | None:
        """Take the next observation, in the order that was drawn beforehand."""
        if not 0 <= value <= 1:
            raise ValueError(f"an observation has to lie between 0 and 1, and is {value}")
        self.n += 1
        self.successes += value
        if self.decision is None:
            found = evidence(self.successes, self.n, self._bar)
            if found.above >= self._needed:
                self.decision = Decision("above", self.n)
            elif found.below >= self._needed:
                self.decision = Decision("below", self.n)
        return self.decision


def decided(values: Iterable[float], bar: float, *, alpha: float = ALPHA) -> Decision | None:
    """The first decision that these observations, in their order, allow."""
    deciding = Deciding(bar, alpha=alpha)
    for value in values:
        if found := deciding.take(value):
            return found
    return None


def evidence(successes: float, n: int, bar: float) -> Evidence:
    """What so many successes in n observations say of the rate."""
    from scipy.special import betainc, betaincc, betaln

    failures = n - successes
    alike = float(betaln(successes + 1, failures + 1)) - _likelihood(successes, failures, bar)
    of_above = float(betaincc(successes + 1, failures + 1, bar))
    of_below = float(betainc(successes + 1, failures + 1, bar))
    return Evidence(
        above=alike + _log(of_above) - math.log1p(-bar),
        below=alike + _log(of_below) - math.log(bar),
    )


def interval_at_any_time(successes: float, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """Where the rate is likely to lie, whenever one stops; None of nothing.

    Wilson's interval at a stop that the values themselves have called is off. This one is wider, and is not.
    """
    if n <= 0:
        return None
    middle = successes / n
    needed = -math.log(1 - confidence)
    return Interval(
        low=_end(successes, n, 0.0, middle, needed),
        high=_end(successes, n, 1.0, middle, needed),
        confidence=confidence,
        n=n,
    )


def _end(successes: float, n: int, far: float, near: float, needed: float) -> float:
    """The rate furthest from the middle that the evidence does not refute."""
    from scipy.special import betaln

    mixed = float(betaln(successes + 1, n - successes + 1))
    if near == far:
        return far
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        if mixed - _likelihood(successes, n - successes, middle) < needed:
            near = middle
        else:
            far = middle
    return near


def _likelihood(successes: float, failures: float, rate: float) -> float:
    """Its logarithm; a rate of 0 or 1 explains what it allows."""
    told = successes * math.log(rate) if successes else 0.0
    return told + (failures * math.log1p(-rate) if failures else 0.0)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


__all__ = ["Deciding", "Decision", "Evidence", "decided", "evidence", "interval_at_any_time"]
