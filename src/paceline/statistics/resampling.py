"""The bootstrap: what else might have been found, by drawing from what was found.

Observations that are alike are put together in a cell. A resample is then no copy of them but a row of
weights: how often each cell was drawn. A statistic that is computed from weights is computed for thousands of
rows at once, and nothing is sorted anew; a thousand observations and ten thousand resamples take a fraction
of a second.

The interval is BCa (Efron 1987), which sets right the bias and the skew of the plain one; how far each unit
pulls at the statistic (the jackknife) tells how skewed it is. Where observations come in clusters, such as
several answers to one question, whole clusters are drawn.

Knows columns of numbers. Knows nothing of what is computed from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paceline.statistics.interval import CONFIDENCE, Interval, normal_quantile

Values: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Statistic: TypeAlias = Callable[[Values], Values]
"""From weights, a row for each resample and a column for each cell, to a value for each row.

NaN is undefined: a resample whose values are all the same has no correlation.
"""

DRAWS: Final = 10_000
FEWEST_DRAWS: Final = 2_000
MOST_WEIGHTS: Final = 20_000_000
"""Of all resamples together: above that there are fewer of them, but never fewer than `FEWEST_DRAWS`."""
BLOCKS: Final = 1_000
"""Units that are left out one by one; more of them are left out in so many blocks."""
AT_ONCE: Final = 1 << 16
"""Weights that are worked on at once: as many as stay in the processor's cache."""


class Cells:
    """Observations, each a row of values, with like ones put together; and the units they are drawn in."""

    def __init__(self, *columns: ArrayLike, clusters: Sequence[Hashable] | None = None) -> None:
        rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
        self.n = len(rows)
        if clusters is None:
            found, cell_of, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
            self._cell_of: Indices = cell_of.ravel()
            self._cluster_of: Indices | None = None
            self.counts: Values = counts.astype(np.float64)
            self.units = self.n
        else:
            # In their order all the same: ranks are read off it.
            order = np.lexsort(rows.T[::-1])
            found, self._cell_of = rows[order], np.arange(self.n, dtype=np.intp)
            numbers: dict[Hashable, int] = {}
            numbered = [numbers.setdefault(cluster, len(numbers)) for cluster in clusters]
            self._cluster_of = np.asarray(numbered, dtype=np.intp)[order]
            self.counts = np.ones(self.n)
            self.units = len(numbers)
        self.columns: tuple[Values, ...] = tuple(np.ascontiguousarray(column) for column in found.T)

    def of_all(self, statistic: Statistic) -> float | None:
        """The statistic of the observations as they are; None where it is undefined."""
        (value,) = statistic(self.counts[None, :])
        return float(value) if math.isfinite(value) else None

    def draw(self, rows: int, rng: np.random.Generator) -> Values:
        """So many resamples, as weights."""
        if self._cluster_of is not None:
            return self._drawn(self.units, rows, rng)[:, self._cluster_of]
        if len(self.counts) == self.n:
            return self._drawn(self.n, rows, rng)
        return rng.multinomial(self.n, self.counts / self.n, size=rows).astype(np.float64)

    @staticmethod
    def _drawn(units: int, rows: int, rng: np.random.Generator) -> Values:
        """How often each of these units was drawn. Quicker than the multinomial where each stands once."""
        chosen = rng.integers(units, size=(rows, units))
        chosen += np.arange(rows)[:, None] * units
        return np.bincount(chosen.ravel(), minlength=rows * units).reshape(rows, units).astype(np.float64)

    def left_out(self, rng: np.random.Generator) -> Iterator[tuple[Values, Values]]:
        """Weights without a unit, or a block of them, each; and how many such rows each stands for."""
        blocks = min(self.units, BLOCKS)
        if self._cluster_of is not None:
            lot = rng.permutation(self.units)[self._cluster_of] % blocks
            without = np.zeros((blocks, len(self.counts)))
            without[lot, np.arange(self.n)] = 1.0
        elif len(self.counts) <= BLOCKS:
            for part in _parts(len(self.counts), len(self.counts)):
                yield self.counts - np.eye(len(self.counts))[part], self.counts[part]
            return
        else:
            lot = rng.permutation(self.n) % blocks
            flat = np.bincount(lot * len(self.counts) + self._cell_of, minlength=blocks * len(self.counts))
            without = flat.reshape(blocks, -1).astype(np.float64)
        for part in _parts(blocks, len(self.counts)):
            yield self.counts - without[part], np.ones(len(without[part]))


def bootstrap(
    statistic: Statistic,
    cells: Cells,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
    span: tuple[float, float] = (-1.0, 1.0),
) -> Interval | None:
    """Where the statistic is likely to lie; None where it is undefined for what was observed.

    It can have no value outside of `span`. A resample for which it is undefined counts as the worst there is
    at the low end, and as the best at the high end.
    """
    observed = cells.of_all(statistic)
    if observed is None:
        return None
    drawn = resampled(statistic, cells, rng, draws=draws)
    defined = drawn[np.isfinite(drawn)]
    bias, skew = _bias(defined, observed), _skew(statistic, cells, observed, rng)
    z = normal_quantile(confidence)
    worst, best = (np.sort(np.where(np.isfinite(drawn), drawn, end)) for end in span)
    return Interval(
        low=min(observed, _at(worst, _corrected(-z, bias, skew))),
        high=max(observed, _at(best, _corrected(z, bias, skew))),
        confidence=confidence,
        n=cells.units,
    )


def resampled(statistic: Statistic, cells: Cells, rng: np.random.Generator, *, draws: int = DRAWS) -> Values:
    """The statistic of each resample."""
    cell_count = len(cells.counts)
    draws = min(draws, max(FEWEST_DRAWS, MOST_WEIGHTS // cell_count))
    parts = [statistic(cells.draw(part.stop - part.start, rng)) for part in _parts(draws, cell_count)]
    return np.concatenate(parts)


def _parts(rows: int, columns: int) -> Iterator[slice]:
    step = max(1, AT_ONCE // columns)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def _bias(defined: Values, observed: float) -> float:
    """How far the middle of the resamples lies from what was observed, in standard errors."""
    if not len(defined):
        return 0.0
    slack = 1e-12 * max(1.0, abs(observed))  # ties are many, and rounding must not part them
    below = np.count_nonzero(defined < observed - slack)
    level = np.count_nonzero(np.abs(defined - observed) <= slack)
    share = (below + level / 2) / len(defined)
    return _normal(min(max(share, 1 / len(defined)), 1 - 1 / len(defined)))


def _skew(statistic: Statistic, cells: Cells, observed: float, rng: np.random.Generator) -> float:
    """The acceleration of BCa, from the jackknife."""
    values, weights = [], []
    for rows, stand_for in cells.left_out(rng):
        values.append(statistic(rows))
        weights.append(stand_for)
    without, weight = np.concatenate(values), np.concatenate(weights)
    without = np.where(np.isfinite(without), without, observed)
    pull = np.average(without, weights=weight) - without
    squares = float((weight * pull**2).sum())
    return float((weight * pull**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def _corrected(z: float, bias: float, skew: float) -> float:
    """The share of resamples below the end of the interval that a plain one would put `z` away."""
    from statistics import NormalDist

    moved = bias + z
    scale = 1 - skew * moved
    if scale <= 0:
        return 0.0 if z < 0 else 1.0
    return NormalDist().cdf(bias + moved / scale)


def _normal(share: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(share)


def _at(ordered: Values, share: float) -> float:
    """The value that this share of the ordered ones lies below."""
    return float(ordered[min(int(share * len(ordered)), len(ordered) - 1)])


__all__ = ["DRAWS", "Cells", "Statistic", "Values", "bootstrap", "resampled"]
