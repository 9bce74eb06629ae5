"""What a second process makes of a run: the same call again, with the same journal."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paceline import Case, CaseLifecycle, Dataset, Report, increment_eval_metric, rescore
from paceline.api import exit_code, job_of, run_job
from paceline.conduct import Finished
from paceline.engine.events import AnyEvent, RunStarted, Warned
from paceline.errors import FingerprintChanged
from paceline.evaluators import Contains, Equals, EqualsExpected, Evaluator, EvaluatorContext
from paceline.evaluators.verdicts import concluded
from paceline.options import Options


class Counted:
    """A task that remembers what it was asked."""

    def __init__(self, *failing: Any) -> None:
        self.asked: list[Any] = []
        self.failing = set(failing)
        self._lock = threading.Lock()

    def __call__(self, inputs: Any) -> Any:
        with self._lock:
            self.asked.append(inputs)
        if inputs in self.failing:
            raise ValueError(f"cannot do {inputs}")
        return inputs


def numbers(count: int, **case: Any) -> Dataset[Any, Any, Any]:
    return Dataset(
        name="numbers",
        cases=[Case(name=f"c{n}", inputs=n, expected_output=n, **case) for n in range(count)],
        evaluators=[EqualsExpected()],
    )


def run(dataset: Dataset[Any, Any, Any], task: Any, journal: Path, **options: Any) -> Report:
    return dataset.evaluate_sync(task, journal=journal, progress=False, **options)


def finished(
    dataset: Dataset[Any, Any, Any],
    task: Any,
    journal: Path,
    *,
    only: Iterable[str] | None = None,
    **options: Any,
) -> Finished:
    keep = None if only is None else lambda named: [pair for pair in named if pair[0] in set(only)]
    return run_job(job_of(dataset, task, Options(journal=journal, progress=False, **options), keep=keep))


def test_a_finished_run_asks_nothing_again(tmp_path: Path) -> None:
    task = Counted()
    run(numbers(5), task, tmp_path / "run")
    again = run(numbers(5), task, tmp_path / "run")
    assert sorted(task.asked) == [0, 1, 2, 3, 4]
    assert (again.n_expected, again.pass_rate) == (5, 1.0)


def test_errors_are_left_alone_until_they_are_to_be_retried(tmp_path: Path) -> None:
    broken, mended = Counted(1), Counted()
    run(numbers(3), broken, tmp_path / "run", task_name="task")
    run(numbers(3), mended, tmp_path / "run", task_name="task")
    assert mended.asked == []
    report = run(numbers(3), mended, tmp_path / "run", task_name="task", retry_errors=True)
    assert mended.asked == [1]
    assert report.pass_rate == 1.0


def test_a_case_whose_content_changed_runs_again_and_that_is_said(tmp_path: Path) -> None:
    task = Counted()
    run(numbers(3), task, tmp_path / "run")
    changed = numbers(3)
    assert isinstance(changed.cases, list)
    changed.cases[1].inputs = changed.cases[1].expected_output = 100
    told: list[AnyEvent] = []
    report = run(changed, task, tmp_path / "run", on_event=told.append)
    assert task.asked[3:] == [100]
    assert (report.n_expected, report.pass_rate) == (3, 1.0)
    assert any(isinstance(event, Warned) and "run again" in event.message for event in told)


def test_a_case_whose_own_evaluator_changed_is_not_taken_as_done(tmp_path: Path) -> None:
    def dataset(wanted: int) -> Dataset[Any, Any, Any]:
        return Dataset(name="own", cases=[Case(name="a", inputs=1, evaluators=(Equals(wanted),))])

    task = Counted()
    assert run(dataset(1), task, tmp_path / "run").pass_rate == 1.0
    assert run(dataset(2), task, tmp_path / "run").pass_rate == 0.0


def test_other_evaluators_are_refused_with_the_difference(tmp_path: Path) -> None:
    task = Counted()
    run(numbers(2), task, tmp_path / "run")
    other = numbers(2)
    other.evaluators = [Equals(3)]
    with pytest.raises(FingerprintChanged, match="EqualsExpected") as refused:
        run(other, task, tmp_path / "run")
    assert "accept" in refused.value.hint
    run(other, task, tmp_path / "run", accept_changes=True)
    assert len(task.asked) == 2


def test_a_secret_in_an_evaluator_does_not_make_the_suite_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "staging-europe-7")
    dataset = Dataset(
        name="secret",
        cases=[Case(name="prompt for staging-europe-7", inputs=1)],
        evaluators=[Contains("staging-europe-7", as_strings=True)],
    )
    task = Counted()
    run(dataset, task, tmp_path / "run")
    run(dataset, task, tmp_path / "run")
    assert task.asked == [1], "a key whose name holds a secret is known again too"


def test_a_selection_is_made_in_the_order_of_the_dataset_whatever_the_order_of_running(
    tmp_path: Path,
) -> None:
    def first_three(named: Iterable[Any]) -> list[Any]:
        return list(named)[:3]

    task = Counted()
    options = Options(journal=tmp_path / "run", progress=False, order="shuffle", seed=3)
    run_job(job_of(numbers(30), task, options, keep=first_three))
    assert sorted(task.asked) == [0, 1, 2]


def test_a_selection_on_a_resume_does_not_make_an_unfinished_run_complete(tmp_path: Path) -> None:
    task = Counted()
    budget = {"failures": 1}
    first = finished(
        numbers(10), Counted(0), tmp_path / "run", budget=budget, max_concurrency=1, task_name="t"
    )
    assert first.ending.how == "budget"
    second = finished(numbers(10), task, tmp_path / "run", only=["c1", "c2"], task_name="t")
    assert sorted(task.asked) == [1, 2]
    assert second.report.n_expected == 10
    assert exit_code(second) == 4


def test_what_a_budget_left_out_is_not_a_failure_of_the_next_process(tmp_path: Path) -> None:
    def never_right(inputs: Any) -> Any:
        return -1

    run(numbers(20), never_right, tmp_path / "run", budget={"failures": 3}, max_concurrency=1)
    report = run(numbers(20), never_right, tmp_path / "run", budget={"failures": 10}, max_concurrency=1)
    assert report.n_scored == 10


def test_fail_fast_can_be_resumed_once_the_task_is_mended(tmp_path: Path) -> None:
    run(numbers(5), Counted(2), tmp_path / "run", fail_fast=True, max_concurrency=1, task_name="t")
    mended = Counted()
    report = run(
        numbers(5),
        mended,
        tmp_path / "run",
        fail_fast=True,
        retry_errors=True,
        max_concurrency=1,
        task_name="t",
    )
    assert sorted(mended.asked) == [2, 3, 4]
    assert report.pass_rate == 1.0


def test_money_is_counted_over_all_processes(tmp_path: Path) -> None:
    async def costly(inputs: Any) -> Any:
        increment_eval_metric("cost", 1.0)
        return inputs

    run(numbers(10), costly, tmp_path / "run", budget={"usd": 3.0})
    second = run(numbers(10), costly, tmp_path / "run", budget={"usd": 5.0})
    assert second.n_scored == 5


def test_a_money_budget_on_a_task_that_tells_no_cost_is_red(tmp_path: Path) -> None:
    done = finished(numbers(3), Counted(), tmp_path / "run", budget={"usd": 1.0})
    assert done.report.pass_rate == 1.0
    assert exit_code(done) == 1


def test_a_resume_is_the_same_run(tmp_path: Path) -> None:
    told: list[AnyEvent] = []
    for _ in range(2):
        report = run(numbers(2), Counted(), tmp_path / "run", on_event=told.append)
    started = [event.run_id for event in told if isinstance(event, RunStarted)]
    assert started == [report.run_id] * 2


def test_a_selection_of_a_streamed_file_is_not_taken_for_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.conduct.supply.IN_MEMORY_UP_TO", 10)
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(f'{{"id": "{name}{n}", "input": "{name}{n}"}}\n' for name in "ab" for n in range(5))
    )
    task = Counted()
    for letter in "ab":
        dataset = Dataset.from_file(rows)
        finished(dataset, task, tmp_path / "run", only=[f"{letter}{n}" for n in range(5)])
    assert sorted(task.asked) == sorted(f"{name}{n}" for name in "ab" for n in range(5))


def test_a_finished_streamed_run_is_known_without_looking_at_each_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paceline.conduct.supply.IN_MEMORY_UP_TO", 10)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"id": "r{n}", "input": {n}, "expected": {n}}}\n' for n in range(50)))
    task = Counted()
    for _ in range(2):
        dataset = Dataset.from_file(rows)
        dataset.evaluators.append(EqualsExpected())
        report = run(dataset, task, tmp_path / "run")
    assert len(task.asked) == 50
    assert report.pass_rate == 1.0


def test_an_older_run_of_a_newer_version_does_not_keep_a_new_one_from_starting(tmp_path: Path) -> None:
    dataset = numbers(2)
    first = dataset.evaluate_sync(Counted(), progress=False, runs=tmp_path)
    assert first.path is not None
    journal = first.path / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"format":1', b'"format":99', 1))
    assert dataset.evaluate_sync(Counted(), progress=False, runs=tmp_path).pass_rate == 1.0


def test_a_run_inside_somebody_elses_loop_leaves_their_process_alone(tmp_path: Path) -> None:
    async def server() -> float | None:
        return (await asyncio.to_thread(run, numbers(2), Counted(), tmp_path / "run")).pass_rate

    assert asyncio.run(server()) == 1.0


# What was paid for


class Fragile(CaseLifecycle[Any, Any, Any]):
    """Its hooks fail as long as they are told to."""

    broken: ClassVar[str] = ""

    async def prepare_context(self, ctx: EvaluatorContext[Any, Any, Any]) -> EvaluatorContext[Any, Any, Any]:
        self.fail_in("prepare_context")
        return ctx

    async def teardown(self, result: Any) -> None:
        self.fail_in("teardown")

    def fail_in(self, hook: str) -> None:
        if self.broken == hook:
            raise OSError("disk full")


@pytest.mark.parametrize("hook", ["prepare_context", "teardown"])
def test_an_answer_is_not_asked_for_again_because_a_hook_after_it_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hook: str
) -> None:
    task, cases, told = Counted(), numbers(2), list[AnyEvent]()
    monkeypatch.setattr(Fragile, "broken", hook)
    first = run(cases, task, tmp_path / "run", lifecycle=Fragile)
    assert [(row.error_stage, row.output) for row in first.failures] == [(hook, 0), (hook, 1)]
    assert run(cases, task, tmp_path / "run", lifecycle=Fragile).exit_code() == 1, "it counts as done"
    monkeypatch.setattr(Fragile, "broken", "")
    again = run(cases, task, tmp_path / "run", lifecycle=Fragile, retry_errors=True, on_event=told.append)
    assert again.passed
    assert [case.output for case in again.cases] == [0, 1]
    assert sorted(task.asked) == [0, 1]
    (started,) = (event for event in told if isinstance(event, RunStarted))
    assert (started.done_before, started.open_reasons) == (0, {"task_error": 2})


class Votes(Evaluator[Any, Any, Any]):
    """Three votes, the third of which fails as often as it is told to."""

    asked: ClassVar[list[str]] = []
    failing: ClassVar[int] = 0

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        return all([await self._vote(f"vote {number}") for number in (1, 2, 3)])

    async def _vote(self, part: str) -> bool:
        async def ask() -> bool:
            Votes.asked.append(part)
            if part == "vote 3" and Votes.failing:
                Votes.failing -= 1
                raise ConnectionError("gone")
            return True

        return await concluded(part, "s", ask, bool)


def test_a_resume_finds_what_evaluators_have_concluded_and_a_rescoring_does_too(tmp_path: Path) -> None:
    dataset: Dataset[Any, Any, Any] = Dataset(name="votes", cases=[Case(inputs=1)], evaluators=[Votes()])
    Votes.asked, Votes.failing = [], 3
    report = run(dataset, Counted(), tmp_path / "run", task_name="task")
    assert report.figures.outcomes["evaluator_error"] == 1
    assert Votes.asked == ["vote 1", "vote 2", "vote 3", "vote 3", "vote 3"]
    Votes.asked = []
    report = run(dataset, Counted(), tmp_path / "run", task_name="task")
    assert (report.pass_rate, Votes.asked) == (1.0, ["vote 3"])
    Votes.asked = []
    again = rescore(tmp_path / "run", evaluators=[Votes()], journal=tmp_path / "again", progress=False)
    assert (again.pass_rate, Votes.asked) == (1.0, [])
    of_its_own = rescore(tmp_path / "again", evaluators=[Votes()], journal=tmp_path / "third", progress=False)
    assert (of_its_own.pass_rate, Votes.asked) == (1.0, [])
