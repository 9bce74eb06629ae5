"""Do two columns, or several people, say the same? Agreement, which a correlation is blind to.

A judge that is a point too generous everywhere correlates perfectly, and never agrees. Quadratic-weighted
kappa charges the square of every difference against what chance would bring. Krippendorff's alpha is for any
number of people, of whom each may have left things out.

None stands for what is undefined: where nothing differs, chance agrees as often as anyone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from paceline.statistics.interval import CONFIDENCE, Interval
from paceline.statistics.resampling import AT_ONCE, DRAWS, Cells, Statistic, Values, bootstrap

Metric: TypeAlias = Literal["nominal", "ordinal", "interval"]
"""How far two labels lie apart: they differ or not; by the ranks between them; by their difference."""

MOST_LEVELS: Final = 64
"""Different labels up to which alpha has an interval: its table has the square of their number."""
_NOTHING: Final = 1e-12


def quadratic_kappa(cells: Cells, first: int, second: int) -> Statistic:
    """Quadratic-weighted kappa of two columns on one scale, from weights.

    Distances are those of the values themselves, so on whole numbers it is Cohen's weighted kappa, and on any
    others Lin's coefficient of concordance, which are the same thing.
    """
    x, y = cells.columns[first], cells.columns[second]

    def kappa(weights: Values) -> Values:
        n = weights.sum(axis=1)
        mean_x, mean_y = weights @ x / n, weights @ y / n
        observed = weights @ (x - y) ** 2 / n
        spread_x = np.maximum(weights @ x**2 / n - mean_x**2, 0.0)
        spread_y = np.maximum(weights @ y**2 / n - mean_y**2, 0.0)
        by_chance = spread_x + spread_y + (mean_x - mean_y) ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(by_chance > _NOTHING, 1 - observed / by_chance, np.nan)

    return kappa


class Agreement(NamedTuple):
    """Krippendorff's alpha, and what stands behind it."""

    alpha: float | None
    interval: Interval | None
    units: int
    """Things that two people at least have labelled; the others say nothing of agreement."""
    labels: int
    """On those."""


def krippendorff(
    ratings: Sequence[Sequence[float | None]],
    metric: Metric,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    confidence: float = CONFIDENCE,
) -> Agreement:
    """Krippendorff's alpha of the labels that each thing was given; None is a label that is missing.

    The interval comes from resampling the things. It is None where there are more than 64 different labels.
    """
    paired = [given for each in ratings if len(given := [value for value in each if value is not None]) > 1]
    labels = sum(map(len, paired))
    if not paired:
        return Agreement(None, None, 0, 0)
    flat = np.asarray([value for each in paired for value in each], dtype=np.float64)
    levels, level_of = np.unique(flat, return_inverse=True)
    splits = np.cumsum([len(each) for each in paired])[:-1]
    by_unit = np.split(level_of.ravel(), splits)
    statistic = _alpha(levels, metric)
    if len(levels) > MOST_LEVELS:
        total = sum(_coincidences(each, len(levels)) for each in by_unit)
        (alpha,) = statistic(np.asarray(total)[None, ...])
        return Agreement(_known(alpha), None, len(paired), labels)
    tables = np.stack([_coincidences(each, len(levels)).ravel() for each in by_unit])
    cells = Cells(np.arange(len(paired)))

    def from_weights(weights: Values) -> Values:
        parts = np.array_split(weights @ tables, math.ceil(len(weights) * len(levels) ** 2 / AT_ONCE))
        return np.concatenate([statistic(part.reshape(-1, len(levels), len(levels))) for part in parts])

    interval = bootstrap(from_weights, cells, rng, draws=draws, confidence=confidence)
    return Agreement(cells.of_all(from_weights), interval, len(paired), labels)


def _coincidences(levels: np.ndarray[tuple[int], np.dtype[np.intp]], count: int) -> Values:
    """The table of pairs of labels that one thing was given, each label counted once in all."""
    given = np.bincount(levels, minlength=count).astype(np.float64)
    return (np.outer(given, given) - np.diag(given)) / (len(levels) - 1)


def _alpha(levels: Values, metric: Metric) -> Statistic:
    """Alpha, from tables of coincidences, one for each resample."""

    def alpha(tables: Values) -> Values:
        margins = tables.sum(axis=2)
        apart = _distances(levels, margins, metric)
        n = margins.sum(axis=1)
        observed = (tables * apart).sum(axis=(1, 2))
        by_chance = np.einsum("bi,bj,bij->b", margins, margins, apart) / (n - 1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(by_chance > _NOTHING, 1 - observed / by_chance, np.nan)

    return alpha


def _distances(levels: Values, margins: Values, metric: Metric) -> Values:
    """The square of how far each label lies from each other one, for each resample."""
    if metric == "nominal":
        apart = (levels[:, None] != levels[None, :]).astype(np.float64)
        return np.broadcast_to(apart, (len(margins), *apart.shape))
    if metric == "interval":
        apart = (levels[:, None] - levels[None, :]) ** 2
        return np.broadcast_to(apart, (len(margins), *apart.shape))
    ranks = np.cumsum(margins, axis=1) - margins / 2
    distances: Values = (ranks[:, :, None] - ranks[:, None, :]) ** 2
    return distances


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


__all__ = ["Agreement", "Metric", "krippendorff", "quadratic_kappa"]
