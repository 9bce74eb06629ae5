"""How sure one can be of a proportion.

Wilson's interval is written out here (three lines, held against SciPy in the tests), because loading
`scipy.stats` costs half a second and 60 MB at the end of every run. It keeps what it promises at small n
and at 0 % and 100 %, where the textbook interval does not.

Knows counts. What cannot be known from nothing is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from paceline.statistics.interval import CONFIDENCE, Interval, normal_quantile


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval for `successes` out of `n`; None where nothing was observed."""
    if n <= 0:
        return None
    z = normal_quantile(confidence)
    share = successes / n
    middle = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return Interval(
        # At the ends the exact bound is known, and rounding must not move it.
        low=0.0 if successes <= 0 else max(0.0, (middle - half) / scale),
        high=1.0 if successes >= n else min(1.0, (middle + half) / scale),
        confidence=confidence,
        n=n,
    )


def clustered(groups: Iterable[tuple[int, int]], confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's interval where observations come in groups that hang together, such as repeats of one case.

    Each group is (successes, size). The spread between groups tells how many independent observations the
    sample is worth (its cluster-robust variance against that of a plain sample), and Wilson's formula is
    given that number instead of n. It is never more than the number of groups: five repeats of three cases
    tell nothing of a fourth one. Where all agree, nothing can be told from the spread, and it is that number.
    """
    counted = [(successes, size) for successes, size in groups if size]
    n = sum(size for _, size in counted)
    if not n:
        return None
    share = sum(successes for successes, _ in counted) / n
    effective = min(float(len(counted)), max(1.0, _effective_size(counted, n, share)))
    return wilson(share * effective, effective, confidence)


def _effective_size(groups: Sequence[tuple[int, int]], n: int, share: float) -> float:
    count = len(groups)
    if count < 2 or share in (0.0, 1.0):
        return count
    squares = sum((successes - share * size) ** 2 for successes, size in groups)
    variance = squares * count / (count - 1) / (n * n)
    return share * (1 - share) / variance if variance else n


__all__ = ["Interval", "clustered", "wilson"]
