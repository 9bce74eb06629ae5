"""One call is heard to its end: its answer, its error, or a deadline that does not count waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from paceline.errors import PoolClosed
from paceline.evaluators.requirements.hearing import GRACE_S, Heard, Overdue, hear
from paceline.evaluators.requirements.together import together
from paceline.pace.calls import Call, current_listener
from paceline.pace.slots import slot
from tests.engine.stage import deaf, now, virtually


def heard(call: Callable[[], Awaitable[Any]], within: float | None = 10.0) -> tuple[Heard, float]:
    """How a call ends, and after how many seconds."""

    async def main() -> tuple[Heard, float]:
        return await alone(call, within), now()

    return virtually(main)


async def alone(call: Callable[[], Awaitable[Any]], within: float | None) -> Heard:
    """In a task of its own, which may be left behind."""
    (found,) = await together([lambda leave: hear(call, within=within, leave=leave)])
    return found


def test_what_a_call_returns_is_handed_over() -> None:
    async def call() -> str:
        await asyncio.sleep(3)
        return "an answer"

    assert heard(call) == (Heard("an answer"), 3.0)
    assert heard(call, None) == (Heard("an answer"), 3.0)


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), SystemExit(3), asyncio.CancelledError("stray"), KeyboardInterrupt(), TimeoutError()],
)
def test_whatever_a_call_raises_is_data(error: BaseException) -> None:
    async def call() -> None:
        raise error

    found, _ = heard(call)
    assert found.error is error
    assert not found.turned_away


def test_a_function_that_raises_before_it_can_be_awaited_is_no_different() -> None:
    def call() -> Awaitable[None]:
        raise ValueError("at once")

    assert repr(heard(call)[0].error) == "ValueError('at once')"


@pytest.mark.parametrize("manner", ["gives in", "answers late", "ignores it"])
def test_a_call_that_is_late_is_cancelled_and_left_behind_where_it_does_not_listen(manner: str) -> None:
    async def call() -> bool:
        try:
            await asyncio.sleep(1_000)
        except asyncio.CancelledError:
            if manner == "gives in":
                raise
            if manner == "ignores it":
                await deaf(1_000)
        return True

    found, seconds = heard(call)
    assert isinstance(found.error, Overdue)
    assert str(found.error) == "it took longer than 10 s"
    assert seconds == (10.0 + GRACE_S if manner == "ignores it" else 10.0)


def test_waiting_for_a_limit_does_not_count_and_work_before_and_after_it_does() -> None:
    async def call() -> None:
        listener = current_listener.get()
        assert listener is not None
        await asyncio.sleep(6)
        listener.begun()
        listener.waiting()
        await asyncio.sleep(500)
        listener.going()
        await asyncio.sleep(3)
        listener.ended(None)
        await asyncio.sleep(2)

    found, seconds = heard(call)
    assert isinstance(found.error, Overdue)
    assert seconds == 510.0


def test_the_clock_runs_while_any_call_goes_on() -> None:
    async def call() -> None:
        listener = current_listener.get()
        assert listener is not None
        listener.begun()
        listener.begun()
        listener.waiting()
        await asyncio.sleep(1_000)

    assert heard(call)[1] == 10.0


def test_a_call_on_a_thread_stops_the_clock_as_well() -> None:
    async def call() -> None:
        listener = current_listener.get()
        assert listener is not None
        for tell in (listener.begun, listener.waiting):
            thread = threading.Thread(target=tell)
            thread.start()
            thread.join()
        await asyncio.sleep(20)

    assert heard(call) == (Heard(None), 20.0)


def test_a_slot_inside_of_a_call_is_waiting() -> None:
    async def call() -> None:
        async with slot("hearing", 1):
            await asyncio.sleep(8)

    async def main() -> list[Heard]:
        return await together([lambda leave: hear(call, within=10, leave=leave)] * 4)

    assert virtually(main) == [Heard(None)] * 4


class Parent:
    """Whoever listened before."""

    tape = "the tape"

    def __init__(self) -> None:
        self.words: list[object] = []

    def begun(self) -> None:
        self.words.append("begun")

    def waiting(self) -> None:
        self.words.append("waiting")

    def going(self) -> None:
        self.words.append("going")

    def ended(self, call: Call | None) -> None:
        self.words.append(call)


def test_whoever_listens_to_the_whole_is_told_of_each_call_and_its_tape_is_found() -> None:
    parent, ended = Parent(), Call(at=0.0, pool="openai:m")

    async def call() -> None:
        listener = current_listener.get()
        assert listener is not None
        assert listener.tape == "the tape"  # type: ignore[attr-defined]  # doors ask whether there is one
        listener.begun()
        listener.waiting()
        listener.going()
        listener.ended(ended)
        listener.begun()
        listener.forgotten(None)  # type: ignore[attr-defined]  # told by a finalizer
        await asyncio.sleep(0)

    async def main() -> None:
        current_listener.set(parent)
        await alone(call, None)
        assert current_listener.get() is parent

    virtually(main)
    assert parent.words == ["begun", "waiting", "going", ended, "begun", None]


@pytest.mark.parametrize(
    ("outcomes", "raises", "turned_away"),
    [
        (["fatal"], True, True),
        (["ok", "fatal"], True, True),
        (["fatal", "ok"], True, False),
        (["transient"], True, False),
        (["fatal"], False, False),
        ([], True, False),
    ],
)
def test_a_provider_that_answers_nobody_is_told_apart_from_a_call_that_fails(
    outcomes: list[Any], raises: bool, turned_away: bool
) -> None:
    async def call() -> None:
        listener = current_listener.get()
        assert listener is not None
        for outcome in outcomes:
            listener.begun()
            listener.ended(Call(at=0.0, pool="p", outcome=outcome))
        if raises:
            raise ValueError("as an SDK would")

    assert heard(call)[0].turned_away is turned_away


def test_a_closed_pool_is_one_too() -> None:
    async def call() -> None:
        raise PoolClosed("its quota is spent", hint="pay")

    assert heard(call)[0].turned_away


def test_a_cancellation_of_ours_ends_the_call_and_is_passed_on() -> None:
    ended = []

    async def call() -> None:
        try:
            await asyncio.sleep(1_000)
        finally:
            await asyncio.sleep(0.5)
            ended.append(now())

    async def main() -> float:
        task = asyncio.ensure_future(alone(call, None))
        await asyncio.sleep(2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return now()

    assert virtually(main) == 2.5
    assert ended == [2.5]
