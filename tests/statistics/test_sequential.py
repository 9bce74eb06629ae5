"""Deciding before the end: wrong decisions counted over all samples there are, and real savings."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.statistics.proportions import wilson
from paceline.statistics.sequential import Deciding, decided, evidence, interval_at_any_time


def chances(rate: float, bar: float, n: int) -> dict[str, float]:
    """Of each decision within n observations, over every sample there is."""
    ended = {"above": 0.0, "below": 0.0}
    needed = math.log(2 / 0.05)
    alive = np.array([1.0])
    for seen in range(1, n + 1):
        alive = np.append(alive * (1 - rate), 0.0) + np.append(0.0, alive * rate)
        for successes in np.flatnonzero(alive > 1e-15):
            found = evidence(int(successes), seen, bar)
            side = "above" if found.above >= needed else "below" if found.below >= needed else ""
            if side:
                ended[side] += float(alive[successes])
                alive[successes] = 0.0
    return ended


@pytest.mark.parametrize("bar", [0.5, 0.8, 0.95])
def test_at_the_bar_itself_no_more_than_one_run_in_twenty_is_decided_at_all(bar: float) -> None:
    ended = chances(bar, bar, 150)
    assert 0.001 < ended["above"] + ended["below"] <= 0.05


def test_a_rate_on_one_side_is_hardly_ever_said_to_be_on_the_other() -> None:
    for rate, right, wrong in ((0.78, "below", "above"), (0.82, "above", "below")):
        ended = chances(rate, 0.8, 150)
        assert ended[wrong] <= 0.025
        assert ended[right] > ended[wrong]


def test_looking_at_an_ordinary_interval_every_time_is_wrong_in_four_runs_of_ten() -> None:
    """What it is there to avoid: 42 % of runs at the bar are stopped wrongly within 20 to 1,000 cases."""
    dice = np.random.default_rng(0)
    passed = (dice.random((500, 1_000)) < 0.8).cumsum(axis=1)
    n = np.arange(1, 1_001)
    z = NormalDist().inv_cdf(0.975)
    share = passed / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    fooled = ((abs(middle - 0.8) > half) & (n >= 20)).any(axis=1).mean()
    assert fooled == pytest.approx(0.42, abs=0.06)
    interval = wilson(16, 20)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(
        ((middle - half)[passed[:, 19] == 16][0, 19], (middle + half)[passed[:, 19] == 16][0, 19])
    )


def test_a_clear_rate_is_decided_after_a_few_dozen_cases() -> None:
    dice = np.random.default_rng(1)
    for rate, side, most in ((0.95, "above", 80), (0.6, "below", 80), (0.9, "above", 200)):
        ends = [decided(dice.random(1_000) < rate, 0.8) for _ in range(60)]
        assert {end.side for end in ends if end} == {side}
        assert np.mean([end.n for end in ends if end]) < most


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.05, 0.95))
def test_evidence_is_the_bets_on_all_rates_of_the_other_side_put_together(
    successes: int, failures: int, bar: float
) -> None:
    from scipy.integrate import quad

    def bet(rate: float) -> float:
        return float((rate / bar) ** successes * ((1 - rate) / (1 - bar)) ** failures)

    found = evidence(successes, successes + failures, bar)
    above, below = quad(bet, bar, 1)[0] / (1 - bar), quad(bet, 0, bar)[0] / bar
    assert math.exp(found.above) == pytest.approx(above, rel=1e-5, abs=1e-12)
    assert math.exp(found.below) == pytest.approx(below, rel=1e-5, abs=1e-12)


def test_shares_of_repeats_count_as_fractions_and_are_no_more_often_decided_wrongly() -> None:
    dice = np.random.default_rng(2)
    wrong = 0
    for _ in range(300):
        shares = dice.binomial(3, dice.beta(4, 1, size=150)) / 3  # 0.8 on average
        wrong += decided(shares, 0.8) is not None
    assert wrong <= 15


def test_what_was_decided_stays_decided_and_later_observations_are_still_counted() -> None:
    deciding = Deciding(0.5)
    for _ in range(20):
        deciding.take(1.0)
    decision = deciding.decision
    assert decision is not None
    assert decision.side == "above"
    assert decision.n < 20
    for _ in range(100):
        deciding.take(0.0)
    assert deciding.decision == decision
    assert (deciding.n, deciding.successes) == (120, 20.0)


def test_the_interval_at_any_time_holds_the_truth_at_every_look() -> None:
    dice = np.random.default_rng(3)
    missed = 0
    for _ in range(100):
        passed = np.cumsum(dice.random(300) < 0.7)
        looks = (interval_at_any_time(int(count), n) for n, count in enumerate(passed, start=1))
        missed += any(look is None or not look.low <= 0.7 <= look.high for look in looks)
    assert missed <= 8


def test_the_interval_at_any_time_is_wider_than_one_that_is_looked_at_once() -> None:
    for successes in (0, 30, 50):
        always, once = interval_at_any_time(successes, 50), wilson(successes, 50)
        assert always is not None
        assert once is not None
        assert always.low <= once.low
        assert always.high >= once.high
    assert interval_at_any_time(0, 0) is None


def test_what_is_no_rate_is_refused() -> None:
    for bar in (0.0, 1.0, -0.1, 80.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            Deciding(bar)
    with pytest.raises(ValueError, match="between 0 and 1"):
        Deciding(0.8).take(float("nan"))
    with pytest.raises(ValueError, match="wrong decision"):
        Deciding(0.8, alpha=0)
