"""The provider as a machine without waiting: what it lets through, what it refuses, and that it is the same
every time."""

from __future__ import annotations

import heapq
import math
import statistics
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.sim.provider import REMEMBERED, Admitted, Provider, Refused
from paceline.sim.scenario import Scenario


def provider(**fields: Any) -> Provider:
    return Provider(Scenario.of(fields))


def arrive(sim: Provider, now: float, **more: Any) -> Admitted | Refused:
    return sim.arrive(now, **{"input_tokens": 0, "output_tokens": 0, **more})


def admitted(sim: Provider, now: float, **more: Any) -> Admitted:
    arrived = arrive(sim, now, **more)
    assert isinstance(arrived, Admitted), arrived
    return arrived


def refused(sim: Provider, now: float, **more: Any) -> Refused:
    arrived = arrive(sim, now, **more)
    assert isinstance(arrived, Refused), arrived
    return arrived


def kept_busy(sim: Provider, width: int, *, until: float) -> Iterator[Admitted | Refused]:
    """As many callers as that, each with its next call when its last is over."""
    heap: list[tuple[float, int, int]] = [(0.0, caller, 0) for caller in range(width)]
    while heap[0][0] < until:
        now, caller, live = heapq.heappop(heap)
        if live:
            sim.leave(live, now)
        arrived = arrive(sim, now)
        yield arrived
        live = arrived.id if isinstance(arrived, Admitted) else 0
        heapq.heappush(heap, (now + max(arrived.seconds, 0.001), caller, live))


# ---- limits ----


def test_without_limits_everything_is_accepted() -> None:
    sim = provider(latency=1)
    assert [admitted(sim, 0.0).seconds for _ in range(50)] == [1.0] * 50


def test_requests_beyond_the_burst_are_refused_until_the_bucket_has_one() -> None:
    sim = provider(rpm=120, burst=1)
    admitted(sim, 0.0)
    admitted(sim, 0.0)
    no = refused(sim, 0.0)
    assert (no.status, no.cause, no.retry_after) == (429, "requests", 1.0)
    refused(sim, 0.4)
    admitted(sim, 0.5)


def test_waiting_as_long_as_one_was_told_is_enough() -> None:
    sim = provider(rpm=100, headers="openai")
    now = 0.0
    for _ in range(200):
        while isinstance(arrived := arrive(sim, now), Refused):
            assert arrived.retry_after is not None
            now += arrived.retry_after
    assert sim.stats(now).refused["requests"] == pytest.approx(199, abs=5)


def test_a_call_with_more_tokens_than_the_bucket_holds_waits_for_a_full_one_and_leaves_a_debt() -> None:
    sim = provider(tpm=6000, burst=1)
    admitted(sim, 0.0, input_tokens=300, output_tokens=100)
    no = refused(sim, 1.0, input_tokens=10)
    assert no.cause == "tokens"
    assert no.retry_after == math.ceil((300 + 10) / 100 - 1)
    admitted(sim, 3.1, input_tokens=10)


@pytest.mark.parametrize(
    ("charge", "left"), [("used", 1000 - 150), ("reserved", 1000 - 600), ("corrected", 1000 - 150)]
)
def test_tokens_are_charged_as_the_scenario_says(charge: str, left: float) -> None:
    sim = provider(tpm=1000, burst=60, charge=charge, headers="openai", latency=0.001)
    call = admitted(sim, 0.0, input_tokens=100, output_tokens=50, max_tokens=500)
    sim.leave(call.id, 0.0)
    advertised = admitted(sim, 0.0).advertised
    assert advertised is not None
    assert advertised.tokens_left == left


def test_the_cap_of_calls_in_flight_does_not_say_when_one_will_end() -> None:
    sim = provider(in_flight=2)
    first = admitted(sim, 0.0)
    admitted(sim, 0.0)
    no = refused(sim, 0.0)
    assert (no.cause, no.retry_after) == ("concurrency", None)
    sim.leave(first.id, 0.5)
    admitted(sim, 0.5)


def test_what_is_refused_counts_where_the_scenario_says_so_and_hammering_then_gets_nothing_through() -> None:
    usual, strict = provider(rpm=60), provider(rpm=60, rejects_consume=True)
    for step in range(1, 2000):
        arrive(usual, step / 10)
        arrive(strict, step / 10)
    assert usual.stats(200).accepted == pytest.approx(200, abs=2)
    assert strict.stats(200).accepted == 1
    admitted(strict, 201.0)


def test_limits_are_apart_by_key_and_model_unless_they_are_shared() -> None:
    apart = provider(rpm=1)
    shared = provider(rpm=1, accounts={"per_key": False, "per_model": False})
    for sim, refusals in ((apart, 0), (shared, 3)):
        for key in "ab":
            for model in "xy":
                arrive(sim, 0.0, key=key, model=model)
        assert sim.stats(0).refused.get("requests", 0) == refusals


def test_growth_beyond_what_is_allowed_is_told_to_slow_down() -> None:
    sim = provider(ramp={"above": 600, "growth": 0.5, "over": 10})
    accepted = [0] * 40
    for step in range(40_000):
        if isinstance(arrive(sim, step / 1000), Admitted):
            accepted[step // 1000] += 1
    assert sim.stats(40).refused.keys() == {"ramp"}
    assert accepted[0] == pytest.approx(20, abs=3)  # ten a second, and a second's worth at once
    assert sum(accepted[30:40]) / sum(accepted[20:30]) == pytest.approx(math.exp(0.5), rel=0.1)


# ---- other refusals ----


def test_an_unknown_key_and_an_unknown_model_are_refused() -> None:
    sim = provider(keys=["good"], models=["m"])
    assert (refused(sim, 0, key="bad", model="m").status, refused(sim, 0, key="bad").cause) == (401, "auth")
    assert refused(sim, 0, key="good", model="x").status == 404
    admitted(sim, 0, key="good", model="m")


def test_spent_money_is_spent_for_good() -> None:
    sim = provider(quota={"requests": 2})
    admitted(sim, 0)
    admitted(sim, 0)
    assert [(no.status, no.cause, no.retry_after) for no in (refused(sim, 0), refused(sim, 1e6))] == [
        (429, "quota", None)
    ] * 2
    admitted(sim, 0, key="another")


def test_tokens_spend_money_too() -> None:
    sim = provider(quota={"tokens": 100})
    admitted(sim, 0, input_tokens=150)
    assert refused(sim, 0).cause == "quota"


def test_in_an_outage_everything_is_refused_and_afterwards_nothing() -> None:
    sim = provider(outages=[{"at": 10, "until": 20, "status": 503, "retry_after": 3}])
    admitted(sim, 9.9)
    no = refused(sim, 10)
    assert (no.status, no.cause, no.retry_after) == (503, "unknown", 3.0)
    refused(sim, 19.9)
    admitted(sim, 20)


def test_an_overloaded_provider_refuses_a_share_or_whatever_is_too_much() -> None:
    sim = provider(overload={"above": 1, "status": 529})
    admitted(sim, 0)
    assert refused(sim, 0).status == 529
    often = provider(overload={"rate": 0.3})
    for now in range(1000):
        arrive(often, now)
    assert often.stats(1000).refused["unknown"] == pytest.approx(300, abs=50)


def test_steps_change_what_holds() -> None:
    sim = provider(
        rpm=60, steps=[{"at": 100, "set": {"rpm": 600}}, {"at": 200, "set": {"rpm": None, "in_flight": 1}}]
    )
    for tenth in range(2000):
        arrive(sim, tenth / 10)
    assert sim.stats(200).accepted == pytest.approx(100 + 1000, abs=12)
    assert refused(sim, 200.0).cause == "concurrency"


def test_a_refusal_hides_what_the_scenario_does_not_reveal() -> None:
    sim = provider(rpm=1, retry_after=False, told=False)
    admitted(sim, 0)
    no = refused(sim, 0)
    assert (no.retry_after, no.told, no.advertised) == (None, False, None)


# ---- latency ----


def test_latency_has_the_mean_that_was_asked_for() -> None:
    sim = provider(latency={"mean": 5, "sigma": 0.6})
    drawn = [admitted(sim, now).seconds for now in range(5000)]
    assert statistics.fmean(drawn) == pytest.approx(5, rel=0.05)
    assert statistics.stdev(map(math.log, drawn)) == pytest.approx(0.6, rel=0.05)


def test_tokens_take_their_time_and_a_constant_is_not_moved_by_load() -> None:
    fields = {
        "mean": 0,
        "per_input_token": 0.001,
        "per_output_token": 0.01,
        "constant": 2,
        "first_token": 0.5,
    }
    sim = provider(latency=fields, knee=1)
    call = admitted(sim, 0, input_tokens=1000, output_tokens=100)
    assert [call.seconds, call.first_token] == pytest.approx([4, 3])
    assert admitted(sim, 0, input_tokens=1000, output_tokens=100).seconds == pytest.approx(2 + 2 * 2)


@pytest.mark.parametrize(("steepness", "times"), [(1.0, 1.0), (2.0, 0.5)])
def test_above_the_knee_no_more_gets_done_or_less(steepness: float, times: float) -> None:
    def throughput(width: int) -> float:
        sim = provider(latency=1, knee=20, knee_steepness=steepness)
        for _ in kept_busy(sim, width, until=200):
            pass
        return sim.stats(200).answered / 200

    assert throughput(20) == pytest.approx(20, rel=0.05)
    assert throughput(10) == pytest.approx(10, rel=0.05)
    assert throughput(40) == pytest.approx(20 * times, rel=0.1)


def test_refusals_do_not_move_the_answers() -> None:
    fields: dict[str, Any] = {"latency": {"mean": 1, "sigma": 1}, "faults": {"error": 0.2}}
    free, limited = provider(**fields), provider(rpm=60, overload={"rate": 0.2}, **fields)
    seen: list[list[Admitted]] = [[], []]
    for step in range(2000):
        for sim, calls in zip((free, limited), seen, strict=True):
            if isinstance(arrived := arrive(sim, step / 10), Admitted):
                calls.append(arrived)
    assert len(seen[1]) > 100
    assert seen[0][: len(seen[1])] == seen[1]


# ---- faults ----


@pytest.mark.parametrize("kind", ["error", "reset", "stall", "truncate", "slow", "stream_error"])
def test_faults_come_at_their_rate(kind: str) -> None:
    sim = provider(latency=1, faults={kind: 0.2, "stall_seconds": 30, "slow_seconds": 7})
    calls = [admitted(sim, now) for now in range(2000)]
    faulty = [call for call in calls if call.fault == kind]
    assert len(faulty) == pytest.approx(400, abs=60)
    assert sim.stats(2000).faults == {kind: len(faulty)}
    assert all(call.fault is None and call.seconds == 1 for call in calls if call not in faulty)
    longest = {"stall": 31.0, "slow": 8.0}.get(kind, 1.0)
    assert max(call.seconds for call in faulty) == pytest.approx(longest, rel=0.02)


def test_only_whole_and_right_answers_are_goodput() -> None:
    sim = provider(latency=1, faults={"truncate": 1}, steps=[{"at": 10, "set": {"faults": {"truncate": 0}}}])
    wrong, early, good = admitted(sim, 0), admitted(sim, 10), admitted(sim, 10)
    sim.leave(wrong.id, 1)
    sim.leave(early.id, 10.5)
    sim.leave(good.id, 11)
    sim.leave(good.id, 12)
    stats = sim.stats(12.5)
    assert stats.answered == 1
    assert stats.goodput == [0] * 11 + [1, 0]
    assert (stats.accepted, stats.in_flight, stats.in_flight_peak) == (3, 0, 3)


# ---- headers ----


def test_headers_speak_of_the_minute_although_less_is_had_at_once() -> None:
    sim = provider(rpm=60, tpm=6000, burst=1, headers="openai")
    told = admitted(sim, 0, input_tokens=50).advertised
    assert told is not None
    assert (told.requests, told.requests_left, told.requests_reset) == (60, 59, 1.0)
    assert (told.tokens, told.tokens_left, told.tokens_reset) == (6000, 5950, 0.5)
    no = refused(sim, 0)
    assert no.advertised is not None
    assert no.advertised.requests_left == 59


@pytest.mark.parametrize(("headers", "wait"), [("openai", 0.2), ("anthropic", 1.0), ("none", 1.0)])
def test_a_wait_is_told_as_the_headers_can_say_it(headers: str, wait: float) -> None:
    sim = provider(rpm=300, burst=0.1, headers=headers)
    admitted(sim, 0)
    assert refused(sim, 0).retry_after == wait


# ---- promises ----


def limits() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"rpm": st.floats(1, 6000), "burst": st.floats(0.1, 60), "in_flight": st.integers(1, 20)},
        optional={"rejects_consume": st.booleans(), "tpm": st.floats(100, 1e6), "seed": st.integers(0, 9)},
    )


@given(limits(), st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2000), st.booleans()), max_size=200))
def test_it_never_lets_through_more_than_its_limits(
    fields: dict[str, Any], events: list[tuple[float, float, bool]]
) -> None:
    sim = provider(latency={"mean": 3, "sigma": 1}, **fields)
    now, tokens, largest, live = 0.0, 0.0, 0.0, list[int]()
    for pause, size, one_leaves in events:
        now += pause
        if one_leaves and live:
            sim.leave(live.pop(0), now)
        arrived = arrive(sim, now, input_tokens=size)
        if isinstance(arrived, Admitted):
            live.append(arrived.id)
            tokens, largest = tokens + size, max(largest, size)
        stats = sim.stats(now)
        assert stats.in_flight == len(live) <= fields["in_flight"]
        burst = max(1.0, fields["rpm"] / 60 * fields["burst"])
        assert stats.accepted <= fields["rpm"] / 60 * now + burst + 1e-6
        if "tpm" in fields:
            rate = fields["tpm"] / 60
            assert tokens <= rate * now + max(1.0, rate * fields["burst"]) + largest + 1e-3
        assert stats.arrived == stats.accepted + sum(stats.refused.values())


@given(
    limits(),
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 2000)), max_size=50),
    st.floats(0, 0.3),
)
def test_the_same_calls_get_the_same_answers(
    fields: dict[str, Any], events: list[tuple[float, float]], rate: float
) -> None:
    more = {"faults": {"error": rate, "stall": rate}, "overload": {"rate": rate}, "headers": "openai"}

    def told() -> list[Admitted | Refused]:
        sim, now, answers = provider(latency={"sigma": 1}, **fields, **more), 0.0, []
        for pause, size in events:
            now += pause
            answers.append(arrive(sim, now, input_tokens=size))
        return answers

    assert told() == told()


def test_another_seed_is_another_provider() -> None:
    scenario = Scenario.of({"latency": {"sigma": 1}})
    drawn = {admitted(Provider(scenario, seed=seed), 0).seconds for seed in range(20)}
    assert len(drawn) == 20


def test_time_does_not_go_back() -> None:
    sim = provider(rpm=60)
    admitted(sim, 10)
    assert refused(sim, 3).retry_after == 1.0
    admitted(sim, 11)


def test_whoever_invents_keys_does_not_fill_the_memory() -> None:
    sim = provider(rpm=1, quota={"requests": 5})
    for number in range(REMEMBERED + 500):
        sim.leave(admitted(sim, 0, key=str(number)).id, 0)
    assert len(sim._pools) <= REMEMBERED
