"""Whole runs of unchanged tasks against a simulated provider: what it has seen stands in the journal."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

import paceline
from paceline import Case, Dataset
from paceline.journal import read_lines
from paceline.journal.reading import Recorded
from paceline.journal.records import CallLine, OutcomeLine
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

GPT, CLAUDE = "gpt-5.4-mini", "claude-haiku-5-5"
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.fixture(autouse=True)
def _a_state_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path / "state"))


def provider(**scenario: Any) -> RunningSim:
    return start_in_thread(Scenario.of({"latency": {"mean": 0.02, "sigma": 0.3}, "seed": 3, **scenario}))


def sums(cases: int) -> Dataset[int, str, Any]:
    def right(inputs: int, output: str) -> bool:
        return str(2 * inputs) in output

    return Dataset(
        name="sums", cases=[Case(name=f"n-{n}", inputs=n) for n in range(cases)], evaluators=[right]
    )


def lines_in(run: Path) -> list[Any]:
    return [entry.line for entry in read_lines(run) if isinstance(entry, Recorded)]


def calls_in(run: Path) -> list[CallLine]:
    return [line for line in lines_in(run) if isinstance(line, CallLine)]


def outcomes_in(run: Path) -> dict[str, OutcomeLine]:
    return {line.case: line for line in lines_in(run) if isinstance(line, OutcomeLine)}


def question(n: int) -> Any:
    return [{"role": "user", "content": f"What is {n} + {n}?"}]


async def ask_openai(client: openai.AsyncOpenAI, n: int) -> str:
    said = await client.chat.completions.create(model=GPT, messages=question(n))
    return said.choices[0].message.content or ""


@pytest.mark.slow
def test_under_limits_overload_and_faults_every_case_is_answered_and_every_call_is_on_record(
    tmp_path: Path,
) -> None:
    dataset = sums(60)
    with provider(
        rpm=3000,
        burst=0.5,
        in_flight=6,
        overload={"rate": 0.05, "status": 529},
        faults={"error": 0.05, "reset": 0.05, "truncate": 0.03, "stream_error": 0.03},
    ) as sim:

        async def task(n: int) -> str:
            async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as client:
                return await ask_openai(client, n)

        report = dataset.evaluate_sync(task, journal=tmp_path / "run", progress=False)
        seen = sim.stats()
    assert (report.figures.passed.count, len(report.failures)) == (60, 0)
    calls = calls_in(tmp_path / "run")
    assert Counter(call.outcome for call in calls) == {"ok": 60}
    assert Counter(call.case for call in calls) == {f"n-{n}": 1 for n in range(60)}
    assert sum(call.tries for call in calls) == seen.arrived
    assert (seen.answered, seen.prompts.answered_twice) == (60, 0)
    assert sum(seen.refused.values()) + sum(seen.faults.values()) > 0
    by_call = sum(call.input_tokens or 0 for call in calls)
    assert sum(case.metrics["input_tokens"] for case in report.cases) == by_call
    assert all(case.metrics["cost"] > 0 for case in report.cases)


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_sync_task_with_threads_of_its_own_is_counted_case_by_case(isolation: Any, tmp_path: Path) -> None:
    with provider() as sim:
        os.environ["TEST_SIM_URL"] = sim.url
        try:
            report = sums(6).evaluate_sync(
                ask_twice_on_threads,
                journal=tmp_path / "run",
                progress=False,
                isolation=isolation,
                max_concurrency=2,
            )
        finally:
            del os.environ["TEST_SIM_URL"]
        seen = sim.stats()
    assert report.figures.passed.count == 6
    calls = calls_in(tmp_path / "run")
    assert Counter(call.case for call in calls) == {f"n-{n}": 2 for n in range(6)}
    assert Counter(call.model for call in calls) == {GPT: 6, CLAUDE: 6}
    assert len(calls) == seen.arrived == 12
    assert sum(call.input_tokens or 0 for call in calls) == seen.tokens.input


def ask_twice_on_threads(n: int) -> str:
    """Two models at once, on a pool of the task's own."""
    url = os.environ["TEST_SIM_URL"]
    with (
        openai.OpenAI(api_key=KEY, base_url=f"{url}/v1") as chat,
        anthropic.Anthropic(api_key=KEY, base_url=url) as claude,
        ThreadPoolExecutor(2) as pool,
    ):
        first = pool.submit(chat.chat.completions.create, model=GPT, messages=question(n))
        second = pool.submit(claude.messages.create, model=CLAUDE, max_tokens=99, messages=question(n))
        second.result()
        return first.result().choices[0].message.content or ""


@pytest.mark.slow
def test_a_refused_key_ends_the_run_with_nothing_lost_and_nobody_blamed(tmp_path: Path) -> None:
    dataset = sums(40)
    with provider(keys=["sk-the-right-one-the-right-one"]) as sim:

        async def task(n: int) -> str:
            async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as client:
                return await ask_openai(client, n)

        report = dataset.evaluate_sync(
            task, journal=tmp_path / "run", progress=False, max_concurrency=4, limits={"window": 1}
        )
        assert sim.stats().arrived <= 4
    outcomes = outcomes_in(tmp_path / "run")
    # Those that waited in line are no more wrong than the first one.
    assert {line.outcome for line in outcomes.values()} <= {"infra_error", "cancelled"}
    assert 1 <= len(outcomes) <= 8
    assert not report.cases
    told = [(call.outcome, call.cause) for call in calls_in(tmp_path / "run")]
    assert set(told) == {("fatal", "auth")}


@pytest.mark.slow
def test_a_rehearsal_beside_a_run_sends_nothing_of_it_elsewhere(tmp_path: Path) -> None:
    """Two runs in one process have a door each."""
    with provider() as sim:

        async def task(n: int) -> str:
            async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as client:
                return await ask_openai(client, n)

        async def both() -> None:
            await asyncio.gather(
                sums(5).evaluate(task, journal=tmp_path / "real", progress=False),
                sums(5).evaluate(task, journal=tmp_path / "rehearsed", progress=False, rehearse=True),
            )

        asyncio.run(both())
        assert sim.stats().arrived == 5
    assert len(calls_in(tmp_path / "real")) == 5
    assert len(calls_in(tmp_path / "rehearsed")) == 5


def test_without_the_door_calls_go_out_as_the_task_makes_them(tmp_path: Path) -> None:
    with provider() as sim:

        async def task(n: int) -> str:
            async with openai.AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as client:
                return await ask_openai(client, n)

        report = sums(3).evaluate_sync(task, journal=tmp_path / "run", progress=False, pace_http=False)
        assert sim.stats().arrived == 3
    assert report.figures.passed.count == 3
    assert calls_in(tmp_path / "run") == []


def test_without_the_door_slots_and_paced_clients_are_heard_of_all_the_same(tmp_path: Path) -> None:
    with provider() as sim:

        async def task(n: int) -> str:
            http = paceline.paced_client(httpx2.AsyncClient) if n == 1 else None
            async with (
                paceline.slot("test: without the door", 1),
                openai.AsyncOpenAI(api_key=KEY, base_url=f"{sim.url}/v1", http_client=http) as client,
            ):
                await asyncio.sleep(0.2)
                return await ask_openai(client, n)

        report = sums(3).evaluate_sync(task, journal=tmp_path / "run", progress=False, pace_http=False)
        assert sim.stats().arrived == 3
    assert report.figures.passed.count == 3
    assert [call.case for call in calls_in(tmp_path / "run")] == ["n-1"]
    waited = sorted(line.waited for line in outcomes_in(tmp_path / "run").values())
    assert waited[1] > 0.1
    assert waited[2] > 0.3
