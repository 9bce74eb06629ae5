"""The scoring stage: evaluators side by side, each under its own deadline, each answer on record at once."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from typing import Any

import pytest

from paceline.engine.retry import NO_RETRY
from paceline.engine.run import Run
from paceline.evaluators.base import EvaluatorContext, instant
from paceline.journal.records import OutcomeLine, OutputLine, ScoresLine
from tests.engine.stage import Carried, Meter, cases, deaf, play, really


async def echo(number: int) -> int:
    return number


async def quick(output: int) -> bool:
    return True


def failure(carried: Carried, case: str = "case-0") -> str:
    (found,) = carried.outcomes[case].failures
    return found.error.message


def test_evaluators_of_a_case_are_asked_side_by_side() -> None:
    async def one(output: int) -> bool:
        await asyncio.sleep(5)
        return True

    async def other(output: int) -> bool:
        await asyncio.sleep(4)
        return True

    assert play(cases(1), echo, evaluators=[one, other]).seconds == 5.0


def test_each_answer_is_on_record_as_soon_as_it_is_there_and_once() -> None:
    async def slow(output: int) -> bool:
        await asyncio.sleep(5)
        return True

    async def slower(output: int) -> int:
        await asyncio.sleep(9)
        return 7

    @instant
    def at_once(output: int) -> bool:
        return True

    carried = play(cases(1), echo, evaluators=[slower, at_once, slow, quick])
    told = [line for line in carried.lines if isinstance(line, OutputLine | ScoresLine | OutcomeLine)]
    assert [[score.by for score in getattr(line, "scores", [])] for line in told] == [
        [],
        ["quick"],
        ["slow"],
        ["at_once", "slower"],
    ]


def test_an_evaluator_that_fails_leaves_no_empty_line_behind_and_is_told_in_the_end() -> None:
    async def failing(output: int) -> bool:
        raise ValueError("no idea")

    async def slow(output: int) -> bool:
        await asyncio.sleep(5)
        return True

    carried = play(cases(1), echo, evaluators=[failing, slow])
    assert carried.of(ScoresLine) == []
    assert carried.ended == {"evaluator_error": 1}
    assert failure(carried) == "no idea"
    assert [score.by for score in carried.outcomes["case-0"].scores] == ["slow"]


def test_the_time_of_an_evaluator_is_its_own_and_not_that_of_waiting_for_a_place() -> None:
    async def judge(output: int) -> bool:
        await asyncio.sleep(3)
        return True

    carried = play(cases(6), echo, evaluators=[judge], evaluator_concurrency=1, evaluator_timeout=4)
    assert carried.ended == {"scored": 6}
    assert {line.scores[0].seconds for line in carried.outcomes.values()} == {3.0}


@pytest.mark.parametrize("manner", ["gives in", "answers late", "raises late", "ignores it"])
def test_an_evaluator_that_is_late_is_a_failure_and_holds_nobody_up(manner: str) -> None:
    asked = Meter()

    async def judge(output: int) -> bool:
        if output:
            return True
        with asked.around():
            try:
                await asyncio.sleep(1_000)
            except asyncio.CancelledError:
                if manner == "gives in":
                    raise
                if manner == "raises late":
                    raise ValueError("too late") from None
                if manner == "ignores it":
                    await deaf(1_000)
        return True

    carried = play(
        cases(5), echo, evaluators=[judge, quick], evaluator_timeout=10, evaluator_concurrency=1, grace=3
    )
    assert carried.ended == {"evaluator_error": 1, "scored": 4}
    assert failure(carried) == "the evaluator took longer than 10 s"
    assert carried.seconds == (13.0 if manner == "ignores it" else 10.0)
    assert carried.ending.left_behind == (manner == "ignores it")


def test_many_evaluators_that_ignore_their_deadline_at_once_hold_nobody_up() -> None:
    async def judge(output: int) -> bool:
        if output < 8:
            await deaf(10_000)
        return True

    carried = play(cases(16), echo, evaluators=[judge], concurrency=4, evaluator_timeout=5, grace=1)
    assert carried.ended == {"evaluator_error": 8, "scored": 8}
    assert carried.ending.left_behind == 8
    assert carried.seconds == 12.0


def test_a_wrong_answer_is_a_failure_of_its_evaluator() -> None:
    async def nonsense(output: int) -> Any:
        return float("nan") if output else object()

    carried = play(cases(2), echo, evaluators=[nonsense], retry_evaluators=NO_RETRY)
    assert carried.ended == {"evaluator_error": 2}
    assert "finite" in failure(carried, "case-1")


def test_a_function_that_looks_sync_and_is_not_is_awaited() -> None:
    async def really_async(ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        await asyncio.sleep(0)
        return True

    def looks_sync(ctx: EvaluatorContext[Any, Any, Any]) -> Any:
        return really_async(ctx)

    carried = really(cases(2), echo, evaluators=[looks_sync])
    assert carried.ended == {"scored": 2}
    assert carried.gauge.passed == 2


def test_sync_evaluators_run_beside_each_other_on_threads() -> None:
    """All of them at once, or the barrier breaks."""
    meeting = threading.Barrier(6)

    def judge(output: int) -> bool:
        meeting.wait(10)
        return threading.current_thread() is not threading.main_thread()

    carried = really(cases(6), echo, evaluators=[judge], concurrency=6)
    assert carried.gauge.passed == 6


def test_a_sync_evaluator_that_hangs_is_left_behind_and_its_thread_replaced() -> None:
    over = threading.Event()

    def judge(output: int) -> bool:
        if output < 3:
            over.wait(30)
        return True

    started = time.monotonic()
    carried = really(cases(9), echo, evaluators=[judge], concurrency=2, evaluator_timeout=0.1)
    over.set()
    assert carried.ended == {"evaluator_error": 3, "scored": 6}
    assert carried.ending.left_behind == 3
    assert time.monotonic() - started < 10


def test_more_sync_evaluators_than_threads_wait_for_one_outside_of_their_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("paceline.engine.scoring.THREADS", 2)
    meter = Meter()
    lock = threading.Lock()

    def judge(output: int) -> bool:
        with lock:
            meter.inside += 1
            meter.most = max(meter.most, meter.inside)
        time.sleep(0.05)
        with lock:
            meter.inside -= 1
        return True

    carried = really(cases(16), echo, evaluators=[judge], concurrency=None, evaluator_timeout=0.3)
    assert carried.ended == {"scored": 16}
    assert meter.most == 2


def test_what_stands_around_evaluators_stands_around_each_kind_of_them() -> None:
    around: list[tuple[str, str]] = []

    @contextmanager
    def note(prepared: Any, ctx: EvaluatorContext[Any, Any, Any]) -> Any:
        around.append((prepared.label, ctx.name))
        yield

    @instant
    def at_once(output: int) -> bool:
        return True

    def on_thread(output: int) -> bool:
        return True

    really(cases(1), echo, evaluators=[at_once, on_thread, quick], around_evaluator=note)
    assert sorted(around) == [("at_once", "case-0"), ("on_thread", "case-0"), ("quick", "case-0")]


def test_an_evaluator_of_a_case_is_asked_for_this_case_only() -> None:
    async def special(output: int) -> bool:
        return True

    own = cases(1, evaluators=(special,))
    carried = play([*own, *cases(1)], echo, evaluators=[quick])
    assert {score.by for score in carried.outcomes["case-1"].scores} == {"quick"}
    by = [score.by for line in carried.of(ScoresLine) for score in line.scores]
    assert sorted([*by, *(score.by for score in carried.outcomes["case-0"].scores)]) == ["quick", "special"]


def test_who_blocks_the_loop_in_an_evaluator_can_be_named() -> None:
    runs: list[Run] = []

    async def keep(run: Run) -> None:
        runs.append(run)

    async def blocking(output: int) -> bool:
        if output == 3:
            runs[0].blame("blocked the event loop")
        await asyncio.sleep(1)
        return True

    carried = play(cases(5), echo, evaluators=[blocking], during=keep, concurrency=1)
    first = next(line for line in carried.of(OutcomeLine) if line.case == "case-3")
    assert first.outcome == "timeout"
    assert first.error is not None
    assert first.error.message == "evaluator blocking blocked the event loop"


def test_who_blocks_the_loop_in_an_attempt_can_be_named() -> None:
    runs: list[Run] = []

    async def keep(run: Run) -> None:
        runs.append(run)

    async def blocking(number: int) -> int:
        await asyncio.sleep(1)
        if number == 1:
            runs[0].blame("blocked the event loop")
        return number

    carried = play(cases(3), blocking, during=keep)
    first = next(line for line in carried.of(OutcomeLine) if line.case == "case-1")
    assert (first.outcome, first.error and first.error.message) == (
        "timeout",
        "the attempt blocked the event loop",
    )
