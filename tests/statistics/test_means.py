"""Mean differences, held against SciPy and against cluster-robust regression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.means import mean_interval, share_interval
from paceline.statistics.proportions import clustered, wilson


def test_without_clusters_it_is_the_interval_of_students_t() -> None:
    from scipy.stats import ttest_1samp

    values = list(np.random.default_rng(0).normal(size=25))
    theirs = ttest_1samp(values, 0).confidence_interval(0.9)
    ours = mean_interval(values, confidence=0.9)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high))


def test_clusters_of_the_same_size_are_worth_their_means() -> None:
    """The mean of means, with as many degrees of freedom as there are clusters, less one."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 4)) + rng.normal(size=(12, 1))
    clustered = mean_interval(list(values.ravel()), clusters=list(np.repeat(np.arange(12), 4)))
    of_means = mean_interval(list(values.mean(axis=1)))
    assert clustered is not None
    assert of_means is not None
    assert (clustered.low, clustered.high) == pytest.approx((of_means.low, of_means.high))
    assert clustered.n == 12


def test_of_fewer_than_two_there_is_no_interval() -> None:
    assert mean_interval([]) is None
    assert mean_interval([1.0]) is None
    assert mean_interval([1.0, 2.0], clusters=["a", "a"]) is None


@pytest.mark.parametrize("n", [50, 200])
def test_the_interval_holds_the_truth_as_often_as_it_says_where_cases_are_repeated(n: int) -> None:
    """Scores from 1 to 5, mostly 5, whose cases differ. The seeds are fixed."""
    dice, samples, repeats = np.random.default_rng(n), 600, 4
    clusters = list(np.repeat(np.arange(n), repeats))
    held = plain = 0
    for _ in range(samples):
        lost = dice.choice([0.05, 0.45], p=[0.75, 0.25], size=(n, 1))
        values = (5.0 - dice.binomial(4, lost, size=(n, repeats))).ravel().tolist()
        careful, careless = mean_interval(values, clusters=clusters), mean_interval(values)
        assert careful is not None
        assert careless is not None
        held += careful.low <= 4.4 <= careful.high
        plain += careless.low <= 4.4 <= careless.high
    assert 0.93 <= held / samples <= 0.97
    assert plain / samples < 0.85


scores_of_cases = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 1.0]), min_size=2, max_size=30)


@given(scores_of_cases)
def test_the_mean_of_values_between_0_and_1_has_an_interval_between_0_and_1(values: list[float]) -> None:
    found = share_interval(values)
    if found is not None:
        assert 0 <= found.low <= np.mean(values) + 1e-9
        assert np.mean(values) - 1e-9 <= found.high <= 1


def test_zeros_and_ones_that_hang_together_are_the_proportion_they_are() -> None:
    values, clusters = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0], ["a", "a", "b", "b", "c", "c"]
    found, theirs = share_interval(values, clusters=clusters), clustered([(2, 2), (1, 2), (0, 2)])
    assert found is not None
    assert theirs is not None
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))
    assert share_interval([1.0] * 8) == wilson(8, 8)


def test_without_spread_nothing_tells_how_far_others_may_differ() -> None:
    assert share_interval([0.5] * 20) is None
    assert share_interval([0.7]) is None
    assert share_interval([0.2, 0.8, 0.2, 0.8], clusters=["a", "a", "b", "b"]) is None


@pytest.mark.parametrize("n", [5, 20, 50])
def test_it_holds_the_truth_where_most_scores_are_full_marks(n: int) -> None:
    """Which Student's interval does not, if there are few. The seeds are fixed."""
    dice, samples, held, plain = np.random.default_rng(n), 600, 0, 0
    for _ in range(samples):
        values = np.where(dice.random(n) < 0.85, 1.0, dice.random(n)).tolist()
        careful, students = share_interval(values), mean_interval(values)
        assert careful is not None
        assert students is not None
        held += careful.low <= 0.925 <= careful.high
        plain += students.low <= 0.925 <= students.high
    assert held / samples >= 0.9
    assert plain < held
