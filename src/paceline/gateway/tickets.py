"""Tickets: who may ask at the gateway. Each belongs to one attempt, and counts what that has used.

A ticket is a secret that is told to one child and to nobody else: what comes with it is that child's, and
what comes without one, or with that of an attempt which is over, is refused.

Knows attempts by whoever listens to their calls. Knows nothing of HTTP.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

import msgspec

from paceline.pace.calls import Call, Listener

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paceline.pace.tape import Tape

PREFIX: Final = "pl-"
"""What a ticket begins with, so that one who finds it knows what it is not."""


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """What one attempt may use; None is no bound."""

    calls: int | None = None
    tokens: int | None = None
    usd: float | None = None
    models: tuple[str, ...] = ()
    """Patterns such as `gpt-5*`, of which a model has to fit one; none are no bound."""


UNBOUNDED: Final = Allowance()


class Ticket:
    """One attempt at the gateway: listens to its calls, and passes on what it hears."""

    def __init__(self, token: str, listener: Listener | None, allowance: Allowance) -> None:
        self.token = token
        self.allowance = allowance
        self.calls = 0
        """Calls that were let through."""
        self.tokens = 0
        self.usd = 0.0
        self.unpriced = 0
        """Calls whose price nobody knows."""
        self.refused = 0
        self._listener = listener

    def __repr__(self) -> str:
        return f"Ticket(calls={self.calls})"

    def why_not(self, model: str) -> str:
        """Why a call of this model is not let through; empty where it is."""
        allowed, bound = self.allowance, "this attempt has used up its budget"
        if allowed.models and not any(fnmatchcase(model, pattern) for pattern in allowed.models):
            return f"this attempt may not ask {model!r}; it may ask {', '.join(allowed.models)}"
        if allowed.calls is not None and self.calls >= allowed.calls:
            return f"{bound} of {allowed.calls:,} model calls"
        if allowed.tokens is not None and self.tokens >= allowed.tokens:
            return f"{bound} of {allowed.tokens:,} tokens"
        if allowed.usd is not None and self.usd >= allowed.usd:
            return f"{bound} of ${allowed.usd:g}"
        if allowed.usd is not None and self.unpriced:
            return "this attempt has a budget in money, and has made a call whose price is not known"
        return ""

    # What the door tells

    @property
    def tape(self) -> Tape | None:
        """What keeps the calls of the attempt."""
        return getattr(self._listener, "tape", None)

    def begun(self) -> None:
        """A call was let through."""
        self.calls += 1
        if self._listener is not None:
            self._listener.begun()

    def waiting(self) -> None:
        """It waits."""
        if self._listener is not None:
            self._listener.waiting()

    def going(self) -> None:
        """It waits no more."""
        if self._listener is not None:
            self._listener.going()

    def ended(self, call: Call | None) -> None:
        """It is over: what has it used?"""
        if call is None:
            self.calls -= 1  # it was never sent
        else:
            usage = call.usage
            self.tokens += ((usage.input or 0) + (usage.output or 0)) if usage is not None else 0
            if call.price is not None:
                self.usd += call.price
            elif call.outcome == "ok":
                self.unpriced += 1
        if self._listener is not None:
            self._listener.ended(call)


class Tickets:
    """All tickets that hold now."""

    def __init__(self) -> None:
        self._by_token: dict[str, Ticket] = {}

    def __len__(self) -> int:
        return len(self._by_token)

    @contextmanager
    def issued(self, listener: Listener | None = None, allowance: Allowance = UNBOUNDED) -> Iterator[Ticket]:
        """A ticket for as long as its attempt lasts."""
        ticket = Ticket(PREFIX + secrets.token_urlsafe(24), listener, allowance)
        self._by_token[ticket.token] = ticket
        try:
            yield ticket
        finally:
            del self._by_token[ticket.token]

    def found(self, tokens: Sequence[str]) -> Ticket | None:
        """The one ticket among these words; None where there is none, or where two do not agree."""
        shown = {token for token in tokens if token.startswith(PREFIX)}
        if len(shown) != 1:
            return None
        return self._by_token.get(shown.pop())
