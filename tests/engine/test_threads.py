"""Threads for what blocks: as many as asked for, and those that hang are replaced."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.engine.threads import Threads

colour: ContextVar[str] = ContextVar("colour", default="none")


async def call(threads: Threads, function: Callable[..., Any], *arguments: Any) -> Any:
    return await threads.call(copy_context(), function, *arguments)


async def eventually(claim: Callable[[], object]) -> None:
    """Wait until something that other threads bring about is so."""
    for _ in range(2_000):
        if claim():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came about")


def ours(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


def test_a_call_gives_its_answer_and_sees_its_context_only() -> None:
    def paint(name: str) -> tuple[str, str]:
        before = colour.get()
        colour.set(name)
        return before, colour.get()

    async def main() -> None:
        threads = Threads(1, name="colours")
        colour.set("mine")
        assert await call(threads, paint, "red") == ("mine", "red")
        assert await call(threads, paint, "blue") == ("mine", "blue")
        assert colour.get() == "mine"
        threads.stop()

    asyncio.run(main())


@pytest.mark.parametrize("limit", [1, 3, 8])
def test_no_more_calls_at_once_than_the_limit_and_no_more_threads_than_calls(limit: int) -> None:
    inside = most = 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        time.sleep(0.002)
        with lock:
            inside -= 1

    async def main() -> None:
        threads = Threads(limit, name=f"limited-{limit}")
        await asyncio.gather(*(call(threads, work) for _ in range(40)))
        assert len(ours(f"limited-{limit}")) <= limit
        threads.stop()
        await eventually(lambda: not ours(f"limited-{limit}"))

    asyncio.run(main())
    assert most <= limit


def test_one_call_after_the_other_needs_one_thread() -> None:
    async def main() -> None:
        threads = Threads(50, name="thrifty")
        for _ in range(30):
            await call(threads, int)
        assert len(ours("thrifty")) <= 2, "a thread may not have noted yet that it is free again"
        threads.stop()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (ValueError, ValueError),
        (SystemExit, SystemExit),
        (KeyboardInterrupt, KeyboardInterrupt),
        (asyncio.CancelledError, asyncio.CancelledError),
        (StopIteration, RuntimeError),
        (StopAsyncIteration, StopAsyncIteration),
        (GeneratorExit, RuntimeError),
    ],
)
def test_what_a_call_raises_reaches_its_caller_and_the_thread_stays_in_service(
    raised: type[BaseException], seen: type[BaseException]
) -> None:
    def fail() -> None:
        raise raised

    async def main() -> None:
        threads = Threads(1, name="failing")
        for _ in range(3):
            with pytest.raises(seen):
                await call(threads, fail)
        assert threads.left_behind == 0
        assert await call(threads, int) == 0
        assert len(ours("failing")) == 1
        threads.stop()
        await eventually(lambda: not ours("failing"))

    asyncio.run(main())


def test_a_call_that_is_given_up_no_longer_counts_and_others_take_its_place() -> None:
    over = threading.Event()

    async def main() -> None:
        threads = Threads(2, name="stuck")
        stuck = [asyncio.ensure_future(call(threads, over.wait, 30)) for _ in range(2)]
        await asyncio.sleep(0.05)
        for task in stuck:
            task.cancel()
        await asyncio.wait(stuck)
        assert threads.left_behind == 2
        assert await asyncio.wait_for(asyncio.gather(*(call(threads, int) for _ in range(10))), 5) == [0] * 10
        over.set()
        await eventually(lambda: threads.left_behind == 0)
        await eventually(lambda: len(ours("stuck")) <= 2)
        threads.stop()
        await eventually(lambda: not ours("stuck"))

    asyncio.run(main())


def test_calls_that_wait_behind_stuck_ones_are_served_once_those_are_given_up() -> None:
    """Without another call that would start a thread for them."""
    over = threading.Event()

    async def main() -> None:
        threads = Threads(1, name="queue")
        stuck = asyncio.ensure_future(call(threads, over.wait, 30))
        await asyncio.sleep(0.05)
        waiting = [asyncio.ensure_future(call(threads, int)) for _ in range(3)]
        await asyncio.sleep(0.05)
        stuck.cancel()
        assert await asyncio.wait_for(asyncio.gather(*waiting), 5) == [0, 0, 0]
        over.set()
        threads.stop()
        await eventually(lambda: not ours("queue"))

    asyncio.run(main())


def test_a_call_that_is_given_up_before_its_turn_is_never_made() -> None:
    over = threading.Event()
    made: list[str] = []

    async def main() -> None:
        threads = Threads(1, name="early")
        first = asyncio.ensure_future(call(threads, over.wait, 30))
        await asyncio.sleep(0.05)
        second = asyncio.ensure_future(call(threads, made.append, "made"))
        await asyncio.sleep(0.01)
        second.cancel()
        await asyncio.wait([second])
        assert threads.left_behind == 0
        over.set()
        await first
        await call(threads, int)
        threads.stop()

    asyncio.run(main())
    assert made == []


def test_a_thread_that_comes_back_after_all_was_stopped_ends() -> None:
    over = threading.Event()

    async def main() -> None:
        threads = Threads(2, name="late")
        stuck = asyncio.ensure_future(call(threads, over.wait, 30))
        await asyncio.sleep(0.05)
        stuck.cancel()
        await asyncio.wait([stuck])
        threads.stop()
        over.set()
        await eventually(lambda: not ours("late"))

    asyncio.run(main())


def test_a_thread_that_comes_back_after_its_loop_is_closed_does_no_harm() -> None:
    over = threading.Event()

    async def main() -> None:
        threads = Threads(1, name="orphan")
        stuck = asyncio.ensure_future(call(threads, over.wait, 30))
        await asyncio.sleep(0.05)
        stuck.cancel()
        threads.stop()

    asyncio.run(main())
    over.set()
    for thread in ours("orphan"):
        thread.join(10)
    assert ours("orphan") == []


@pytest.mark.parametrize("given_up", [False, True])
def test_an_idle_thread_keeps_nothing_alive(given_up: bool) -> None:
    class Big:
        pass

    over = threading.Event()

    async def main() -> None:
        threads = Threads(1, name="forgetful")
        big = Big()
        seen = weakref.ref(big)
        if given_up:
            first = asyncio.ensure_future(call(threads, over.wait, 30))
            await asyncio.sleep(0.05)
            second = asyncio.ensure_future(call(threads, id, big))
            await asyncio.sleep(0.01)
            second.cancel()
            await asyncio.wait([second])
            del second
            over.set()
            await first
        else:
            await call(threads, id, big)
        del big
        await asyncio.sleep(0)
        for _ in range(200):
            gc.collect()
            if seen() is None:
                break
            await asyncio.sleep(0.01)
        assert seen() is None
        threads.stop()

    asyncio.run(main())


def test_where_the_system_gives_no_more_threads_those_there_are_do_all_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    start, started = threading.Thread.start, 0

    def scarce(thread: threading.Thread) -> None:
        nonlocal started
        if thread.name.startswith("scarce"):
            if started == 2:
                raise RuntimeError("can't start new thread")
            started += 1
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", scarce)

    async def main() -> None:
        threads = Threads(10, name="scarce")
        work = (call(threads, time.sleep, 0.01) for _ in range(20))
        await asyncio.wait_for(asyncio.gather(*work), 10)
        threads.stop()

    asyncio.run(main())


def test_a_hundred_blocking_calls_fifty_at_a_time_take_two_rounds() -> None:
    """Each waits until fifty are there: with fewer at once they would wait for ever."""
    round_ = threading.Barrier(50)

    async def main() -> None:
        threads = Threads(50, name="hundred")
        await asyncio.gather(*(call(threads, round_.wait, 60) for _ in range(100)))
        threads.stop()

    asyncio.run(main())


Plans = st.lists(st.sampled_from(["quick", "given up", "stuck", "fails"]), min_size=1, max_size=30)


@settings(max_examples=25)
@given(plan=Plans, limit=st.integers(1, 4))
def test_whatever_is_given_up_nobody_starves(plan: list[str], limit: int) -> None:
    """Every call that is not given up gets its answer, however many before it hang."""
    over = threading.Event()

    def fail() -> None:
        raise LookupError

    async def main() -> None:
        threads = Threads(limit, name="stress")
        lasting: list[asyncio.Future[Any]] = []
        for what in plan:
            match what:
                case "quick":
                    lasting.append(asyncio.ensure_future(call(threads, int)))
                case "fails":
                    lasting.append(asyncio.ensure_future(call(threads, fail)))
                case "given up":
                    task = asyncio.ensure_future(call(threads, int))
                    await asyncio.sleep(0)
                    task.cancel()
                case _:
                    task = asyncio.ensure_future(call(threads, over.wait, 30))
                    asyncio.get_running_loop().call_later(0.005, task.cancel)
        _done, pending = await asyncio.wait(lasting, timeout=10) if lasting else (set(), set())
        assert not pending
        over.set()
        await eventually(lambda: threads.left_behind == 0)
        assert await asyncio.wait_for(call(threads, int), 5) == 0
        threads.stop()
        await eventually(lambda: not ours("stress"))

    asyncio.run(main())
