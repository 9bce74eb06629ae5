"""pass@k and pass^k: held against their definitions, and their intervals against what they promise."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.proportions import clustered
from paceline.statistics.repeats import Chance, average, by_tries, flip_rate, pass_at_k, pass_hat_k


@st.composite
def tries(draw: st.DrawFn) -> tuple[int, int, int]:
    n = draw(st.integers(1, 9))
    return n, draw(st.integers(0, n)), draw(st.integers(1, n))


@given(tries())
def test_they_are_the_shares_of_choices_in_which_one_passes_or_all_do(told: tuple[int, int, int]) -> None:
    n, passed, k = told
    choices = list(combinations(range(n), k))
    lucky = [choice for choice in choices if min(choice) < passed]
    assert pass_at_k(n, passed, k) == pytest.approx(len(lucky) / len(choices))
    certain = [choice for choice in choices if max(choice) < passed]
    assert pass_hat_k(n, passed, k) == pytest.approx(len(certain) / len(choices))


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))))
def test_it_stays_a_probability_however_many_tries_there_are(told: tuple[int, int, int]) -> None:
    n, passed, _k = told
    once, always = pass_at_k(*told), pass_hat_k(*told)
    assert 0.0 <= always <= passed / n + 1e-12
    assert passed / n - 1e-12 <= once <= 1.0
    assert (once > 0) is (passed > 0)
    assert (always < 1) is (passed < n)


def test_one_try_is_the_share_that_passed() -> None:
    assert pass_at_k(10, 3, 1) == pytest.approx(0.3)


def test_the_plain_share_would_make_another_number_of_it() -> None:
    assert pass_at_k(20, 4, 10) == pytest.approx(1 - math.comb(16, 10) / math.comb(20, 10))
    assert pass_at_k(20, 4, 10) > 1 - 0.8**10 + 0.05


@pytest.mark.parametrize("wrong", [(0, 0, 1), (3, 4, 1), (3, -1, 1), (3, 1, 4), (3, 1, 0)])
def test_more_than_there_were_is_refused(wrong: tuple[int, int, int]) -> None:
    for chance in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="cannot be chosen"):
            chance(*wrong)


def test_the_average_is_over_cases_and_says_over_how_many() -> None:
    found = average([(1, 2), (0, 2), (1, 1)], 2, pass_at_k)
    assert found is not None
    assert (found.value, found.n_cases) == (0.5, 2)
    assert average([(1, 2)], 3, pass_at_k) is None
    assert average([], 1, pass_at_k) is None


def test_without_repeats_there_is_nothing_to_tell() -> None:
    assert by_tries([(1, 1), (0, 1)], pass_at_k) == []
    assert [each.k for each in by_tries([(1, 12), (0, 12)], pass_at_k)] == [1, 2, 3, 5, 8, 10]


def test_the_chance_that_two_tries_differ_is_that_of_choosing_two_that_do() -> None:
    assert flip_rate(5, 2) == pytest.approx(2 * 3 / math.comb(5, 2))
    assert flip_rate(5, 5) == 0.0
    assert flip_rate(1, 1) is None


def test_of_one_try_the_interval_is_that_of_the_pass_rate() -> None:
    cases = [(5, 5), (3, 5), (0, 5), (4, 5), (5, 5), (1, 5)]
    found = average(cases, 1, pass_at_k)
    assert found is not None
    of_the_rate = clustered(cases)
    assert found.interval is not None
    assert of_the_rate is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((of_the_rate.low, of_the_rate.high))


@pytest.mark.parametrize(("chance", "name"), [(pass_at_k, "pass@3"), (pass_hat_k, "pass^3")])
def test_the_interval_holds_the_truth_of_all_cases_as_often_as_it_says(chance: Chance, name: str) -> None:
    """Cases have rates of their own, evenly spread: pass@3 is then 3/4 on average, and pass^3 1/4."""
    dice = np.random.default_rng(6)
    truth = {"pass@3": 0.75, "pass^3": 0.25}[name]
    held = 0
    for _ in range(400):
        passed = dice.binomial(6, dice.random(50))
        found = average([(int(each), 6) for each in passed], 3, chance)
        assert found is not None
        assert found.interval is not None
        held += found.interval.low <= truth <= found.interval.high
    assert 0.92 * 400 <= held <= 0.98 * 400
