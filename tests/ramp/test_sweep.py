"""A sweep against simulated providers, in virtual time: ceilings are found, and the right reason is named."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from paceline.ramp.levels import plan_levels
from paceline.ramp.rows import Row
from paceline.ramp.seen import Machine
from paceline.ramp.sweep import Found, Sweep
from tests.ramp.virtual import VirtualStage

TWO_SECONDS = {"mean": 2.0, "sigma": 0.4}
SEEDS = range(5)


def swept(
    *,
    seed: int = 0,
    available: int = 3000,
    levels: Sequence[int] | None = None,
    machine: Machine | None = None,
    **scenario: Any,
) -> tuple[Found, VirtualStage]:
    """What a sweep finds, and the stage that it was held on."""
    stage = VirtualStage(seed=seed, machine=machine, **{"latency": TWO_SECONDS, **scenario})
    plan = plan_levels(levels, per_level=20, available=available)
    return asyncio.run(Sweep(plan, stage, range(available)).carry_out()), stage


def is_near(found: float | None, true: float) -> bool:
    """Within 15 %."""
    return found is not None and abs(found - true) <= 0.15 * true


# What is found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_limit_of_requests_is_found_and_named(seed: int) -> None:
    verdict = swept(seed=seed, rpm=600)[0].verdict
    assert verdict.kind == "requests"
    assert verdict.measure == "requests/s"
    assert is_near(verdict.ceiling, 10.0)
    assert is_near(verdict.window, 20.0), "ten a second, two seconds each"


@pytest.mark.parametrize(
    "provider",
    [
        {"rpm": 600, "retry_after": False},
        {"rpm": 600, "retry_after": False, "told": False},
        {"rpm": 600, "rejects_consume": True},
        {"rpm": 600, "burst": 10.0},
        {"rpm": 300, "burst": 5.0},
        {"rpm": 120, "latency": {"mean": 20.0, "sigma": 0.6}},
        {"rpm": 3000},
    ],
    ids=str,
)
def test_a_rate_is_found_whatever_its_rejections_say_and_whatever_can_be_saved_up(
    provider: dict[str, Any],
) -> None:
    for seed in SEEDS:
        verdict = swept(seed=seed, **provider)[0].verdict
        assert verdict.kind == "requests"
        # What could be saved up for five seconds or ten passes for a higher rate while it lasts.
        most = 0.20 if "burst" in provider else 0.15
        assert verdict.ceiling == pytest.approx(provider["rpm"] / 60, rel=most)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_limit_of_tokens_is_found_and_named(seed: int) -> None:
    verdict = swept(seed=seed, tpm=300_000)[0].verdict
    assert verdict.kind == "tokens"
    assert verdict.measure == "tokens/s"
    assert is_near(verdict.ceiling, 5000.0)


@pytest.mark.parametrize("latency", [TWO_SECONDS, {"mean": 5.0, "sigma": 0.6}])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_cap_on_calls_in_flight_is_found_and_named(seed: int, latency: dict[str, float]) -> None:
    verdict = swept(seed=seed, in_flight=40, latency=latency)[0].verdict
    assert verdict.kind == "concurrency"
    assert is_near(verdict.ceiling, 40.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_knee_of_latency_is_found_and_named(seed: int) -> None:
    verdict = swept(seed=seed, knee=30)[0].verdict
    assert verdict.kind == "latency"
    assert is_near(verdict.ceiling, 30.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_overload_above_a_level_is_found_by_its_errors(seed: int) -> None:
    verdict = swept(seed=seed, overload={"above": 30})[0].verdict
    assert verdict.kind == "errors"
    assert is_near(verdict.ceiling, 30.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_where_nothing_binds_no_ceiling_is_made_up(seed: int) -> None:
    found, stage = swept(seed=seed)
    assert found.verdict.kind == "none"
    assert found.verdict.ceiling is None
    assert not found.stopped
    assert max(level for level, _ in stage.held) == 128


@pytest.mark.parametrize(
    ("machine", "kind"),
    [
        (Machine(cpu=0.97), "cpu"),
        (Machine(cpu=0.1, starved=0.8), "cpu"),
        (Machine(late=0.6, where="bot.py:3 in ask"), "loop"),
    ],
)
def test_a_plateau_on_a_busy_machine_is_not_blamed_on_the_provider(machine: Machine, kind: str) -> None:
    verdict = swept(knee=30, machine=machine)[0].verdict
    assert verdict.kind == kind


# Harm


def test_a_provider_that_fails_at_once_is_asked_a_few_times_only() -> None:
    found, stage = swept(faults={"error": 1.0})
    assert found.verdict.kind == "broken"
    assert len(stage.used) <= 5


def test_money_that_is_spent_ends_the_sweep_at_once() -> None:
    found, stage = swept(quota={"requests": 100})
    assert found.verdict.kind == "closed"
    assert found.rows[-1].halt is not None
    assert found.stopped == found.rows[-1].halt.reason
    assert len(stage.used) <= 100 + 2 * found.rows[-1].level


def test_no_level_above_the_first_with_many_rejections_is_tried() -> None:
    found, stage = swept(rpm=600)
    pressed = min(row.level for row in found.rows if row.rejected_share > 0.05)
    assert all(level <= pressed or level <= 2 * (found.verdict.window or 0) for level, _ in stage.held)
    assert all(row.paced is not None for row in found.rows if row.level > pressed)


def test_a_storm_of_rejections_is_left_before_all_cases_are_used() -> None:
    found, stage = swept(rpm=60, rejects_consume=True, levels=(100,), available=400)
    assert found.rows[0].halt is not None
    assert stage.held[0][1] < 300


# Cases and money


def test_each_case_is_used_once_at_most() -> None:
    for _, stage in (swept(rpm=600), swept(in_flight=40), swept(knee=30)):
        assert len(stage.used) == len(set(stage.used))


def test_what_cannot_be_paid_for_is_not_begun() -> None:
    stage = VirtualStage(latency=TWO_SECONDS)
    plan = plan_levels((1, 2, 4, 8), per_level=20, available=500)

    def afford(rows: Sequence[Row], cases: int) -> str | None:
        spent = sum(row.cost or 0.0 for row in rows)
        return "too dear" if spent + cases * 0.001 > 0.05 else None

    found = asyncio.run(Sweep(plan, stage, range(500), afford=afford).carry_out())
    assert found.stopped == "too dear"
    assert [level for level, _ in stage.held] == [1, 2]
    assert len(stage.used) * 0.001 <= 0.05


def test_rows_are_told_as_they_come_and_kept_in_order_of_level() -> None:
    told: list[int] = []
    stage = VirtualStage(latency=TWO_SECONDS, knee=30)
    plan = plan_levels(None, per_level=20, available=3000)
    sweep = Sweep(plan, stage, range(3000), tell=lambda row: told.append(row.level))
    found = asyncio.run(sweep.carry_out())
    assert told == [level for level, _ in stage.held]
    assert [row.level for row in found.rows] == sorted(told)
