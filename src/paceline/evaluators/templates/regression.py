"""Templates about numbers: predicted ones against true ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from paceline.evaluators.templates.classification import same_length
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, measured
from paceline.evaluators.templates.kinds import Numbers


def pearson_correlation(output: Numbers, expected: Numbers) -> Finding:
    """Pearson's correlation, from -1 to 1; the score of one below 0 is 0."""
    same_length(output, expected)
    return _correlation(output, expected, "Pearson's r")


def spearman_correlation(output: Numbers, expected: Numbers) -> Finding:
    """Spearman's correlation of ranks, ties sharing theirs, from -1 to 1; the score of one below 0 is 0."""
    same_length(output, expected)
    return _correlation(ranks(output), ranks(expected), "Spearman's rho")


def _correlation(one: Sequence[float], other: Sequence[float], name: str) -> Finding:
    if len(one) < 2:
        raise Undefined(f"{name} wants two pairs at least")
    left, right = _centred(one), _centred(other)
    spread = math.sqrt(math.fsum(each**2 for each in left) * math.fsum(each**2 for each in right))
    if not spread:
        raise Undefined(f"one side is always the same, so there is no {name}")
    product = math.fsum(a * b for a, b in zip(left, right, strict=True))
    value = min(max(product / spread, -1.0), 1.0)
    return measured(value, f"{name} {value:.3f} of {len(one)} pairs", score=max(0.0, value))


def _centred(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value, from 1; those that are equal get the mean of their ranks."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values), start=1):
        places.setdefault(value, []).append(place)
    return [sum(places[value]) / len(places[value]) for value in values]


def r2_score(output: Numbers, expected: Numbers) -> Finding:
    """The share of the variance of what is expected that the output explains; the score of less than none
    is 0.
    """
    same_length(output, expected)
    spread = math.fsum(each**2 for each in _centred(expected))
    if not spread:
        raise Undefined("all expected numbers are the same, so there is no variance to explain")
    value = 1 - _squares(output, expected) / spread
    return measured(value, f"R² {value:.3f} of {len(expected)} pairs", score=max(0.0, value))


def _squares(output: Numbers, expected: Numbers) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(output, expected, strict=True))


def rmse(output: Numbers, expected: Numbers) -> Finding:
    """The root of the mean squared error, in the unit of the numbers. The score is 1 / (1 + error), and
    nothing passes or fails by it unless you give a threshold.
    """
    same_length(output, expected)
    error = math.sqrt(_squares(output, expected) / len(expected))
    return measured(error, f"error {error:.4g} over {len(expected)} pairs", score=1 / (1 + error))


TEMPLATES: Final = (
    computed(pearson_correlation, "Numeric"),
    computed(spearman_correlation, "Numeric"),
    computed(r2_score, "Numeric"),
    computed(rmse, "Numeric", threshold=None),
)
