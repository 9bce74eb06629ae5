"""Rank correlations, held against SciPy, and their intervals, held against what they promise."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.correlation import (
    kendall,
    most_that_agreement_shows,
    partial_correlation,
    rank_correlation,
    spearman,
    spearman_interval,
)
from paceline.statistics.resampling import Cells

pairs_with_ties = st.lists(
    st.tuples(st.integers(1, 5), st.one_of(st.integers(1, 5), st.floats(0, 1, width=16))),
    min_size=2,
    max_size=60,
)


@given(pairs_with_ties)
def test_spearman_is_what_scipy_says(pairs: list[tuple[int, float]]) -> None:
    from scipy.stats import spearmanr

    x, y = zip(*pairs, strict=True)
    ours = spearman(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert ours is None
    else:
        assert ours == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


@given(pairs_with_ties, st.randoms(use_true_random=False))
def test_weights_mean_what_repeated_rows_mean(pairs: list[tuple[int, float]], dice: object) -> None:
    """A resample as weights has the correlation of the resample as rows."""
    cells = Cells(*zip(*pairs, strict=True))
    weights = np.random.default_rng(len(pairs)).integers(0, 4, size=(1, len(cells.counts))).astype(float)
    repeated = [np.repeat(column, weights[0].astype(int)) for column in cells.columns]
    (from_weights,) = rank_correlation(cells, 0, 1)(weights)
    from_rows = spearman(*repeated) if len(repeated[0]) else None
    if from_rows is None:
        assert np.isnan(from_weights)
    else:
        assert from_weights == pytest.approx(from_rows, abs=1e-9)


def test_kendall_is_the_tau_b_of_scipy_and_unknown_where_nothing_differs() -> None:
    from scipy.stats import kendalltau

    x, y = [1, 2, 2, 3, 4, 4, 5], [2, 1, 2, 4, 3, 4, 5]
    assert kendall(x, y) == pytest.approx(kendalltau(x, y).statistic)
    assert kendall([1, 1, 1], [1, 2, 3]) is None
    assert kendall([1], [1]) is None


def test_what_a_third_column_explains_is_taken_out_as_residuals_of_ranks_do_it() -> None:
    from scipy.stats import rankdata

    rng = np.random.default_rng(1)
    given_ = rng.integers(1, 6, size=80)
    first, second = given_ + rng.normal(size=80), given_ + rng.normal(size=80)
    cells = Cells(first, second, given_)
    ranks = [rankdata(column) for column in (first, second, given_)]
    line = np.column_stack([np.ones(80), ranks[2]])
    left = [column - line @ np.linalg.lstsq(line, column, rcond=None)[0] for column in ranks[:2]]
    assert cells.of_all(partial_correlation(cells, 0, 1, 2)) == pytest.approx(np.corrcoef(*left)[0, 1])


def test_a_thousand_items_and_ten_thousand_resamples_take_less_than_a_second() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=1_000)
    y = x + rng.normal(size=1_000)
    spearman_interval(x, y, rng, draws=10)
    began = time.process_time()
    found = spearman_interval(x, y, rng, draws=10_000)
    assert time.process_time() - began < 1.0
    assert found is not None
    assert found.n == 1_000


def test_few_items_have_the_interval_in_closed_form() -> None:
    x, y = [1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 5]
    found = spearman_interval(x, y, np.random.default_rng(0))
    assert found is not None
    assert found.low < 0.5 < spearman(x, y) < found.high  # type: ignore[operator]
    assert spearman_interval([1, 2, 3], [1, 2, 3], np.random.default_rng(0)) is None
    assert spearman_interval([1, 1, 1, 1], [1, 2, 3, 4], np.random.default_rng(0)) is None


def test_full_agreement_of_a_few_is_not_taken_for_certainty() -> None:
    """Of 30 verdicts, 6 of them no, a judge that errs once in 16 gets all right in one sample of seven."""
    human = [0] * 6 + [1] * 24
    few = spearman_interval(human, human, np.random.default_rng(0))
    many = spearman_interval(human * 10, human * 10, np.random.default_rng(0))
    assert few is not None
    assert many is not None
    assert few.low < 0.8
    assert many.low > 0.95
    assert few.high == many.high == 1.0


@pytest.mark.parametrize("n", [30, 60, 300])
def test_the_bound_of_full_agreement_is_the_judge_that_gets_there_once_in_forty(n: int) -> None:
    """The bound says: guess at random on the other items, and one sample in forty shows no disagreement."""
    shares = np.array([0.2, 0.3, 0.5])
    human = np.repeat([1, 2, 3], (shares * n).astype(int))
    bound = most_that_agreement_shows(Cells(human, human))
    differ = 1 - (shares**2).sum()
    assert (1 - (1 - bound) * differ) ** n == pytest.approx(0.025)


def test_clusters_make_an_interval_as_wide_as_there_are_few_of_them() -> None:
    rng = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5)
    x = rng.normal(size=40)[clusters] + 0.1 * rng.normal(size=200)
    y = x + rng.normal(size=40)[clusters]
    plain = spearman_interval(x, y, np.random.default_rng(4))
    careful = spearman_interval(x, y, np.random.default_rng(4), clusters=list(clusters))
    assert plain is not None
    assert careful is not None
    assert careful.n == 40
    assert careful.high - careful.low > 1.5 * (plain.high - plain.low)


def test_an_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Scores on five levels, whose correlation without end of items is .8: missed in one sample of forty on
    either side."""
    rng = np.random.default_rng(5)
    below = above = 0
    draws = 300
    for _ in range(draws):
        x = rng.normal(size=60)
        y = 0.84968 * x + np.sqrt(1 - 0.84968**2) * rng.normal(size=60)
        cut = np.array([-0.8416, -0.2533, 0.2533, 0.8416])
        found = spearman_interval(np.digitize(x, cut), np.digitize(y, cut), rng, draws=2_000)
        assert found is not None
        below += found.low > 0.8
        above += found.high < 0.8
    # 7.5 are expected on either side; the chance of 18 is below one in a thousand, and the seed is fixed.
    assert below <= 17
    assert above <= 17
