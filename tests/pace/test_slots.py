"""Slots: at most so many at once by one name, whoever asks and from wherever."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.pace.calls import Call, current_listener
from paceline.pace.slots import slot
from tests.pace.stands import turns


class Room:
    """Counts who is inside."""

    def __init__(self) -> None:
        self.inside, self.peak, self.came = 0, 0, 0
        self._guard = threading.Lock()

    def __enter__(self) -> None:
        with self._guard:
            self.inside += 1
            self.came += 1
            self.peak = max(self.peak, self.inside)

    def __exit__(self, *_: object) -> None:
        with self._guard:
            self.inside -= 1


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses: slots last as long as the process."""
    return str(request.node.name)


def in_thread(function: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def test_no_more_are_inside_than_there_are_slots_on_several_loops_and_threads(name: str) -> None:
    room = Room()

    async def call() -> None:
        async with slot(name, 3):
            with room:
                await asyncio.sleep(0)

    async def calls() -> None:
        await asyncio.gather(*(call() for _ in range(30)))

    def plainly() -> None:
        for _ in range(30):
            with slot(name, 3), room:
                pass

    threads = [in_thread(asyncio.run, calls()) for _ in range(2)] + [in_thread(plainly) for _ in range(2)]
    for thread in threads:
        thread.join(30)
    assert (room.came, room.inside, room.peak) == (120, 0, 3)


def test_who_comes_first_goes_first(name: str) -> None:
    async def main() -> list[int]:
        order: list[int] = []

        async def call(number: int) -> None:
            async with slot(name, 1):
                await asyncio.sleep(0)
                order.append(number)

        await asyncio.gather(*(call(number) for number in range(10)))
        return order

    assert asyncio.run(main()) == list(range(10))


def test_one_object_may_be_entered_by_many_and_again(name: str) -> None:
    limit, room = slot(name, 2), Room()

    async def call() -> None:
        async with limit:
            with room:
                await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(call() for _ in range(10)))

    asyncio.run(main())
    asyncio.run(main())
    with limit, limit, room:
        pass
    assert (room.came, room.peak) == (21, 2)


def test_a_block_that_raises_frees_its_slot(name: str) -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match="inside"), slot(name, 1):
            raise ValueError("inside")
    with slot(name, 1):
        pass


def cancelled_after(rounds: int, name: str) -> bool:
    """Cancel one of three who want a single slot after so many rounds; whether it was still at it."""

    async def main() -> bool:
        async def call() -> None:
            async with slot(name, 1):
                await asyncio.sleep(0)
                await asyncio.sleep(0)

        before, victim, behind = (asyncio.create_task(call()) for _ in range(3))
        await turns(rounds)
        was_at_it = victim.cancel()
        await asyncio.wait_for(asyncio.gather(before, behind), 10)
        with (
            pytest.raises(asyncio.CancelledError) if not victim.done() or victim.cancelled() else _no_matter()
        ):
            await victim
        async with asyncio.timeout(10), slot(name, 1):
            pass
        return was_at_it

    return asyncio.run(main())


class _no_matter:  # noqa: N801  # reads as a word where it is used
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def test_a_cancellation_at_any_step_frees_the_slot_and_holds_nobody_up(name: str) -> None:
    rounds = 0
    while cancelled_after(rounds, name):
        rounds += 1
    assert rounds > 4


class Told:
    """A listener that notes what it is told."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def begun(self) -> None:
        self.words.append("begun")

    def waiting(self) -> None:
        self.words.append("waiting")

    def going(self) -> None:
        self.words.append("going")

    def ended(self, call: Call | None) -> None:
        self.words.append("ended")


@pytest.fixture
def told() -> Iterator[Told]:
    listener = Told()
    token = current_listener.set(listener)
    yield listener
    current_listener.reset(token)


def test_the_attempt_is_told_when_it_waits_and_when_it_goes_on(name: str, told: Told) -> None:
    with slot(name, 1):
        told.words.append("inside")
    assert told.words == ["begun", "waiting", "going", "ended", "inside"]


def test_the_attempt_is_told_that_it_goes_on_when_its_waiting_is_cancelled(name: str, told: Told) -> None:
    async def main() -> None:
        with slot(name, 1):

            async def wait() -> None:
                async with slot(name, 1):
                    pass

            waiter = asyncio.create_task(wait())
            await turns()
            assert told.words[-1] == "waiting"
            waiter.cancel()
            await asyncio.wait([waiter])

    asyncio.run(main())
    assert told.words == ["begun", "waiting", "going", "ended"] * 2


def test_two_widths_for_one_name_are_refused_with_the_remedy(name: str) -> None:
    slot(name, 3)
    with pytest.raises(UsageError, match="is 3 wide elsewhere in this process, and 5 here") as refused:
        slot(name, 5)
    assert "same number everywhere" in refused.value.hint


@pytest.mark.parametrize(("wrong", "n"), [("", 3), (None, 3), ("a", 0), ("b", -1), ("c", 2.5), ("d", True)])
def test_a_slot_without_a_name_or_a_width_is_refused_before_anything_waits(wrong: Any, n: Any) -> None:
    with pytest.raises(UsageError) as refused:
        slot(wrong, n)
    assert refused.value.hint


def _enter_all(name: str, answer: Any) -> None:
    with slot(name, 1):
        answer.put("inside")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_slots_of_its_own(name: str) -> None:
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    with slot(name, 1):
        child = context.Process(target=_enter_all, args=(name, answer))
        child.start()
        assert answer.get(timeout=20) == "inside"
        child.join(20)
