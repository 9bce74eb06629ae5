"""How many observations it takes to tell on which side of a bar a correlation lies.

Bonett and Wright (2000): Fisher's z of Spearman's correlation r is spread by sqrt((1 + r²/2) / (n − 3)), in
theory of untied scores. That is the interval in closed form, for where there is too little to resample, and
the formula to plan by. A sample whose resamples are spread wider than that plans with its own spread.

Knows numbers alone, and loads nothing.
"""

from __future__ import annotations

import math
from typing import Final

from paceline.statistics.interval import CONFIDENCE, Interval, normal_quantile

POWER: Final = 0.8
"""How often the planned number is to be enough."""
MOST: Final = 100_000
"""More than that nobody plans for: a correlation so close to the bar is not told from it."""


def bonett_wright(r: float, n: float, confidence: float = CONFIDENCE) -> Interval | None:
    """The interval of a Spearman correlation r of n observations; None where n is too small for any."""
    if n <= 3:
        return None
    if abs(r) >= 1:
        return Interval(low=r, high=r, confidence=confidence, n=n)
    half = normal_quantile(confidence) * math.sqrt(_spread(r) / (n - 3))
    return Interval(
        low=math.tanh(math.atanh(r) - half), high=math.tanh(math.atanh(r) + half), confidence=confidence, n=n
    )


def _spread(r: float) -> float:
    return 1 + r * r / 2


def needed_for(
    r: float, bar: float, *, spread: float | None = None, confidence: float = CONFIDENCE, power: float = POWER
) -> int | None:
    """Observations for which a judge whose correlation is r is found on its side of the bar, in `power` of
    the cases; None where r is so close to the bar that no number of them would do.

    `spread` is that of Fisher's z times the square root of n − 3, squared, where a sample has shown it.
    """
    apart = abs(math.atanh(_inside(r)) - math.atanh(_inside(bar)))
    both = normal_quantile(confidence) + normal_quantile(2 * power - 1)
    if apart <= 0:
        return None
    needed = 3 + max(_spread(r), spread or 0.0) * (both / apart) ** 2
    return math.ceil(needed) if needed <= MOST else None


def shown_spread(r: float, interval: Interval) -> float:
    """How far Fisher's z was spread in a sample, as `needed_for` takes it, from the end that faces away from
    full agreement."""
    below = math.atanh(_inside(r)) - math.atanh(_inside(interval.low))
    return (below / normal_quantile(interval.confidence)) ** 2 * max(interval.n - 3, 1)


def _inside(r: float) -> float:
    return min(max(r, -0.999_999), 0.999_999)


__all__ = ["POWER", "bonett_wright", "needed_for", "shown_spread"]
