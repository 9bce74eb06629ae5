"""A rate that is learned: found from what a provider lets in, cut, regained, and looked beyond."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.rates import BACK_CALLS, BACK_S, CUT, KEPT, START_MARGIN, Rate


def rate_with(*, ceiling: float | None = None, start: float | None = None) -> Rate:
    return Rate(ceiling=ceiling, start=start, now=0.0)


def send(rate: Rate, *, per_second: float, since: float, until: float, amount: float = 1.0) -> float:
    """Calls at even distances; when the last one went."""
    at = since
    for number in range(int((until - since) * per_second)):
        at = since + number / per_second
        rate.sent(amount, at)
    return at


def test_nothing_is_paced_before_anything_was_rejected() -> None:
    rate = rate_with()
    send(rate, per_second=1_000, since=0.0, until=5.0)
    assert rate.at(5.0) is None
    assert rate.found is None


def test_the_first_rejection_finds_what_was_let_in_of_late() -> None:
    rate = rate_with()
    last = send(rate, per_second=20, since=0.0, until=10.0)
    rate.emptied(1.0, last, last + 0.1)
    assert rate.found == pytest.approx(20, rel=0.1)


def test_a_first_call_that_is_rejected_says_only_that_somebody_else_has_used_the_quota() -> None:
    rate, at, waits = rate_with(), 0.0, []
    for _ in range(40):
        rate.sent(1.0, at)
        rate.emptied(1.0, at, at)
        found = rate.found
        assert found is not None
        waits.append(1 / found)
        at += 1 / found
    assert waits[0] == 1.0
    assert waits == sorted(waits)
    assert 100 < waits[-1] <= 120.001


def test_of_a_burst_at_the_start_only_what_was_let_in_counts() -> None:
    rate = rate_with()
    for _ in range(30):
        rate.sent(1.0, 0.0)
    rate.emptied(1.0, 0.0, 0.15)
    for _ in range(19):
        rate.also_rejected(1.0, 0.0, 0.15)
    assert rate.found is not None
    # Ten were let in. No single episode is trusted to cut to less than half of what was thought at first.
    assert rate.found <= 15


def test_after_a_cut_it_comes_back_to_what_was_found_and_then_looks_beyond() -> None:
    rate = rate_with()
    last = send(rate, per_second=20, since=0.0, until=10.0)
    rate.emptied(1.0, last, last)
    found = rate.found
    assert found is not None
    assert rate.at(last) == pytest.approx((1 - CUT) * found)
    assert rate.at(last + BACK_S) == pytest.approx(found)
    send(rate, per_second=found, since=last, until=last + 2 * BACK_S)
    assert rate.at(last + 2 * BACK_S) == pytest.approx((1 + CUT) * found, rel=0.01)


def test_where_calls_are_rare_it_takes_its_time_in_calls_not_in_seconds() -> None:
    rate = rate_with(start=0.5)
    last = send(rate, per_second=0.5, since=0.0, until=100.0)
    rate.emptied(1.0, last, last)
    found = rate.found
    assert found is not None
    after = BACK_CALLS / found
    assert after > 5 * BACK_S
    assert rate.at(last + BACK_S) is not None
    assert rate.at(last + BACK_S) != pytest.approx(found, rel=0.01)
    assert rate.at(last + after) == pytest.approx(found)


def test_nobody_looks_far_beyond_what_is_sent_at_all() -> None:
    rate = rate_with(start=10.0)
    send(rate, per_second=6, since=0.0, until=60.0)
    assert (rate.at(60.0) or inf) <= 2 * 6.1


def test_what_was_let_in_between_two_rejections_is_the_rate() -> None:
    """The bucket was empty both times, so that as much has flowed in as was let in."""
    rate = rate_with()
    last = send(rate, per_second=20, since=0.0, until=10.0)
    rate.emptied(1.0, last, last)
    began = last + 0.05
    last = send(rate, per_second=15, since=began, until=began + 30.0)
    rate.emptied(1.0, last, last)
    assert rate.found == pytest.approx(15, rel=0.1)


def test_a_rejection_after_hardly_anything_was_sent_says_only_that_it_is_too_fast() -> None:
    rate = rate_with(start=10.0)
    last = send(rate, per_second=10, since=0.0, until=20.0)
    rate.emptied(1.0, last, last)
    rate.sent(1.0, last + 20.0)
    before = rate.found
    assert before is not None
    rate.emptied(1.0, last + 20.0, last + 20.1)
    assert rate.found is not None
    assert before / 2 <= rate.found <= (1 - CUT) * before + 0.01


def test_no_rejection_cuts_to_less_than_half() -> None:
    rate = rate_with(start=100.0)
    rate.sent(1.0, 1.0)
    rate.emptied(1.0, 1.0, 1.1)
    assert rate.found is not None
    assert rate.found >= START_MARGIN * 50


def test_what_a_provider_advertises_takes_the_place_of_the_search() -> None:
    rate = rate_with()
    rate.advertised(10.0)
    assert rate.at(0.0) == pytest.approx(KEPT * 10)
    assert rate.found is None


def test_what_somebody_has_set_is_never_exceeded_whatever_is_advertised_or_found() -> None:
    rate = rate_with(ceiling=5.0, start=50.0)
    rate.advertised(10.0)
    assert rate.at(0.0) == 5.0
    assert rate.at(1_000.0) == 5.0
    assert rate.top == 5.0


def test_what_is_known_of_the_provider_is_what_was_found_or_said_or_known_before() -> None:
    rate = rate_with(ceiling=3.0)
    assert (rate.learned, rate.is_news) == (None, False)
    rate = rate_with(start=10.0)
    assert (rate.learned, rate.is_news) == (10.0, False)
    rate.advertised(20.0)
    assert (rate.learned, rate.is_news) == (KEPT * 20, True)
    rate.sent(1.0, 1.0)
    rate.emptied(1.0, 1.0, 1.1)
    assert (rate.learned, rate.is_news) == (rate.found, True)


def test_another_ceiling_holds_at_once() -> None:
    rate = rate_with(start=10.0)
    rate.limit(2.0)
    assert rate.at(0.0) == 2.0
    rate.limit(None)
    assert rate.at(0.0) == START_MARGIN * 10


def test_after_an_outage_it_goes_on_with_what_was_found_before() -> None:
    rate = rate_with(start=10.0)
    rate.resume(600.0)
    assert rate.found == START_MARGIN * 10
    assert rate.at(600.0) == pytest.approx((1 - CUT) * START_MARGIN * 10)
    assert rate.at(600.0 + BACK_S) == pytest.approx(START_MARGIN * 10)


def test_a_guess_that_was_put_right_counts_as_what_it_was() -> None:
    guessed, known = rate_with(), rate_with()
    for number in range(200):
        at = number / 20
        known.sent(3.0, at)
        guessed.sent(1.0, at)
        guessed.corrected(2.0, at, at)
    assert guessed.recent(10.0) == pytest.approx(known.recent(10.0), rel=0.02)


stories = st.lists(
    st.tuples(st.floats(0.0, 4.0), st.sampled_from(["send", "reject", "also", "correct", "resume", "told"])),
    max_size=120,
)


@given(stories, st.one_of(st.none(), st.floats(0.1, 100.0)), st.one_of(st.none(), st.floats(0.1, 100.0)))
def test_whatever_happens_a_rate_is_positive_and_below_its_ceiling(
    story: list[tuple[float, str]], ceiling: float | None, start: float | None
) -> None:
    rate = Rate(ceiling=ceiling, start=start, now=0.0)
    now, sent_at = 0.0, 0.0
    for passes, what in story:
        now += passes
        match what:
            case "send":
                rate.sent(1.0, now)
                sent_at = now
            case "reject":
                rate.sent(1.0, sent_at)
                rate.emptied(1.0, sent_at, now)
            case "also":
                rate.also_rejected(1.0, sent_at, now)
            case "correct":
                rate.corrected(-0.5, sent_at, now)
            case "resume":
                rate.resume(now)
            case _:
                rate.advertised(7.0)
        kept = rate.at(now)
        assert kept is None or kept > 0
        assert ceiling is None or (kept is not None and kept <= ceiling)
        assert rate.recent(now) >= 0
