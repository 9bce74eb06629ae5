"""Calls side by side: each ends or is left behind, and whoever ends the whole ends each of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.requirements.hearing import GRACE_S, Heard, Leave
from paceline.evaluators.requirements.together import together
from tests.engine.stage import deaf, now, virtually

Call = Callable[[Leave], Coroutine[Any, Any, Any]]


def takes(seconds: float, answer: Any) -> Call:
    async def call(leave: Leave) -> Any:
        await asyncio.sleep(seconds)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    return call


@given(st.lists(st.integers(0, 5), max_size=8))
def test_answers_stand_in_the_order_of_the_calls_whichever_is_done_first(seconds: list[int]) -> None:
    async def main() -> tuple[list[Any], float]:
        if not seconds:
            return [], 0.0
        return await together([takes(each, place) for place, each in enumerate(seconds)]), now()

    assert virtually(main) == (list(range(len(seconds))), max(seconds, default=0))


def test_what_a_call_raises_is_raised_at_once_and_ends_the_others() -> None:
    ended = []

    async def goes_on(leave: Leave) -> None:
        try:
            await asyncio.sleep(1_000)
        finally:
            ended.append(now())

    async def main() -> None:
        with pytest.raises(OSError, match="the disk is full"):
            await together([goes_on, takes(2, OSError("the disk is full")), goes_on])

    virtually(main)
    assert ended == [2.0, 2.0]


def test_one_that_leaves_is_waited_for_no_longer() -> None:
    async def leaves(leave: Leave) -> str:
        await asyncio.sleep(1)
        leave(Heard("left"))
        await asyncio.sleep(1_000)
        return "too late"

    async def main() -> tuple[list[Any], float]:
        return await together([leaves, takes(2, "done")]), now()

    assert virtually(main) == ([Heard("left"), "done"], 2.0)


def test_one_that_cancels_its_own_task_is_told_from_a_cancellation_of_ours() -> None:
    async def odd(leave: Leave) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    async def main() -> list[Any]:
        return await together([odd, takes(2, "done")])

    first, second = virtually(main)
    assert isinstance(first.error, asyncio.CancelledError)
    assert second == "done"


def test_a_cancellation_waits_for_those_that_clear_away_and_not_for_those_that_do_not_listen() -> None:
    async def listens_not(leave: Leave) -> None:
        await deaf(1_000)

    async def main() -> float:
        whole = asyncio.ensure_future(together([takes(1_000, None), listens_not]))
        await asyncio.sleep(2)
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
        return now()

    assert virtually(main) == 2.0 + GRACE_S
