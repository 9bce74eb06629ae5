"""A run whose doors tell of calls: waiting counts for nothing, and every call goes on record."""

from __future__ import annotations

import asyncio
from typing import Any

from paceline.engine.budget import Budget
from paceline.engine.calls import CallsOfAttempt
from paceline.engine.run import Run
from paceline.journal.records import CallLine, OutcomeLine
from paceline.pace.calls import Call, Usage, current_listener
from paceline.pace.slots import slot
from tests.engine.stage import Carried, cases, play


def call(**facts: Any) -> Call:
    known: dict[str, Any] = {"usage": Usage(input=10, output=5, cached=2), "price": 0.5, **facts}
    return Call(at=0.0, pool="openai:gpt-5", model="gpt-5", host="http://127.0.0.1", request="r", **known)


async def through_a_door(*, waits: float, works: float, **facts: Any) -> None:
    """What a door tells of a call that waits for its pool and is then answered."""
    listener = current_listener.get()
    assert listener is not None
    listener.begun()
    try:
        listener.waiting()
        await asyncio.sleep(waits)
        listener.going()
        await asyncio.sleep(works)
    finally:
        listener.ended(call(**facts))


def only(carried: Carried) -> OutcomeLine:
    (line,) = carried.outcomes.values()
    return line


def test_waiting_for_a_pool_is_no_latency_and_makes_nobody_late() -> None:
    async def task(number: int) -> int:
        await through_a_door(waits=300, works=4)
        return number

    line = only(play(cases(1), task, timeout=10, listens=True))
    assert (line.outcome, line.seconds, line.waited) == ("scored", 4.0, 300.0)


def test_working_too_long_is_late_however_long_it_has_waited_before() -> None:
    async def task(number: int) -> int:
        await through_a_door(waits=300, works=11)
        return number

    carried = play(cases(1), task, timeout=10, listens=True)
    assert only(carried).outcome == "timeout"
    assert [line.ordinal for line in carried.of(CallLine)] == [1], "what was paid for is on record"


def test_an_evaluator_may_wait_too() -> None:
    async def task(number: int) -> int:
        return number

    async def judge(output: int) -> bool:
        await through_a_door(waits=300, works=4)
        return True

    carried = play(cases(1), task, evaluators=[judge], evaluator_timeout=10, listens=True)
    line = only(carried)
    assert line.outcome == "scored"
    assert [score.seconds for score in line.scores] == [4.0]
    assert len(carried.of(CallLine)) == 1


def test_an_evaluator_that_works_too_long_is_late() -> None:
    async def task(number: int) -> int:
        return number

    async def judge(output: int) -> bool:
        await through_a_door(waits=300, works=11)
        return True

    carried = play(cases(1), task, evaluators=[judge], evaluator_timeout=10, listens=True)
    (found,) = only(carried).failures
    assert "longer than 10 s" in found.error.message


def test_every_call_is_on_record_under_its_key_before_the_outcome() -> None:
    async def task(number: int) -> int:
        for _ in range(number):
            await through_a_door(waits=0, works=1)
        return number

    carried = play(cases(3), task, listens=True)
    by_case = [(line.case, line.attempt, line.ordinal) for line in carried.of(CallLine)]
    assert sorted(by_case) == [("case-1", 1, 1), ("case-2", 1, 1), ("case-2", 1, 2)]
    (line, *_) = carried.of(CallLine)
    assert (line.pool, line.input_tokens, line.output_tokens, line.price) == ("openai:gpt-5", 10, 5, 0.5)
    places = {line.case: place for place, line in enumerate(carried.lines) if isinstance(line, OutcomeLine)}
    assert all(
        place < places[line.case] for place, line in enumerate(carried.lines) if isinstance(line, CallLine)
    )


def test_what_calls_used_is_what_the_case_used() -> None:
    async def task(number: int) -> int:
        await through_a_door(waits=0, works=1)
        await through_a_door(waits=0, works=1)
        return number

    line = only(play(cases(1), task, listens=True))
    used = {"input_tokens": 20, "output_tokens": 10, "cached_tokens": 4, "cost": 1.0}
    assert line.metrics == {**used, "requests": 2}


def test_a_budget_counts_what_was_seen() -> None:
    async def task(number: int) -> int:
        await through_a_door(waits=0, works=1)
        return number

    carried = play(cases(20), task, budget=Budget(usd=3.0), concurrency=4, listens=True)
    assert carried.ended["scored"] == 6
    assert carried.ended["skipped_budget"] == 14


def test_a_refused_key_is_nobodys_wrong_answer_and_is_not_tried_again() -> None:
    async def task(number: int) -> int:
        await through_a_door(waits=0, works=0, outcome="fatal", cause="auth", status=401, usage=None)
        raise PermissionError("401 Incorrect API key provided")

    carried = play(cases(1), task, listens=True)
    assert only(carried).outcome == "infra_error"
    assert carried.begun("case-0") == 1


def test_a_run_that_grows_wider_takes_more_cases_at_once() -> None:
    inside: list[int] = []
    now_inside = 0

    async def task(number: int) -> int:
        nonlocal now_inside
        now_inside += 1
        inside.append(now_inside)
        await asyncio.sleep(10)
        now_inside -= 1
        return number

    async def widen(run: Run) -> None:
        await asyncio.sleep(5)
        assert (run.places, run.full) == (2, True)
        run.widen(8)

    carried = play(cases(20), task, concurrency=2, during=widen)
    assert carried.ended == {"scored": 20}
    assert max(inside) == 8
    assert carried.run.places == 8
    assert not carried.run.full


def test_a_call_that_is_forgotten_goes_on_record_after_what_the_loop_is_in_the_midst_of() -> None:
    """A finalizer tells of it, which may run while the record itself is being written."""
    on_record: list[int] = []

    async def task(number: int) -> int:
        listener = current_listener.get()
        assert isinstance(listener, CallsOfAttempt)
        listener.begun()
        listener.forgotten(call(outcome="cancelled", usage=None, price=None))
        on_record.append(listener.work.calls)
        await asyncio.sleep(0)
        on_record.append(listener.work.calls)
        return number

    carried = play(cases(1), task, listens=True)
    assert [line.outcome for line in carried.of(CallLine)] == ["cancelled"]
    assert on_record == [0, 1]
    assert only(carried).outcome == "scored"


def test_waiting_for_a_slot_is_no_latency_and_makes_nobody_late() -> None:
    async def task(number: int) -> int:
        async with slot("test: waiting for a slot is no latency", 1):
            await asyncio.sleep(4)
        return number

    carried = play(cases(3), task, timeout=5, concurrency=3, listens=True)
    lines = carried.outcomes.values()
    assert [line.outcome for line in lines] == ["scored"] * 3
    assert [line.seconds for line in lines] == [4.0] * 3
    assert sorted(line.waited for line in lines) == [0.0, 4.0, 8.0]
    assert carried.of(CallLine) == []
