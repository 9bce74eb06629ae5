"""How long cases take, and how long a perfect scheduler would take for all of them.

A list schedule gives the next case of a list to whichever slot is free first. In the order of the dataset
that is the best that can be done where nothing is known about the cases; longest first is the classic rule
where durations are known, at most 4/3 of the optimum and in practice next to it.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterable, Sequence


def log_normal(cases: int, *, sigma: float, mean: float, seed: int) -> list[float]:
    """Durations drawn from a log-normal distribution, scaled so that their mean is exactly `mean`."""
    dice = random.Random(seed)
    drawn = [dice.lognormvariate(0.0, sigma) for _ in range(cases)]
    scale = mean * cases / sum(drawn)
    return [seconds * scale for seconds in drawn]


def list_schedule(durations: Iterable[float], *, slots: int) -> float:
    """When the last case ends if every slot that becomes free takes the next case at once."""
    free = [0.0] * slots
    for seconds in durations:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free)


def longest_first(durations: Sequence[float], *, slots: int) -> float:
    """The same with the longest cases at the head of the list."""
    return list_schedule(sorted(durations, reverse=True), slots=slots)
