"""Two samples of different things: is what tells them apart more than chance?

Where both are of the same cases, `paired` sees far more: what cases differ by cancels out there. This is for
a slice against the other cases, and for cases that have no counterpart.

Each observation is a unit, such as the share of a case's repeats that passed. Yes and no, and units that all
agree, go by Fisher's exact test; everything else by Welch's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean


def unpaired(first: Sequence[float], second: Sequence[float]) -> float | None:
    """The chance of means that lie so far apart, if only chance told the two apart; None where one is empty.

    None as well where one of them has a single unit whose spread is needed, and cannot be known.
    """
    if not first or not second:
        return None
    if {*first, *second} <= {0, 1}:
        return fisher(int(sum(first)), len(first), int(sum(second)), len(second))
    spreads = [_square_error(sample) for sample in (first, second)]
    if not all(spreads) and len(set(first)) == len(set(second)) == 1:
        # Constant within, so each unit of one is above each of the other, or none is.
        above = first[0] > second[0]
        below = first[0] < second[0]
        return fisher(len(first) * above, len(first), len(second) * below, len(second))
    if None in spreads:
        return None
    return _welch(fmean(first) - fmean(second), [(each or 0.0) for each in spreads], len(first), len(second))


def fisher(passed_first: int, n_first: int, passed_second: int, n_second: int) -> float:
    """Fisher's exact test of two proportions, two-sided."""
    from scipy.stats import fisher_exact

    table = [[passed_first, n_first - passed_first], [passed_second, n_second - passed_second]]
    return float(fisher_exact(table).pvalue)


def _square_error(sample: Sequence[float]) -> float | None:
    """The squared standard error of the mean; None of a single one."""
    n, mean = len(sample), fmean(sample)
    return math.fsum((each - mean) ** 2 for each in sample) / (n - 1) / n if n > 1 else None


def _welch(difference: float, spreads: Sequence[float], n_first: int, n_second: int) -> float:
    from scipy.special import stdtr

    error = sum(spreads)
    freedom = error**2 / (spreads[0] ** 2 / (n_first - 1) + spreads[1] ** 2 / (n_second - 1))
    return 2 * float(stdtr(freedom, -abs(difference) / math.sqrt(error)))


__all__ = ["fisher", "unpaired"]
