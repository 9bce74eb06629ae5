"""How a run ends before its last case: drained, cancelled, given up by whoever awaits it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.budget import Budget
from paceline.engine.events import Draining
from paceline.engine.retry import Retry
from paceline.engine.run import Run
from paceline.journal.records import OutputLine
from tests.engine.stage import ListSource, carry_out, cases, deaf, play, virtually


def drain_after(seconds: float) -> Any:
    async def drain(run: Run) -> None:
        await asyncio.sleep(seconds)
        run.drain("SIGINT received")

    return drain


def cancel_after(seconds: float) -> Any:
    async def cancel(run: Run) -> None:
        await asyncio.sleep(seconds)
        run.cancel("SIGINT received twice")

    return cancel


async def ten_seconds(number: int) -> int:
    await asyncio.sleep(10)
    return number


async def judge(output: int) -> bool:
    await asyncio.sleep(10)
    return True


def test_draining_begins_nothing_new_and_lets_what_is_in_flight_finish() -> None:
    carried = play(cases(20), ten_seconds, evaluators=[judge], concurrency=4, during=drain_after(15))
    assert (carried.ending.how, carried.ending.reason) == ("interrupted", "SIGINT received")
    assert carried.ended == {"scored": 8}
    assert carried.seconds == 30.0
    (told,) = carried.told(Draining)
    assert told.in_flight == 8


def test_draining_is_bounded() -> None:
    async def for_ever(number: int) -> int:
        await asyncio.sleep(100_000)
        return number

    carried = play(cases(20), for_ever, concurrency=4, timeout=None, drain_timeout=30, during=drain_after(5))
    assert carried.ending.how == "interrupted"
    assert carried.ended == {"cancelled": 4}
    assert carried.seconds == 35.0


@pytest.mark.parametrize("concurrency", [2, 1], ids=["apart", "in its place"])
def test_a_case_that_waits_for_another_try_is_not_tried_again_while_draining(concurrency: int) -> None:
    tries: list[int] = []

    async def task(number: int) -> int:
        tries.append(number)
        await asyncio.sleep(1)
        raise ConnectionError

    patient = Retry(attempts=9, base=900.0, cap=900.0)
    carried = play(
        cases(2),
        task,
        concurrency=concurrency,
        retry_task=patient,
        during=drain_after(3),
        drain_timeout=2.0,
    )
    assert sorted(tries) == [0, 1][:concurrency]
    assert carried.ended == {"cancelled": concurrency}
    assert carried.seconds == (3.0 if concurrency == 2 else 5.0)
    for outcome in carried.outcomes.values():
        waited = pytest.approx(carried.seconds - 1.0)
        assert outcome.waited == waited, "as long as it has waited, not as it would have"


def test_cancelling_cuts_off_what_is_in_flight() -> None:
    carried = play(cases(20), ten_seconds, concurrency=4, during=cancel_after(5))
    assert carried.ending.how == "interrupted"
    assert carried.ended == {"cancelled": 4}
    assert carried.seconds == 5.0


def test_scoring_that_is_cut_off_leaves_the_output_on_record_and_the_key_open() -> None:
    async def quick(output: int) -> bool:
        return True

    carried = play(cases(4), ten_seconds, evaluators=[judge, quick], concurrency=4, during=cancel_after(12))
    assert carried.ended == {}
    assert len(carried.of(OutputLine)) == 4
    assert carried.seconds == 12.0


def test_an_answer_that_is_given_in_reply_to_the_cancellation_is_kept() -> None:
    async def task(number: int) -> str:
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            return "what there was"
        return "all"

    carried = play(cases(1), task, during=cancel_after(5))
    assert carried.ended == {"scored": 1}
    assert carried.output("case-0") == "what there was"


def test_what_ignores_that_the_run_is_cancelled_is_left_behind() -> None:
    async def task(number: int) -> int:
        await deaf(10_000)
        return number

    carried = play(cases(6), task, concurrency=3, timeout=None, grace=2, during=cancel_after(5))
    assert carried.ended == {"cancelled": 3}
    assert carried.ending.left_behind == 3
    assert carried.seconds == 7.0


def test_cancelling_twice_or_after_the_end_does_nothing_more() -> None:
    async def cancel(run: Run) -> None:
        await asyncio.sleep(5)
        run.cancel("once")
        run.cancel("twice")
        run.drain("thrice")
        await asyncio.sleep(50)
        run.cancel("after the end")
        run.drain("after the end")

    carried = play(cases(2), ten_seconds, during=cancel)
    assert (carried.ending.how, carried.ending.reason) == ("interrupted", "once")


@pytest.mark.parametrize("after", [0.0, 5.0, 15.0])
def test_whoever_cancels_the_coroutine_gets_his_cancellation_back_and_the_record_is_whole(
    after: float,
) -> None:
    async def main() -> tuple[str, float, Any]:
        kept: list[Run] = []

        async def keep(run: Run) -> None:
            kept.append(run)

        running = asyncio.ensure_future(
            carry_out(cases(9), ten_seconds, evaluators=[judge], concurrency=3, during=keep)
        )
        await asyncio.sleep(after)
        running.cancel()
        await asyncio.wait([running])
        return "cancelled" if running.cancelled() else "ended", asyncio.get_running_loop().time(), kept

    how, _when, kept = virtually(main)
    assert how == "cancelled"
    if kept:
        run: Run = kept[0]
        assert run.gauge.in_flight == 0
        assert run.gauge.scoring == 0


def test_an_interrupt_while_a_budget_is_running_out_bounds_the_rest_too() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(1)
        if number == 0:
            raise ValueError
        await asyncio.sleep(10_000)
        return number

    carried = play(
        cases(9),
        task,
        concurrency=3,
        timeout=None,
        budget=Budget(failures=1),
        drain_timeout=20,
        during=drain_after(10),
    )
    assert carried.ending.how == "budget"
    assert carried.seconds == 30.0
    assert carried.ended["task_error"] == 1
    assert carried.ended["cancelled"] == 2


def test_an_interrupt_before_anything_was_begun_ends_the_run_at_once() -> None:
    async def main() -> Any:
        source = ListSource(cases(3))

        async def early(run: Run) -> None:
            run.drain("early")

        return await carry_out(None, ten_seconds, source=source, during=early, concurrency=2)

    carried = virtually(main)
    assert carried.ending.how == "interrupted"
    assert carried.seconds in {0.0, 10.0}


Moments = st.floats(0, 40, allow_nan=False).map(lambda moment: round(moment, 1))


@given(drained=st.none() | Moments, cancelled=Moments, lifecycle=st.booleans(), concurrency=st.integers(1, 5))
def test_whenever_it_is_interrupted_no_key_has_two_outcomes_and_every_output_is_kept(
    drained: float | None, cancelled: float, lifecycle: bool, concurrency: int
) -> None:
    answered: set[int] = set()
    tries: dict[int, int] = {}

    async def task(number: int) -> int:
        await asyncio.sleep(3)
        tries[number] = tries.get(number, 0) + 1
        if number % 3 == 0 and tries[number] < 2:
            raise ConnectionError
        answered.add(number)
        return number

    async def slow_judge(output: int) -> bool:
        await asyncio.sleep(4)
        return True

    async def interrupt(run: Run) -> None:
        loop = asyncio.get_running_loop()
        if drained is not None:
            loop.call_later(drained, run.drain, "drained")
        await asyncio.sleep(cancelled)
        run.cancel("cancelled")

    from paceline.engine.lifecycle import CaseLifecycle

    carried = play(
        cases(8),
        task,
        evaluators=[slow_judge],
        concurrency=concurrency,
        retry_task=Retry(attempts=3, base=4.0),
        lifecycle=CaseLifecycle if lifecycle else None,
        during=interrupt,
    )
    assert carried.seconds <= cancelled + 1e-6
    on_record = {line.case for line in carried.of(OutputLine)}
    assert {f"case-{number}" for number in answered} == on_record
    finished = {case for case, line in carried.outcomes.items() if line.outcome == "scored"}
    assert finished <= on_record
    assert carried.gauge.in_flight == carried.gauge.scoring == carried.gauge.retrying == 0
