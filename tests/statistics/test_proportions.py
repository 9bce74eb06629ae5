"""Intervals, held against SciPy and against what they promise."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.proportions import clustered, wilson

groups_of_repeats = st.lists(
    st.integers(1, 6).flatmap(lambda size: st.tuples(st.integers(0, size), st.just(size))),
    min_size=1,
    max_size=30,
)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_is_what_scipy_says(confidence: float) -> None:
    from scipy.stats import binomtest

    for n in (1, 2, 3, 7, 20, 200, 10_000):
        for successes in {0, 1, n // 3, n // 2, n - 1, n}:
            theirs = binomtest(successes, n).proportion_ci(confidence_level=confidence, method="wilson")
            ours = wilson(successes, n, confidence)
            assert ours is not None
            assert ours.low == pytest.approx(theirs.low, abs=1e-12)
            assert ours.high == pytest.approx(theirs.high, abs=1e-12)


def test_of_nothing_there_is_no_interval() -> None:
    assert wilson(0, 0) is None
    assert clustered([]) is None
    assert clustered([(0, 0)]) is None


def test_at_the_ends_the_bound_is_exact() -> None:
    none, all_of_them = wilson(0, 30), wilson(30, 30)
    assert none is not None
    assert all_of_them is not None
    assert none.low == 0.0
    assert all_of_them.high == 1.0


@given(groups_of_repeats)
def test_repeats_never_count_for_more_than_as_many_cases(groups: list[tuple[int, int]]) -> None:
    n = sum(size for _, size in groups)
    successes = sum(passed for passed, _ in groups)
    interval, plain = clustered(groups), wilson(successes, n)
    assert interval is not None
    assert plain is not None
    assert 1 <= interval.n <= max(1, sum(size > 0 for _, size in groups))
    assert interval.high - interval.low >= plain.high - plain.low - 1e-12
    assert interval.low - 1e-12 <= successes / n <= interval.high + 1e-12


def test_repeats_that_always_agree_are_worth_one_case() -> None:
    agreeing = clustered([(5, 5)] * 12 + [(0, 5)] * 8)
    assert agreeing is not None
    assert agreeing.n == pytest.approx(19)  # of 100 keys in 20 cases


def test_where_all_pass_the_spread_tells_nothing_and_cases_are_counted() -> None:
    interval = clustered([(10, 10)] * 7)
    assert interval is not None
    assert interval.n == 7


def test_repeats_are_never_worth_more_than_the_different_cases_there_are() -> None:
    """However much the repeats of three cases differ, they say nothing of a fourth one."""
    for groups in ([(2, 4), (2, 4), (1, 4)], [(10, 20), (11, 20), (9, 20)]):
        interval = clustered(groups)
        assert interval is not None
        assert interval.n == 3


def test_the_interval_holds_the_truth_as_often_as_it_says_where_cases_differ() -> None:
    """Each case has a rate of its own, so its repeats hang together, and a plain interval is too narrow."""
    rng = random.Random(11)
    held = {"clustered": 0, "plain": 0}
    for _ in range(300):
        rates = [rng.choice((0.1, 0.95)) for _ in range(60)]
        groups = [(sum(rng.random() < rate for _ in range(8)), 8) for rate in rates]
        truth = (0.1 + 0.95) / 2
        careful, plain = clustered(groups), wilson(sum(passed for passed, _ in groups), 480)
        assert careful is not None
        assert plain is not None
        held["clustered"] += careful.low <= truth <= careful.high
        held["plain"] += plain.low <= truth <= plain.high
    assert held["clustered"] >= 0.92 * 300
    assert held["plain"] < 0.75 * 300
