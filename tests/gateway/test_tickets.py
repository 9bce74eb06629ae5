"""What an attempt has used is counted, and what it may use is kept to."""

from __future__ import annotations

import pytest

from paceline.gateway.tickets import Allowance, Ticket, Tickets
from paceline.pace.calls import Call, Usage
from tests.gateway.stage import Ear


def made(ticket: Ticket, **fields: object) -> None:
    ticket.begun()
    ticket.ended(Call(at=0.0, pool="openai:m", **fields))  # type: ignore[arg-type]


def ticket_for(**allowance: object) -> Ticket:
    return Ticket("pl-x", None, Allowance(**allowance))  # type: ignore[arg-type]


def test_so_many_calls_and_no_more_those_under_way_included() -> None:
    ticket = ticket_for(calls=2)
    made(ticket)
    assert not ticket.why_not("m")
    ticket.begun()
    assert "budget of 2 model calls" in ticket.why_not("m")


def test_a_call_that_was_never_sent_does_not_count() -> None:
    ticket = ticket_for(calls=1)
    ticket.begun()
    ticket.ended(None)
    assert not ticket.why_not("m")


def test_tokens_and_money_are_added_up() -> None:
    tokens, money = ticket_for(tokens=100), ticket_for(usd=0.01)
    for ticket in (tokens, money):
        made(ticket, usage=Usage(input=60, output=30), price=0.006)
        assert not ticket.why_not("m")
        made(ticket, usage=Usage(input=10), price=0.005)
    assert "budget of 100 tokens" in tokens.why_not("m")
    assert "budget of $0.01" in money.why_not("m")


def test_money_that_nobody_can_count_is_not_spent_further() -> None:
    ticket = ticket_for(usd=1.0)
    made(ticket)
    assert "price is not known" in ticket.why_not("m")
    assert not ticket_for(tokens=5).why_not("m")


def test_whoever_listens_to_the_attempt_hears_of_its_calls() -> None:
    ear = Ear()
    with Tickets().issued(ear) as ticket:
        ticket.begun()
        assert ear.live == 1
        ticket.ended(Call(at=0.0, pool="openai:m"))
    assert len(ear.calls) == 1


@pytest.mark.parametrize("words", [[], ["sk-1"], ["pl-a", "pl-b"]])
def test_there_is_no_ticket_where_there_is_none_or_where_two_do_not_agree(words: list[str]) -> None:
    assert Tickets().found(words) is None


def test_tickets_are_told_by_nobody() -> None:
    with Tickets().issued() as ticket:
        assert ticket.token not in repr(ticket)
        assert len(ticket.token) > 30
