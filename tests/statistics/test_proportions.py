"""Intervals, held against SciPy and against what they promise."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.interval import Interval
from paceline.statistics.proportions import clopper_pearson, clustered, wilson

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


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_clopper_and_pearsons_is_what_scipy_says(confidence: float) -> None:
    from scipy.stats import binomtest

    for n in (1, 2, 7, 20, 200, 10_000):
        for successes in {0, 1, n // 3, n - 1, n}:
            theirs = binomtest(successes, n).proportion_ci(confidence_level=confidence, method="exact")
            ours = clopper_pearson(successes, n, confidence)
            assert ours is not None
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert clopper_pearson(0, 0) is None


def coverage(interval: Callable[[int, int], Interval | None], n: int, rate: float) -> float:
    """How often the interval holds the rate, over every sample of so many there is."""
    held = 0.0
    for successes in range(n + 1):
        found = interval(successes, n)
        assert found is not None
        if found.low <= rate <= found.high:
            held += math.comb(n, successes) * rate**successes * (1 - rate) ** (n - successes)
    return held


@pytest.mark.parametrize(
    ("n", "rate", "of_wilson", "of_clopper_pearson"),
    [(20, 0.9, 0.957, 0.989), (20, 0.98, 0.940, 0.993), (50, 0.95, 0.962, 0.988), (200, 0.95, 0.967, 0.967)],
)
def test_an_interval_holds_the_truth_as_often_as_is_known_of_its_method(
    n: int, rate: float, of_wilson: float, of_clopper_pearson: float
) -> None:
    assert coverage(wilson, n, rate) == pytest.approx(of_wilson, abs=5e-4)
    assert coverage(clopper_pearson, n, rate) == pytest.approx(of_clopper_pearson, abs=5e-4)


@pytest.mark.parametrize("n", [5, 30])
def test_clopper_and_pearsons_holds_whatever_the_truth_is(n: int) -> None:
    assert min(coverage(clopper_pearson, n, step / 200) for step in range(1, 200)) >= 0.95


@given(groups_of_repeats)
def test_repeats_never_count_for_more_than_as_many_different_cases(groups: list[tuple[int, int]]) -> None:
    n = sum(size for _, size in groups)
    successes = sum(passed for passed, _ in groups)
    interval, plain = clustered(groups), wilson(successes, n)
    assert interval is not None
    assert plain is not None
    assert 1 <= interval.n <= n
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


def test_a_few_cases_tell_little_however_often_they_are_repeated() -> None:
    """That three cases hardly differ may be chance: the interval is that of a dozen, not that of sixty."""
    interval = clustered([(10, 20), (11, 20), (9, 20)])
    dozen = wilson(6, 12)
    assert interval is not None
    assert dozen is not None
    assert interval.high - interval.low == pytest.approx(dozen.high - dozen.low, rel=0.02)


@pytest.mark.parametrize("cases", [50, 200])
@pytest.mark.parametrize("kind", ["all alike", "each its own", "most are certain"])
def test_repeats_of_any_kind_leave_the_interval_right(kind: str, cases: int) -> None:
    """What repeats are worth depends on how much cases differ: 93 to 97 % of intervals hold all the same."""
    dice = np.random.default_rng(12)
    samples, repeats = 1_500, 4
    rates = {
        "all alike": np.full((samples, cases), 0.7),
        "each its own": dice.beta(2, 1, size=(samples, cases)),
        "most are certain": np.where(dice.random((samples, cases)) < 0.9, 1.0, 0.3),
    }[kind]
    truth = {"all alike": 0.7, "each its own": 2 / 3, "most are certain": 0.93}[kind]
    held = 0
    for passed in dice.binomial(repeats, rates):
        found = clustered([(int(each), repeats) for each in passed])
        assert found is not None
        held += found.low <= truth <= found.high
    assert 0.93 <= held / samples <= 0.97


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
