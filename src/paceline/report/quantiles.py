"""Quantiles of a million values without a million objects.

Sorting an array of doubles makes a list of floats of four times its size. Only a few places of the order
are wanted, so the values are sorted into parts by pivots taken from a sample, and only parts that hold a
wanted place are ordered. The result is exact.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate

from paceline.report.shapes import Bin, Spread

_FEW = 1 << 15
"""Up to this many, all are sorted."""
_PIVOTS = 64
_SAMPLE = 4096
_NO_RANGE = 1e-9
"""Of the values themselves: parts of so little would not be told apart."""
_OF_A_SPREAD = (0.0, 0.5, 0.9, 0.95, 0.99, 1.0)


def spread(values: Iterable[float]) -> Spread:
    """The distribution of values."""
    kept = array("d", values)
    found: Sequence[float | None] = quantiles(kept, _OF_A_SPREAD) or [None] * len(_OF_A_SPREAD)
    low, p50, p90, p95, p99, high = found
    mean = math.fsum(kept) / len(kept) if kept else None
    return Spread(n=len(kept), mean=mean, min=low, p50=p50, p90=p90, p95=p95, p99=p99, max=high)


def histogram(values: Iterable[float], found: Spread, bins: int = 20) -> list[Bin]:
    """How many values lie in each of so many parts of their range, wider the larger the values are.

    `found` is their distribution. Where they span less than tenfold, or are not above 0, all parts are equal.
    """
    low, high = found.min, found.max
    if low is None or high is None:
        return []
    if high - low <= _NO_RANGE * max(abs(low), abs(high)):
        return [Bin(above=low, to=high, count=found.n)]
    if low > 0 and high > 10 * low:
        first, last = math.log(low), math.log(high)
        ends = [math.exp(first + (last - first) * place / bins) for place in range(1, bins)]
    else:
        ends = [low + (high - low) * place / bins for place in range(1, bins)]
    ends.append(high)
    counts = [0] * bins
    for value in values:
        counts[min(bisect_left(ends, value), bins - 1)] += 1
    return [
        Bin(above=above, to=to, count=count)
        for above, to, count in zip([low, *ends], ends, counts, strict=False)
    ]


def quantiles(values: array[float], wanted: Sequence[float]) -> list[float] | None:
    """The quantiles of values in any order, by linear interpolation (NumPy's default); None of none."""
    if not values:
        return None
    last = len(values) - 1
    below = [math.floor(q * last) for q in wanted]
    at = in_order_at(values, {*below, *(min(place + 1, last) for place in below)})
    return [
        _between(at[place], at[min(place + 1, last)], q * last - place)
        for q, place in zip(wanted, below, strict=True)
    ]


def _between(low: float, high: float, share: float) -> float:
    # From the nearer end, as NumPy does it: the result is then exact at both.
    step = high - low
    return high - step * (1 - share) if share >= 0.5 else low + step * share


def in_order_at(values: array[float], places: Collection[int]) -> dict[int, float]:
    """What would stand at these places if the values were sorted."""
    if len(values) <= _FEW:
        ordered = sorted(values)
        return {place: ordered[place] for place in places}
    sample = sorted(values[:: len(values) // _SAMPLE])
    pivots = sorted(set(sample[:: len(sample) // _PIVOTS]))
    sizes = [0] * (2 * len(pivots) + 1)
    for part in _parts(values, pivots):
        sizes[part] += 1
    ends = list(accumulate(sizes))
    part_of = {place: bisect_right(ends, place) for place in places}
    members: dict[int, list[float]] = {part: [] for part in part_of.values() if part % 2 == 0}
    for value, part in zip(values, _parts(values, pivots), strict=True):
        if part in members:
            members[part].append(value)
    for each in members.values():
        each.sort()
    return {
        place: members[part][place - ends[part] + sizes[part]] if part in members else pivots[part // 2]
        for place, part in part_of.items()
    }


def _parts(values: array[float], pivots: list[float]) -> Iterator[int]:
    """The part of each value: even ones lie between pivots, odd ones hold what equals a pivot.

    Without the odd ones, a value that most rows have would make one part of nearly all of them.
    """
    beyond = [*pivots, math.inf]
    for value in values:
        place = bisect_left(pivots, value)
        yield 2 * place + (beyond[place] == value)


__all__ = ["histogram", "in_order_at", "quantiles", "spread"]
