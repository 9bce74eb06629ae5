"""How sure one can be of a proportion.

Wilson's interval is written out here (three lines, held against SciPy in the tests), because loading
`scipy.stats` costs half a second and 60 MB at the end of every run. It keeps what it promises at small n
and at 0 % and 100 %, where the textbook interval does not: on average over samples it holds the truth as
often as it says. Clopper and Pearson's is for where it must do so whatever the truth is; it is wider.

Knows counts. What cannot be known from nothing is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from paceline.statistics.interval import CONFIDENCE, Interval, normal_quantile, student_quantile


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> Interval | None:
    """Wilson's score interval for `successes` out of `n`; None where nothing was observed."""
    if n <= 0:
        return None
    return score_interval(successes, n, normal_quantile(confidence), confidence)


def score_interval(successes: float, n: float, z: float, confidence: float) -> Interval:
    """Wilson's, `z` standard errors wide on either side."""
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


def clopper_pearson(successes: int, n: int, confidence: float = CONFIDENCE) -> Interval | None:
    """The exact interval: whatever the truth is, it holds it at least this often; None of nothing."""
    if n <= 0:
        return None
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    return Interval(
        low=0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail)),
        high=1.0 if successes == n else float(betaincinv(successes + 1, n - successes, 1 - tail)),
        confidence=confidence,
        n=n,
    )


def clustered(
    groups: Iterable[tuple[float, int]], confidence: float = CONFIDENCE, *, most: float | None = None
) -> Interval | None:
    """Wilson's interval where observations come in groups that hang together, such as repeats of one case.

    Each group is (successes, size). The spread between groups tells how many independent observations the
    sample is worth (its cluster-robust variance against that of a plain sample), and Wilson's formula is
    given that number instead of n, and Student's quantile, because few groups tell the spread badly. It is
    never worth more than the observations that there are, or than `most` where a success is no whole one: a
    mean of several tells more. Where all agree, nothing can be told from the spread, and groups are counted.
    """
    counted = [(successes, size) for successes, size in groups if size]
    n = sum(size for _, size in counted)
    if not n:
        return None
    share = math.fsum(successes for successes, _ in counted) / n
    count = len(counted)
    if count < 2 or share <= 0 or share >= 1:
        return wilson(share * count, count, confidence)
    squares = math.fsum((successes - share * size) ** 2 for successes, size in counted)
    error = squares * count / (count - 1) / (n * n)
    limit = float(n if most is None else most)
    worth = min(limit, max(1.0, share * (1 - share) / error)) if error else limit
    return score_interval(share * worth, worth, student_quantile(count - 1, confidence), confidence)


__all__ = ["Interval", "clopper_pearson", "clustered", "score_interval", "wilson"]
