"""Lifecycle hooks: their order, their context, their deadlines, and that teardown always runs."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any, ClassVar

import pytest

from paceline.engine.lifecycle import CaseLifecycle
from paceline.engine.retry import Retry
from paceline.engine.run import Run
from paceline.evaluators.base import EvaluatorContext, instant
from paceline.journal.records import AttemptLine, BeginLine, Line, OutputLine
from paceline.report.rows import row_maker
from tests.engine.stage import Carried, Meter, SlowDisk, cases, deaf, now, play

database: ContextVar[str] = ContextVar("database")


class Logged(CaseLifecycle[int, int, Any]):
    """Writes down what is called, and sleeps or raises where it is told to."""

    log: ClassVar[list[tuple[str, int]]] = []
    rows: ClassVar[dict[int, Any]] = {}
    slow: ClassVar[dict[str, float]] = {}
    broken: ClassVar[set[str]] = set()
    ignoring: ClassVar[set[str]] = set()

    @classmethod
    def fresh(cls, **fields: Any) -> type[Logged]:
        """A subclass with a log of its own."""
        return type("Fresh", (cls,), {"log": [], "rows": {}, **fields})

    async def pass_through(self, name: str) -> None:
        self.log.append((name, self.case.inputs))
        if name in self.ignoring:
            await deaf(self.slow[name])
        await asyncio.sleep(self.slow.get(name, 0))
        if name in self.broken:
            raise ValueError(f"{name} is broken")
        self.log.append((f"{name} done", self.case.inputs))

    async def setup(self) -> None:
        await self.pass_through("setup")
        database.set(f"database of {self.case.inputs}")

    async def prepare_context(self, ctx: EvaluatorContext[int, int, Any]) -> EvaluatorContext[int, int, Any]:
        await self.pass_through("prepare_context")
        ctx.metrics["prepared"] = ctx.output + 1
        return ctx

    async def teardown(self, result: Any) -> None:
        self.rows[self.case.inputs] = result
        await self.pass_through("teardown")


async def echo(number: int) -> int:
    return number


@instant
def right(output: int) -> bool:
    return output >= 0


async def judge(output: int) -> bool:
    await asyncio.sleep(1)
    return True


def run(lifecycle: type[Logged], task: Any = echo, number: int = 1, **how: Any) -> Carried:
    return play(cases(number), task, lifecycle=lifecycle, row_of=row_maker(1, []), **how)


def test_hooks_are_called_in_order_around_the_task_and_the_evaluators() -> None:
    hooks = Logged.fresh()

    async def task(number: int) -> int:
        hooks.log.append(("task", number))
        return number

    async def scored(output: int) -> bool:
        hooks.log.append(("scored", output))
        return True

    carried = run(hooks, task, evaluators=[scored])
    assert [what for what, _number in hooks.log] == [
        "setup",
        "setup done",
        "task",
        "prepare_context",
        "prepare_context done",
        "scored",
        "teardown",
        "teardown done",
    ]
    assert carried.outcomes["case-0"].metrics == {}, "they stand in the output line"
    assert carried.of(OutputLine)[0].metrics == {"prepared": 1}


def test_setup_and_teardown_are_called_once_however_often_the_task_is_tried() -> None:
    hooks = Logged.fresh()
    tries: list[float] = []

    async def task(number: int) -> int:
        tries.append(now())
        if len(tries) < 3:
            raise ConnectionError
        return number

    carried = run(hooks, task, retry_task=Retry(attempts=3, base=10.0))
    assert carried.ended == {"scored": 1}
    assert len(tries) == 3
    assert [what for what, _number in hooks.log].count("setup") == 1
    assert [what for what, _number in hooks.log].count("teardown") == 1


def test_a_context_variable_set_in_setup_is_seen_by_task_evaluators_and_teardown_and_by_no_other_case() -> (
    None
):
    seen: dict[str, list[str]] = {}

    class Hooks(Logged):
        async def teardown(self, result: Any) -> None:
            seen.setdefault("teardown", []).append(database.get())

    async def task(number: int) -> int:
        await asyncio.sleep(1)
        seen.setdefault("task", []).append(database.get())
        assert database.get() == f"database of {number}"
        return number

    @instant
    def in_place(output: int) -> bool:
        return database.get() == f"database of {output}"

    async def on_loop(output: int) -> bool:
        return database.get() == f"database of {output}"

    async def another(output: int) -> bool:
        return database.get() == f"database of {output}"

    carried = run(Hooks, task, 5, evaluators=[in_place, on_loop, another], concurrency=3)
    assert carried.ended == {"scored": 5}
    assert carried.gauge.passed == 5
    assert (
        sorted(seen["task"]) == sorted(seen["teardown"]) == [f"database of {number}" for number in range(5)]
    )
    with pytest.raises(LookupError):
        database.get()


def test_a_case_with_hooks_keeps_its_place_from_setup_to_teardown() -> None:
    meter = Meter()

    class Hooks(Logged):
        async def setup(self) -> None:
            self.inside = meter.around(self.case.inputs)
            self.inside.__enter__()
            await asyncio.sleep(1)

        async def teardown(self, result: Any) -> None:
            await asyncio.sleep(1)
            self.inside.__exit__(None, None, None)

    carried = run(Hooks, echo, 9, evaluators=[judge], concurrency=3)
    assert meter.most == 3
    assert carried.seconds == 9.0


def test_teardown_gets_the_row_of_its_case() -> None:
    hooks = Logged.fresh()

    async def task(number: int) -> int:
        if number == 1:
            raise ValueError("wrong")
        return number

    run(hooks, task, 2, evaluators=[right, judge])
    assert hooks.rows[0].output == 0
    assert hooks.rows[0].assertions["right"].value is True
    assert hooks.rows[0].metrics == {"prepared": 1}
    assert hooks.rows[1].error_message == "wrong"


@pytest.mark.parametrize(
    ("broken", "called"),
    [
        ("setup", ["setup", "teardown", "teardown done"]),
        ("prepare_context", ["setup", "setup done", "prepare_context", "teardown", "teardown done"]),
        ("teardown", ["setup", "setup done", "prepare_context", "prepare_context done", "teardown"]),
    ],
)
def test_a_hook_that_fails_is_the_outcome_of_its_case_and_teardown_is_called(
    broken: str, called: list[str]
) -> None:
    hooks = Logged.fresh(broken={broken})
    asked: list[int] = []

    async def task(number: int) -> int:
        asked.append(number)
        return number

    carried = run(hooks, task, retry_task=Retry(attempts=5, on=None))
    outcome = carried.outcomes["case-0"]
    assert outcome.outcome == "task_error"
    assert outcome.error is not None
    assert (outcome.error.stage, outcome.error.message) == (broken, f"{broken} is broken")
    assert [what for what, _number in hooks.log] == called
    assert asked == ([] if broken == "setup" else [0])
    assert len(carried.of(BeginLine)) == 1, "with the content of the case, also where no attempt was made"
    assert bool(len(outcome.output)) == (broken != "setup")
    assert hooks.rows[0].error_message if broken == "setup" else True


def test_a_failing_teardown_does_not_hide_what_failed_before_it() -> None:
    async def task(number: int) -> int:
        raise LookupError("the real trouble")

    outcome = run(Logged.fresh(broken={"teardown"}), task).outcomes["case-0"]
    assert outcome.error is not None
    assert outcome.error.message == "the real trouble"


@pytest.mark.parametrize("manner", ["late", "ignoring"])
@pytest.mark.parametrize("hook", ["setup", "prepare_context", "teardown"])
def test_a_hook_that_is_late_is_a_timeout_of_its_case_and_the_others_go_on(hook: str, manner: str) -> None:
    hooks = Logged.fresh(slow={hook: 1_000.0}, ignoring={hook} if manner == "ignoring" else set())
    scored: list[int] = []

    async def seen(output: int) -> bool:
        scored.append(output)
        return True

    carried = run(hooks, echo, 3, evaluators=[right, seen], hook_timeout=5, grace=2, concurrency=1)
    assert carried.ending.how == "complete"
    assert carried.ended == {"timeout": 3}
    outcome = carried.outcomes["case-0"]
    assert outcome.error is not None
    assert outcome.error.stage == hook
    assert "longer than 5 s" in outcome.error.message
    assert len(carried.of(BeginLine)) == 3
    assert [what for what, _number in hooks.log].count("teardown") == 3
    assert carried.seconds == 3 * (5 + 2 * (manner == "ignoring") + 0.0)
    assert carried.ending.left_behind == (3 if manner == "ignoring" else 0)
    # What was paid for is on record whatever became of the hooks.
    if hook == "prepare_context":
        assert carried.output("case-0") == 0
    if hook == "teardown":
        assert sum(len(line.scores) for line in carried.outcomes.values()) == 6
        assert scored == [0, 1, 2]


def test_setup_is_within_the_deadline_of_its_case() -> None:
    carried = run(Logged.fresh(slow={"setup": 50.0}), case_timeout=8, hook_timeout=100)
    outcome = carried.outcomes["case-0"]
    assert outcome.outcome == "timeout"
    assert outcome.error is not None
    assert "the case took longer than 8 s" in outcome.error.message
    assert carried.seconds == 8.0


def test_an_attempt_of_a_case_whose_time_is_over_is_not_made() -> None:
    hooks = Logged.fresh(slow={"setup": 3.0})
    tries: list[float] = []

    async def task(number: int) -> int:
        tries.append(now())
        await asyncio.sleep(1)
        raise ConnectionError

    carried = run(hooks, task, case_timeout=6, retry_task=Retry(attempts=50, base=3.0, cap=3.0, on=None))
    assert carried.ended["infra_error"] == 1
    assert all(begun < 6 for begun in tries)
    assert carried.seconds <= 6.0


# The end of the run


def cancel_after(seconds: float) -> Any:
    async def cancel(run: Run) -> None:
        await asyncio.sleep(seconds)
        run.cancel("enough")

    return cancel


@pytest.mark.parametrize("hook", ["setup", "task", "prepare_context", "scoring", "teardown"])
def test_teardown_runs_to_its_end_although_the_run_is_cancelled(hook: str) -> None:
    hooks = Logged.fresh(slow={hook: 10.0, "teardown": 20.0})

    async def task(number: int) -> int:
        await asyncio.sleep(hooks.slow.get("task", 0))
        return number

    async def scoring(output: int) -> bool:
        await asyncio.sleep(hooks.slow.get("scoring", 0))
        return True

    carried = run(hooks, task, 2, evaluators=[scoring, judge], during=cancel_after(5), concurrency=1)
    assert carried.ending.how == "interrupted"
    assert [what for what, _number in hooks.log].count("teardown done") == 1
    assert all(number == 0 for _what, number in hooks.log), "nothing new is begun"
    match hook:
        case "setup" | "task":
            assert carried.ended == {"cancelled": 1}
        case "prepare_context" | "scoring":
            assert carried.ended == {}, "open, and a resume scores it"
            assert len(carried.of(OutputLine)) == 1
            assert hooks.rows[0] is None
        case "teardown":
            assert carried.ended == {"scored": 1}, "all there was to do is done"


@pytest.mark.parametrize("kind", ["BeginLine", "OutputLine", "AttemptLine", "ScoresLine"])
def test_teardown_runs_although_the_record_can_no_longer_be_kept(kind: str) -> None:
    hooks = Logged.fresh()
    disk = SlowDisk()

    def refuses(line: Line) -> bool:
        return type(line).__name__ == kind

    disk.refuses = refuses
    tries: list[int] = []

    async def task(number: int) -> int:
        await asyncio.sleep(1)
        tries.append(number)
        if len(tries) == 1:
            raise ConnectionError
        return number

    async def quick(output: int) -> bool:
        return True

    carried = run(hooks, task, evaluators=[quick, judge], recorder=disk)
    assert carried.ending.how == "failed"
    assert [what for what, _number in hooks.log].count("teardown done") == 1


def test_a_teardown_that_ignores_everything_does_not_keep_a_failed_run_from_its_end() -> None:
    hooks = Logged.fresh(slow={"teardown": 1_000.0}, ignoring={"teardown"})
    disk = SlowDisk()
    disk.refuses = lambda line: isinstance(line, AttemptLine)

    async def task(number: int) -> int:
        raise ConnectionError

    carried = run(hooks, task, recorder=disk, hook_timeout=3, grace=1)
    assert carried.ending.how == "failed"
    assert carried.seconds == 4.0
    assert carried.ending.left_behind == 1


def test_a_plain_object_with_plain_methods_will_do() -> None:
    log: list[str] = []

    class Plain:
        def setup(self) -> None:
            log.append("setup")

        def prepare_context(self, ctx: Any) -> None:
            log.append("prepare")

        def teardown(self, result: Any) -> None:
            log.append("teardown")

    carried = play(cases(1), echo, lifecycle=lambda case: Plain())
    assert carried.ended == {"scored": 1}
    assert log == ["setup", "prepare", "teardown"]
