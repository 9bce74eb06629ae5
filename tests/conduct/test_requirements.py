"""Requirements in whole runs, judged through the SDK of a provider, which counts what it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report
from paceline.evaluators import Requirements
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

CASES = 6
WANTED = ["is polite", "is short", "names a source", "is true"]


@contextmanager
def provider(monkeypatch: pytest.MonkeyPatch, **scenario: Any) -> Iterator[RunningSim]:
    """A provider that says yes to everything."""
    rule = {"when": ".", "reply": '{"reason": "it is so", "pass": true}'}
    fields = {"latency": 0.01, "answers": {"rules": [rule]}, **scenario}
    with start_in_thread(Scenario.of(fields)) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        yield running


def run(folder: Path, **options: Any) -> Report[Any, Any, Any]:
    """A run, or going on with it."""
    dataset: Dataset[Any, Any, Any] = Dataset(
        name="letters",
        cases=[Case(name=f"letter-{n}", inputs=n) for n in range(CASES)],
        evaluators=[Requirements(WANTED, "openai:judge", **options)],
    )
    return dataset.evaluate_sync(
        lambda number: f"Dear {number}", journal=folder, progress=False, task_name="task"
    )


@pytest.mark.parametrize("limit", [None, 3])
def test_there_are_as_many_calls_as_requirements_and_never_more_at_once_than_the_limit(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limit: int | None
) -> None:
    with provider(monkeypatch) as sim:
        report = run(tmp_path / "run", max_concurrency=limit)
        stats = sim.stats()
    assert report.pass_rate == 1.0
    assert stats.arrived == stats.accepted == CASES * len(WANTED)
    assert stats.in_flight_peak <= (limit or CASES * len(WANTED))
    assert {row.scores["Requirements_share"].value for row in report.cases} == {1.0}


def test_when_the_money_is_spent_no_case_is_failed_for_it_and_a_resume_asks_only_for_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with provider(monkeypatch, quota={"requests": 13}) as sim:
        report = run(tmp_path / "run", max_concurrency=2)
        assert sim.stats().accepted == 13
    assert report.figures.n_not_passed == 0
    assert report.figures.n_passed < CASES
    with provider(monkeypatch) as sim:
        report = run(tmp_path / "run", max_concurrency=2)
        assert sim.stats().accepted == CASES * len(WANTED) - 13
    assert report.pass_rate == 1.0
