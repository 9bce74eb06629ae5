"""Whether a call that failed is sent again, and how long it waits: decisions about values."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.answers import Reading
from paceline.pace.retrying import Patience, wait_before_resend


def wait(outcome: Any, *, seed: int = 7, **facts: Any) -> float | None:
    known = {"failures": 1, "fruitless": 0.0, "patience": Patience(), **facts}
    about = {name: known.pop(name) for name in ("retry_after", "final") if name in known}
    return wait_before_resend(Reading(outcome=outcome, **about), dice=random.Random(seed), **known)


@pytest.mark.parametrize("outcome", ["ok", "fatal", "cancelled"])
def test_what_is_settled_is_not_asked_again(outcome: str) -> None:
    assert wait(outcome) is None


@pytest.mark.parametrize("outcome", ["rate_limited", "overloaded", "transient"])
def test_what_cannot_be_sent_again_or_is_said_to_be_useless_is_not(outcome: str) -> None:
    assert wait(outcome) is not None
    assert wait(outcome, replayable=False) is None
    assert wait(outcome, final=True) is None


def test_a_rejected_call_asks_its_pool_again_at_once_until_its_patience_is_over() -> None:
    assert wait("rate_limited", failures=999, retry_after=50.0, fruitless=3_599) == 0.0
    assert wait("rate_limited", fruitless=3_600) is None


def test_waits_are_drawn_from_a_range_that_doubles_up_to_a_bound() -> None:
    for failures in range(1, 12):
        patience = Patience(tries=99)
        drawn = [wait("transient", failures=failures, patience=patience, seed=n) for n in range(200)]
        most = min(60.0, 2.0 ** (failures - 1))
        assert all(each is not None and 0 <= each <= most for each in drawn)
        assert max(each or 0 for each in drawn) > 0.9 * most
        assert min(each or 0 for each in drawn) < 0.1 * most


def test_a_wait_is_no_shorter_than_the_provider_asks_and_no_longer_than_anybody_should() -> None:
    assert wait("overloaded", retry_after=30.0) == 30.0
    assert wait("overloaded", retry_after=5_000.0) == 300.0


def test_faults_use_up_tries_unless_nobody_is_answered() -> None:
    assert wait("transient", failures=5) is not None
    assert wait("transient", failures=6) is None
    assert wait("transient", failures=6, outage=True, fruitless=3_599) is not None
    assert wait("transient", failures=0, outage=True, fruitless=3_600) is None


@given(
    outcome=st.sampled_from(["ok", "rate_limited", "overloaded", "transient", "fatal", "cancelled"]),
    failures=st.integers(0, 10_000),
    fruitless=st.floats(0, 1e9),
    retry_after=st.none() | st.floats(0, 86_400),
    outage=st.booleans(),
)
def test_a_wait_is_bounded_and_never_negative(
    outcome: str, failures: int, fruitless: float, retry_after: float | None, outage: bool
) -> None:
    seconds = wait(outcome, failures=failures, fruitless=fruitless, retry_after=retry_after, outage=outage)
    assert seconds is None or 0 <= seconds <= 300
