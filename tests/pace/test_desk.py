"""The desk: who is granted when, who is told what, and that nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import DeskClosed, PoolClosed
from paceline.pace.desk import Desk, current_desk, installed
from paceline.pace.messages import RETRY, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed
from paceline.pace.waiters import ThreadWaiter
from tests.pace.stands import OTHER, POOL, Clock, desk_with, turns

OK = Result()
SPENT = Result(outcome="fatal", cause="quota", message="You exceeded your current quota.\nSee your plan.")


def in_flight(desk: Desk) -> int:
    return sum(facts.in_flight for facts in desk.facts())


def waiting(desk: Desk) -> int:
    return sum(facts.waiting for facts in desk.facts())


def in_thread(function: Callable[..., Any], *arguments: Any) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments, daemon=True)
    thread.start()
    return thread


def elsewhere(function: Callable[..., Any], *arguments: Any) -> None:
    """Call it in another thread, and wait for that."""
    in_thread(function, *arguments).join(10)


# ---- granting


def test_what_is_free_is_granted_at_once_without_giving_up_the_loop() -> None:
    desk = desk_with(Clock(), window=2)
    coroutine = desk.acquire(POOL, tokens=900)
    with pytest.raises(StopIteration) as ended:
        coroutine.send(None)
    grant = ended.value.value
    assert isinstance(grant, Grant)
    assert (grant.pool, grant.waited) == (POOL, 0.0)
    assert in_flight(desk) == 1


def test_a_full_window_makes_wait_and_a_settled_call_lets_the_next_go() -> None:
    async def main() -> None:
        clock = Clock()
        desk = desk_with(clock, window=1)
        first = await desk.acquire(POOL)
        second = asyncio.ensure_future(desk.acquire(POOL))
        await turns()
        assert not second.done()
        clock.move(3.0)
        desk.settle(first, OK)
        assert (await second).waited == pytest.approx(3.0)
        assert (in_flight(desk), waiting(desk)) == (1, 0)

    asyncio.run(main())


def test_a_retry_goes_before_fresh_calls_and_equals_go_in_order() -> None:
    async def main() -> list[str]:
        desk = desk_with(Clock(), window=1)
        held = await desk.acquire(POOL)
        order: list[str] = []

        async def call(name: str, priority: int) -> None:
            grant = await desk.acquire(POOL, priority=priority)
            order.append(name)
            desk.settle(grant, OK)

        calls = [asyncio.ensure_future(call(f"fresh {n}", 1)) for n in range(3)]
        await turns()
        calls += [asyncio.ensure_future(call(f"retry {n}", RETRY)) for n in range(2)]
        await turns()
        desk.settle(held, OK)
        await asyncio.gather(*calls)
        return order

    assert asyncio.run(main()) == ["retry 0", "retry 1", "fresh 0", "fresh 1", "fresh 2"]


def test_pools_do_not_wait_for_each_other() -> None:
    desk = desk_with(Clock(), window=1)
    desk.acquire_sync(POOL)
    assert desk.acquire_sync(OTHER).pool == OTHER


def test_a_rate_lets_calls_go_when_their_time_has_come_and_somebody_wakes_the_desk_then() -> None:
    async def main() -> None:
        clock = Clock()
        desk = desk_with(clock, rps=1.0)
        granted: list[float] = []

        async def call() -> None:
            desk.settle(await desk.acquire(POOL), OK)
            granted.append(clock.time)

        calls = asyncio.gather(*(call() for _ in range(6)))
        for _ in range(100):
            await turns()
            clock.move(0.1)
        await calls
        apart = [later - earlier for earlier, later in pairwise(granted[2:])]
        assert apart
        assert all(0.85 <= gap <= 1.25 for gap in apart)

    asyncio.run(main())


def test_nobody_is_woken_while_nothing_waits_for_a_time() -> None:
    clock = Clock()
    desk = desk_with(clock, window=1)
    held = desk.acquire_sync(POOL)
    waiter = in_thread(desk.acquire_sync, POOL)
    while not waiting(desk):
        threading.Event().wait(0.001)
    assert clock.started == 0
    desk.settle(held, OK)
    waiter.join(10)
    assert not waiter.is_alive()


def test_the_narrowest_limits_that_name_a_pool_hold_for_it_field_by_field() -> None:
    clock = Clock()
    per_pool = {"openai:gpt": Limits(window=1), "openai:*": Limits(window=2), "slow": Limits(window=3)}
    desk = desk_with(clock, per_pool=per_pool, window=4)
    windows = {}
    for name in (POOL, OTHER, PoolId("azure", "", "slow"), PoolId("azure", "", "gpt")):
        desk.acquire_sync(name)
        windows[str(name)] = desk.facts()[-1].window
    assert windows == {"openai:gpt": 1, "openai:gpt-mini": 2, "azure:slow": 3, "azure:gpt": 4}


def test_to_settle_twice_counts_once() -> None:
    desk = desk_with(Clock(), window=2)
    first, _second = desk.acquire_sync(POOL), desk.acquire_sync(POOL)
    desk.settle(first, OK)
    desk.settle(first, OK)
    assert in_flight(desk) == 1


# ---- threads and loops


def test_threads_and_coroutines_of_several_loops_share_one_window() -> None:
    desk = Desk(limits=Limits(window=3), adaptive=False)
    now_in, peak, done = 0, 0, 0
    guard = threading.Lock()

    def enter() -> None:
        nonlocal now_in, peak
        with guard:
            now_in += 1
            peak = max(peak, now_in)

    def leave() -> None:
        nonlocal now_in, done
        with guard:
            now_in -= 1
            done += 1

    async def call() -> None:
        for _ in range(20):
            grant = await desk.acquire(POOL)
            enter()
            await asyncio.sleep(0)
            leave()
            desk.settle(grant, OK)

    async def calls() -> None:
        await asyncio.gather(*(call() for _ in range(5)))

    def in_threads() -> None:
        for _ in range(20):
            grant = desk.acquire_sync(POOL)
            enter()
            leave()
            desk.settle(grant, OK)

    threads = [in_thread(asyncio.run, calls()) for _ in range(2)] + [in_thread(in_threads) for _ in range(3)]
    for thread in threads:
        thread.join(30)
    assert done == 2 * 5 * 20 + 3 * 20
    assert peak == 3
    assert in_flight(desk) == 0
    desk.close()


def test_the_thread_that_looks_at_the_clock_is_started_when_needed_and_ends_with_the_desk() -> None:
    def threads() -> set[str]:
        return {thread.name for thread in threading.enumerate()}

    desk = Desk(limits=Limits(rps=20.0), adaptive=False)
    assert desk.acquire_sync(POOL).waited == 0
    assert "paceline-desk" not in threads()
    while not desk.acquire_sync(POOL).waited:  # the bucket holds a second's worth
        pass
    assert "paceline-desk" in threads()
    desk.close()
    assert "paceline-desk" not in threads()


def test_a_grant_for_a_loop_that_has_been_closed_goes_to_the_next_in_line() -> None:
    desk = desk_with(Clock(), window=1)
    held = desk.acquire_sync(POOL)
    loop = asyncio.new_event_loop()
    lost = desk.acquire(POOL)
    task = loop.create_task(lost)
    loop.run_until_complete(turns())
    loop.close()  # with the task still waiting in it, as a careless thread would

    async def main() -> None:
        next_in_line = asyncio.ensure_future(desk.acquire(POOL))
        await turns()
        elsewhere(desk.settle, held, OK)
        desk.settle(await next_in_line, OK)

    asyncio.run(main())
    assert (in_flight(desk), waiting(desk)) == (0, 0)
    task._log_destroy_pending = False  # type: ignore[attr-defined]


def test_a_coroutine_that_is_thrown_away_while_it_waits_leaves_the_line() -> None:
    async def main() -> None:
        desk = desk_with(Clock(), window=1)
        await desk.acquire(POOL)
        coroutine = desk.acquire(POOL)
        coroutine.send(None)
        assert waiting(desk) == 1
        del coroutine
        gc.collect()
        assert waiting(desk) == 0

    asyncio.run(main())


def test_a_call_may_end_in_a_finalizer_that_runs_in_the_midst_of_the_desks_own_work() -> None:
    """As the garbage collector may have it: in the thread that is inside the desk, at any allocation."""
    desk = desk_with(Clock(), window=2)
    first, second = desk.acquire_sync(POOL), desk.acquire_sync(POOL)
    reading = desk.now

    def now() -> float:
        desk.now = reading
        desk.settle(second, OK)
        return reading()

    desk.now = now
    elsewhere(desk.settle, first, OK)
    assert in_flight(desk) == 0


# ---- giving up: at every step, whoever waits may be cancelled, and nothing stays in flight


class SteppingLoop(asyncio.SelectorEventLoop):
    """Calls a function before each of its rounds."""

    def __init__(self) -> None:
        super().__init__()
        self.rounds = 0
        self.before_round: Callable[[int], None] = lambda _number: None

    def _run_once(self) -> None:
        self.before_round(self.rounds)
        self.rounds += 1
        super()._run_once()  # type: ignore[misc]


Story = Callable[[Desk, "asyncio.Task[None]", Callable[..., None]], Coroutine[Any, Any, None]]


def told(
    story: Callable[[Desk, Callable[..., None]], Coroutine[Any, Any, None]], *, at: int, how: Any
) -> int:
    """Carry a story out with its victim cancelled before round `at`; how many rounds it took."""
    loop = SteppingLoop()
    desk = desk_with(Clock(), window=2)
    try:

        def strike(number: int) -> None:
            victims = [task for task in asyncio.all_tasks(loop) if task.get_name() == "victim"]
            if number == at:
                for task in victims:
                    task.cancel()

        loop.before_round = strike
        loop.run_until_complete(asyncio.wait_for(story(desk, how), 10))
        assert (in_flight(desk), waiting(desk)) == (0, 0)
        return loop.rounds
    finally:
        loop.close()


async def crowded(desk: Desk, settle: Callable[..., None]) -> None:
    """Two hold the window, three wait, the victim among them; all others come to their end."""
    ended: list[str] = []

    async def call(name: str) -> None:
        grant = await desk.acquire(POOL)
        try:
            await asyncio.sleep(0)
        finally:
            settle(desk.settle, grant, OK)
        ended.append(name)

    held = [await desk.acquire(POOL), await desk.acquire(POOL)]
    tasks = [asyncio.create_task(call(name), name=name) for name in ("before", "victim", "behind")]
    for grant in held:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        settle(desk.settle, grant, OK)
    await asyncio.wait(tasks)
    assert {"before", "behind"} <= set(ended)


@pytest.mark.parametrize("how", [lambda settle, *words: settle(*words), elsewhere], ids=["here", "elsewhere"])
def test_a_cancellation_at_any_step_leaves_nothing_in_flight_and_holds_nobody_up(how: Any) -> None:
    step, rounds = 0, 1
    while step < rounds:
        rounds = told(crowded, at=step, how=how)
        step += 1
    assert step > 6, "the story has more steps than that"


def test_a_cancellation_that_races_with_the_grant_gives_the_grant_back() -> None:
    async def main() -> None:
        desk = desk_with(Clock(), window=1)
        held = await desk.acquire(POOL)
        loser = asyncio.ensure_future(desk.acquire(POOL))
        await turns()
        desk.settle(held, OK)  # the grant is the loser's now, and the loop has not told it
        loser.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loser
        assert in_flight(desk) == 0

    asyncio.run(main())


@pytest.mark.parametrize("granted_before", [False, True])
def test_a_thread_that_is_interrupted_while_it_waits_leaves_nothing_in_flight(
    granted_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = desk_with(Clock(), window=1)
    held = desk.acquire_sync(POOL)

    def wait(waiter: ThreadWaiter) -> None:
        if granted_before:
            desk.settle(held, OK)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadWaiter, "wait", wait)
    with pytest.raises(KeyboardInterrupt):
        desk.acquire_sync(POOL)
    assert in_flight(desk) == (0 if granted_before else 1)
    assert waiting(desk) == 0


class Rung(Exception):
    """A signal has come."""


def test_a_real_signal_gets_the_main_thread_out_of_its_waiting() -> None:
    desk = desk_with(Clock(), window=1)
    desk.acquire_sync(POOL)

    def interrupt() -> None:
        while not waiting(desk):
            threading.Event().wait(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    def raise_rung(*_: object) -> None:
        raise Rung

    before = signal.signal(signal.SIGUSR1, raise_rung)
    try:
        thread = in_thread(interrupt)
        with pytest.raises(Rung):
            desk.acquire_sync(POOL)
        thread.join(10)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert (in_flight(desk), waiting(desk)) == (1, 0)


acts = st.lists(
    st.tuples(st.sampled_from(["ask", "retry", "cancel", "settle", "turn"]), st.integers(0, 30)), max_size=60
)


@given(acts, st.integers(1, 4))
def test_whatever_callers_do_the_window_holds_the_line_keeps_its_order_and_all_is_freed(
    story: list[tuple[str, int]], window: int
) -> None:
    async def main() -> None:
        desk = desk_with(Clock(), window=window)
        calls: list[asyncio.Task[Grant]] = []
        priorities: list[int] = []
        settled: set[int] = set()

        def holding() -> list[int]:
            return [
                n for n, call in enumerate(calls) if n not in settled and call.done() and not call.cancelled()
            ]

        for act, place in story:
            if act in {"ask", "retry"}:
                priorities.append(RETRY if act == "retry" else 1)
                calls.append(asyncio.create_task(desk.acquire(POOL, priority=priorities[-1])))
            elif act == "cancel" and calls:
                calls[place % len(calls)].cancel()
            elif act == "settle" and (held := holding()):
                number = held[place % len(held)]
                settled.add(number)
                desk.settle(calls[number].result(), OK)
            elif act == "turn":
                await turns()
                assert in_flight(desk) == len(holding()) <= window
                still = [n for n, call in enumerate(calls) if not call.done()]
                assert waiting(desk) == len(still)
                assert not still or len(holding()) == window, "nobody waits while there is room"
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        for number in holding():
            desk.settle(calls[number].result(), OK)
        assert (in_flight(desk), waiting(desk)) == (0, 0)

    asyncio.run(main())


# ---- closing


def test_a_closed_pool_turns_away_those_who_wait_and_those_who_come_and_says_why_and_what_to_do() -> None:
    async def main() -> None:
        desk = desk_with(Clock(), window=1)
        news: list[tuple[PoolId, Closed]] = []
        desk.on_closed = lambda pool, closed: news.append((pool, closed))
        held = await desk.acquire(POOL)
        waiters = [asyncio.ensure_future(desk.acquire(POOL)) for _ in range(3)]
        blocked: list[BaseException] = []

        def block() -> None:
            try:
                desk.acquire_sync(POOL)
            except PoolClosed as error:
                blocked.append(error)

        thread = in_thread(block)
        while waiting(desk) < 4:
            await asyncio.sleep(0.001)
        desk.settle(held, SPENT)
        errors = await asyncio.gather(*waiters, return_exceptions=True)
        thread.join(10)
        with pytest.raises(PoolClosed) as later:
            await desk.acquire(POOL)
        for error in [*errors, *blocked, later.value]:
            assert isinstance(error, PoolClosed)
            assert str(error) == (
                "openai:gpt answers no more calls: its quota is spent. It said: "
                "You exceeded your current quota. See your plan."
            )
            assert "`paceline resume`: all results so far are kept" in error.hint
            assert (error.pool, error.cause) == ("openai:gpt", "quota")
        assert [pool for pool, _ in news] == [POOL]
        assert (in_flight(desk), waiting(desk)) == (0, 0)
        assert (await desk.acquire(OTHER)).pool == OTHER

    asyncio.run(main())


def test_a_pool_that_closes_twice_is_told_of_once_and_the_listener_may_ask_the_desk() -> None:
    desk = desk_with(Clock(), window=3)
    seen: list[int] = []
    desk.on_closed = lambda _pool, _closed: seen.append(len(desk.facts()))
    grants = [desk.acquire_sync(POOL) for _ in range(3)]
    for grant in grants:
        desk.settle(grant, SPENT)
    assert seen == [1]


def test_a_refused_key_is_said_to_be_that() -> None:
    desk = desk_with(Clock(), window=1)
    desk.settle(desk.acquire_sync(POOL), Result(outcome="fatal", cause="auth"))
    with pytest.raises(PoolClosed, match=r"(?m)the key is refused$") as refused:
        desk.acquire_sync(POOL)
    assert refused.value.hint.startswith("set a key")


def test_a_closed_desk_wakes_all_who_wait_and_turns_away_all_who_come() -> None:
    async def main() -> None:
        desk = desk_with(Clock(), window=1)
        held = await desk.acquire(POOL)
        waiter = asyncio.ensure_future(desk.acquire(POOL))
        await turns()
        desk.close()
        desk.close()
        with pytest.raises(DeskClosed):
            await waiter
        with pytest.raises(DeskClosed):
            desk.acquire_sync(POOL)
        desk.settle(held, OK)
        assert (in_flight(desk), waiting(desk)) == (0, 0)

    asyncio.run(main())


# ---- the desk of the run


def test_the_desk_of_a_run_is_found_by_every_thread_while_it_is_installed() -> None:
    desk, seen = desk_with(Clock()), []
    assert current_desk() is None
    with installed(desk):
        elsewhere(lambda: seen.append(current_desk()))
        assert current_desk() is desk
    assert seen == [desk]
    assert current_desk() is None


def test_runs_that_overlap_may_end_in_any_order() -> None:
    first, second = desk_with(Clock()), desk_with(Clock())
    one, other = installed(first), installed(second)
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert current_desk() is second
    other.__exit__(None, None, None)
    assert current_desk() is None
