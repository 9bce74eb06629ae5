"""The controller: which refusal cuts what, what says nothing, and what the next run is told."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest

from paceline.pace.controller import LONGEST_BLOCK_S, LOST, Controller, Flight
from paceline.pace.learned import Learned
from paceline.pace.messages import Advertised, Cause, Limits, Result
from paceline.pace.rates import KEPT, START_MARGIN

OK = Result(outcome="ok", seconds=1.0)


class Calls:
    """Calls in flight, and a controller that hears how they end."""

    def __init__(self, *, start: Learned | None = None, adaptive: bool = True, **limits: Any) -> None:
        self.now = 0.0
        self.control = Controller(
            limits=Limits(**limits), start=start, adaptive=adaptive, dice=random.Random(7), now=0.0
        )
        self.flights: dict[int, Flight] = {}
        self._number = 0

    def send(self, count: int = 1, *, tokens: float = 0.0) -> list[int]:
        sent = []
        for _ in range(count):
            self._number += 1
            flight = Flight(self._number, self.now, tokens, among=len(self.flights) + 1, probe=False)
            self.flights[self._number] = flight
            self.control.sent(flight, self.now)
            sent.append(self._number)
        return sent

    def end(self, numbers: Iterable[int], result: Result) -> None:
        for number in numbers:
            self.control.settled(self.flights.pop(number), result, self.flights.values(), self.now)

    def go_well(self, *, at_once: int, seconds: int) -> None:
        """So many at a time are sent and answered, for so long."""
        for _ in range(seconds):
            numbers = self.send(at_once)
            self.now += 1.0
            self.end(numbers, OK)

    @property
    def width(self) -> float:
        return self.control.width(self.now)

    @property
    def rate(self) -> float | None:
        return self.control.request_rate.at(self.now)

    @property
    def token_rate(self) -> float | None:
        return self.control.token_rate.at(self.now)


def refusal(cause: Cause | None, retry_after: float | None = None) -> Result:
    return Result(outcome="rate_limited", cause=cause, retry_after=retry_after, seconds=0.1)


def overload(cause: Cause | None = None) -> Result:
    return Result(outcome="overloaded", cause=cause, seconds=0.1)


@pytest.mark.parametrize(
    ("cause", "cuts"),
    [
        ("requests", {"rate"}),
        ("ramp", {"rate"}),
        ("tokens", {"token rate"}),
        ("concurrency", {"width"}),
        ("unknown", {"rate", "width"}),
        (None, {"rate", "width"}),
    ],
)
def test_what_a_rejection_is_about_decides_what_is_cut(cause: Cause | None, cuts: set[str]) -> None:
    calls = Calls()
    before = calls.width
    numbers = calls.send(20, tokens=100.0)
    calls.now = 0.1
    calls.end(numbers[-3:-2], refusal(cause))
    found = {
        "rate": calls.rate is not None,
        "token rate": calls.token_rate is not None,
        "width": calls.width < before,
    }
    assert {what for what, cut in found.items() if cut} == cuts


def test_a_rejection_of_no_known_cause_is_not_about_calls_at_once_where_so_many_were_let_in() -> None:
    calls = Calls()
    calls.go_well(at_once=20, seconds=5)
    before = calls.width
    numbers = calls.send(20)
    calls.now += 0.1
    calls.end(numbers[-1:], refusal("unknown"))
    assert calls.width >= before
    assert calls.rate is not None


def test_of_a_wave_of_rejections_only_the_first_cuts() -> None:
    calls = Calls()
    calls.go_well(at_once=10, seconds=10)
    wave = calls.send(10)
    calls.now += 0.1
    calls.end(wave[:1], refusal("requests"))
    after_one = calls.rate
    assert after_one is not None
    calls.end(wave[1:], refusal("requests"))
    assert calls.rate is not None
    assert calls.rate >= after_one / 2


def test_after_some_cuts_with_nothing_let_in_nothing_is_cut_any_more_and_one_call_tries_at_a_time() -> None:
    """Whatever it is, it is no limit that going slower would respect."""
    calls = Calls()
    calls.go_well(at_once=10, seconds=10)
    rates = []
    for _ in range(LOST + 3):
        numbers = calls.send()
        calls.now += 0.1
        calls.end(numbers, refusal("requests"))
        rates.append(calls.control.request_rate.found)
        calls.now = max(calls.now, calls.control.blocked_until) + 0.01
    assert len(set(rates[LOST - 1 :])) == 1
    calls.send()
    assert calls.control.blocked_until > calls.now


def test_no_provider_is_obeyed_that_wants_hours() -> None:
    calls = Calls()
    calls.end(calls.send(), refusal("requests", retry_after=36_000.0))
    assert calls.control.blocked_until == LONGEST_BLOCK_S


def test_a_rejection_that_does_not_say_how_long_to_wait_has_everybody_pause_for_a_moment() -> None:
    calls = Calls()
    calls.end(calls.send(), refusal("requests"))
    assert 0.0 < calls.control.blocked_until <= 1.0


def test_overload_that_comes_at_any_load_changes_nothing() -> None:
    calls = Calls()
    for _ in range(60):
        numbers = calls.send(20)
        calls.now += 0.1
        calls.end(numbers[5:6], overload())
        calls.now += 0.9
        calls.end(set(numbers) - {numbers[5]}, OK)
    assert calls.width >= 20
    assert calls.rate is None


def test_overload_whenever_one_more_comes_than_fits_narrows_the_window_to_what_fits() -> None:
    calls = Calls(start=Learned(window=50))
    held = calls.send(40)
    for _ in range(3):
        one_more = calls.send()
        calls.now += 0.15
        calls.end(one_more, overload())
    assert calls.width == len(held)


def test_overload_that_says_what_it_is_about_is_believed() -> None:
    crowded, ramped = Calls(start=Learned(window=50)), Calls()
    for calls, cause in ((crowded, "concurrency"), (ramped, "ramp")):
        numbers = calls.send(15)
        calls.now = 0.1
        calls.end(numbers[-1:], overload(cause))  # type: ignore[arg-type]  # one of the causes
    assert crowded.width == 14
    assert ramped.rate is not None


def test_a_failure_that_is_no_limit_cuts_nothing() -> None:
    calls = Calls()
    calls.end(calls.send(10), Result(outcome="transient", seconds=0.5))
    assert (calls.width, calls.rate, calls.token_rate) == (20.0, None, None)


def test_what_was_guessed_too_high_or_rejected_is_given_back_to_the_token_bucket() -> None:
    calls = Calls(tpm=60_000.0)
    bucket = calls.control.tokens
    full = bucket.level(0.0)
    high, low, refused, failed = (calls.send(tokens=100.0)[0] for _ in range(4))
    assert bucket.level(0.0) == pytest.approx(full - 400)
    calls.end([high], Result(outcome="ok", tokens=40.0))
    calls.end([low], Result(outcome="ok", tokens=130.0))
    calls.end([refused], refusal("concurrency"))
    calls.end([failed], overload())
    assert bucket.level(0.0) == pytest.approx(full - 170)


def test_what_headers_say_is_kept_to_with_a_margin_and_without_a_search() -> None:
    calls = Calls()
    calls.end(calls.send(), Result(outcome="ok", advertised=Advertised(requests=600.0, tokens=60_000.0)))
    assert calls.rate == pytest.approx(KEPT * 10)
    assert calls.token_rate == pytest.approx(KEPT * 1_000)


def test_what_headers_say_is_left_is_believed_while_it_is_fresh() -> None:
    for seconds, believed in ((0.2, True), (5.0, False)):
        calls = Calls()
        numbers = calls.send()
        calls.now = seconds
        said = Advertised(requests=6_000.0, requests_left=3.0)
        calls.control.request_rate.advertised(100.0)
        calls.control.tick(-10.0)
        calls.end(numbers, Result(outcome="ok", advertised=said))
        assert (calls.control.requests.level(calls.now) <= 3.0) is believed


def test_headers_that_say_nothing_is_left_do_not_stop_the_run_until_all_of_it_is_back() -> None:
    calls = Calls()
    said = Advertised(requests=600.0, requests_left=0.0, requests_reset=60.0)
    calls.end(calls.send(), Result(outcome="ok", advertised=said))
    assert calls.control.blocked_until <= calls.now


def test_limits_that_somebody_has_set_are_never_exceeded_whatever_headers_say() -> None:
    calls = Calls(window=5, rpm=60.0, rps=2.0, tpm=600.0)
    calls.end(calls.send(), Result(outcome="ok", advertised=Advertised(requests=6e4, tokens=6e6)))
    assert (calls.width, calls.rate, calls.token_rate) == (5.0, 1.0, 10.0)


def test_without_adapting_nothing_but_the_limits_holds_and_a_block_is_kept_all_the_same() -> None:
    calls = Calls(adaptive=False, window=50)
    numbers = calls.send(20)
    calls.end(numbers[:3], refusal("unknown"))
    calls.end(numbers[3:6], overload())
    assert (calls.width, calls.rate) == (50, None)
    calls.end(numbers[6:7], refusal("requests", retry_after=5.0))
    assert calls.control.blocked_until == 5.0
    assert calls.control.learned(10, 3) is None


def test_what_was_learned_is_where_the_next_run_begins_a_little_below() -> None:
    calls = Calls()
    calls.go_well(at_once=10, seconds=20)
    numbers = calls.send(10)
    calls.now += 0.1
    calls.end(numbers[-1:], refusal("requests"))
    learned = calls.control.learned(200, 1)
    assert learned is not None
    assert learned.rps is not None
    assert (learned.accepted, learned.rejected) == (200, 1)
    warm = Calls(start=learned)
    assert warm.width == learned.window
    assert warm.rate == pytest.approx(START_MARGIN * learned.rps)


def test_a_run_in_which_nothing_was_answered_has_learned_nothing() -> None:
    calls = Calls()
    calls.end(calls.send(10), refusal("requests"))
    assert calls.control.learned(0, 10) is None


def test_what_was_known_and_not_found_anew_is_not_learned_again() -> None:
    """However often a few calls are made, what is known grows no younger, and no slower."""
    calls = Calls(start=Learned(window=60.0, rps=10.0, at=1.0))
    calls.go_well(at_once=3, seconds=5)
    assert calls.control.learned(15, 0) is None
    numbers = calls.send(3)
    calls.now += 0.1
    calls.end(numbers[-1:], refusal("tokens"))
    learned = calls.control.learned(15, 1)
    assert learned is not None
    assert learned.rps == 10.0


def test_a_limit_of_the_users_is_not_taken_for_one_of_the_provider() -> None:
    calls = Calls(window=2, rps=3.0, tpm=600.0)
    calls.go_well(at_once=2, seconds=30)
    learned = calls.control.learned(60, 0)
    assert learned is not None
    assert (learned.window, learned.rps, learned.tps) == (20.0, None, None)
    known = Calls(start=Learned(window=80.0, rps=50.0), window=2, rps=3.0)
    known.go_well(at_once=2, seconds=30)
    assert known.control.learned(60, 0) is None


def test_what_headers_say_is_learned_too() -> None:
    calls = Calls()
    calls.end(calls.send(), Result(outcome="ok", advertised=Advertised(requests=600.0)))
    learned = calls.control.learned(1, 0)
    assert learned is not None
    assert learned.rps == pytest.approx(KEPT * 10)


def test_other_limits_hold_at_once_and_leave_what_is_known_of_the_provider() -> None:
    calls = Calls(start=Learned(window=60.0, rps=10.0))
    calls.control.limit(Limits(window=5, rps=2.0), calls.now)
    assert (calls.width, calls.rate) == (5.0, 2.0)
    calls.control.limit(Limits(), calls.now)
    assert calls.rate == pytest.approx(START_MARGIN * 10)


def test_after_an_outage_the_pace_goes_on_where_it_was() -> None:
    calls = Calls(start=Learned(window=60, rps=10.0))
    for _ in range(LOST + 1):
        numbers = calls.send()
        calls.now += 1.0
        calls.end(numbers, refusal("unknown", retry_after=100.0))
    found = calls.control.request_rate.found
    calls.now += 600.0
    calls.control.resume(calls.now)
    assert calls.control.blocked_until <= calls.now
    assert calls.control.request_rate.found == found
