"""Sharing between processes: one account is one pool, whoever holds it, whatever becomes of the holder."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from paceline.errors import DeskClosed, PoolClosed
from paceline.pace.meeting import Meeting
from paceline.pace.messages import Ask, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed
from paceline.pace.sharing import SharedDesk, open_desk
from paceline.pace.wire import Hello, Wanted, Wire
from tests.pace.sharer import Stamp, most_at_once, stamps_in
from tests.pace.stands import OTHER, POOL

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
OK = Result()
SPENT = Result(outcome="fatal", cause="quota", message="You exceeded your current quota.")


def until(claim: Callable[[], bool]) -> None:
    """Other threads and processes take their time."""
    end = time.monotonic() + PATIENCE_S
    while not claim():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.002)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[..., SharedDesk]]:
    """Desks that meet in one place, closed in the end."""
    with ExitStack() as stack:

        def open_one(**limits: Any) -> SharedDesk:
            desk = open_desk(limits=Limits(**limits), state=tmp_path, learn=False)
            assert isinstance(desk, SharedDesk)
            stack.callback(desk.close)
            return desk

        yield open_one


def in_flight(desk: SharedDesk, pool: PoolId = POOL) -> int:
    return sum(facts.in_flight for facts in desk.facts() if facts.id == pool)


def waiting(desk: SharedDesk) -> int:
    return sum(facts.waiting for facts in desk.facts())


class Asking(threading.Thread):
    """Somebody who waits for a grant, and keeps it."""

    def __init__(self, desk: SharedDesk, pool: PoolId = POOL) -> None:
        super().__init__(daemon=True)
        self.grant: Grant | None = None
        self.error: BaseException | None = None
        self._desk, self._pool = desk, pool
        self.start()

    def run(self) -> None:
        try:
            self.grant = self._desk.acquire_sync(self._pool)
        except BaseException as error:  # it is what the test asks for
            self.error = error

    def settle(self, result: Result = OK) -> None:
        self.join(PATIENCE_S)
        assert self.grant is not None
        self._desk.settle(self.grant, result)


# ---- two desks


def test_the_first_holds_the_desk_and_the_second_is_its_client(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=2), opened(window=2)
    assert (first.holds, second.holds) == (True, False)


def test_both_share_one_window_and_one_line(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=2), opened(window=2)
    one, two = first.acquire_sync(POOL), second.acquire_sync(POOL)
    third, fourth = Asking(second), Asking(first)
    until(lambda: waiting(first) == 2)
    assert in_flight(first) == in_flight(second) == 2
    second.settle(two, OK)
    until(lambda: third.grant is not None or fourth.grant is not None)
    assert in_flight(first) == 2
    first.settle(one, OK)
    third.settle()
    fourth.settle()
    until(lambda: in_flight(first) == 0)


def test_pools_of_other_models_are_apart(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=1), opened(window=1)
    held = first.acquire_sync(POOL)
    second.settle(second.acquire_sync(OTHER), OK)
    first.settle(held, OK)


def test_a_client_waits_without_blocking_its_loop_and_may_be_cancelled(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second = opened(window=1), opened(window=1)
    held = first.acquire_sync(POOL)

    async def main() -> None:
        waiters = [asyncio.create_task(second.acquire(POOL)) for _ in range(3)]
        turns = 0
        while waiting(first) < 3:
            await asyncio.sleep(0.001)
            turns += 1
        waiters[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiters[0]
        first.settle(held, OK)
        second.settle(await waiters[1], OK)
        second.settle(await waiters[2], OK)

    asyncio.run(main())
    until(lambda: (in_flight(first), waiting(first)) == (0, 0))


def test_cancelled_at_any_moment_a_client_leaves_nothing_at_the_holder(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second = opened(window=1), opened(window=1)

    async def main() -> None:
        for delay in range(30):
            task = asyncio.create_task(second.acquire(POOL))
            await asyncio.sleep(delay * 0.0001)
            task.cancel()
            with suppress(asyncio.CancelledError):
                second.settle(await task, OK)

    asyncio.run(main())
    until(lambda: (in_flight(first), waiting(first)) == (0, 0))
    first.settle(first.acquire_sync(POOL), OK)


def test_to_settle_twice_is_harmless_for_clients_too(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=2), opened(window=2)
    one, two = second.acquire_sync(POOL), second.acquire_sync(POOL)
    second.settle(one, OK)
    second.settle(one, OK)
    until(lambda: in_flight(first) == 1)
    second.settle(two, OK)
    until(lambda: in_flight(first) == 0)


def test_the_strictest_limits_hold_while_whoever_gave_them_is_there(
    opened: Callable[..., SharedDesk],
) -> None:
    first = opened(window=9)
    second = opened(window=2)
    held = [first.acquire_sync(POOL) for _ in range(2)]
    third = Asking(first)
    until(lambda: waiting(first) == 1)
    second.close()
    until(lambda: third.grant is not None)
    for grant in held:
        first.settle(grant, OK)


def test_a_block_holds_for_the_callers_of_all_processes(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=5), opened(window=5)
    second.settle(second.acquire_sync(POOL), Result(outcome="rate_limited", retry_after=100.0))
    until(lambda: first.facts()[0].blocked_until is not None)
    here, there = Asking(first), Asking(second)
    until(lambda: waiting(first) == 2)
    assert first.facts()[0].binding == second.facts()[0].binding == "blocked"
    second.close()
    first.close()
    for each in (here, there):
        each.join(PATIENCE_S)
        assert isinstance(each.error, DeskClosed)


def test_a_pool_that_closes_is_closed_for_all_and_each_is_told_once(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second, third = (opened(window=1) for _ in range(3))
    told: dict[str, list[tuple[PoolId, Closed]]] = {"first": [], "second": [], "third": []}
    for name, desk in zip(told, (first, second, third), strict=True):
        desk.on_closed = lambda pool, closed, name=name: told[name].append((pool, closed))
    held = second.acquire_sync(POOL)
    waiters = [Asking(desk) for desk in (first, second, third)]
    until(lambda: waiting(first) == 3)
    second.settle(held, SPENT)
    for waiter in waiters:
        waiter.join(PATIENCE_S)
        assert isinstance(waiter.error, PoolClosed)
        assert "quota is spent" in str(waiter.error)
    until(lambda: all(len(news) == 1 for news in told.values()))
    for desk in (first, second, third):
        with pytest.raises(PoolClosed):
            desk.acquire_sync(POOL)
    assert all(len(news) == 1 for news in told.values())


def test_a_client_that_goes_leaves_nothing_behind(opened: Callable[..., SharedDesk]) -> None:
    first, second = opened(window=1), opened(window=1)
    second.acquire_sync(POOL)
    waiter = Asking(second)
    until(lambda: waiting(first) == 1)
    second.close()
    waiter.join(PATIENCE_S)
    assert isinstance(waiter.error, DeskClosed)
    first.settle(first.acquire_sync(POOL), OK)
    until(lambda: (in_flight(first), waiting(first)) == (0, 0))


def test_what_is_closed_grants_nothing_and_to_close_twice_is_harmless(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second = opened(window=1), opened(window=1)
    for desk in (second, first):
        desk.close()
        desk.close()
        with pytest.raises(DeskClosed):
            desk.acquire_sync(POOL)


# ---- when the holder goes


def test_when_the_holder_ends_another_goes_on_with_what_is_in_flight_and_in_line(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second, third = (opened(window=2) for _ in range(3))
    held = [second.acquire_sync(POOL), third.acquire_sync(POOL)]
    waiters = [Asking(second), Asking(third)]
    until(lambda: waiting(first) == 2)
    first.close()
    until(lambda: second.holds or third.holds)
    holder = second if second.holds else third
    until(lambda: (in_flight(holder), waiting(holder)) == (2, 2))
    assert all(waiter.grant is None for waiter in waiters), "the window is full of what was granted before"
    second.settle(held[0], OK)
    third.settle(held[1], OK)
    for waiter in waiters:
        waiter.settle()
    until(lambda: (in_flight(holder), waiting(holder)) == (0, 0))


def test_a_call_that_ends_while_nobody_holds_the_desk_holds_no_place_at_the_next(
    opened: Callable[..., SharedDesk],
) -> None:
    first, second = opened(window=1), opened(window=1)
    held = second.acquire_sync(POOL)
    closing = threading.Thread(target=first.close)
    closing.start()
    second.settle(held, OK)
    closing.join(PATIENCE_S)
    until(lambda: second.holds)
    second.settle(second.acquire_sync(POOL), OK)
    until(lambda: in_flight(second) == 0)


def test_one_after_the_other_may_go_and_nobody_who_waits_is_forgotten(
    opened: Callable[..., SharedDesk],
) -> None:
    desks = [opened(window=1) for _ in range(5)]
    held = desks[4].acquire_sync(POOL)
    waiter = Asking(desks[4])
    for gone in range(4):
        desks[gone].close()
        until(lambda: any(desk.holds for desk in desks[gone + 1 :]))  # noqa: B023  # used at once
    desks[4].settle(held, OK)
    waiter.settle()


# ---- those who do not belong


def stranger(place: Path) -> socket.socket:
    found = Meeting(place).connect(timeout_s=5.0)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00\x00\x00\x00",
        struct.pack("!I", 5) + b"\xff" * 5,
        struct.pack("!I", 1 << 31),
        struct.pack("!I", 3) + b"\x91\xa5h",
        os.urandom(4096),
    ],
    ids=["http", "empty frame", "no message", "endless frame", "half a message", "noise"],
)
def test_garbage_ends_its_own_connection_and_nothing_else(
    garbage: bytes, opened: Callable[..., SharedDesk], tmp_path: Path
) -> None:
    first, second = opened(window=2), opened(window=2)
    held = second.acquire_sync(POOL)
    with stranger(tmp_path) as other:
        other.settimeout(PATIENCE_S)
        other.sendall(garbage)
        other.shutdown(socket.SHUT_WR)
        assert other.recv(1) == b""
    assert first.holds
    first.settle(first.acquire_sync(POOL), OK)
    second.settle(held, OK)
    until(lambda: in_flight(first) == 0)


def test_who_does_not_say_hello_first_is_shown_out(opened: Callable[..., SharedDesk], tmp_path: Path) -> None:
    first = opened(window=1)
    with stranger(tmp_path) as other:
        wire = Wire(other, on_unsent=lambda: None)
        wire.send(Wanted(Ask(id=1, pool=POOL)))
        other.settimeout(PATIENCE_S)
        assert other.recv(1) == b""
        assert first.facts() == []


@pytest.mark.parametrize("limits", [Limits(window=0), Limits(rpm=-1.0), Limits(tpm=0.0)])
def test_limits_that_would_stop_everybody_are_nobodys_to_set(
    limits: Limits, opened: Callable[..., SharedDesk], tmp_path: Path
) -> None:
    first = opened(window=1)
    with stranger(tmp_path) as other:
        wire = Wire(other, on_unsent=lambda: None)
        wire.send(Hello(1, limits, {}))
        other.settimeout(PATIENCE_S)
        while other.recv(4096):
            pass
    first.settle(first.acquire_sync(POOL), OK)


def test_a_run_of_another_version_works_alone_and_disturbs_nobody(
    opened: Callable[..., SharedDesk], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(window=1)
    held = first.acquire_sync(POOL)
    monkeypatch.setattr("paceline.pace.sharing.VERSION", 99)
    monkeypatch.setattr("paceline.pace.sharing.LONGEST_SEARCH_S", 0.05)
    second = opened(window=1)
    second.settle(second.acquire_sync(POOL), OK)
    assert in_flight(first) == 1
    first.settle(held, OK)


# ---- real processes


class Sharer:
    """A process that makes calls."""

    def __init__(self, place: Path, *, calls: int, at_once: int, seconds: float, **limits: Any) -> None:
        arguments = (place, place / "stamps", calls, at_once, seconds, json.dumps(limits))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.pace.sharer", *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> float:
        """`kill -9`; when."""
        at = time.monotonic()
        self.process.kill()
        self.wait()
        return at

    def wait(self) -> int:
        code = self.process.wait(PATIENCE_S)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


def sharers_at(place: Path, count: int, **work: Any) -> list[Sharer]:
    """So many at one desk, of which the first holds it; all have begun."""
    sharers = [Sharer(place, **work) for _ in range(count)]
    for sharer in sharers:
        sharer.begin()
    return sharers


def stamps_of(place: Path) -> list[Stamp]:
    file = place / "stamps"
    return stamps_in(file.read_text()) if file.exists() else []


def begun(place: Path, pid: int) -> int:
    return sum(stamp.begins for stamp in stamps_of(place) if stamp.pid == pid)


@pytest.mark.slow
def test_runs_in_processes_of_their_own_share_one_window(tmp_path: Path) -> None:
    sharers = sharers_at(tmp_path, 3, calls=40, at_once=5, seconds=0.01, window=3)
    assert [sharer.wait() for sharer in sharers] == [0, 0, 0]
    stamps = stamps_of(tmp_path)
    assert most_at_once(stamps, {}) == 3
    assert [begun(tmp_path, sharer.pid) for sharer in sharers] == [40, 40, 40]


@pytest.mark.slow
def test_runs_in_processes_of_their_own_share_one_rate(tmp_path: Path) -> None:
    sharers = sharers_at(tmp_path, 2, calls=75, at_once=4, seconds=0.0, rps=50.0)
    assert [sharer.wait() for sharer in sharers] == [0, 0]
    begins = [stamp.at for stamp in stamps_of(tmp_path) if stamp.begins]
    assert len(begins) == 150
    # A second's worth is there at the start; what comes after it has to flow in first.
    assert begins[-1] - begins[0] >= (150 - 50) / 50 - 0.05


@pytest.mark.slow
def test_when_the_holder_is_killed_another_takes_over_and_the_window_holds_throughout(tmp_path: Path) -> None:
    sharers = sharers_at(tmp_path, 3, calls=60, at_once=5, seconds=0.02, window=4)
    for sharer in sharers:
        until(lambda: begun(tmp_path, sharer.pid) >= 5)  # noqa: B023  # used at once
    killed = {sharers[0].pid: sharers[0].kill()}  # the first to come holds the desk
    assert [sharer.wait() for sharer in sharers[1:]] == [0, 0]
    stamps = stamps_of(tmp_path)
    assert begun(tmp_path, sharers[0].pid) < 60, "it was killed in the midst of its work"
    assert [begun(tmp_path, sharer.pid) for sharer in sharers[1:]] == [60, 60]
    assert most_at_once(stamps, killed) <= 4


@pytest.mark.slow
def test_every_holder_may_be_killed_and_the_last_one_does_its_work(tmp_path: Path) -> None:
    sharers = sharers_at(tmp_path, 4, calls=150, at_once=3, seconds=0.01, window=2)
    killed = {}
    for sharer in sharers[:3]:
        seen = len(stamps_of(tmp_path))
        until(lambda: len(stamps_of(tmp_path)) >= seen + 20)  # noqa: B023  # used at once
        killed[sharer.pid] = sharer.kill()
    assert sharers[3].wait() == 0
    assert begun(tmp_path, sharers[3].pid) == 150
    assert most_at_once(stamps_of(tmp_path), killed) <= 2


@pytest.mark.slow
def test_a_holder_that_is_stopped_keeps_nobody_waiting_for_good(tmp_path: Path) -> None:
    holder, other = sharers_at(tmp_path, 2, calls=200, at_once=2, seconds=0.01, window=2)
    until(lambda: begun(tmp_path, other.pid) >= 3)
    os.kill(holder.pid, signal.SIGSTOP)
    try:
        assert other.wait() == 0
        assert begun(tmp_path, other.pid) == 200
    finally:
        os.kill(holder.pid, signal.SIGCONT)
        holder.kill()
