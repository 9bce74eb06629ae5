"""What a lane guards its user's code with, and how it tells one cancellation from another."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import Any

import pytest

from paceline.engine.contexts import in_context
from paceline.engine.deadlines import NEVER, Deadlines
from paceline.engine.lanes import Lane, Overdue, Stopped
from paceline.tasks.notes import Notes, current_notes
from tests.engine.stage import deaf, now, virtually

Script = Callable[[Lane], Awaitable[Any]]


def in_lane(script: Script, *, beside: Script | None = None, grace: float = 5.0) -> tuple[Any, Lane]:
    """What a lane's own coroutine comes to, with something else going on beside it."""

    async def main() -> tuple[Any, Lane]:
        deadlines = Deadlines(asyncio.get_running_loop())
        lost = asyncio.Event()
        came_to: list[Any] = []

        def on_lost(_lane: Lane) -> None:
            came_to.append("lost")
            lost.set()

        lane = Lane(deadlines, grace=grace, on_lost=on_lost)
        deadlines.watch(lane)

        async def work() -> None:
            try:
                came_to.append(await script(lane))
            except BaseException as error:
                came_to.append(error)

        lane.start(work())
        if beside is not None:
            await beside(lane)
        await asyncio.wait([lane.task, asyncio.ensure_future(lost.wait())], return_when="FIRST_COMPLETED")
        return came_to[0], lane

    return virtually(main)


async def answer(after: float, value: object = "answer") -> object:
    await asyncio.sleep(after)
    return value


def test_what_ends_in_time_gives_its_answer() -> None:
    async def script(lane: Lane) -> object:
        return await lane.guard(answer(2), until=until(3))

    assert in_lane(script)[0] == "answer"


def until(seconds: float) -> float:
    return asyncio.get_running_loop().time() + seconds


def test_what_is_late_is_cancelled_at_its_deadline() -> None:
    async def script(lane: Lane) -> object:
        with pytest.raises(Overdue):
            await lane.guard(answer(10), until=until(3))
        return now()

    assert in_lane(script)[0] == 3.0


@pytest.mark.parametrize("late", ["answers", "raises"])
def test_what_swallows_its_cancellation_and_then_answers_is_late_all_the_same(late: str) -> None:
    async def swallowing() -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            await asyncio.sleep(1)
        if late == "raises":
            raise ValueError("too late to matter")
        return "late answer"

    async def script(lane: Lane) -> object:
        with pytest.raises(Overdue):
            await lane.guard(swallowing(), until=until(3))
        return lane.task.cancelling()

    assert in_lane(script)[0] == 0


def test_what_ignores_its_cancellation_for_longer_than_the_grace_loses_its_lane() -> None:
    async def script(lane: Lane) -> object:
        return await lane.guard(deaf(100), until=until(3))

    came_to, lane = in_lane(script, grace=2)
    assert came_to == "lost"
    assert lane.lost


def test_a_stopped_lane_ends_what_it_guards_and_guards_nothing_more() -> None:
    ran: list[str] = []

    async def another() -> None:
        ran.append("another")

    async def script(lane: Lane) -> object:
        with pytest.raises(Stopped):
            await lane.guard(answer(10), until=NEVER)
        with pytest.raises(Stopped):
            await lane.guard(another(), until=NEVER)
        return now()

    async def stop(lane: Lane) -> None:
        await asyncio.sleep(4)
        lane.stop()

    assert in_lane(script, beside=stop)[0] == 4.0
    assert ran == []


def test_an_answer_that_came_although_the_lane_was_stopped_is_kept() -> None:
    async def finishing() -> str:
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            return "paid for"
        return "never"

    async def script(lane: Lane) -> object:
        return await lane.guard(finishing(), until=NEVER), lane.task.cancelling()

    async def stop(lane: Lane) -> None:
        await asyncio.sleep(4)
        lane.stop()

    assert in_lane(script, beside=stop)[0] == ("paid for", 0)


def test_what_cannot_be_stopped_comes_to_its_end_but_not_beyond_its_deadline() -> None:
    async def script(lane: Lane) -> object:
        ended = await lane.guard(answer(6), until=until(8), stoppable=False)
        again = await lane.guard(answer(1), until=until(8), stoppable=False)
        with pytest.raises(Overdue):
            await lane.guard(answer(60), until=until(8), stoppable=False)
        return ended, again, now()

    async def stop(lane: Lane) -> None:
        await asyncio.sleep(4)
        lane.stop()

    assert in_lane(script, beside=stop)[0] == ("answer", "answer", 15.0)


def test_a_task_that_cancels_itself_is_told_as_a_stray_cancellation_and_the_next_one_is_not_touched() -> None:
    async def suicidal() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def script(lane: Lane) -> object:
        with pytest.raises(asyncio.CancelledError):
            await lane.guard(suicidal(), until=until(3))
        assert lane.task.cancelling() == 0
        return await lane.guard(answer(1), until=until(3))

    assert in_lane(script)[0] == "answer"


def test_a_cancellation_that_a_task_leaves_hanging_does_not_hit_the_next_one() -> None:
    async def careless() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "answer"  # without an await, so that the cancellation is still to come

    async def script(lane: Lane) -> object:
        first = await lane.guard(careless(), until=until(3))
        return first, await lane.guard(answer(1), until=until(3))

    assert in_lane(script)[0] == ("answer", "answer")


def test_nothing_that_happens_while_a_hanging_cancellation_is_met_is_taken_for_the_next_ones_doing() -> None:
    """The deadline of the one before must not be counted against the one after."""

    async def careless() -> str:
        await asyncio.sleep(3)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return "answer"

    async def script(lane: Lane) -> object:
        first = await lane.guard(careless(), until=until(3) + 1e-9)
        return first, await lane.guard(answer(1), until=until(3))

    assert in_lane(script)[0] == ("answer", "answer")


def test_a_lane_that_guards_nothing_cannot_be_cancelled() -> None:
    async def script(lane: Lane) -> object:
        assert not lane.task.cancel()
        await asyncio.sleep(1)
        return "unharmed"

    assert in_lane(script)[0] == "unharmed"


def test_the_timeout_scopes_of_a_task_work_as_in_a_task_of_its_own() -> None:
    async def scoped() -> str:
        try:
            async with asyncio.timeout(1):
                await asyncio.sleep(10)
        except TimeoutError:
            return "inner timeout"
        return "never"

    async def script(lane: Lane) -> object:
        return await lane.guard(scoped(), until=until(3))

    assert in_lane(script)[0] == "inner timeout"


def test_a_timeout_scope_that_an_attempt_never_left_does_not_cancel_what_comes_after_it() -> None:
    async def leaving_it_open() -> str:
        await asyncio.timeout(2).__aenter__()
        return "answer"

    async def script(lane: Lane) -> object:
        notes, context = Notes(), copy_context()
        context.run(current_notes.set, notes)
        first = await lane.guard(in_context(context, leaving_it_open()), until=until(9))
        notes.over = True  # as an executor has it when an attempt has ended
        return first, await lane.guard(answer(5), until=until(9)), now()

    assert in_lane(script)[0] == ("answer", "answer", 5.0)


def test_while_the_clock_is_held_the_deadline_recedes_but_not_beyond_the_outermost() -> None:
    async def waiting(lane: Lane, held: float) -> str:
        await asyncio.sleep(2)
        lane.hold()
        await asyncio.sleep(held)
        lane.go()
        await asyncio.sleep(10)
        return "never"

    async def script(lane: Lane) -> object:
        began = now()
        with pytest.raises(Overdue):
            await lane.guard(waiting(lane, 4), until=until(3))
        first, began = now() - began, now()
        with pytest.raises(Overdue):
            await lane.guard(waiting(lane, 40), until=until(3), at_most=until(8))
        return first, now() - began, lane.held

    assert in_lane(script)[0] == (7.0, 8.0, 10.0)
