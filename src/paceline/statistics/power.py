"""What a sample of this size can show: the smallest difference that it would find four times in five.

"No difference was found" says nothing by itself; beside the smallest one that would have been, it does.

Yes and no on the same cases: by the exact McNemar test itself, given how often the two disagree. Means: by
the error that the sample has, as Student's test sees it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, TypeAlias

from paceline.statistics.interval import CONFIDENCE, normal_quantile, student_quantile
from paceline.statistics.planning import POWER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Counts: TypeAlias = NDArray[np.intp]
    Numbers: TypeAlias = NDArray[np.float64]

_HALVINGS: Final = 40
_MANY: Final = 5_000
"""Disagreements from which on the normal distribution is as good as the exact one, and much quicker."""
_TAIL: Final = 8.0
"""Standard deviations on either side that hold all numbers of disagreements worth counting."""


def smallest_mean(
    error: float, units: int, *, confidence: float = CONFIDENCE, power: float = POWER
) -> float | None:
    """The smallest mean that is told from 0, where a mean has this standard error; None of no spread."""
    if units < 2 or error <= 0:
        return None
    return (student_quantile(units - 1, confidence) + student_quantile(units - 1, 2 * power - 1)) * error


def smallest_paired(
    n: int, disagree: float, *, confidence: float = CONFIDENCE, power: float = POWER
) -> float | None:
    """The smallest difference of two pass rates that the exact McNemar test finds in n pairs.

    `disagree` is the share of pairs of which one passes and the other does not; where the difference is
    larger than that, all who disagree do so in one direction. None where no difference would be found.
    """
    if n < 1 or power_of_mcnemar(n, 1.0, 1.0, confidence) < power:
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if power_of_mcnemar(n, middle, max(disagree, middle), confidence) < power:
            low = middle
        else:
            high = middle
    return high


def power_of_mcnemar(n: int, difference: float, disagree: float, confidence: float = CONFIDENCE) -> float:
    """How often the exact McNemar test finds this difference in n pairs of which so many disagree."""
    if disagree <= 0:
        return 0.0
    if n * disagree > _MANY:
        return _power_of_many(n, difference, disagree, confidence)
    import numpy as np
    from scipy.special import bdtr, bdtrc

    around, deviation = n * disagree, math.sqrt(n * disagree * (1 - disagree))
    first = max(1, math.floor(around - _TAIL * deviation) - 1)
    pairs = np.arange(first, min(n, math.ceil(around + _TAIL * deviation) + 1) + 1)
    lost = max(0.0, (disagree - difference) / (2 * disagree))
    most = _most_rejected(pairs, (1 - confidence) / 2)
    found = np.where(most >= 0, bdtr(most, pairs, lost) + bdtrc(pairs - most - 1, pairs, lost), 0.0)
    return float(_chances(pairs, n, disagree) @ found)


def _power_of_many(n: int, difference: float, disagree: float, confidence: float) -> float:
    """The same by the normal distribution (Connor 1987)."""
    from statistics import NormalDist

    error = math.sqrt(max(disagree - difference**2, 1e-300))
    beyond = normal_quantile(confidence) * math.sqrt(disagree)
    return NormalDist().cdf((difference * math.sqrt(n) - beyond) / error)


def _chances(successes: Counts, n: int, share: float) -> Numbers:
    """Of so many successes in n."""
    import numpy as np
    from scipy.special import betaln, xlog1py, xlogy

    ways = -math.log1p(n) - betaln(n - successes + 1, successes + 1)
    chances: Numbers = np.exp(ways + xlogy(successes, share) + xlog1py(n - successes, -share))
    return chances


def _most_rejected(pairs: Counts, tail: float) -> Numbers:
    """Of so many that disagree, the most that may be on the rarer side of a rejected sample; -1: none."""
    import numpy as np
    from scipy.special import bdtr, bdtrik

    most: Numbers = np.floor(np.nan_to_num(bdtrik(tail, pairs, 0.5), nan=-1.0)).clip(-1, pairs - 1)
    most += bdtr(most + 1, pairs, 0.5) <= tail  # the inverse is not exact
    most -= (most >= 0) & (bdtr(most.clip(0), pairs, 0.5) > tail)
    return most


__all__ = ["power_of_mcnemar", "smallest_mean", "smallest_paired"]
