"""A token bucket: what may be drawn when, whatever the order of drawing, giving back and changing."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.buckets import Bucket


def test_a_bucket_holds_a_seconds_worth_and_starts_full() -> None:
    bucket = Bucket(10.0, now=0.0)
    for _ in range(10):
        assert bucket.wait(1.0, 0.0) == 0.0
        bucket.draw(1.0, 0.0)
    assert bucket.wait(1.0, 0.0) == pytest.approx(0.1)


def test_what_has_rested_for_a_minute_holds_no_more_than_a_seconds_worth() -> None:
    bucket = Bucket(10.0, now=0.0)
    assert bucket.level(60.0) == 10.0


def test_a_slow_bucket_holds_one_unit_at_least() -> None:
    bucket = Bucket(0.1, now=0.0)
    assert bucket.wait(1.0, 0.0) == 0.0
    bucket.draw(1.0, 0.0)
    assert bucket.wait(1.0, 0.0) == pytest.approx(10.0)


def test_a_draw_larger_than_the_bucket_waits_until_it_is_full_and_leaves_a_debt() -> None:
    bucket = Bucket(10.0, now=0.0)
    bucket.draw(4.0, 0.0)
    assert bucket.wait(50.0, 0.0) == pytest.approx(0.4)
    bucket.draw(50.0, 0.4)
    assert bucket.level(0.4) == pytest.approx(-40.0)
    assert bucket.wait(1.0, 0.4) == pytest.approx(4.1)


def test_what_was_guessed_too_high_is_given_back_and_what_was_guessed_too_low_is_owed() -> None:
    bucket = Bucket(10.0, now=0.0)
    bucket.draw(8.0, 0.0)
    bucket.give_back(5.0, 0.0)
    assert bucket.level(0.0) == pytest.approx(7.0)
    bucket.give_back(-9.0, 0.0)
    assert bucket.level(0.0) == pytest.approx(-2.0)


def test_nobody_is_given_back_more_than_the_bucket_holds() -> None:
    bucket = Bucket(10.0, now=0.0)
    bucket.give_back(100.0, 0.0)
    assert bucket.level(0.0) == 10.0


def test_a_bucket_that_gets_its_first_limit_starts_empty() -> None:
    bucket = Bucket(None, now=0.0)
    assert bucket.wait(1e9, 0.0) == 0.0
    bucket.set_rate(10.0, 100.0)
    assert bucket.level(100.0) == 0.0
    assert bucket.wait(1.0, 100.0) == pytest.approx(0.1)


def test_at_another_rate_what_is_there_stays_there() -> None:
    bucket = Bucket(10.0, now=0.0)
    bucket.draw(10.0, 0.0)
    bucket.set_rate(2.0, 0.5)
    assert bucket.level(0.5) == 2.0, "a second's worth of the new rate, no more"
    bucket.set_rate(None, 0.6)
    assert bucket.level(0.6) == inf


def test_somebody_who_knows_better_can_only_take_away() -> None:
    bucket = Bucket(10.0, now=0.0)
    bucket.at_most(3.0, 0.0)
    assert bucket.level(0.0) == 3.0
    bucket.at_most(8.0, 0.0)
    assert bucket.level(0.0) == 3.0


def test_time_that_seems_to_go_back_fills_nothing_and_breaks_nothing() -> None:
    bucket = Bucket(10.0, now=100.0)
    bucket.draw(10.0, 100.0)
    assert bucket.level(50.0) == 0.0
    assert bucket.level(100.1) == pytest.approx(1.0)


moments = st.lists(
    st.tuples(st.floats(0.0, 3.0), st.floats(0.1, 30.0)),  # seconds that pass, and what is wanted then
    min_size=1,
    max_size=80,
)


@given(moments, st.floats(0.2, 50.0))
def test_in_no_stretch_of_time_does_more_go_than_flowed_in_and_was_held(
    story: list[tuple[float, float]], rate: float
) -> None:
    bucket = Bucket(rate, now=0.0)
    now, drawn = 0.0, []
    for passes, amount in story:
        now += passes
        now += bucket.wait(amount, now)
        bucket.draw(amount, now)
        drawn.append((now, amount))
    for first, (begun, _) in enumerate(drawn):
        went = 0.0
        for at, amount in drawn[first:]:
            # The last may be larger than what is there: it is let through when the bucket is full, as a debt.
            held = max(bucket.capacity, amount)
            assert went + amount <= rate * (at - begun) + held + max(0.0, 1e-6 * went) + 1e-6
            went += amount


@given(moments, st.floats(0.2, 50.0))
def test_whoever_waits_for_as_long_as_was_said_need_not_wait_again(
    story: list[tuple[float, float]], rate: float
) -> None:
    bucket = Bucket(rate, now=0.0)
    now = 0.0
    for passes, amount in story:
        now += passes
        now += bucket.wait(amount, now)
        assert bucket.wait(amount, now) <= 1e-6
        bucket.draw(amount, now)
