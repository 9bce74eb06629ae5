"""One key, step by step: deadlines, what is noted and kept, and that cases do not see each other."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.lifecycle import CaseLifecycle
from paceline.engine.ports import Attempted, Stored, Work
from paceline.engine.retry import Retry
from paceline.evaluators.base import EvaluatorContext, instant
from paceline.journal.records import BeginLine, ErrorFacts, OutcomeLine, OutputLine, Score
from paceline.tasks.notes import increment_eval_metric, set_eval_attribute
from tests.engine.stage import Carried, SlowDisk, cases, deaf, now, play, really, turn_of

user: ContextVar[int] = ContextVar("user")


async def echo(number: int) -> int:
    return number


async def judge(output: int) -> bool:
    await asyncio.sleep(1)
    return True


def timeout_of(carried: Carried, case: str = "case-0") -> str:
    outcome = carried.outcomes[case]
    assert outcome.outcome == "timeout"
    assert outcome.error is not None
    return outcome.error.message


# Deadlines


def test_an_attempt_that_is_late_is_a_timeout_at_its_deadline() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(100 if number == 0 else 1)
        return number

    carried = play(cases(3), task, timeout=10)
    assert carried.ended == {"timeout": 1, "scored": 2}
    assert timeout_of(carried) == "the attempt took longer than 10 s"
    assert carried.outcomes["case-0"].seconds == carried.seconds == 10.0


@given(seconds=st.floats(0.1, 20), grace=st.floats(0.5, 5), gives_in_after=st.floats(0, 8))
def test_late_is_late_however_it_ends(seconds: float, grace: float, gives_in_after: float) -> None:
    async def task(number: int) -> str:
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            await deaf(gives_in_after)
        return "an answer"

    carried = play(cases(1), task, timeout=10, grace=grace)
    in_time = seconds < 10
    assert carried.ended == {"scored" if in_time else "timeout": 1}
    assert carried.seconds == pytest.approx(seconds if in_time else 10 + min(gives_in_after, grace))


def test_every_attempt_has_its_own_deadline_and_waiting_between_them_counts_for_none() -> None:
    begun: list[float] = []

    async def task(number: int) -> int:
        begun.append(now())
        await asyncio.sleep(8)
        if len(begun) < 3:
            raise ConnectionError
        return number

    carried = play(cases(1), task, timeout=10, retry_task=Retry(base=100.0, cap=100.0))
    assert carried.ended == {"scored": 1}
    assert begun[-1] > 30
    assert carried.outcomes["case-0"].seconds == 8.0


def test_a_case_has_a_deadline_over_all_its_attempts_and_their_waiting() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(7)
        raise ConnectionError

    carried = play(cases(1), task, case_timeout=20, retry_task=Retry(attempts=99, base=0.0))
    assert carried.begun("case-0") == 3
    assert timeout_of(carried) == "the case took longer than 20 s"
    assert carried.seconds == 20.0


def test_no_try_is_put_off_until_after_the_deadline_of_its_case() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1)
        raise ConnectionError("really")

    carried = play(cases(1), task, case_timeout=5, retry_task=Retry(attempts=9, base=1e6, cap=1e6), seed=1)
    outcome = carried.outcomes["case-0"]
    assert outcome.outcome == "infra_error", "its own error says more than that time was up"
    assert carried.seconds == 1.0


def test_a_retry_that_finds_its_case_overdue_when_a_place_is_free_is_not_begun() -> None:
    async def task(number: int) -> int:
        if number == 0:
            raise ConnectionError
        await deaf(1_000)
        return number

    retry = Retry(attempts=2, base=40.0, cap=40.0)
    carried = play(cases(3), task, concurrency=2, case_timeout=45, grace=10, retry_task=retry)
    assert timeout_of(carried) == "the case took longer than 45 s"
    assert carried.begun("case-0") == 1
    assert carried.seconds == 55.0


def test_the_deadline_that_is_nearer_is_the_one_that_is_named() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(100)
        return number

    assert "the attempt took longer than 5 s" in timeout_of(play(cases(1), task, timeout=5, case_timeout=9))
    assert "the case took longer than 5 s" in timeout_of(play(cases(1), task, timeout=9, case_timeout=5))

    async def ignoring(number: int) -> int:
        await deaf(100)
        return number

    told = timeout_of(play(cases(1), ignoring, timeout=9, case_timeout=5, grace=1))
    assert told == "the case took longer than 5 s, ignored its cancellation and was left behind"


def test_no_limit_is_no_limit() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1e6)
        return number

    carried = play(cases(2), task, timeout=None, case_timeout=None)
    assert carried.ended == {"scored": 2}


# What is on record


def test_a_case_without_evaluators_that_wait_costs_two_lines() -> None:
    @instant
    def right(output: int) -> bool:
        return True

    carried = play(cases(1), echo, evaluators=[right])
    assert [type(line) for line in carried.lines[1:]] == [BeginLine, OutcomeLine]


def test_an_output_is_on_record_before_an_evaluator_that_waits_is_asked() -> None:
    disk = SlowDisk()
    seen: list[int] = []

    async def seeing(output: int) -> bool:
        seen.append(sum(isinstance(line, OutputLine) for line in disk.lines))
        return True

    play(cases(3), echo, evaluators=[seeing], concurrency=1, recorder=disk)
    assert seen == [1, 2, 3]


def test_the_content_of_a_case_is_written_with_its_first_attempt_only() -> None:
    async def task(number: int) -> int:
        raise ConnectionError

    carried = play(cases(1), task)
    first, *others = carried.of(BeginLine)
    assert len(first.inputs)
    assert len(others) == 2
    assert all(not len(line.inputs) for line in others)


def test_an_executor_that_breaks_is_an_infrastructure_error_of_the_key_and_not_the_end_of_the_run() -> None:
    class Broken:
        left_behind = 0
        asked = 0

        async def start(self) -> None: ...

        async def stop(self) -> None: ...

        async def attempt(self, work: Work) -> Attempted:
            self.asked += 1
            if self.asked % 2:
                raise [OSError("the cluster is gone"), SystemExit(1)][self.asked % 4 == 1]
            return Attempted(output=work.inputs)

    carried = play(cases(4), echo, executor=Broken(), concurrency=1, retry_task=Retry(attempts=1))
    assert carried.ending.how == "complete"
    assert carried.ended == {"scored": 2, "infra_error": 2}
    error = carried.outcomes["case-0"].error
    assert error is not None
    assert error.stage == "engine"


def test_an_executor_that_cannot_start_ends_the_run_with_its_error() -> None:
    class Unready:
        left_behind = 0

        async def start(self) -> None:
            raise OSError("no cluster")

        async def stop(self) -> None: ...

        async def attempt(self, work: Work) -> Attempted:
            raise AssertionError

    with pytest.raises(OSError, match="no cluster"):
        play(cases(1), echo, executor=Unready())


# Answers that are there already


class Answers:
    """A source of turns that bring their answers along."""

    def __init__(self, *stored: Stored) -> None:
        self.expected = len(stored)
        self.exhausted = False
        self._turns = [
            turn_of(case, "", stored=each) for case, each in zip(named(len(stored)), stored, strict=True)
        ]

    def take(self) -> Any:
        self.exhausted = len(self._turns) <= 1
        return self._turns.pop(0) if self._turns else None

    async def wait_for_more(self) -> None:
        raise AssertionError


def named(number: int) -> list[Any]:
    from paceline.dataset.case import Case

    return [Case(name=f"case-{place}", inputs=place) for place in range(number)]


async def never(number: int) -> int:
    raise AssertionError("the task is asked although its answer is there")


def test_an_answer_on_record_is_scored_and_the_task_is_not_asked() -> None:
    scored = Stored(output=4, scores=[Score(name="judge", value=True, by="judge")])
    asked: list[int] = []

    async def judge(output: int) -> bool:
        asked.append(output)
        return True

    @instant
    def small(output: int) -> bool:
        return output < 10

    carried = play(None, never, source=Answers(Stored(output=3), scored), evaluators=[judge, small])
    assert carried.ended == {"scored": 2}
    assert asked == [3], "what is on record is not asked again"
    assert carried.of(OutputLine) == []
    assert [score.by for score in carried.outcomes["case-1"].scores] == ["small"]
    assert carried.gauge.passed == 2


def test_an_answer_that_comes_from_elsewhere_is_put_on_record_here() -> None:
    carried = play(None, never, source=Answers(Stored(output=3, on_record=False)), evaluators=[judge])
    assert len(carried.of(OutputLine)) == 1


def test_a_stored_error_stays_what_it_was_and_is_not_tried_again() -> None:
    error = ErrorFacts(type="ConnectionError", message="then")
    stored = Stored(error=error, error_class="transient", on_record=False)
    carried = play(None, never, source=Answers(stored), retry_task=Retry(attempts=9, on=None))
    assert carried.ended == {"infra_error": 1}
    assert carried.outcomes["case-0"].error == error


# Isolation


def test_what_cases_note_at_once_is_kept_apart() -> None:
    async def child(number: int) -> None:
        await asyncio.sleep(0.1)
        increment_eval_metric("calls", 1)
        set_eval_attribute("child of", number)

    async def task(number: int) -> int:
        set_eval_attribute("number", number)
        for _ in range(number):
            await asyncio.sleep(0.1)
            increment_eval_metric("steps", 1)
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(child(number))
        return number

    seen: dict[int, EvaluatorContext[Any, Any, Any]] = {}

    @instant
    def look(ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        seen[ctx.inputs] = ctx
        return True

    play(cases(12), task, evaluators=[look], concurrency=5)
    for number, ctx in seen.items():
        assert ctx.attributes == {"number": number, "child of": number}
        assert ctx.metrics == {"calls": 3} | ({"steps": number} if number else {})


def test_what_cases_note_on_threads_and_on_threads_of_their_own_is_kept_apart() -> None:
    def task(number: int) -> int:
        set_eval_attribute("number", number)
        from contextvars import copy_context

        threads = [
            threading.Thread(target=copy_context().run, args=(increment_eval_metric, "calls", number + 1))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return number

    carried = really(cases(20), task, concurrency=8)
    for number in range(20):
        assert carried.outcomes[f"case-{number}"].metrics == {"calls": 4 * (number + 1)}


def test_a_retry_starts_with_an_empty_note_book() -> None:
    tries: list[int] = []

    async def task(number: int) -> int:
        tries.append(number)
        increment_eval_metric("calls", 1)
        if len(tries) < 3:
            raise ConnectionError
        return number

    assert play(cases(1), task).outcomes["case-0"].metrics == {"calls": 1}


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_context_variable_of_one_case_is_unknown_to_the_next_in_its_place(concurrency: int) -> None:
    found: list[int | None] = []

    async def task(number: int) -> int:
        found.append(user.get(None))
        user.set(number)
        await asyncio.sleep(1)
        assert user.get() == number
        return number

    play(cases(9), task, concurrency=concurrency, evaluators=[judge])
    assert found == [None] * 9

    def on_thread(number: int) -> int:
        found.append(user.get(None))
        user.set(number)
        return number

    really(cases(9), on_thread, concurrency=concurrency)
    assert found == [None] * 18


def test_what_the_program_has_set_before_the_run_is_seen_by_its_tasks() -> None:
    async def task(number: int) -> int:
        return user.get()

    token = user.set(7)
    try:
        assert play(cases(1), task).output("case-0") == 7
    finally:
        user.reset(token)


def test_metrics_that_are_no_plain_finite_numbers_do_not_spoil_the_line() -> None:
    class OwnFloat(float):
        """As NumPy's is."""

    class OwnInt(int):
        pass

    class Indexed:
        def __index__(self) -> int:
            return 12

    class Hooks(CaseLifecycle[int, int, Any]):
        async def prepare_context(self, ctx: Any) -> Any:
            ctx.metrics |= {
                "flag": True,
                "own float": OwnFloat(1.5),
                "own int": OwnInt(3),
                "indexed": Indexed(),
                "nan": float("nan"),
                "text": "12",
                "none": None,
                "huge": 10**30,
            }
            return ctx

    metrics = play(cases(1), echo, lifecycle=Hooks).outcomes["case-0"].metrics
    assert metrics == {"flag": 1, "own float": 1.5, "own int": 3, "indexed": 12, "huge": 10**30}


def called_by_a_task() -> int:
    raise ValueError("look at me")


def test_one_at_a_time_tracebacks_of_tasks_are_printed_and_begin_with_the_users_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def task(number: int) -> int:
        return called_by_a_task()

    def sync_task(number: int) -> int:
        return called_by_a_task()

    for each in (task, sync_task):
        really(cases(1), each, concurrency=1, show_errors=True)
        told = capsys.readouterr().err
        assert told.startswith("paceline: case-0, attempt 1:\nTraceback")
        assert "ValueError: look at me" in told
        assert re.findall(r"line \d+, in (\w+)", told) == [each.__name__, "called_by_a_task"]


@pytest.mark.parametrize("waits", ["instant", "on a thread", "on the loop"])
def test_one_at_a_time_tracebacks_of_evaluators_are_printed_too(
    waits: str, capsys: pytest.CaptureFixture[str]
) -> None:
    @instant
    def at_once(output: int) -> int:
        return called_by_a_task()

    def on_a_thread(output: int) -> int:
        return called_by_a_task()

    async def on_the_loop(output: int) -> int:
        return called_by_a_task()

    evaluator = {"instant": at_once, "on a thread": on_a_thread, "on the loop": on_the_loop}[waits]
    really(cases(1), echo, evaluators=[evaluator], concurrency=1, show_errors=True)
    told = capsys.readouterr().err
    assert told.startswith(f"paceline: case-0, evaluator {evaluator.__name__}:\nTraceback")
    assert re.findall(r"line \d+, in (\w+)", told) == [evaluator.__name__, "called_by_a_task"]
    really(cases(2), echo, evaluators=[evaluator], concurrency=2)
    assert capsys.readouterr().err == ""


Script = st.lists(
    st.sampled_from(["answer", "transient", "permanent", "late", "deaf", "cancel itself", "exit"]),
    min_size=1,
    max_size=4,
)


@given(
    scripts=st.lists(Script, min_size=1, max_size=12),
    concurrency=st.none() | st.integers(1, 4),
    lifecycle=st.booleans(),
    evaluators=st.sampled_from([0, 1, 2]),
)
def test_whatever_attempts_do_each_key_has_one_outcome_and_as_many_begins_as_attempts(
    scripts: list[list[str]], concurrency: int | None, lifecycle: bool, evaluators: int
) -> None:
    tries: dict[int, int] = {}
    acts: dict[str, Callable[[], Any]] = {
        "transient": lambda: _raise(ConnectionError()),
        "permanent": lambda: _raise(ValueError()),
        "exit": lambda: _raise(SystemExit()),
        "late": lambda: asyncio.sleep(100),
        "deaf": lambda: deaf(100),
        "cancel itself": _cancel_itself,
    }

    async def task(number: int) -> int:
        tries[number] = tries.get(number, 0) + 1
        await asyncio.sleep(0.5)
        script = scripts[number]
        act = script[min(tries[number], len(script)) - 1]
        if act in acts:
            await acts[act]()
        return number

    async def other_judge(output: int) -> bool:
        return await judge(output)

    carried = play(
        cases(len(scripts)),
        task,
        concurrency=concurrency,
        evaluators=[judge, other_judge][:evaluators],
        lifecycle=CaseLifecycle if lifecycle else None,
        retry_task=Retry(attempts=3, on=None, base=2.0),
        timeout=5,
        grace=1,
    )
    assert carried.ending.how == "complete"
    assert len(carried.outcomes) == len(scripts)
    for number, script in enumerate(scripts):
        attempts = carried.begun(f"case-{number}")
        assert attempts == tries[number] == carried.outcomes[f"case-{number}"].attempt <= 3
        padded = (script + [script[-1]] * 3)[:3]
        right = "answer" in padded
        assert (carried.outcomes[f"case-{number}"].outcome == "scored") == right


async def _raise(error: BaseException) -> None:
    raise error


async def _cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(1)
