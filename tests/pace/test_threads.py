"""Calls on threads that a task starts belong to whoever started them, and to nobody else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar

import pytest

from paceline.pace.threads import Carrying

WHO: ContextVar[str | None] = ContextVar("who", default=None)
OTHER: ContextVar[str | None] = ContextVar("other", default=None)


@pytest.fixture(autouse=True)
def _carrying() -> Iterator[None]:
    were = threading.Thread.start, ThreadPoolExecutor.submit
    carrying = Carrying([WHO])
    carrying.stand()
    yield
    carrying.stand_down()
    assert (threading.Thread.start, ThreadPoolExecutor.submit) == were


def seen_by(thread_of: type[threading.Thread] = threading.Thread) -> list[str | None]:
    found: list[str | None] = []
    thread = thread_of(target=lambda: found.extend((WHO.get(), OTHER.get())))
    thread.start()
    thread.join()
    return found


def test_a_thread_takes_along_who_started_it_and_nothing_else() -> None:
    OTHER.set("mine")
    assert seen_by() == [None, None]
    token = WHO.set("ann")
    assert seen_by() == ["ann", None]
    WHO.reset(token)
    assert seen_by() == [None, None]


def test_a_thread_with_a_run_of_its_own_takes_it_along_too() -> None:
    class Own(threading.Thread):
        found: str | None = None

        def run(self) -> None:
            self.found = WHO.get()

    token = WHO.set("ann")
    thread = Own()
    thread.start()
    thread.join()
    WHO.reset(token)
    assert thread.found == "ann"


def test_the_threads_of_a_pool_work_for_whoever_submits() -> None:
    with ThreadPoolExecutor(1) as pool:
        found = []
        for who in ("ann", "bob", None, "ann"):
            token = WHO.set(who)
            found.append(pool.submit(WHO.get).result())
            WHO.reset(token)
    assert found == ["ann", "bob", None, "ann"]


def test_what_is_submitted_is_called_with_what_was_given_and_may_raise() -> None:
    def function(first: int, *, second: int) -> float:
        return first / second

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(function, 6, second=3).result() == 2
        with pytest.raises(ZeroDivisionError):
            pool.submit(function, 6, second=0).result()
        assert list(pool.map(abs, [-1, -2])) == [1, 2]


def test_executors_of_a_loop_are_pools_like_any_other() -> None:
    async def main() -> list[str | None]:
        loop = asyncio.get_running_loop()

        async def ask(who: str) -> str | None:
            WHO.set(who)
            return await loop.run_in_executor(None, WHO.get)

        return list(await asyncio.gather(ask("ann"), ask("bob")))

    assert asyncio.run(main()) == ["ann", "bob"]


def test_a_loop_on_another_thread_works_for_whoever_sends_it_something() -> None:
    loop = asyncio.new_event_loop()
    token = WHO.set("whoever came first")
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    WHO.reset(token)

    async def ask() -> str | None:
        return WHO.get()

    token = WHO.set("ann")
    assert asyncio.run_coroutine_threadsafe(ask(), loop).result(10) == "ann"
    WHO.reset(token)
    assert asyncio.run_coroutine_threadsafe(ask(), loop).result(10) is None
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
