"""Do two columns put things in the same order? Rank correlations, and how sure one can be of them.

Spearman's is computed from weights, so that thousands of resamples take no longer than a moment; ties share
their middle rank. Its interval is the bootstrap's, bounded by what so few observations can show at all: where
every one of them agrees, resampling finds nothing but agreement, and would be sure of it after five.

None stands for what is undefined: a column whose values are all the same has no order.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from paceline.statistics.interval import CONFIDENCE, Interval
from paceline.statistics.planning import bonett_wright
from paceline.statistics.resampling import DRAWS, Cells, Indices, Statistic, Values, bootstrap

FEWEST: Final = 10
"""Units from which on there is something to draw from; below that the interval is the closed form's."""


def spearman(x: ArrayLike, y: ArrayLike) -> float | None:
    """Spearman's rank correlation."""
    cells = Cells(x, y)
    return cells.of_all(rank_correlation(cells, 0, 1))


def spearman_interval(
    x: ArrayLike,
    y: ArrayLike,
    rng: np.random.Generator,
    *,
    clusters: Sequence[Hashable] | None = None,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Interval | None:
    """Where Spearman's correlation is likely to lie, by resampling items, or the clusters they are in."""
    cells = Cells(x, y, clusters=clusters)
    statistic = rank_correlation(cells, 0, 1)
    observed = cells.of_all(statistic)
    if observed is None:
        return None
    if cells.units < FEWEST:
        found = bonett_wright(observed, cells.units, confidence)
    else:
        found = bootstrap(statistic, cells, rng, draws=draws, confidence=confidence)
    if found is None:
        return None
    most = most_that_agreement_shows(cells, confidence)
    return Interval(
        low=min(found.low, most), high=max(found.high, -most), confidence=confidence, n=cells.units
    )


def most_that_agreement_shows(cells: Cells, confidence: float = CONFIDENCE) -> float:
    """The lower bound that full agreement of so many units would give; no sample can show more.

    Take a judge that knows the order of a share of the items, and answers the others at random: its
    correlation is that share. It is not yet refuted by n items without a disagreement if it gets there in one
    sample of forty. The coarser the scale, the more often a random answer agrees.
    """
    if not cells.units:
        return -1.0
    disagree = min(_differ(column, cells.counts) for column in cells.columns[:2])
    errors = 1 - ((1 - confidence) / 2) ** (1 / cells.units)
    return 1 - errors / disagree if disagree > errors / 2 else -1.0


def _differ(column: Values, counts: Values) -> float:
    """The chance that two observations drawn at random differ."""
    _, level_of = np.unique(column, return_inverse=True)
    shares = np.bincount(level_of.ravel(), weights=counts) / counts.sum()
    return float(1 - (shares**2).sum())


def rank_correlation(cells: Cells, first: int, second: int) -> Statistic:
    """Spearman's correlation of two of the columns, from weights."""
    x, y = _Levels(cells.columns[first]), _Levels(cells.columns[second])

    def correlation(weights: Values) -> Values:
        n = weights.sum(axis=1, keepdims=True)
        of_x, spread_x = x.ranks(weights, n)
        of_y, spread_y = y.ranks(weights, n)
        together = np.einsum("ij,ij,ij->i", weights, of_x, of_y)
        with np.errstate(invalid="ignore", divide="ignore"):
            found = together / np.sqrt(spread_x * spread_y)
        return np.where((spread_x > _NO_SPREAD) & (spread_y > _NO_SPREAD), found.clip(-1, 1), np.nan)

    return correlation


_NO_SPREAD: Final = 1e-9


class _Levels:
    """The different values of a column, in order."""

    def __init__(self, column: Values) -> None:
        order = np.argsort(column, kind="stable")
        ordered = column[order]
        first = np.concatenate([[True], ordered[1:] != ordered[:-1]])
        self._starts: Indices = np.flatnonzero(first)
        self._level_of: Indices = np.empty(len(column), dtype=np.intp)
        self._level_of[order] = np.cumsum(first) - 1
        self._order: Indices | None = None if (order[:-1] < order[1:]).all() else order

    def ranks(self, weights: Values, n: Values) -> tuple[Values, Values]:
        """The rank of each cell, less the middle one, and the sum of their squares."""
        ordered = weights if self._order is None else np.take(weights, self._order, axis=1)
        if len(self._starts) == weights.shape[1]:
            per_level = ordered
        else:
            per_level = np.add.reduceat(ordered, self._starts, axis=1)
        ranks = np.cumsum(per_level, axis=1)
        ranks -= per_level / 2
        ranks -= n / 2
        spread = np.einsum("ij,ij,ij->i", per_level, ranks, ranks)
        return np.take(ranks, self._level_of, axis=1), spread


def kendall(x: ArrayLike, y: ArrayLike) -> float | None:
    """Kendall's tau-b, which takes ties into account."""
    from scipy.stats import kendalltau

    if len(np.atleast_1d(x)) < 2:
        return None
    found = float(kendalltau(x, y, variant="b").statistic)
    return found if math.isfinite(found) else None


def partial_correlation(cells: Cells, first: int, second: int, given: int) -> Statistic:
    """Spearman's correlation of two columns, with what both have in common with a third one taken out."""
    of_both = rank_correlation(cells, first, second)
    of_first = rank_correlation(cells, first, given)
    of_second = rank_correlation(cells, second, given)

    def partial(weights: Values) -> Values:
        both, one, other = of_both(weights), of_first(weights), of_second(weights)
        left = (1 - one**2) * (1 - other**2)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(left > _NO_SPREAD, (both - one * other) / np.sqrt(left), np.nan)

    return partial


__all__ = [
    "kendall",
    "most_that_agreement_shows",
    "partial_correlation",
    "rank_correlation",
    "spearman",
    "spearman_interval",
]
