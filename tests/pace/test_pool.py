"""A pool: who goes when, what a refusal means for all, when it is over for good, and that nothing leaks."""

from __future__ import annotations

import random
from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paceline.pace.breaker import FEWEST, LONGEST_PROBE_S
from paceline.pace.learned import Learned
from paceline.pace.messages import FRESH, RETRY, Ask, Cause, Limits, Result
from paceline.pace.pool import PASSED, RETRIES, Pool
from tests.pace.stands import POOL

OK = Result(outcome="ok", seconds=1.0)


def pool_with(
    *,
    adaptive: bool = False,
    start: Learned | None = None,
    time_to_live_s: float = inf,
    seed: int = 7,
    **limits: Any,
) -> Pool:
    return Pool(
        POOL,
        limits=Limits(**limits),
        start=start,
        dice=random.Random(seed),
        now=0.0,
        adaptive=adaptive,
        time_to_live_s=time_to_live_s,
    )


def ask(pool: Pool, *ids: int, now: float = 0.0, tokens: float = 0.0, priority: int = FRESH) -> None:
    for number in ids:
        pool.ask(Ask(id=number, pool=POOL, tokens=tokens, priority=priority), now)


def granted(pool: Pool, now: float = 0.0) -> list[int]:
    return [grant.id for grant in pool.grant(now)]


def rejected(cause: Cause = "requests", retry_after: float | None = None) -> Result:
    return Result(outcome="rate_limited", cause=cause, retry_after=retry_after, seconds=0.1)


# ---- who goes


def test_who_asked_first_goes_first() -> None:
    pool = pool_with(window=2)
    ask(pool, 1, 2, 3, 4)
    assert granted(pool) == [1, 2]
    pool.settle(2, OK, 1.0)
    pool.settle(1, OK, 1.0)
    assert granted(pool, 1.0) == [3, 4]


def test_a_retry_goes_before_fresh_calls_that_came_earlier() -> None:
    pool = pool_with(window=1)
    ask(pool, 1, 2, 3)
    ask(pool, 9, priority=RETRY)
    assert granted(pool) == [9]


def test_a_fresh_call_sees_only_a_few_retries_pass() -> None:
    pool = pool_with(window=1)
    ask(pool, 1, 2)
    ask(pool, *range(10, 30), priority=RETRY)
    order = []
    for number in range(2 * (PASSED + 1)):
        (went,) = granted(pool, float(number))
        order.append(went)
        pool.settle(went, OK, float(number))
    assert order.index(1) == PASSED
    assert order.index(2) == 2 * PASSED + 1


def test_retries_have_a_budget_that_answers_refill() -> None:
    pool = pool_with()
    ask(pool, *range(1, 300), priority=RETRY)
    went = granted(pool)
    assert len(went) == RETRIES
    for number in went[:10]:
        pool.settle(number, OK, 0.5)
    assert len(granted(pool, 0.5)) == pytest.approx(10, abs=1)


def test_retries_without_budget_wait_but_not_for_ever_and_fresh_calls_pass_them() -> None:
    pool = pool_with()
    ask(pool, *range(1, int(RETRIES) + 2), priority=RETRY)
    granted(pool)
    due = pool.next_due(0.0)
    assert due is not None
    assert 0.0 < due <= 1.0
    ask(pool, 5_000)
    assert granted(pool) == [5_000]
    assert granted(pool, due) == [int(RETRIES) + 1]


def test_a_call_that_takes_more_than_there_is_holds_up_the_line_and_goes_in_the_end() -> None:
    """Were smaller ones let past, it would wait for ever."""
    pool = pool_with(tpm=600.0)
    ask(pool, 1, tokens=8.0)
    ask(pool, 2, tokens=500.0)
    ask(pool, 3, tokens=1.0)
    assert granted(pool) == [1]
    due = pool.next_due(0.0)
    assert due == pytest.approx(0.8)
    assert granted(pool, due or 0.0) == [2]
    assert granted(pool, 10.0) == []
    assert granted(pool, 60.0) == [3]


def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    pool = pool_with(window=1)
    ask(pool, 1, 2, 3)
    granted(pool)
    pool.withdraw(2, 0.5)
    pool.withdraw(2, 0.5)
    pool.settle(1, OK, 1.0)
    assert granted(pool, 1.0) == [3]
    assert pool.facts(1.0).waiting == 0


def test_waiting_is_told_with_the_grant() -> None:
    pool = pool_with(window=1)
    ask(pool, 1, 2)
    pool.grant(0.0)
    pool.settle(1, OK, 5.0)
    assert [grant.waited for grant in pool.grant(5.0)] == [5.0]


# ---- settling


def test_to_settle_twice_or_to_settle_what_was_never_granted_is_harmless() -> None:
    pool = pool_with(window=2)
    ask(pool, 1, 2, 3)
    granted(pool)
    for number in (1, 1, 77):
        pool.settle(number, OK, 1.0)
    assert pool.facts(1.0).in_flight == 1
    assert pool.facts(1.0).accepted == 1


def test_a_grant_that_nobody_settles_is_taken_back_when_its_time_is_over() -> None:
    pool = pool_with(window=1, time_to_live_s=60.0)
    ask(pool, 1, 2)
    assert granted(pool) == [1]
    assert pool.next_due(0.0) == 60.0
    assert granted(pool, 59.0) == []
    assert granted(pool, 60.0) == [2]
    pool.settle(1, OK, 61.0)
    assert pool.facts(61.0).in_flight == 1
    assert pool.facts(61.0).lost == 1


# ---- refusals


def test_a_rejection_that_asks_to_wait_blocks_everybody_for_so_long() -> None:
    for adaptive in (False, True):
        pool = pool_with(adaptive=adaptive, window=10)
        ask(pool, *range(1, 20))
        assert granted(pool)
        pool.settle(1, rejected(retry_after=7.0), 1.0)
        ask(pool, 1, now=1.0, priority=RETRY)
        assert granted(pool, 1.0) == granted(pool, 7.9) == []
        assert pool.facts(7.9).binding == "blocked"
        assert pool.facts(7.9).blocked_until == 8.0
        assert pool.next_due(2.0) == 8.0
        assert granted(pool, 8.0)[:1] == [1], "the one that was rejected goes first"


def test_a_rejection_never_shortens_a_block() -> None:
    pool = pool_with(window=10)
    ask(pool, 1, 2, 3)
    granted(pool)
    pool.settle(1, rejected(retry_after=30.0), 1.0)
    pool.settle(2, rejected(retry_after=1.0), 1.0)
    assert pool.facts(1.0).blocked_until == 31.0


def test_a_spent_quota_or_a_refused_key_closes_the_pool_at_once_and_for_good() -> None:
    causes: tuple[Cause, ...] = ("quota", "auth")
    for cause in causes:
        pool = pool_with(window=2)
        ask(pool, 1, 2, 3)
        granted(pool)
        pool.settle(1, Result(outcome="fatal", cause=cause, message="pay first"), 1.0)
        assert pool.closed is not None
        assert (pool.closed.cause, pool.closed.message) == (cause, "pay first")
        assert granted(pool, 1.0) == granted(pool, 1e6) == []
        assert pool.next_due(1.0) is None
        pool.settle(2, OK, 2.0)
        assert pool.facts(2.0).in_flight == 0


def test_the_first_reason_to_close_is_the_one_that_is_told() -> None:
    pool = pool_with(window=2)
    ask(pool, 1, 2)
    granted(pool)
    pool.settle(1, Result(outcome="fatal", cause="quota", message="first"), 1.0)
    pool.settle(2, Result(outcome="fatal", cause="auth", message="second"), 2.0)
    assert pool.closed is not None
    assert pool.closed.message == "first"


def test_in_an_outage_single_calls_try_and_the_first_answer_opens_it_again() -> None:
    pool = pool_with(window=10)
    now = 0.0
    ask(pool, *range(1, 2_000))
    went: list[int] = []
    while pool.facts(now).binding != "outage":
        went += granted(pool, now)
        for number in went:
            pool.settle(number, Result(outcome="transient"), now + 0.1)
        went, now = [], now + 0.5
    tries, sent = [], 0
    while now < 300.0:
        now = pool.next_due(now) or now
        went = granted(pool, now)
        sent += len(went)
        tries.append(now)
        for number in went:
            pool.settle(number, Result(outcome="transient"), now + 0.1)
        now += 0.2
    assert sent == len(tries), "one at a time"
    assert max(later - earlier for earlier, later in pairwise(tries)) <= 30.0
    assert LONGEST_PROBE_S <= 30.0
    now = pool.next_due(now) or now
    (probe,) = granted(pool, now)
    pool.settle(probe, OK, now + 1.0)
    assert len(granted(pool, now + 1.0)) == 10


def test_a_call_that_goes_while_none_is_answered_is_told_so() -> None:
    pool = pool_with(window=1)
    ask(pool, *range(1, 100))
    marks, now = [], 0.0
    for _ in range(FEWEST + 5):
        now = max(now, pool.next_due(now) or now)
        (grant,) = pool.grant(now)
        marks.append(grant.fruitless)
        pool.settle(grant.id, Result(outcome="transient"), now)
    assert marks == [number >= FEWEST for number in range(FEWEST + 5)]


# ---- facts


def test_it_tells_what_holds_the_next_call_back() -> None:
    by_window, by_rate, by_tokens, free = (
        pool_with(window=1),
        pool_with(rps=1.0),
        pool_with(tpm=60.0),
        pool_with(),
    )
    for pool in (by_window, by_rate, by_tokens, free):
        ask(pool, 1, 2, tokens=1.0)
        pool.grant(0.0)
    told = [pool.facts(0.0).binding for pool in (by_window, by_rate, by_tokens, free)]
    assert told == ["window", "requests", "tokens", ""]


def test_it_counts_what_came_of_its_calls() -> None:
    pool = pool_with()
    ask(pool, *range(1, 7))
    granted(pool)
    results = [
        OK,
        rejected("tokens"),
        rejected("concurrency"),
        Result(outcome="overloaded"),
        Result(outcome="transient"),
        Result(outcome="cancelled"),
    ]
    for number, result in enumerate(results, start=1):
        pool.settle(number, result, 1.0)
    facts = pool.facts(1.0)
    assert (facts.accepted, facts.rejected) == (1, 2)
    assert facts.by_cause == {"tokens": 1, "concurrency": 1, "overloaded": 1, "transient": 1}


# ---- whatever happens

RESULTS = {
    "settle": OK,
    "reject": rejected("unknown", 2.0),
    "overload": Result(outcome="overloaded"),
    "fail": Result(outcome="transient"),
}


class Callers:
    """Some who ask, give up and call, and a pool that is held to its word at every step."""

    def __init__(self, pool: Pool, window: int | None) -> None:
        self.pool = pool
        self.window = window
        self.now = 0.0
        self.waiting: list[int] = []
        self.flying: list[int] = []
        self.went: list[float] = []
        self._number = 0

    def act(self, what: str, place: int) -> None:
        if what in {"ask", "retry"}:
            self._number += 1
            self.waiting.append(self._number)
            priority = RETRY if what == "retry" else FRESH
            ask(self.pool, self._number, now=self.now, tokens=1.0, priority=priority)
        elif what == "withdraw" and self.waiting:
            self.pool.withdraw(self.waiting.pop(place % len(self.waiting)), self.now)
        elif what in RESULTS and self.flying:
            self.pool.settle(self.flying.pop(place % len(self.flying)), RESULTS[what], self.now)
        self.take()
        facts = self.pool.facts(self.now)
        assert (facts.in_flight, facts.waiting) == (len(self.flying), len(self.waiting))

    def take(self) -> None:
        for number in granted(self.pool, self.now):
            self.waiting.remove(number)
            self.flying.append(number)
            self.went.append(self.now)
        assert self.window is None or len(self.flying) <= self.window

    def come_to_an_end(self) -> None:
        """The provider is well from now on, and nobody gives up."""
        for _ in range(10_000):
            for each in self.flying:
                self.pool.settle(each, OK, self.now)
            self.flying.clear()
            self.take()
            if not self.waiting and not self.flying:
                return
            self.now = self.now + 0.1 if self.flying else max(self.now, self.pool.next_due(self.now) or 0.0)


acts = st.lists(
    st.tuples(
        st.sampled_from(["ask", "retry", "withdraw", *RESULTS, "wait"]),
        st.integers(0, 50),
        st.floats(0.0, 5.0),
    ),
    max_size=150,
)


PROBED_TWICE = [
    *(("ask", 0, 0.0), ("reject", 0, 0.0), ("ask", 0, 5.0), ("ask", 0, 5.0), ("ask", 0, 5.0)),
    *(("reject", 0, 5.0), ("ask", 0, 1.0), ("ask", 0, 2.0)),
]
"""Of an ill provider: the second probe is due before the first has come back."""


@example(PROBED_TWICE, False, 1, None)
@settings(max_examples=200)
@given(
    acts, st.booleans(), st.one_of(st.none(), st.integers(1, 5)), st.one_of(st.none(), st.floats(0.5, 20.0))
)
def test_whatever_happens_window_and_rate_hold_nothing_leaks_and_everybody_goes_in_the_end(
    story: list[tuple[str, int, float]], adaptive: bool, window: int | None, rps: float | None
) -> None:
    callers = Callers(pool_with(adaptive=adaptive, window=window, rps=rps), window)
    for act, place, passes in story:
        callers.now += passes
        callers.act(act, place)
    callers.come_to_an_end()
    assert not callers.waiting, "nobody starves"
    facts = callers.pool.facts(callers.now)
    assert (facts.in_flight, facts.waiting) == (0, 0)
    for first, begun in enumerate(callers.went if rps is not None else ()):
        for last, at in enumerate(callers.went[first:], start=1):
            assert last <= (rps or 0.0) * (at - begun) + max(1.0, rps or 0.0) + 1e-6


@given(st.lists(st.tuples(st.integers(1, 12), st.sampled_from(["withdraw", "settle", "grant"])), max_size=80))
def test_a_pool_and_a_list_agree_on_who_waits_and_who_flies(story: list[tuple[int, str]]) -> None:
    pool = pool_with(window=3)
    ask(pool, *range(1, 13))
    line = list(range(1, 13))
    flying: list[int] = []
    for number, act in story:
        match act:
            case "withdraw":
                pool.withdraw(number, 0.0)
                line = [each for each in line if each != number]
            case "settle":
                pool.settle(number, OK, 0.0)
                flying = [each for each in flying if each != number]
            case _:
                went = granted(pool)
                assert went == line[: 3 - len(flying)]
                flying += went
                line = line[len(went) :]
        assert pool.facts(0.0).waiting == len(line)
        assert pool.facts(0.0).in_flight == len(flying)
