"""Spending: what model calls have used, added up so that no unknown is taken for nothing.

Each sum keeps how many parts of it are unknown; it is a number only where none is, and otherwise says what it
is at least. A call that the provider refused (a rate limit, an error status) and tells no usage of was not
charged, and leaves nothing unknown. One that was cut off on the way may have been.

Sums are kept as integers (tokens, picodollars, nanoseconds): they do not depend on the order of the calls,
and the sums of the parts add up to that of the whole.

Knows the lines of calls. Knows nothing of pools, rows or percentiles.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from paceline.journal.records import CallLine

TOKENS: Final = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
"""The kinds of tokens, by the names of their fields."""
PICO: Final = 10**12
"""In a dollar."""
_NANO: Final = 10**9
_REFUSED: Final = frozenset({"rate_limited", "overloaded", "fatal"})


class Amount(msgspec.Struct, frozen=True):
    """A sum, and how many of its parts are not known."""

    known: float
    unknown: int = 0

    @property
    def total(self) -> float | None:
        """The sum; None where a part of it is not known."""
        return None if self.unknown else self.known


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """What some calls have used together."""

    calls: int
    tries: int
    """How often they were sent."""
    failed: int
    """Calls that came to no answer."""
    simulated: int
    """Calls that a simulated provider has answered."""
    input_tokens: Amount
    output_tokens: Amount
    cached_tokens: Amount
    cache_write_tokens: Amount
    reasoning_tokens: Amount
    cost: Amount
    """US dollars."""
    waited: float
    """Seconds for pools and between tries."""
    replayed: int = 0
    """Calls that were answered from the record; they are not among the others."""
    saved: Amount = Amount(0.0)
    """US dollars that these have not cost again."""

    @property
    def sent_again(self) -> int:
        """Tries beyond the first of each call."""
        return self.tries - self.calls


class Bill:
    """Takes one call after the other."""

    __slots__ = (
        "_calls",
        "_failed",
        "_known",
        "_nanos",
        "_picos",
        "_replayed",
        "_saved",
        "_simulated",
        "_tries",
        "_unknown",
    )

    def __init__(self) -> None:
        self._calls = self._tries = self._failed = self._simulated = 0
        self._known = [0] * len(TOKENS)
        self._unknown = [0] * (len(TOKENS) + 1)
        """Calls whose tokens of a kind are not known; last, whose price is not."""
        self._picos = self._nanos = 0
        self._replayed = 0
        self._saved = [0, 0]
        """Picodollars, and calls whose price is not known."""

    def add(self, line: CallLine) -> None:
        """Put a call on the bill; one that was turned away before it was ever sent is none."""
        if line.replayed:
            self._replayed += 1
            self._saved[0] += round((line.price or 0.0) * PICO)
            self._saved[1] += line.price is None
        if not line.tries:
            return
        self._calls += 1
        self._tries += line.tries
        self._failed += line.outcome != "ok"
        self._simulated += line.simulated
        self._nanos += round(line.waited * _NANO)
        open_ended = not _was_refused(line)
        for place, name in enumerate(TOKENS):
            count = getattr(line, name)
            if count is not None:
                self._known[place] += count
            else:
                self._unknown[place] += open_ended
        if line.price is not None:
            self._picos += round(line.price * PICO)
        else:
            self._unknown[-1] += open_ended

    def include(self, other: Bill) -> None:
        """Put all of another bill on this one."""
        self._calls += other._calls
        self._tries += other._tries
        self._failed += other._failed
        self._simulated += other._simulated
        self._nanos += other._nanos
        self._replayed += other._replayed
        self._saved = [mine + theirs for mine, theirs in zip(self._saved, other._saved, strict=True)]
        self._picos += other._picos
        self._known = [mine + theirs for mine, theirs in zip(self._known, other._known, strict=True)]
        self._unknown = [mine + theirs for mine, theirs in zip(self._unknown, other._unknown, strict=True)]

    def total(self) -> Spending:
        """What has come together."""
        tokens = [Amount(known, unknown) for known, unknown in zip(self._known, self._unknown, strict=False)]
        return Spending(
            calls=self._calls,
            tries=self._tries,
            failed=self._failed,
            simulated=self._simulated,
            cost=Amount(self._picos / PICO, self._unknown[-1]),
            waited=self._nanos / _NANO,
            replayed=self._replayed,
            saved=Amount(self._saved[0] / PICO, self._saved[1]),
            **dict(zip(TOKENS, tokens, strict=True)),
        )


class Used(NamedTuple):
    """What one call has used."""

    input_tokens: int | None
    """None is unknown, here and below."""
    output_tokens: int | None
    picodollars: int | None


def used(line: CallLine) -> Used:
    """What a call that was sent has used; one that was refused and tells nothing has used nothing."""
    tokens_in, tokens_out, price = line.input_tokens, line.output_tokens, line.price
    picodollars = None if price is None else round(price * PICO)
    if tokens_in is None or tokens_out is None or picodollars is None:
        nothing = 0 if _was_refused(line) else None
        tokens_in = nothing if tokens_in is None else tokens_in
        tokens_out = nothing if tokens_out is None else tokens_out
        picodollars = nothing if picodollars is None else picodollars
    return Used(tokens_in, tokens_out, picodollars)


def _was_refused(line: CallLine) -> bool:
    """Whether the provider said no: then nothing was charged, whatever is not on record."""
    return line.outcome in _REFUSED or (line.status is not None and line.status >= 400)


def price_of(line: CallLine) -> float | None:
    """What a call has cost, or had cost when its answer was recorded; None where that is not known."""
    if line.price is not None:
        return line.price
    return 0.0 if _was_refused(line) or not (line.tries or line.replayed) else None


__all__ = ["PICO", "TOKENS", "Amount", "Bill", "Spending", "Used", "price_of", "used"]
