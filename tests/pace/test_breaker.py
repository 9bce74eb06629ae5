"""The breaker: when calls are not worth making, how that is seen to be over, and what a failure says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.breaker import (
    FEWEST,
    FIRST_PROBE_S,
    LONGEST_PROBE_S,
    LOOK_BACK_S,
    ONLY_FAILED_S,
    ONLY_REJECTED_S,
    Breaker,
)


def failing(breaker: Breaker, *, since: float, until: float, every: float = 0.2) -> float:
    """Nothing but failures, until it opens or time is up; when that was."""
    at = since
    while at < until and not breaker.open:
        breaker.failed(at)
        at += every
    return at


def test_a_few_failures_open_nothing() -> None:
    breaker = Breaker()
    for number in range(FEWEST - 1):
        breaker.failed(number * 100.0)
    assert not breaker.open


def test_it_opens_when_most_of_the_last_calls_failed() -> None:
    breaker = Breaker()
    for number in range(FEWEST):
        assert not breaker.open
        if number % 5 == 4:
            breaker.answered(0.1 * number - 0.05, 0.1 * number)
        else:
            breaker.failed(0.1 * number)
    breaker.failed(0.1 * FEWEST)
    assert breaker.open


def test_it_stays_closed_while_a_third_of_the_calls_get_their_work_done() -> None:
    breaker = Breaker()
    for number in range(300):
        if number % 3:
            breaker.failed(0.1 * number)
        else:
            breaker.answered(0.1 * number - 0.05, 0.1 * number)
    assert not breaker.open


def test_what_failed_long_ago_is_forgotten() -> None:
    breaker = Breaker()
    for _ in range(FEWEST - 1):
        breaker.failed(0.0)
    breaker.answered(0.5, 1.0)
    breaker.failed(LOOK_BACK_S + 2.0)
    assert not breaker.open


def test_answers_to_calls_sent_before_do_not_hide_that_nothing_sent_since_is_answered() -> None:
    """Long answers keep coming in for a while after a server has gone."""
    breaker = Breaker()
    for number in range(1_000):
        breaker.answered(-10.0, 0.001 * number)
    opened = at = 1.0
    while not breaker.open:
        breaker.failed(at)
        breaker.answered(0.5, at)  # sent before the first failure
        at += 0.1
    assert at - opened <= ONLY_FAILED_S + 1.0


def test_it_opens_after_a_while_of_nothing_but_rejections_and_not_for_a_burst_of_them() -> None:
    burst = Breaker()
    for _ in range(500):
        burst.rejected(1.0)
    burst.answered(1.5, 2.0)
    burst.rejected(1.0 + ONLY_REJECTED_S)
    assert not burst.open
    lasting = Breaker()
    lasting.rejected(1.0)
    lasting.rejected(1.0 + ONLY_REJECTED_S)
    assert lasting.open


def test_while_it_is_open_it_is_tried_soon_and_then_ever_more_seldom_but_at_least_every_30_seconds() -> None:
    breaker = Breaker()
    opened = failing(breaker, since=0.0, until=60.0)
    probes = []
    while breaker.next_probe < 600.0:
        at = breaker.next_probe
        probes.append(at)
        breaker.probing(at)
        breaker.failed(at + 0.2)
    gaps = [later - earlier for earlier, later in pairwise(probes)]
    assert probes[0] - opened <= FIRST_PROBE_S
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(gaps))
    assert max(gaps) <= LONGEST_PROBE_S + 1e-9
    assert LONGEST_PROBE_S <= 30.0


def test_one_answered_probe_closes_it_and_an_answer_from_before_does_not() -> None:
    breaker = Breaker()
    opened = failing(breaker, since=0.0, until=60.0)
    closed = breaker.answered(opened - 5.0, opened + 1.0)
    assert (closed, breaker.open) == (False, True)
    breaker.probing(opened + 2.0)
    closed = breaker.answered(opened + 2.0, opened + 3.0)
    assert (closed, breaker.open, breaker.fruitless) == (True, False, False)


def test_a_failure_says_nothing_of_a_call_once_so_many_have_failed_with_none_answered() -> None:
    breaker = Breaker()
    told = []
    for number in range(FEWEST):
        told.append(breaker.fruitless)
        breaker.failed(0.01 * number)
    told.append(breaker.fruitless)
    assert told == [False] * FEWEST + [True]
    breaker.answered(0.5, 1.0)
    assert not breaker.fruitless


def test_a_call_that_always_fails_among_others_that_do_not_is_itself_to_blame() -> None:
    breaker = Breaker()
    for number in range(200):
        breaker.failed(float(number))
        assert not breaker.fruitless
        breaker.answered(number + 0.1, number + 0.5)
    assert not breaker.open


@given(
    st.lists(
        st.tuples(st.floats(0.0, 40.0), st.sampled_from(["ok", "failed", "rejected", "probe"])), max_size=200
    )
)
def test_whatever_comes_an_open_breaker_has_a_probe_ahead_and_an_answer_to_it_closes(
    story: list[tuple[float, str]],
) -> None:
    breaker = Breaker()
    now = 0.0
    for passes, what in story:
        now += passes
        match what:
            case "ok":
                breaker.answered(now, now)
                assert not breaker.open
            case "failed":
                breaker.failed(now)
            case "rejected":
                breaker.rejected(now)
            case _ if breaker.open and now >= breaker.next_probe:
                breaker.probing(now)
            case _:
                pass
        if breaker.open:
            assert breaker.next_probe <= now + LONGEST_PROBE_S
