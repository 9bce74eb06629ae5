"""How sure one can be of a quantile, whatever the distribution: by the order of the observations alone.

Of n observations, the number that lie below the true quantile is binomial. So two of them, counted off in
order, hold it between them at least as often as is asked for. Of few observations there is no such bound: the
largest of twenty says nothing of where the 95th percentile may end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from paceline.statistics.interval import CONFIDENCE


class Bounds(NamedTuple):
    """Where the true quantile is likely to lie; None on a side where so few observations tell no bound."""

    low: float | None
    high: float | None


def quantile_bounds(
    values: Sequence[float], share: float, confidence: float = CONFIDENCE, *, worth: int | None = None
) -> Bounds:
    """The bounds of the quantile below which `share` of the values lie.

    `worth` is how many independent observations they are worth, where that is fewer than there are.
    """
    n = min(len(values), worth or len(values))
    if n < 1:
        return Bounds(None, None)
    from scipy.special import bdtr

    tail = (1 - confidence) / 2
    ordered = sorted(values)
    # The largest place that so few lie below, and the smallest that so many do: by counting, n log n at most.
    low = _first(n, lambda place: bdtr(place, n, share) > tail)
    high = _first(n, lambda place: bdtr(place, n, share) >= 1 - tail)
    return Bounds(
        ordered[(low - 1) * len(ordered) // n] if low > 0 else None,
        ordered[min(len(ordered) - 1, ((high + 1) * len(ordered) - 1) // n)] if high < n else None,
    )


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The first place from 0 to n where what is monotone holds."""
    near, far = 0, n
    while near < far:
        middle = (near + far) // 2
        if holds(middle):
            far = middle
        else:
            near = middle + 1
    return near


__all__ = ["Bounds", "quantile_bounds"]
