"""What calls have used: sums in which no unknown is taken for nothing."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.records import CallLine
from paceline.report.spending import Amount, Bill, Spending
from tests.report.journals import called


def bill(*lines: CallLine) -> Spending:
    made = Bill()
    for line in lines:
        made.add(line)
    return made.total()


def test_tokens_money_and_waits_are_added_up() -> None:
    spending = bill(called(waited=1.5), called(waited=0.25, tries=3, cached_tokens=40))
    assert (spending.calls, spending.tries, spending.sent_again) == (2, 4, 2)
    assert (spending.input_tokens.total, spending.output_tokens.total) == (200, 20)
    assert spending.cost == Amount(0.002)
    assert spending.waited == 1.75


def test_what_one_call_does_not_tell_makes_the_sum_unknown_and_says_what_it_is_at_least() -> None:
    spending = bill(called(), called(output_tokens=None, price=None))
    assert spending.input_tokens == Amount(200)
    assert spending.output_tokens == Amount(10, unknown=1)
    assert spending.output_tokens.total is None
    assert spending.cost == Amount(0.001, unknown=1)


@pytest.mark.parametrize(
    "refused",
    [
        {"outcome": "rate_limited", "status": 429},
        {"outcome": "overloaded", "status": 529},
        {"outcome": "fatal", "status": 401},
        {"outcome": "ok", "status": 400},
    ],
)
def test_a_call_that_was_refused_costs_nothing_and_leaves_nothing_unknown(refused: dict[str, Any]) -> None:
    nothing: dict[str, Any] = {"input_tokens": None, "output_tokens": None, "price": None}
    assert bill(called(), called(**nothing, **refused)).cost == Amount(0.001)


def test_a_call_that_was_cut_off_may_have_been_charged() -> None:
    cut = called(input_tokens=None, output_tokens=None, price=None, outcome="transient", status=None)
    spending = bill(called(), cut)
    assert spending.failed == 1
    assert spending.cost.total is None


def test_a_cent_a_million_times_is_not_off_by_one() -> None:
    assert bill(*itertools.repeat(called(price=0.1), 1000)).cost.total == 100.0


AMOUNTS = st.none() | st.integers(0, 10**9)
CALLS = st.lists(
    st.builds(
        called,
        input_tokens=AMOUNTS,
        output_tokens=AMOUNTS,
        price=st.none() | st.floats(0, 100),
        waited=st.floats(0, 1e5),
        tries=st.integers(1, 9),
    ),
    max_size=12,
)


@given(CALLS, CALLS)
def test_bills_add_up_to_the_bill_of_all_in_whatever_order(
    some: list[CallLine], others: list[CallLine]
) -> None:
    one, other = Bill(), Bill()
    for line in some:
        one.add(line)
    for line in others:
        other.add(line)
    one.include(other)
    assert one.total() == bill(*reversed([*some, *others]))
