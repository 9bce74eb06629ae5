"""What options come to: a plan for the engine, a place for the record, and the settings kept with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline import CommandTask
from paceline.conduct import Job
from paceline.conduct.planning import in_processes, path_of, plain, plan_of, settings_of
from paceline.engine.plan import AUTO_CONCURRENCY, Plan
from paceline.errors import UsageError
from paceline.options import Options
from paceline.tasks.callable import CallableTask


def plan(**given: Any) -> Plan:
    return plan_of(Options(**given), (), row_of=lambda *_: None)


def test_auto_begins_with_as_many_cases_as_suit_most_suites() -> None:
    assert plan().concurrency == AUTO_CONCURRENCY
    assert plan(max_concurrency=7).concurrency == 7
    assert plan(max_concurrency=None).concurrency is None


def test_who_debugs_has_one_case_at_a_time_and_no_deadline() -> None:
    debugging = plan(debug=True, max_concurrency=7, case_timeout=5.0)
    assert (debugging.concurrency, debugging.timeout, debugging.case_timeout) == (1, None, None)
    assert (debugging.evaluator_timeout, debugging.hook_timeout) == (None, None)


def test_to_fail_fast_is_a_budget_of_one_failure() -> None:
    assert plan(fail_fast=True, budget={"usd": 5}).budget.failures == 1


def test_calls_are_listened_to_also_where_the_door_is_off() -> None:
    """There are slots, and clients that are paced by themselves."""
    assert plan().listens
    assert plan(pace_http=False).listens


def test_a_command_is_a_process_as_it_is() -> None:
    def told(**tasks: Any) -> dict[str, CallableTask]:
        return {name: CallableTask(task) for name, task in tasks.items()}

    isolated = Options.of({"isolation": "process"})
    command, function = CommandTask("true"), len
    assert not in_processes(isolated, told(a=command, b=command))
    assert in_processes(isolated, told(a=function))
    assert not in_processes(Options.of({}), told(a=function))
    with pytest.raises(UsageError, match="no variant of a task with isolation"):
        plan_of(isolated, (), row_of=dict, tasks=told(a=command, b=function))


def test_a_run_lies_where_it_is_wanted_or_below_the_directory_of_runs(tmp_path: Path) -> None:
    def place(**given: Any) -> Path | None:
        return path_of(Job(suite="sums", options=Options(**given)), "1a2b3c4d")

    assert place(journal=False) is None
    assert place(journal=tmp_path / "here") == tmp_path / "here"
    made = place(runs=tmp_path)
    assert made is not None
    assert made.parent == tmp_path / "sums"
    assert made.name.endswith("-1a2b3c4d")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, {}),
        ({"progress": False, "debug": True, "runs": "elsewhere", "on_event": print}, {}),
        ({"max_concurrency": 5, "repeat": 2}, {"max_concurrency": 5, "repeat": 2}),
        (
            {"limits": {"rpm": 600, "openai:m": {"window": 8}}, "share_pools": False},
            {"limits": {"rpm": 600, "openai:m": {"window": 8}}, "share_pools": False},
        ),
        ({"rehearse": "openai-tier1"}, {"rehearse": "openai-tier1"}),
        ({"variants": {"a": str.upper, "b": str.lower}}, {"variants": ["a", "b"]}),
    ],
)
def test_the_settings_kept_are_those_that_somebody_chose(given: Any, kept: dict[str, object]) -> None:
    assert settings_of(Options(**given)) == kept


def test_metadata_is_kept_as_a_line_holds_it() -> None:
    assert plain(None) is None
    assert plain({"who": ("a", 1)}) == {"who": ["a", 1]}  # no marks of ours among the words of a user
