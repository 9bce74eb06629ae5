"""How sure one can be of a mean, of scores or of paired differences: Student's interval, or Wilson's.

Where observations come in clusters, such as repeats of a case or questions on one passage, the sum of each
cluster is what varies, and there are as many degrees of freedom as clusters, less one (Miller 2024, after
Liang and Zeger 1986). With fewer than thirty clusters of very different sizes it is a little too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import Final, NamedTuple

from paceline.statistics.interval import CONFIDENCE, Interval, student_quantile
from paceline.statistics.proportions import score_interval, wilson

_NO_SPREAD: Final = 1e-9


def mean_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Where the mean is likely to lie; None where there are fewer than two observations or clusters."""
    error = standard_error(values, clusters=clusters)
    if error is None:
        return None
    mean, half = fmean(values), student_quantile(error.units - 1, confidence) * error.of_mean
    return Interval(low=mean - half, high=mean + half, confidence=confidence, n=error.units)


def fitting_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Where the mean of scores is likely to lie: `share_interval` if all are between 0 and 1, else Student's.

    None where there are fewer than two observations or clusters, and where there is no spread: a point would
    claim more than anyone knows.
    """
    if values and min(values) >= 0 and max(values) <= 1:
        return share_interval(values, clusters=clusters, confidence=confidence)
    found = mean_interval(values, clusters=clusters, confidence=confidence)
    return found if found is not None and found.low < found.high else None


def share_interval(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Where the mean of values between 0 and 1 is likely to lie: Wilson's, by what the sample is worth.

    It stays between 0 and 1, and holds the truth where most values are the same, which Student's does not.
    None where there are fewer than two observations or clusters, and where there is no spread: nothing then
    tells how far others may differ. Where all are 0, or all are 1, observations or clusters are counted.
    """
    error = standard_error(values, clusters=clusters)
    if error is None:
        return None
    mean = fmean(values)
    if mean in (0, 1):
        return wilson(mean * error.units, error.units, confidence)
    if error.of_mean < _NO_SPREAD:
        return None
    worth = max(1.0, mean * (1 - mean) / error.of_mean**2)
    return score_interval(mean * worth, worth, student_quantile(error.units - 1, confidence), confidence)


class StandardError(NamedTuple):
    """How far the mean of a sample is spread."""

    of_mean: float
    units: int
    """Clusters, or observations where each stands for itself."""


def standard_error(
    values: Sequence[float], *, clusters: Sequence[Hashable] | None = None
) -> StandardError | None:
    """The standard error of the mean; None where there are fewer than two observations or clusters."""
    if not values:
        return None
    mean, n = fmean(values), len(values)
    sums: dict[Hashable, float] = {}
    for cluster, value in zip(clusters, values, strict=True) if clusters is not None else ():
        sums[cluster] = sums.get(cluster, 0.0) + (value - mean)
    units = n if clusters is None else len(sums)
    if units < 2:
        return None
    apart = (value - mean for value in values) if clusters is None else sums.values()
    squares = math.fsum(each * each for each in apart)
    return StandardError(math.sqrt(squares * units / (units - 1)) / n, units)


__all__ = ["StandardError", "fitting_interval", "mean_interval", "share_interval", "standard_error"]
