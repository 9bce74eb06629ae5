"""Sweeps from Python, with real clients against a simulated provider."""

from __future__ import annotations

import asyncio
import os
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, PacelineError
from paceline.ramp.front import worth_keeping
from paceline.ramp.verdict import Verdict
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread
from tests.ramp.rows import report

LEVELS = (1, 4, 16)


def or_the_machine(kind: str) -> tuple[str, str]:
    """On a machine that has no time left for this test, that is what is found, and rightly."""
    return kind, "cpu"


QUICK: dict[str, Any] = {"levels": LEVELS, "per_level": 8, "progress": False}


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., RunningSim]]:
    """Starts a simulated provider, and leads clients to it."""
    running: list[RunningSim] = []

    def start(**scenario: Any) -> RunningSim:
        usual = {"time_scale": 20, "latency": {"mean": 2.0, "sigma": 0.2}}
        running.append(start_in_thread(Scenario.of({**usual, **scenario})))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running[-1].url}/v1")
        return running[-1]

    monkeypatch.setenv("OPENAI_API_KEY", "sk-simulated-0123456789abcdef")
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    yield start
    for each in running:
        each.stop()


def sums(count: int = 90) -> Dataset[str, str, Any]:
    return Dataset(
        name="sums",
        cases=[Case(name=f"case-{n}", inputs=f"{n} + 1") for n in range(count)],
        evaluators=[lambda output: output != ""],
    )


@pytest.fixture
def ask(provider: Callable[..., RunningSim]) -> Iterator[Callable[[str], str]]:
    """A task that knows nothing of Paceline."""
    from openai import OpenAI

    clients: dict[str, OpenAI] = {}

    def task(question: str) -> str:
        url = os.environ["OPENAI_BASE_URL"]
        client = clients.setdefault(url, OpenAI(max_retries=0)) if url not in clients else clients[url]
        answer = client.chat.completions.create(
            model="gpt-5.4-mini", messages=[{"role": "user", "content": question}]
        )
        return answer.choices[0].message.content or ""

    yield task
    for client in clients.values():
        client.close()


# From code


@pytest.mark.slow
def test_a_sweep_from_code_tells_the_ceiling_and_leaves_a_run_to_go_on_with(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    sim = provider(in_flight=6)
    found = sums().ramp_sync(ask, journal="r", **QUICK)
    assert found.verdict.kind == "concurrency"
    assert found.ceiling == pytest.approx(6, rel=0.15)
    assert [row.level for row in found.rows[:2]] == [1, 4]
    assert {row.unit for row in found.rows} == {"call"}
    assert found.path == Path("r")
    report = sums().evaluate_sync(ask, journal="r", progress=False)
    assert report.n_scored == 90
    assert (sim.stats().prompts.different, sim.stats().prompts.answered_twice) == (90, 0)


@pytest.mark.slow
def test_a_sweep_is_awaited_in_async_code_and_may_live_in_memory(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    provider()

    async def main() -> None:
        found = await sums().ramp(ask, journal=False, **QUICK)
        assert [row.level for row in found.rows[:2]] == [1, 4]
        assert found.path is None
        assert found.exit_code() == 0

    asyncio.run(main())
    assert not Path("runs").exists()


def test_a_sweep_that_found_nothing_is_begun_anew_and_one_that_found_something_is_not() -> None:
    broken = report(verdict=Verdict(kind="broken"))
    anew = worth_keeping(broken)
    assert anew is not None
    assert (anew.rows, anew.how, anew.levels) == ((), "interrupted", broken.levels)
    found = report()
    assert worth_keeping(found) is found
    assert worth_keeping(None) is None


def test_levels_take_the_place_of_max_concurrency(ask: Callable[[str], str]) -> None:
    with pytest.raises(PacelineError, match="that is what its levels are"):
        sums().ramp_sync(ask, max_concurrency=5)


@pytest.mark.parametrize("wrong", [{"levels": [4, 1]}, {"levels": []}, {"per_level": 0}, {"per_level": True}])
def test_what_cannot_be_meant_is_refused_before_anything_runs(
    wrong: dict[str, Any], tmp_path: Path, ask: Callable[[str], str]
) -> None:
    with pytest.raises(PacelineError) as refused:
        sums().ramp_sync(ask, journal=tmp_path / "r", **wrong)
    assert refused.value.hint
    assert not (tmp_path / "r").exists()


def test_an_option_that_nobody_knows_is_named(ask: Callable[[str], str]) -> None:
    with pytest.raises(TypeError, match="per_levels"):
        sums().ramp_sync(ask, per_levels=5)  # type: ignore[call-arg]


# Where the calls are made


@pytest.mark.slow
def test_calls_of_child_processes_are_held_to_the_level_and_seen(provider: Callable[..., RunningSim]) -> None:
    sim = provider(in_flight=3, time_scale=5)
    Path("elsewhere.py").write_text(
        textwrap.dedent("""
            from openai import OpenAI
            from paceline import Case, Dataset

            dataset = Dataset(
                name="elsewhere",
                cases=[Case(name=f"case-{n}", inputs=f"{n} + 1") for n in range(50)],
                evaluators=[lambda output: bool(output)],
            )

            def task(question):
                answer = OpenAI().chat.completions.create(
                    model="m", messages=[{"role": "user", "content": question}]
                )
                return answer.choices[0].message.content
        """)
    )
    from paceline.suite import load_suite

    suite = load_suite("elsewhere.py")
    dataset: Any = suite.dataset
    found = dataset.ramp_sync(
        suite.task, isolation="process", levels=(2, 6), per_level=4, progress=False, journal="r"
    )
    assert {row.unit for row in found.rows} == {"call"}
    assert found.verdict.kind == "concurrency"
    assert found.verdict.window == 3
    assert sum(row.rejected for row in found.rows) > 0, "each try is seen, not only each call"
    assert sim.stats().prompts.answered_twice == 0
    assert found.rows[-1].pool == "openai-compatible:m"


@pytest.mark.slow
def test_calls_that_are_not_seen_are_judged_by_their_cases(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    provider(knee=5)
    found = sums(120).ramp_sync(ask, journal=False, pace_http=False, **QUICK)
    assert {row.unit for row in found.rows} == {"case"}
    assert found.verdict.kind in or_the_machine("latency")
    assert not found.learned
    assert "-j " in found.render()


# What is not the provider's


@pytest.mark.slow
def test_a_task_that_blocks_the_loop_is_named_with_its_line() -> None:
    async def task(n: str) -> str:
        time.sleep(0.02)  # what the test is about
        return n

    found = sums().ramp_sync(task, journal=False, **QUICK)
    assert found.verdict.kind in or_the_machine("loop")
    assert f"{__file__}:" in found.verdict.evidence or found.verdict.kind == "cpu"
    assert not found.learned


@pytest.mark.slow
def test_a_lock_in_the_task_is_not_taken_for_the_providers_limit(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    provider()
    few = threading.Semaphore(2)

    def held_back(question: str) -> str:
        with few:
            return ask(question)

    found = sums().ramp_sync(held_back, journal=False, **QUICK)
    assert found.verdict.kind == "task"
    assert found.verdict.window == 2


@pytest.mark.slow
def test_a_limit_of_ones_own_is_not_taken_for_the_providers(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    sim = provider()
    found = sums().ramp_sync(ask, journal=False, limits={"window": 3}, **QUICK)
    assert found.verdict.kind == "limits"
    assert sim.stats().in_flight_peak <= 3


@pytest.mark.slow
def test_evaluators_that_fail_do_not_make_a_ceiling(
    provider: Callable[..., RunningSim], ask: Callable[[str], str]
) -> None:
    provider()

    def confused(output: str) -> bool:
        raise RuntimeError("no opinion")

    dataset = Dataset[str, str, Any](name="sums", cases=sums().cases, evaluators=[confused])
    found = dataset.ramp_sync(ask, journal=False, **QUICK)
    assert found.verdict.kind not in ("errors", "broken")
    assert [row.errors for row in found.rows] == [0] * len(found.rows), "the task has answered"
