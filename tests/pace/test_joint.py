"""A pool that outlives its holder: calls of others are counted, and limits may change under way."""

from __future__ import annotations

import random

import pytest

from paceline.pace.joint import JointPool
from paceline.pace.messages import Ask, Grant, Limits, Result
from tests.pace.stands import POOL

OK = Result()


def pool_with(*, adaptive: bool = True, time_to_live_s: float = 60.0, **limits: float) -> JointPool:
    return JointPool(
        POOL,
        limits=Limits(**limits),  # type: ignore[arg-type]  # a window is whole here
        start=None,
        dice=random.Random(7),
        now=0.0,
        adaptive=adaptive,
        time_to_live_s=time_to_live_s,
    )


def ask(pool: JointPool, *ids: int) -> None:
    for number in ids:
        pool.ask(Ask(id=number, pool=POOL), 0.0)


def test_an_adopted_call_holds_its_place_until_it_is_settled() -> None:
    pool = pool_with(window=2)
    pool.adopt(Grant(id=100, pool=POOL, at=-5.0), 0.0)
    ask(pool, 1, 2)
    assert [grant.id for grant in pool.grant(0.0)] == [1]
    pool.settle(100, OK, 1.0)
    assert [grant.id for grant in pool.grant(1.0)] == [2]


def test_more_may_be_adopted_than_would_be_granted_and_then_nobody_goes_until_there_is_room() -> None:
    pool = pool_with(window=2)
    for number in range(100, 105):
        pool.adopt(Grant(id=number, pool=POOL, at=0.0), 0.0)
    ask(pool, 1)
    for number in range(100, 104):
        assert pool.grant(0.0) == []
        pool.settle(number, OK, 0.0)
    assert [grant.id for grant in pool.grant(0.0)] == [1]


def test_the_lease_of_an_adopted_call_begins_anew() -> None:
    pool = pool_with(window=1)
    pool.adopt(Grant(id=100, pool=POOL, at=-1_000.0), 0.0)
    ask(pool, 1)
    assert pool.grant(59.0) == []
    assert [grant.id for grant in pool.grant(60.0)] == [1]


def test_other_limits_hold_from_now_on_with_what_was_learned_before() -> None:
    pool = pool_with(rps=100.0)
    ask(pool, *range(1, 40))
    sent = [grant.id for grant in pool.grant(0.0)]
    for number in sent[:-1]:
        pool.settle(number, OK, 1.0)
    pool.settle(sent[-1], Result(outcome="rate_limited", cause="concurrency"), 1.0)
    learned = pool.facts(1.0).window
    pool.limit(Limits(rps=2.0), 1.0)
    facts = pool.facts(1.0)
    assert facts.rate == pytest.approx(2.0)
    assert facts.window == learned


def test_a_block_outlasts_a_change_of_limits() -> None:
    pool = pool_with(window=5)
    ask(pool, 1, 2)
    pool.grant(0.0)
    pool.settle(1, Result(outcome="rate_limited", cause="requests", retry_after=30.0), 1.0)
    pool.limit(Limits(window=4), 1.0)
    assert pool.facts(1.0).blocked_until == 31.0


def test_the_same_limits_again_change_nothing() -> None:
    pool = pool_with(rps=1.0)
    ask(pool, 1, 2)
    pool.grant(0.0)
    pool.limit(Limits(rps=1.0), 0.0)
    assert pool.grant(0.5) == [], "the bucket was not filled anew"


def test_where_others_have_just_drawn_nothing_is_thought_to_be_there() -> None:
    pool = pool_with(rps=10.0, tpm=6_000.0)
    pool.drained(0.0)
    ask(pool, 1)
    assert pool.grant(0.0) == []
    assert [grant.id for grant in pool.grant(0.1)] == [1]
