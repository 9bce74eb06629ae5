"""The calls of an attempt: its clock stands still while all of them wait, and their use is added up once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.calls import CallsOfAttempt, usage_of
from paceline.engine.ports import Attempted, Work
from paceline.engine.retry import Retry
from paceline.journal.records import ErrorClass, ErrorFacts, Key
from paceline.pace.calls import Call, Usage


class Stopwatch:
    """Counts the seconds for which it stood still, on a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.still_since: float | None = None
        self.still = 0.0

    def hold(self) -> None:
        assert self.still_since is None
        self.still_since = self.now

    def go(self) -> None:
        assert self.still_since is not None
        self.still += self.now - self.still_since
        self.still_since = None


def attempt(told: Callable[[Work, Call], None] | None = None) -> tuple[CallsOfAttempt, Work, Stopwatch]:
    watch = Stopwatch()
    work = Work(Key("a"), 1, None, stopwatch=watch, counted={}, record_call=told)
    return CallsOfAttempt.here(work, lambda: watch.now), work, watch


def on_a_loop(scenario: Callable[[], Any]) -> None:
    async def run() -> None:
        scenario()

    asyncio.run(run())


def test_the_clock_stands_still_while_the_only_call_waits() -> None:
    def scenario() -> None:
        calls, work, watch = attempt()
        calls.begun()
        watch.now = 1.0
        calls.waiting()
        watch.now = 4.0
        calls.going()
        watch.now = 5.0
        calls.ended(None)
        calls.close()
        assert (work.waited, watch.still) == (3.0, 3.0)

    on_a_loop(scenario)


def test_it_runs_on_while_one_of_several_calls_is_being_answered() -> None:
    def scenario() -> None:
        calls, work, watch = attempt()
        calls.begun()
        calls.begun()
        calls.waiting()
        watch.now = 2.0
        calls.waiting()  # now both wait
        watch.now = 5.0
        calls.ended(None)
        calls.going()
        calls.close()
        assert work.waited == 3.0

    on_a_loop(scenario)


def test_an_attempt_that_ends_while_it_waits_lets_its_clock_go() -> None:
    def scenario() -> None:
        calls, work, watch = attempt()
        calls.begun()
        calls.waiting()
        watch.now = 7.0
        calls.close()
        calls.going()  # of a call that it has left behind
        assert work.waited == 7.0
        assert watch.still_since is None

    on_a_loop(scenario)


def test_calls_from_threads_reach_the_clock_on_the_loop() -> None:
    async def run() -> None:
        calls, _work, watch = attempt()
        loop_thread = threading.get_ident()
        seen: list[int] = []
        watch.hold = lambda: seen.append(threading.get_ident())  # type: ignore[method-assign]

        def call() -> None:
            calls.begun()
            calls.waiting()

        await asyncio.to_thread(call)
        await asyncio.sleep(0)
        assert seen == [loop_thread]
        watch.go = lambda: None  # type: ignore[method-assign]
        calls.close()

    asyncio.run(run())


steps = st.lists(st.tuples(st.sampled_from(["begun", "waiting", "going", "ended"]), st.integers(0, 3)))


@given(steps)
def test_no_more_is_waited_than_time_has_passed_whatever_is_told(story: list[tuple[str, int]]) -> None:
    def scenario() -> None:
        calls, work, watch = attempt()
        for step, seconds in story:
            if step == "ended":
                calls.ended(None)
            else:
                getattr(calls, step)()
            watch.now += seconds
        calls.close()
        assert 0 <= work.waited <= watch.now
        assert watch.still_since is None

    on_a_loop(scenario)


def call(**facts: Any) -> Call:
    return Call(at=0.0, pool="openai:gpt-5", **facts)


def test_what_calls_used_is_added_up() -> None:
    used = usage_of(
        [
            call(usage=Usage(input=10, output=2, cached=4), price=0.25),
            call(usage=Usage(input=5, output=1), price=0.5),
        ]
    )
    assert used == {"input_tokens": 15, "output_tokens": 3, "cached_tokens": 4, "cost": 0.75}


def test_a_sum_with_an_unknown_part_is_not_given() -> None:
    assert usage_of([call(usage=Usage(input=10, output=2), price=0.25), call()]) == {}
    known_tokens = [call(usage=Usage(input=10, output=2), price=None)]
    assert usage_of(known_tokens) == {"input_tokens": 10, "output_tokens": 2}


def test_a_call_that_was_refused_has_used_nothing() -> None:
    refused = call(outcome="rate_limited", cause="requests", status=429)
    assert usage_of([refused, call(usage=Usage(input=1, output=1), price=0.1)])["cost"] == 0.1
    assert usage_of([refused]) == {}


def test_what_the_task_has_counted_by_itself_stands() -> None:
    def scenario() -> None:
        calls, work, _ = attempt()
        work.counted["cost"] = 9.0
        calls.begun()
        calls.ended(call(usage=Usage(input=1, output=1), price=0.1))
        calls.close()
        assert work.counted == {"cost": 9.0, "input_tokens": 1, "output_tokens": 1, "requests": 1}

    on_a_loop(scenario)


def test_calls_that_were_answered_from_the_record_are_not_live() -> None:
    def scenario() -> None:
        calls, work, _ = attempt()
        for replayed in (True, True, False):
            calls.begun()
            calls.ended(call(replayed=replayed))
        assert (work.calls, work.live) == (3, 1)

    on_a_loop(scenario)


def test_each_call_is_recorded_once_also_when_its_attempt_is_over() -> None:
    def scenario() -> None:
        recorded: list[tuple[int, Call]] = []
        calls, work, _ = attempt(lambda work, one: recorded.append((work.calls, one)))
        first, late = call(request="first"), call(request="late")
        calls.begun()
        calls.ended(first)
        calls.begun()
        calls.close()
        calls.ended(late)
        assert recorded == [(1, first), (2, late)]
        assert work.calls == 2

    on_a_loop(scenario)


@pytest.mark.parametrize(
    ("ended_as", "error_class", "becomes", "exhausted"),
    [
        ("fatal", "permanent", "infrastructure", True),
        ("rate_limited", "rate_limited", "rate_limited", True),
        ("transient", "transient", "transient", True),
        ("transient", "permanent", "permanent", False),
        ("ok", "transient", "transient", False),
    ],
)
def test_a_failure_is_seen_in_the_light_of_the_last_call(
    ended_as: Any, error_class: ErrorClass, becomes: ErrorClass, exhausted: bool
) -> None:
    def scenario() -> None:
        calls, _, _ = attempt()
        calls.begun()
        calls.ended(call(outcome=ended_as))
        calls.close()
        judged = calls.judge(Attempted(error=ErrorFacts(type="E"), error_class=error_class))
        assert (judged.error_class, judged.exhausted) == (becomes, exhausted)

    on_a_loop(scenario)


def test_a_case_none_of_whose_calls_was_sent_because_a_pool_had_closed_was_not_run() -> None:
    def scenario() -> None:
        for tries, becomes in (((0, 0), "cancelled"), ((1, 0), "infrastructure")):
            calls, _, _ = attempt()
            for number in tries:
                calls.begun()
                calls.ended(call(outcome="fatal", tries=number))
            calls.close()
            judged = calls.judge(Attempted(error=ErrorFacts(type="E"), error_class="permanent"))
            assert judged.error_class == becomes

    on_a_loop(scenario)


def test_what_was_tried_again_below_is_tried_again_above_only_where_any_error_is() -> None:
    import random

    failed = Attempted(error=ErrorFacts(type="E"), error_class="transient", exhausted=True)
    dice = random.Random(0)
    assert Retry().wait(failed, 1, elapsed=0.0, dice=dice) is None
    assert Retry(on=None).wait(failed, 1, elapsed=0.0, dice=dice) is not None
