"""Two runs on the same cases: how far the second lies above the first, and whether that may be chance.

What differs between cases cancels out where each is held against itself, so the same cases tell far smaller
differences than two samples of them would. Values of yes and no (0 and 1) and graded ones are told apart:

    0 and 1     exact McNemar test; Tango's score interval, which holds at small n and without any
                disagreement, where the textbook one is a point
    graded      sign-flip permutation test; Student's interval

Where observations come in clusters, such as repeats of one case, the cluster is what counts: its sum is
flipped as a whole, and the interval goes by the spread between clusters. The p-value is what decides; the
interval says how large the difference may be, and close to the line the two may differ.

None stands for what cannot be known: the interval of differences that show no spread. Chance is an argument;
it is drawn from only where there are too many sign patterns to go through them all.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from paceline.statistics.interval import CONFIDENCE, Interval, normal_quantile, student_quantile
from paceline.statistics.means import StandardError, mean_interval, standard_error
from paceline.statistics.power import smallest_mean, smallest_paired

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ENUMERATED: Final = 20
"""Clusters with a difference up to which all sign patterns are gone through: half a million at most."""
DRAWS: Final = 10_000
FEWEST_DRAWS: Final = 2_000
MOST_SIGNS: Final = 100_000_000
"""Signs drawn in all: above that there are fewer draws, but never fewer than `FEWEST_DRAWS`."""
_SIGNS_AT_ONCE: Final = 1 << 22
_ROUNDING: Final = 1e-9
_HALVINGS: Final = 60

Test = Literal["mcnemar", "sign flips", "sampled sign flips"]


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """What pairs of observations say of the difference between two columns."""

    n: int
    """Pairs."""
    units: int
    """Clusters of pairs; as many as pairs where each stands for itself."""
    first: float
    """Mean of the first column."""
    second: float
    difference: float
    """Second less first."""
    interval: Interval | None
    only_first: int | None
    """Pairs in which only the first is 1; None of graded values."""
    only_second: int | None
    p: float
    """The chance of a difference at least so large, either way, if only chance told the columns apart."""
    test: Test
    """Where that is from."""
    detectable: float | None
    """The smallest difference that so many pairs find four times in five; None where it cannot be told."""


class SignFlips(NamedTuple):
    """What a sign-flip test found."""

    p: float
    draws: int | None
    """Sign patterns drawn; None where all were gone through."""


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    rng: np.random.Generator,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = CONFIDENCE,
) -> PairedDifference | None:
    """How far the second column lies above the first one; None where there is no pair.

    A pair stands at the same place of both columns, and of `clusters` where there are any.
    """
    if not first and not second:
        return None
    differences = [float(after) - before for before, after in zip(first, second, strict=True)]
    if not all(map(math.isfinite, differences)):
        raise ValueError("a difference is not a number: a value is infinite or NaN")
    units = len(differences) if clusters is None else len(set(clusters))
    binary = _are_binary(first) and _are_binary(second)
    gained, lost = (sum(each == sign for each in differences) for sign in (1, -1))
    judged = (
        _alone(lost, gained, units, confidence)
        if binary and units == len(differences)
        else _together(differences, clusters, rng, confidence, binary=binary)
    )
    return PairedDifference(
        n=len(differences),
        units=units,
        first=fmean(first),
        second=fmean(second),
        difference=fmean(differences),
        interval=judged.interval,
        only_first=lost if binary else None,
        only_second=gained if binary else None,
        p=judged.p,
        test=judged.test,
        detectable=judged.detectable,
    )


class _Judged(NamedTuple):
    p: float
    test: Test
    interval: Interval | None
    detectable: float | None


def _alone(lost: int, gained: int, n: int, confidence: float) -> _Judged:
    """Pairs of yes and no, each for itself."""
    return _Judged(
        mcnemar(lost, gained),
        "mcnemar",
        tango(lost, gained, n, confidence),
        smallest_paired(n, (lost + gained) / n, confidence=confidence),
    )


def _together(
    differences: Sequence[float],
    clusters: Sequence[Hashable] | None,
    rng: np.random.Generator,
    confidence: float,
    *,
    binary: bool,
) -> _Judged:
    """Graded pairs, or pairs in clusters."""
    flips, error = (
        sign_flips(differences, rng, clusters=clusters),
        standard_error(differences, clusters=clusters),
    )
    interval = None
    if error is not None and binary:
        interval = _yes_or_no_in_clusters(differences, error, confidence)
    elif error is not None and error.of_mean:  # without spread it would be a point, which claims too much
        interval = mean_interval(differences, clusters=clusters, confidence=confidence)
    return _Judged(
        flips.p,
        "sign flips" if flips.draws is None else "sampled sign flips",
        interval,
        smallest_mean(*error, confidence=confidence) if error is not None else None,
    )


def _are_binary(values: Sequence[float]) -> bool:
    return all(value in (0, 1) for value in values)


# Yes or no


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact McNemar test: p of these two numbers of pairs that disagree, both ways."""
    from scipy.special import bdtr

    return min(1.0, 2 * float(bdtr(min(only_first, only_second), only_first + only_second, 0.5)))


def tango(only_first: float, only_second: float, n: float, confidence: float = CONFIDENCE) -> Interval | None:
    """Tango's score interval (1998) for the difference of two proportions in n pairs; None of no pair."""
    if n <= 0:
        return None
    return _score_interval(only_first, only_second, n, normal_quantile(confidence), confidence)


def _score_interval(lost: float, gained: float, n: float, z: float, confidence: float) -> Interval:
    return Interval(
        low=-_furthest(gained, lost, n, z),
        high=_furthest(lost, gained, n, z),
        confidence=confidence,
        n=n,
    )


def _furthest(lost: float, gained: float, n: float, z: float) -> float:
    """The greatest difference that lies no more than `z` standard errors above what was observed."""
    near, far = (gained - lost) / n, 1.0
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        if n * middle - (gained - lost) <= z * math.sqrt(n * _variance(lost, gained, n, middle)):
            near = middle
        else:
            far = middle
    return near


def _variance(lost: float, gained: float, n: float, difference: float) -> float:
    """Of one pair, were this the difference: with the share of losses that is then the likeliest."""
    b = difference * (2 * n - gained + lost) - (gained + lost)
    c = -lost * difference * (1 - difference)
    share = (math.sqrt(max(0.0, b * b - 8 * n * c)) - b) / (4 * n)
    return max(0.0, 2 * share + difference * (1 - difference))


def _yes_or_no_in_clusters(differences: Sequence[float], error: StandardError, confidence: float) -> Interval:
    """The score interval of as many pairs as the sample is worth, by the spread between clusters.

    Where they do not differ, nothing tells what a repeat is worth, and clusters are counted.
    """
    n, mean, units = len(differences), fmean(differences), error.units
    gained, lost = (sum(each == sign for each in differences) / n for sign in (1, -1))
    plain = gained + lost - mean * mean
    worth = min(float(n), plain / error.of_mean**2) if error.of_mean else float(units)
    z = student_quantile(units - 1, confidence)
    return _score_interval(lost * worth, gained * worth, worth, z, confidence)


# Graded


def sign_flips(
    differences: Sequence[float],
    rng: np.random.Generator,
    *,
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
) -> SignFlips:
    """The chance that flipping signs, cluster by cluster, takes the sum at least as far from 0 as it is.

    All patterns are gone through where no more than twenty clusters have a difference at all; otherwise so
    many are drawn, and what was observed counts as one of them, so that p is never 0 (Phipson, Smyth 2010).
    """
    sums = [each for each in _sums(differences, clusters).values() if each]
    slack = _ROUNDING * math.fsum(map(abs, sums))
    least = abs(math.fsum(sums)) - slack
    if least <= 0:
        return SignFlips(1.0, None)
    if len(sums) <= MOST_ENUMERATED:
        return SignFlips(_share_beyond(sums, least), None)
    draws = min(draws, max(FEWEST_DRAWS, MOST_SIGNS // len(sums)))
    beyond = int((abs(_drawn(sums, draws, rng)) >= least).sum())
    return SignFlips((1 + beyond) / (1 + draws), draws)


def _sums(differences: Sequence[float], clusters: Sequence[Hashable] | None) -> dict[Hashable, float]:
    sums: dict[Hashable, float] = {}
    for cluster, difference in zip(
        clusters if clusters is not None else range(len(differences)), differences, strict=True
    ):
        sums[cluster] = sums.get(cluster, 0.0) + difference
    return sums


def _share_beyond(sums: Sequence[float], least: float) -> float:
    """The share of all sign patterns whose sum is at least so far from 0."""
    import numpy as np

    # The other half of the patterns mirrors these, so the first sign stays as it is.
    reached = np.array([sums[0]])
    for each in sums[1:]:
        reached = np.concatenate([reached + each, reached - each])
    return float((abs(reached) >= least).mean())


def _drawn(sums: Sequence[float], draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Sums after so many draws of signs."""
    import numpy as np

    total = np.zeros(draws)
    single: list[float] = []
    # Of as many of the same size, only the number of pluses matters: graded values are often few.
    for size, count in Counter(map(abs, sums)).items():
        if count == 1:
            single.append(size)
        else:
            total += size * (2.0 * rng.binomial(count, 0.5, size=draws) - count)
    sizes = np.asarray(single)
    step = max(1, _SIGNS_AT_ONCE // max(1, draws))
    for start in range(0, len(sizes), step):
        part = sizes[start : start + step]
        signs = rng.integers(2, size=(draws, len(part)), dtype=np.int8)
        total += signs @ (2 * part) - part.sum()
    return total


__all__ = ["PairedDifference", "SignFlips", "mcnemar", "paired_difference", "sign_flips", "tango"]
