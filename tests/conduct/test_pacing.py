"""The pace of a run: which pools are its own, what closes it, and limits that hold over all its processes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.conduct.pacing import Pacing
from paceline.engine.events import Warned
from paceline.errors import UsageError
from paceline.options import Options
from paceline.pace.calls import Call
from paceline.pace.desk import current_desk
from paceline.pace.messages import Limits, PoolId, Result
from paceline.pace.pool import Closed
from paceline.sim import Scenario, start_in_thread
from paceline.sim.server import RunningSim
from paceline.tasks import ModelTask

OURS = PoolId("openai", "https://api.openai.com", "m", "k1")
THEIRS = PoolId("openai", "https://api.openai.com", "m", "k2")
SPENT = Closed(cause="quota", message="You exceeded your quota.", at=0.0)


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path / "state"))


@pytest.fixture
def sim() -> Iterator[RunningSim]:
    with start_in_thread(Scenario.of({"latency": 0.02})) as running:
        yield running


def ask(pool: PoolId) -> None:
    desk = current_desk()
    assert desk is not None
    desk.settle(desk.acquire_sync(pool), Result(outcome="ok", seconds=0.1))


def test_doors_and_desk_are_there_for_as_long_as_the_run() -> None:
    pacing = Pacing(Options())
    assert pacing.listens
    with pacing.opened():
        assert current_desk() is not None
        ask(OURS)
        assert [facts.id for facts in pacing.facts()] == [OURS]
    assert current_desk() is None
    assert [facts.accepted for facts in pacing.facts()] == [1]  # still told after its end, for the report


def test_without_pace_http_nothing_listens_unless_it_is_rehearsed() -> None:
    assert not Pacing(Options(pace_http=False)).listens
    assert Pacing(Options(pace_http=False, rehearse=True)).listens


def test_limits_are_read_and_a_rehearsal_shares_and_learns_nothing() -> None:
    opening = Pacing(Options(limits={"rpm": 600, "openai:m": {"window": 8}})).opening
    assert (opening.limits, opening.per_pool) == (Limits(rpm=600), {"openai:m": Limits(window=8)})
    assert (opening.share, opening.learn) == (True, True)
    rehearsed = Pacing(Options(rehearse=True)).opening
    assert (rehearsed.share, rehearsed.learn) == (False, False)
    assert Pacing(Options(share_pools=False)).opening.share is False


def test_a_scenario_that_does_not_exist_is_refused_before_anything_opens() -> None:
    with pytest.raises(UsageError, match="there is no scenario 'gentel'"):
        Pacing(Options(rehearse="gentel"))


def test_a_pool_that_closes_is_told_once_with_the_remedy() -> None:
    pacing, told = Pacing(Options(share_pools=False)), list[str]()
    pacing.when_closed(told.append)
    with pacing.opened():
        desk = current_desk()
        assert desk is not None
        first, second = desk.acquire_sync(OURS), desk.acquire_sync(OURS)
        for grant in (first, second):
            desk.settle(grant, Result(outcome="fatal", cause="quota", message="You exceeded your quota."))
    (said,) = told
    assert said.startswith("openai:m answers no more calls: its quota is spent. It said: You exceeded")
    assert "`paceline resume`" in said
    assert list(pacing.closed) == [OURS]


def test_what_closes_for_another_run_at_the_same_desk_does_not_end_this_one() -> None:
    one, other = Pacing(Options()), Pacing(Options())
    told: dict[str, list[str]] = {"one": [], "other": []}
    one.when_closed(told["one"].append)
    other.when_closed(told["other"].append)
    with one.opened(), other.opened():
        one_desk, other_desk = one._desk, other._desk
        assert one_desk is not None
        assert other_desk is not None
        one_desk.settle(one_desk.acquire_sync(OURS), Result())
        grant = other_desk.acquire_sync(THEIRS)
        other_desk.settle(grant, Result(outcome="fatal", cause="auth", message="no such key"))
        assert other_desk.facts()  # an answer from the holder: all that came before it has been told
        assert one_desk.facts()
        assert [facts.id for facts in one.facts()] == [OURS]
        # As soon as a call of its own goes there, it is this run's matter too.
        one.saw(call(THEIRS, outcome="fatal"))
    assert len(told["other"]) == 1
    assert [said.partition(" ")[0] for said in told["one"]] in ([], ["openai:m"])


def call(pool: PoolId, **fields: Any) -> Call:
    return Call(at=0.0, pool=str(pool), host=pool.host, account=pool.account, **fields)


def test_pools_of_child_processes_are_known_by_the_calls_that_they_tell_of() -> None:
    pacing, told = Pacing(Options(isolation="process", share_pools=False)), list[str]()
    pacing.when_closed(told.append)
    with pacing.opened():
        pacing._close(THEIRS, SPENT)
        pacing._close(OURS, SPENT)
        assert told == []
        pacing.saw(call(OURS, outcome="fatal"))
        assert len(told) == 1
        pacing.saw(call(OURS, outcome="fatal"))
        pacing._close(OURS, SPENT)
        assert len(told) == 1


# Whole runs


def dataset(cases: int) -> Dataset[str, str, Any]:
    return Dataset(
        name="sums",
        cases=[
            Case(name=str(n), inputs=f"What is {n} + 1?", expected_output=str(n + 1)) for n in range(cases)
        ],
        evaluators=[lambda output, expected_output: output == expected_output],
    )


def model_at(sim: RunningSim) -> ModelTask:
    return ModelTask(f"openai-compatible:m@{sim.url}/v1")


def test_a_window_is_kept_by_all_cases_of_a_run_together(sim: RunningSim) -> None:
    report = dataset(20).evaluate_sync(
        model_at(sim), limits={"window": 3}, max_concurrency=20, journal=False, share_pools=False
    )
    assert report.pass_rate == 1.0
    assert sim.stats().in_flight_peak <= 3


def test_a_limit_for_one_pool_is_kept_by_that_pool_only(sim: RunningSim) -> None:
    narrow = {"openai-compatible:narrow": {"window": 1}}
    tasks = {name: ModelTask(f"openai-compatible:{name}@{sim.url}/v1") for name in ("narrow", "wide")}
    report = dataset(8).evaluate_sync(
        variants=tasks, limits=narrow, max_concurrency=16, journal=False, share_pools=False
    )
    assert report.pass_rate == 1.0
    peaks = {pool.pool: pool.end.peak for pool in report.figures.pools if pool.end is not None}
    assert peaks["openai-compatible:narrow"] <= 1
    assert sim.stats().in_flight_peak > 1


def test_a_limit_for_a_pool_that_no_call_went_to_is_told(sim: RunningSim) -> None:
    told: list[Warned] = []
    dataset(2).evaluate_sync(
        model_at(sim),
        limits={"openai-compatible:m": {"rpm": 6000}, "opneai:m": {"rpm": 5}, "m": {"window": 9}},
        journal=False,
        share_pools=False,
        on_event=lambda event: told.append(event) if isinstance(event, Warned) else None,
    )
    (warning,) = told
    assert warning.message == "limits were set for opneai:m, and no call went there"
    assert "openai-compatible:m" in warning.hint


@pytest.mark.slow
def test_a_window_is_kept_by_the_processes_of_a_run_together(sim: RunningSim) -> None:
    report = dataset(16).evaluate_sync(
        model_at(sim),
        limits={"window": 2},
        max_concurrency=4,
        isolation="process",
        journal=False,
        share_pools=False,
    )
    assert report.pass_rate == 1.0
    assert sim.stats().in_flight_peak <= 2
    assert [pool.end is not None and pool.end.accepted for pool in report.figures.pools] == [16]


@pytest.mark.slow
def test_a_key_that_is_refused_to_a_child_process_ends_the_run() -> None:
    with start_in_thread(Scenario.of({"latency": 0.02, "keys": ["another"]})) as strict:
        report = dataset(40).evaluate_sync(
            model_at(strict),
            limits={"window": 2},
            max_concurrency=2,
            isolation="process",
            journal=False,
            share_pools=False,
        )
        assert strict.stats().arrived <= 4
    assert "the key is refused" in report.figures.stopped
    assert report.figures.n_not_run >= 30


def test_a_run_without_calls_of_models_leaves_nothing_behind(tmp_path: Path) -> None:
    async def task(text: str) -> str:
        await asyncio.sleep(0)
        return text

    dataset(3).evaluate_sync(task, journal=False)
    assert not (tmp_path / "state").exists()
    assert "PACELINE_STATE" in os.environ
