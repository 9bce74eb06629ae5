"""Agreement, held against published values and against other people's definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.agreement import Metric, krippendorff, quadratic_kappa
from paceline.statistics.resampling import Cells

NAN = None
# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability": four observers, twelve units.
PUBLISHED: list[list[float | None]] = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


@pytest.mark.parametrize(
    ("metric", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_has_the_published_values_where_labels_are_missing(metric: Metric, published: float) -> None:
    found = krippendorff(list(zip(*PUBLISHED, strict=True)), metric, np.random.default_rng(0), draws=2_000)
    assert found.alpha == pytest.approx(published, abs=0.0005)
    assert (found.units, found.labels) == (11, 40)
    assert found.interval is not None
    assert found.interval.low < published < found.interval.high


def test_alpha_is_unknown_where_nobody_labelled_the_same_thing_or_nothing_differs() -> None:
    rng = np.random.default_rng(0)
    assert krippendorff([], "ordinal", rng).alpha is None
    assert krippendorff([[1, None], [None, 2]], "ordinal", rng) == (None, None, 0, 0)
    assert krippendorff([[3, 3], [3, 3]], "interval", rng).alpha is None


def test_labels_of_many_levels_have_an_alpha_without_interval() -> None:
    rng = np.random.default_rng(1)
    first = rng.normal(size=200)
    found = krippendorff(list(zip(first, first + rng.normal(size=200), strict=True)), "interval", rng)
    assert found.alpha is not None
    assert 0.5 < found.alpha < 0.8
    assert found.interval is None


def cohen(x: list[int], y: list[int]) -> float:
    """Cohen's kappa with quadratic weights, by its table."""
    table = np.zeros((5, 5))
    for i, j in zip(x, y, strict=True):
        table[i - 1, j - 1] += 1 / len(x)
    weights = np.array([[(i - j) ** 2 for j in range(5)] for i in range(5)])
    chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    return float(1 - (weights * table).sum() / (weights * chance).sum())


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=50))
def test_quadratic_kappa_is_cohens_by_its_table(pairs: list[tuple[int, int]]) -> None:
    x, y = (list(column) for column in zip(*pairs, strict=True))
    cells = Cells(x, y)
    ours = cells.of_all(quadratic_kappa(cells, 0, 1))
    if len(set(x + y)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(cohen(x, y), abs=1e-9)


def test_quadratic_kappa_has_a_published_value() -> None:
    """The anxiety ratings that come with R's package irr, of which its manual says 0.297."""
    first = [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3]
    second = [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4]
    cells = Cells(first, second)
    assert cells.of_all(quadratic_kappa(cells, 0, 1)) == pytest.approx(0.297, abs=5e-4)


def test_a_judge_that_is_a_point_too_generous_agrees_less() -> None:
    human = [1, 2, 3, 4, 5] * 10
    cells = Cells(human, [each + 1 for each in human])
    kappa = cells.of_all(quadratic_kappa(cells, 0, 1))
    assert kappa is not None
    assert kappa == pytest.approx(0.8)
    assert math.isfinite(kappa)
