"""The bootstrap, held against SciPy's and against what an interval promises."""

from __future__ import annotations

import numpy as np
import pytest

from paceline.statistics.correlation import rank_correlation
from paceline.statistics.resampling import Cells, Statistic, Values, bootstrap, resampled


def mean_of(cells: Cells) -> Statistic:
    """The mean of the first column, from weights."""

    def mean(weights: Values) -> Values:
        means: Values = weights @ cells.columns[0] / weights.sum(axis=1)
        return means

    return mean


def test_the_interval_is_the_bca_of_scipy() -> None:
    from scipy.stats import bootstrap as scipy_bootstrap

    values = np.random.default_rng(3).lognormal(size=40)
    theirs = scipy_bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(4)
    ).confidence_interval
    cells = Cells(values)
    ours = bootstrap(mean_of(cells), cells, np.random.default_rng(5), draws=20_000, span=(-np.inf, np.inf))
    assert ours is not None
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.03 * width)


def test_alike_observations_put_together_are_worth_what_they_are_apart() -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(1, 6, size=90)
    y = np.clip(x + rng.integers(-1, 2, size=90), 1, 5)
    together, apart = Cells(x, y), Cells(x, y, clusters=range(90))
    assert len(together.counts) < 25
    assert len(apart.counts) == 90
    intervals = [
        bootstrap(rank_correlation(cells, 0, 1), cells, np.random.default_rng(7), draws=20_000)
        for cells in (together, apart)
    ]
    assert intervals[0] is not None
    assert intervals[1] is not None
    assert intervals[0].low == pytest.approx(intervals[1].low, abs=0.01)
    assert intervals[0].high == pytest.approx(intervals[1].high, abs=0.01)


def test_leaving_out_blocks_tells_the_same_skew_as_leaving_out_each() -> None:
    """Of many different observations, blocks are left out: the interval hardly notices."""
    values = np.random.default_rng(8).lognormal(sigma=0.7, size=3_000)
    cells = Cells(values)
    rows = [row for rows, _ in cells.left_out(np.random.default_rng(9)) for row in rows]
    assert len(rows) == 1_000
    assert np.sum(cells.counts - rows) == pytest.approx(3_000)


def test_clusters_are_drawn_whole() -> None:
    cells = Cells([1, 2, 3, 4, 5, 6], clusters=["a", "a", "a", "b", "b", "c"])
    cluster_of = dict(zip((1, 2, 3, 4, 5, 6), "aaabbc", strict=True))
    drawn = cells.draw(200, np.random.default_rng(10))
    for weights in drawn:
        per_cluster: dict[str, set[float]] = {}
        for value, weight in zip(cells.columns[0], weights, strict=True):
            per_cluster.setdefault(cluster_of[int(value)], set()).add(weight)
        assert all(len(weights) == 1 for weights in per_cluster.values())
        assert sum(weights.pop() for weights in per_cluster.values()) == 3
    assert cells.units == 3


def test_the_same_chance_gives_the_same_interval() -> None:
    cells = Cells(np.random.default_rng(11).normal(size=50))
    first, second = (bootstrap(mean_of(cells), cells, np.random.default_rng(12)) for _ in range(2))
    assert first == second


def test_resamples_in_which_it_is_undefined_widen_the_interval() -> None:
    """One observation of twelve differs: without it, nothing is known."""
    cells = Cells([0] * 11 + [1], [0] * 11 + [1])
    statistic = rank_correlation(cells, 0, 1)
    drawn = resampled(statistic, cells, np.random.default_rng(13), draws=2_000)
    assert 0.3 < np.isnan(drawn).mean() < 0.42  # (11/12)^12 of them have never drawn it
    found = bootstrap(statistic, cells, np.random.default_rng(13))
    assert found is not None
    assert (found.low, found.high) == (-1.0, 1.0)


def test_many_observations_take_fewer_resamples_and_never_fewer_than_two_thousand() -> None:
    cells = Cells(np.arange(20_000))
    assert len(resampled(mean_of(cells), cells, np.random.default_rng(14))) == 2_000
