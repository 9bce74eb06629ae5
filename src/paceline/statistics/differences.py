"""How far one column lies above another: the mean of paired differences, with Student's interval.

Where observations come in clusters, the sum of each cluster is what varies, and there are as many degrees of
freedom as clusters, less one (Miller 2024, after Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import fmean

from paceline.statistics.interval import CONFIDENCE, Interval


def mean_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Where the mean is likely to lie; None where there are fewer than two observations or clusters."""
    if not values:
        return None
    mean, n = fmean(values), len(values)
    sums: dict[Hashable, float] = {}
    for cluster, value in zip(clusters if clusters is not None else range(n), values, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + (value - mean)
    units = len(sums)
    if units < 2:
        return None
    error = math.sqrt(math.fsum(each * each for each in sums.values()) * units / (units - 1)) / n
    half = student_quantile(units - 1, confidence) * error
    return Interval(low=mean - half, high=mean + half, confidence=confidence, n=units)


def student_quantile(freedom: int, confidence: float) -> float:
    """Standard errors on either side of a mean that hold the truth this often."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2))


__all__ = ["mean_interval", "student_quantile"]
