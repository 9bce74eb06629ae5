"""Turns: at most so many at once, whoever has the object, first come first served."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.calls import current_listener
from paceline.pace.turns import Turns
from tests.pace.stands import turns as some_turns
from tests.pace.test_slots import Room, Told, in_thread


@asynccontextmanager
async def inside(limit: Turns) -> AsyncIterator[None]:
    turn = await limit.take()
    try:
        yield
    finally:
        turn.give_back()


def test_no_more_are_inside_than_there_are_turns_on_several_loops() -> None:
    limit, room = Turns(3), Room()

    async def call() -> None:
        async with inside(limit):
            with room:
                await asyncio.sleep(0)

    async def calls() -> None:
        await asyncio.gather(*(call() for _ in range(50)))

    threads = [in_thread(asyncio.run, calls()) for _ in range(4)]
    for thread in threads:
        thread.join(30)
    assert (room.came, room.inside, room.peak) == (200, 0, 3)
    asyncio.run(calls())
    assert (room.came, room.peak) == (250, 3)


def test_who_comes_first_goes_first() -> None:
    async def main() -> list[int]:
        limit, order = Turns(1), []

        async def call(number: int) -> None:
            async with inside(limit):
                await asyncio.sleep(0)
                order.append(number)

        await asyncio.gather(*(call(number) for number in range(10)))
        return order

    assert asyncio.run(main()) == list(range(10))


@given(st.integers(1, 3), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 12)), max_size=8))
def test_cancellations_at_any_step_lose_no_turn_and_hold_nobody_up(
    n: int, cancellations: list[tuple[int, int]]
) -> None:
    async def main() -> None:
        limit, room = Turns(n), Room()

        async def call() -> None:
            async with inside(limit):
                with room:
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)

        calls = [asyncio.create_task(call()) for _ in range(10)]
        for victim, steps in cancellations:
            await some_turns(steps)
            calls[victim].cancel()
        async with asyncio.timeout(10):
            await asyncio.gather(*calls, return_exceptions=True)
            assert room.inside == 0
            assert room.peak <= n
            room.peak = 0
            await asyncio.gather(*(call() for _ in range(10)))
        assert room.peak == n, "each turn is there again"

    asyncio.run(main())


def test_a_block_that_raises_frees_its_turn() -> None:
    async def main() -> None:
        limit = Turns(1)
        for _ in range(3):
            with pytest.raises(ValueError, match="inside"):
                async with inside(limit):
                    raise ValueError("inside")

    asyncio.run(main())


def test_who_waited_on_a_loop_that_is_closed_is_passed_over() -> None:
    limit = Turns(1)
    lost = asyncio.new_event_loop()

    async def call() -> None:
        async with inside(limit):
            pass

    async def main() -> None:
        async with inside(limit):
            waiting = lost.create_task(call())
            lost.call_soon(lost.stop)
            await asyncio.to_thread(lost.run_forever)
            lost.close()
        async with asyncio.timeout(10), inside(limit):
            pass
        waiting._log_destroy_pending = False  # type: ignore[attr-defined]

    asyncio.run(main())


def test_a_block_that_the_garbage_collector_ends_frees_its_turn() -> None:
    async def main() -> None:
        limit = Turns(1)

        async def call() -> None:
            async with inside(limit):
                await asyncio.get_running_loop().create_future()

        coroutine = call()
        coroutine.send(None)
        del coroutine
        gc.collect()
        async with asyncio.timeout(10), inside(limit):
            pass

    asyncio.run(main())


def test_only_who_has_to_wait_is_said_to() -> None:
    told = Told()

    async def main() -> None:
        current_listener.set(told)
        limit = Turns(1)

        async def call() -> None:
            async with inside(limit):
                told.words.append("inside")
                await asyncio.sleep(0)

        await asyncio.gather(call(), call())

    asyncio.run(main())
    assert told.words == ["inside", "begun", "waiting", "going", "ended", "inside"]


@pytest.mark.parametrize("other", ["another", "a copy", "one from a pickle"])
def test_turns_are_nobody_elses(other: str) -> None:
    limit = Turns(1)
    made: dict[str, Callable[[], Any]] = {
        "another": lambda: Turns(1),
        "a copy": lambda: copy.deepcopy(limit),
        "one from a pickle": lambda: pickle.loads(pickle.dumps(limit)),
    }

    async def main() -> None:
        async with asyncio.timeout(10), inside(limit), inside(made[other]()):
            pass

    asyncio.run(main())


def test_threads_that_come_and_go_leave_all_turns_behind() -> None:
    limit, room = Turns(2), Room()

    async def call() -> None:
        async with inside(limit):
            with room:
                await asyncio.sleep(0)

    def churn() -> None:
        for _ in range(30):
            asyncio.run(call())

    threads = [threading.Thread(target=churn) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (room.came, room.inside) == (120, 0)
    assert room.peak <= 2


def test_a_turn_that_is_given_back_twice_was_given_back_once() -> None:
    async def main() -> None:
        limit = Turns(1)
        first = await limit.take()
        first.give_back()
        second = await limit.take()
        first.give_back()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await limit.take()
        second.give_back()
        async with asyncio.timeout(10):
            await limit.take()

    asyncio.run(main())


def test_a_turn_may_be_given_back_for_somebody_else_and_from_any_thread() -> None:
    async def main() -> None:
        limit = Turns(1)
        turn = await limit.take()
        in_thread(turn.give_back).join(10)
        async with asyncio.timeout(10):
            await limit.take()

    asyncio.run(main())
