"""The pace against the simulated provider in virtual time: what it has to reach, loosely, and that it does so
again. The bars themselves are measured by `bench.pace` and `bench.warm`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from bench.callers import Aimd, Fixed, ideal, paced
from bench.virtual import EVENTS, Outcome, calls, play
from paceline.pace.learned import Learned
from paceline.sim.scenario import Scenario

CALLS = 3_000
FOUR_SECONDS = {"mean": 4.0, "sigma": 0.6}


def played(scenario: Scenario, *, seed: int = 3, start: Learned | None = None, count: int = CALLS) -> Outcome:
    work = calls(count, seed)
    return play(scenario, [paced(work, seed=seed, start=start)], work, seed=seed)


def share(scenario: Scenario, outcome: Outcome, *, seed: int = 3) -> float:
    assert outcome.answered == outcome.calls
    return ideal(scenario, calls(outcome.calls, seed), seed=seed) / outcome.makespan


def per_second(outcome: Outcome, since: float, until: float) -> float:
    return sum(since <= at < until for at in outcome.answers) / (until - since)


def scenario(**fields: Any) -> Scenario:
    return Scenario.of({"latency": FOUR_SECONDS, **fields})


@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e", "f", "h", "i"])
def test_from_a_cold_start_it_reaches_four_fifths_of_what_is_possible_with_few_rejections(name: str) -> None:
    provider = Scenario.load(name)
    outcome = played(provider)
    assert share(provider, outcome) >= 0.80
    assert outcome.rejected <= CALLS * (0.20 if name == "c" else 0.05)


@pytest.mark.parametrize("name", ["a", "b", "c", "d"])
def test_who_begins_where_an_earlier_run_ended_reaches_nine_tenths(name: str) -> None:
    provider = Scenario.load(name)
    work = calls(CALLS, 103)
    first = paced(work, seed=103)
    play(provider, [first], work, seed=103)
    warm = played(provider, start=first.pool.learned())
    assert share(provider, warm) >= 0.90
    assert warm.rejected <= 0.02 * CALLS


def test_what_is_played_again_with_the_same_seed_comes_out_the_same() -> None:
    provider = scenario(rpm=600, faults={"error": 0.05})
    first, again, other = played(provider), played(provider), played(provider, seed=4)
    assert first == again
    assert first.answers != other.answers


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_minute_after_a_limit_has_changed_the_pace_has_too(factor: float) -> None:
    provider = scenario(rpm=600, steps=[{"at": 120, "set": {"rpm": 600 * factor}}])
    outcome = played(provider)
    assert per_second(outcome, 60, 120) == pytest.approx(10, rel=0.2)
    assert per_second(outcome, 180, 220) == pytest.approx(10 * factor, rel=0.2)


@pytest.mark.parametrize("status", [429, 503, 500])
def test_ten_minutes_of_outage_lose_no_call_and_a_minute_later_the_pace_is_back(status: int) -> None:
    provider = scenario(rpm=600, outages=[{"at": 60, "until": 660, "status": status}])
    outcome = played(provider)
    assert outcome.answered == CALLS
    assert outcome.given_up == 0
    assert outcome.rejected + outcome.failed <= 300, "it does not hammer"
    assert per_second(outcome, 720, 760) >= 9.0


def test_nobody_waits_half_a_minute_for_the_next_probe_of_an_outage() -> None:
    provider = scenario(rpm=600, outages=[{"at": 60, "until": 400, "status": 503}])
    work = calls(CALLS, 3)
    caller = paced(work, seed=3)
    sent: list[float] = []
    sends = caller.sends

    def noting(now: float) -> list[int]:
        going = sends(now)
        sent.extend([now] * bool(going))
        return going

    caller.sends = noting  # type: ignore[method-assign]  # to see when it sends
    play(provider, [caller], work, seed=3)
    during = [at for at in sent if 60 <= at <= 430]
    assert max(later - earlier for earlier, later in pairwise(during)) <= 30.0


def test_where_rejected_calls_count_too_a_fixed_width_never_ends_and_the_pace_does() -> None:
    provider = scenario(rpm=30, rejects_consume=True)
    work = calls(300, 3)
    storm = play(provider, [Fixed(200, seed=3)], work, seed=3, events=50_000)
    assert storm.answered < 150
    ours = played(provider, count=300)
    assert ours.answered == 300
    assert ours.rejected <= 0.25 * 300


def test_overload_at_any_load_costs_no_more_than_it_must() -> None:
    provider = scenario(rpm=600, overload={"rate": 0.05, "status": 529})
    assert share(provider, played(provider)) >= 0.85


def test_overload_above_a_load_is_found_and_kept_to() -> None:
    provider = scenario(overload={"above": 40})
    outcome = played(provider)
    assert share(provider, outcome) >= 0.85
    assert outcome.failed <= 0.10 * CALLS


def test_growth_that_is_watched_is_not_outrun() -> None:
    provider = scenario(rpm=1_500, ramp={"above": 300, "growth": 0.5, "over": 30})
    outcome = played(provider)
    assert outcome.answered == CALLS
    assert outcome.rejected <= 0.05 * CALLS


def test_two_who_know_nothing_of_each_other_both_get_on() -> None:
    provider = scenario(rpm=720, accounts={"per_model": False})
    work = calls(CALLS, 3)
    both = [paced(work, seed=3, model=model) for model in ("m", "n")]
    outcome = play(provider, both, work, seed=3, models=True)
    assert outcome.answered == CALLS
    at = min(times[-1] for times in outcome.shares)
    fewest = min(sum(when <= at for when in times) for times in outcome.shares)
    assert fewest >= 0.2 * sum(when <= at for times in outcome.shares for when in times)


# ---- what it is measured with


def test_the_oracle_is_never_beaten_where_limits_are_all_there_is() -> None:
    for name in ("a", "c", "e", "f", "i"):
        provider = Scenario.load(name)
        work = calls(600, 5)
        best = ideal(provider, work, seed=5)
        for caller in (paced(work, seed=5), Fixed(50, seed=5), Fixed(200, seed=5), Aimd(seed=5)):
            assert play(provider, [caller], work, seed=5).makespan >= 0.97 * best


def test_the_oracle_needs_what_arithmetic_says() -> None:
    one_at_a_time = Scenario.of({"rpm": 600, "latency": 1.0})
    assert ideal(one_at_a_time, calls(1_000, 1), seed=1) == pytest.approx((1_000 - 10) / 10 + 1, rel=0.01)
    abreast = Scenario.of({"in_flight": 20, "latency": 2.0})
    assert ideal(abreast, calls(1_000, 1), seed=1) == pytest.approx(1_000 / 20 * 2, rel=0.01)
    knee = Scenario.of({"knee": 10, "latency": 1.0})
    assert ideal(knee, calls(500, 1), seed=1) == pytest.approx(50.0, rel=0.01)


def test_what_would_go_on_for_ever_is_ended_by_a_limit_on_events() -> None:
    hopeless = scenario(outages=[{"at": 0, "until": 1e9, "status": 429}])
    outcome = play(hopeless, [Fixed(10, seed=1)], calls(20, 1), seed=1, events=2_000)
    assert outcome.events == 2_000 < EVENTS
    assert outcome.answered == 0
    assert outcome.makespan == float("inf")
