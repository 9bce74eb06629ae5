"""A desk whose limits somebody sets from outside, one after the other, and who is told of every call."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from paceline.pace.ceilings import limits_for
from paceline.pace.desk import Desk
from paceline.pace.learned import Learned
from paceline.pace.meeting import Meeting
from paceline.pace.messages import Grant, Limits, PoolId, Result
from paceline.pace.sharing import SharedDesk
from tests.pace.stands import POOL, Clock, desk_with

OK = Result()
REJECTED = Result(outcome="rate_limited", cause="requests")


def all_with(**limits: float) -> partial[Limits]:
    """The same limits for every pool."""
    return partial(limits_for, general=Limits(**limits), per_pool={})  # type: ignore[arg-type]


def granted(desk: Desk, most: int) -> int:
    """How many of so many calls may go now; all are given back."""
    grants: list[Grant] = []

    async def main() -> None:
        asks = [asyncio.ensure_future(desk.acquire(POOL)) for _ in range(most)]
        await asyncio.sleep(0)
        grants.extend(ask.result() for ask in asks if ask.done())
        for ask in asks:
            ask.cancel()
        await asyncio.gather(*asks, return_exceptions=True)

    asyncio.run(main())
    for grant in grants:
        desk.settle(grant, Result(outcome="cancelled"))
    return len(grants)


def test_a_desk_keeps_to_the_window_that_was_set_last() -> None:
    desk = desk_with(Clock(), window=3)
    assert granted(desk, 10) == 3
    for window in (1, 8):
        desk.limit(all_with(window=window))
        assert granted(desk, 10) == window


def test_another_rate_is_no_leave_for_another_burst() -> None:
    clock = Clock()
    desk = desk_with(clock, window=100)
    assert granted(desk, 20) == 20
    desk.limit(all_with(window=100, rps=10.0))
    assert granted(desk, 20) == 1, "there was no bucket before, so nothing was saved up in it"
    clock.move(1.0)
    assert granted(desk, 20) == 10
    desk.limit(all_with(window=100, rps=20.0))
    assert granted(desk, 20) == 0, "and what was used up is used up"


def test_a_desk_that_adapts_from_now_on_learns_from_the_next_rejection() -> None:
    clock = Clock()
    desk = desk_with(clock, window=40)
    grant = desk.acquire_sync(POOL)
    desk.limit(all_with(window=40), adaptive=True)
    assert desk.facts()[0].rate is None
    clock.move(2.0)
    desk.settle(grant, OK)
    desk.settle(desk.acquire_sync(POOL), REJECTED)
    assert desk.facts()[0].rate is not None
    desk.limit(all_with(window=40), adaptive=False)
    assert desk.facts()[0].rate is None


def test_a_desk_that_adapts_from_now_on_begins_where_it_is_told() -> None:
    clock = Clock()
    desk = desk_with(clock, window=40)
    desk.settle(desk.acquire_sync(POOL), OK)
    desk.limit(all_with(window=40), adaptive=True, start=lambda pool: Learned(window=7, rps=5.0))
    (facts,) = desk.facts()
    assert facts.window == 7
    assert facts.rate == pytest.approx(5.0, rel=0.1)


def test_a_wait_that_a_provider_asked_for_outlasts_a_change_of_limits() -> None:
    clock = Clock()
    desk = desk_with(clock, window=2)
    desk.settle(desk.acquire_sync(POOL), Result(outcome="rate_limited", retry_after=5.0))
    desk.limit(all_with(window=9))
    assert granted(desk, 3) == 0
    clock.move(5.0)
    assert granted(desk, 3) == 3


def test_who_was_turned_away_does_not_knock_again_at_once_where_nothing_adapts() -> None:
    clock = Clock()
    desk = desk_with(clock, window=2)
    desk.settle(desk.acquire_sync(POOL), REJECTED)
    assert granted(desk, 1) == 0
    clock.move(0.75)
    assert granted(desk, 1) == 1


def test_every_call_that_ends_is_told_once_with_its_end() -> None:
    clock = Clock()
    desk = desk_with(clock, window=5)
    told: list[tuple[PoolId, str, float, float]] = []
    began = clock.now()

    def settled(grant: Grant, result: Result, now: float) -> None:
        told.append((grant.pool, result.outcome, grant.at - began, now - began))

    desk.when_settled(settled)
    first, second = desk.acquire_sync(POOL), desk.acquire_sync(POOL)
    clock.move(2.0)
    desk.settle(first, OK)
    desk.settle(first, OK)
    clock.move(1.0)
    desk.settle(second, REJECTED)
    desk.when_settled(None)
    desk.settle(desk.acquire_sync(PoolId("openai", "", "other")), OK)
    assert told == [(POOL, "ok", 0.0, 2.0), (POOL, "rate_limited", 0.0, 3.0)]


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[SharedDesk, SharedDesk]]:
    """The desk of a process, and that of another one that shares it."""
    state = tmp_path / "state"
    make = partial(Desk, adaptive=False)
    holder = SharedDesk(Meeting(state), make, limits=Limits(), per_pool={})
    client = SharedDesk(Meeting(state), make, limits=Limits(), per_pool={})
    yield holder, client
    client.close()
    holder.close()


def test_whoever_holds_a_shared_desk_sets_the_limits_of_all_and_is_told_of_all(
    shared: tuple[SharedDesk, SharedDesk],
) -> None:
    holder, client = shared
    assert holder.holds
    assert not client.holds
    told: list[str] = []
    holder.when_settled(lambda grant, result, now: told.append(result.outcome))
    holder.limit(all_with(window=1))
    grant = client.acquire_sync(POOL)
    assert [facts.window for facts in holder.facts()] == [1]
    client.settle(grant, Result(outcome="transient"))
    holder.settle(holder.acquire_sync(POOL), OK)  # granted once the other has been settled
    assert told == ["transient", "ok"]
