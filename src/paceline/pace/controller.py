"""The controller: what each result means for the window and for the two rates of a pool.

    rejected for      cut
    requests, ramp    the rate of requests
    tokens            the rate of tokens
    concurrency       the window, to what is in flight
    unknown           the rate of requests; and the window, where so many at once were not let in of late

Calls sent before a cut that are rejected after it say nothing new: one cut per episode. Overload cuts the
window, and only where so many at once are refused again and again; a failure that is no limit cuts nothing.

Why this one and not another: docs/design/pace.md.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection
from math import inf
from typing import Final

from paceline.pace.buckets import Bucket
from paceline.pace.learned import Learned
from paceline.pace.messages import Advertised, Cause, Limits, Result
from paceline.pace.rates import Rate
from paceline.pace.windows import Window

REFUSED_WITHIN_S: Final = 2.0
ENOUGH: Final = 3
"""A call more than fits may slip in when another ends at that moment; three do not."""
REMEMBERED: Final = 200
"""Answered calls that count as of late."""
FRESH_S: Final = 1.0
"""What was left is looked up when a call arrives; later others have gone."""
LONGEST_BLOCK_S: Final = 120.0
"""No provider is believed that asks for more; the breaker's probes find out."""
PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 8.0
FIXED_PAUSE_S: Final = 0.5
"""After a rejection that does not say how long, where nothing is to be found out."""
LOST: Final = 3
"""Cuts in a row without a call let in after them: from here on, one call at a time."""


class Flight:
    """A call that was granted and is not settled."""

    __slots__ = ("among", "at", "id", "probe", "tokens")

    def __init__(self, grant_id: int, at: float, tokens: float, *, among: int, probe: bool) -> None:
        self.id = grant_id
        self.at = at
        self.tokens = tokens
        self.among = among
        """How many were in flight when it went, itself included."""
        self.probe = probe


class Controller:
    """Window, rates and not-before time of one pool."""

    __slots__ = (
        "_adaptive",
        "_answered",
        "_dice",
        "_episode",
        "_limits",
        "_lost",
        "_start",
        "_suspicions",
        "blocked_until",
        "request_rate",
        "requests",
        "token_rate",
        "tokens",
        "window",
    )

    def __init__(
        self, *, limits: Limits, start: Learned | None, adaptive: bool, dice: random.Random, now: float
    ) -> None:
        rps, tps = _per_second(limits)
        start = start if adaptive else None
        self._start = start
        self._adaptive = adaptive
        self._limits = limits
        self._dice = dice
        self.window = Window(most=limits.window, start=start.window if start else None, now=now)
        self.request_rate = Rate(ceiling=rps, start=start.rps if start else None, now=now)
        self.token_rate = Rate(ceiling=tps, start=start.tps if start else None, now=now)
        self.requests = Bucket(self.request_rate.at(now), now=now)
        self.tokens = Bucket(self.token_rate.at(now), now=now)
        self.blocked_until = -inf
        self._answered: deque[int] = deque(maxlen=REMEMBERED)
        """Among how many calls in flight each of the last was."""
        self._episode = -inf
        self._lost = 0
        self._suspicions = 0
        """Overloads in a row that may have been about calls at once."""

    @property
    def cap(self) -> float:
        """How many calls may be in flight at most, whatever is found out: what the user has said."""
        return inf if self._limits.window is None else self._limits.window

    def width(self, now: float) -> float:
        """How many calls may be in flight."""
        if self._adaptive:
            return self.window.at(now)
        return self.cap

    def tick(self, now: float) -> None:
        """Let the buckets fill as fast as is thought right now."""
        if self._adaptive:
            self.requests.set_rate(self.request_rate.at(now), now)
            self.tokens.set_rate(self.token_rate.at(now), now)

    def sent(self, flight: Flight, now: float) -> None:
        """A call goes."""
        self.requests.draw(1.0, now)
        self.request_rate.sent(1.0, now)
        if flight.tokens:
            self.tokens.draw(flight.tokens, now)
            self.token_rate.sent(flight.tokens, now)
        if self._lost >= LOST:
            # So far nothing gets through: this one tries, the others wait how it fares.
            self.blocked_until = max(self.blocked_until, now + self._pause())

    def settled(self, flight: Flight, result: Result, others: Collection[Flight], now: float) -> None:
        """A call has ended, and these others are in flight."""
        self._charge(flight, result, now)
        if result.advertised is not None:
            self._listen(result.advertised, flight.at, now)
        match result.outcome:
            case "ok":
                if flight.at > self._episode:
                    self._lost = 0
                self._answered.append(flight.among)
                self.window.answered(now)
            case "rate_limited":
                self._rejected(flight, result, others, now)
            case "overloaded":
                self._overloaded(flight, result, others, now)
            case "transient":
                self.window.failed()
                self._block(result.retry_after, now)
            case "fatal" | "cancelled":
                pass

    def unwell(self, result: Result, now: float) -> None:
        """A call that tried whether the provider is well again found it is not: nothing to learn from
        that."""
        self._block(result.retry_after, now)

    def window_due(self, now: float) -> float:
        """When the window will be wider without anything having ended."""
        return (self.window.opening(now) or inf) if self._adaptive else inf

    def waits_for_window(self) -> None:
        """Somebody waits, and only a wider window would help."""
        self.window.limited = True

    def waits_for_rate(self) -> None:
        """Somebody waits, and only a faster rate, or the end of a block, would help."""
        self.window.paced = True

    def resume(self, now: float) -> None:
        """The provider answers again after an outage."""
        self._lost, self._episode = 0, now
        self.blocked_until = -inf
        self.request_rate.resume(now)
        self.token_rate.resume(now)
        self.window.resume(now)

    def limit(self, limits: Limits, now: float) -> None:
        """Keep to other limits from now on; what is known of the provider's stays known."""
        rps, tps = _per_second(limits)
        self._limits = limits
        self.window.limit(limits.window, now)
        self.request_rate.limit(rps)
        self.token_rate.limit(tps)
        self.tick(now)

    def learned(self, accepted: int, rejected: int) -> Learned | None:
        """What the next run may start from, unless it knows that already: what was not found anew has not
        become more certain. Nor is a limit of the user's one of the provider.
        """
        if not self._adaptive or accepted == 0:
            return None
        window = round(self.window.learned, 1)
        known = self._start is not None and window == self._start.window
        if known and not (self.request_rate.is_news or self.token_rate.is_news):
            return None
        return Learned(
            window=window,
            rps=self.request_rate.learned,
            tps=self.token_rate.learned,
            accepted=accepted,
            rejected=rejected,
            knee=self.window.knee,
        )

    # What a result leads to

    def _rejected(self, flight: Flight, result: Result, others: Collection[Flight], now: float) -> None:
        self._block(result.retry_after, now)
        _was_not_among(flight, others)
        if not self._adaptive:
            if result.retry_after is None:
                # Nothing is learned here; but who was just turned away is not to knock again at once.
                self.blocked_until = max(
                    self.blocked_until, now + FIXED_PAUSE_S * (0.5 + self._dice.random())
                )
            return
        cause = result.cause or "unknown"
        if cause == "concurrency":
            self.window.rejected(len(others), now, sure=True)
        if flight.at <= self._episode:
            if cause in ("requests", "ramp", "unknown"):
                self.request_rate.also_rejected(1.0, flight.at, now)
            elif cause == "tokens":
                self.token_rate.also_rejected(flight.tokens, flight.at, now)
            return
        self._lost += 1
        self._episode = now
        if result.retry_after is None and cause != "concurrency":
            self.blocked_until = max(self.blocked_until, now + self._pause())
        if self._lost >= LOST:
            return  # nothing has got through since the last cuts: this is no limit that a cut would respect
        self._cut(cause, flight, others, now)

    def _cut(self, cause: Cause, flight: Flight, others: Collection[Flight], now: float) -> None:
        if cause in ("requests", "ramp", "unknown"):
            self.request_rate.emptied(1.0, flight.at, now)
            self.requests.set_rate(self.request_rate.at(now), now)
            self.requests.at_most(0.0, now)
        elif cause == "tokens":
            self.token_rate.emptied(flight.tokens, flight.at, now)
            self.tokens.set_rate(self.token_rate.at(now), now)
            self.tokens.at_most(0.0, now)
        if cause == "unknown" and not self._fits(flight.among, others, now):
            self.window.rejected(len(others), now, sure=False)

    def _fits(self, among: int, others: Collection[Flight], now: float) -> bool:
        """Whether so many were in flight together of late and let in: then a rejection is not about that.

        Refusals come quickly, so what has been out for a while was let in.
        """
        out = sum(each.among >= among and each.at <= now - REFUSED_WITHIN_S for each in others)
        return out + sum(each >= among for each in self._answered) >= ENOUGH

    def _overloaded(self, flight: Flight, result: Result, others: Collection[Flight], now: float) -> None:
        """Some providers refuse a few calls of everybody's at any load: no reason to go slower. The window is
        narrowed where so many at once are refused again and again and never let in; all else is for whoever
        sends the call again, and for the breaker.
        """
        self._block(result.retry_after, now)
        _was_not_among(flight, others)
        self.window.failed()
        if not self._adaptive or flight.at <= self._episode:
            return
        cause = result.cause or "unknown"
        if cause == "concurrency":
            self.window.rejected(len(others), now, sure=True)
        elif cause != "unknown":
            self._episode = now
            self._cut(cause, flight, others, now)
        elif self._fits(flight.among, others, now):
            self._suspicions = 0
        else:
            self._suspicions += 1
            if self._suspicions >= ENOUGH:
                self._suspicions, self._episode = 0, now
                self.window.rejected(len(others), now, sure=False)

    def _block(self, retry_after: float | None, now: float) -> None:
        if retry_after is not None and retry_after > 0:
            self.blocked_until = max(self.blocked_until, now + min(retry_after, LONGEST_BLOCK_S))

    def _pause(self) -> float:
        """How long nobody goes after a rejection that does not say: longer each time that nothing got
        through."""
        longest = min(LONGEST_PAUSE_S, PAUSE_S * 2.0**self._lost)
        return longest * (0.5 + 0.5 * self._dice.random())

    def _charge(self, flight: Flight, result: Result, now: float) -> None:
        """Put right what was drawn for an estimate."""
        if not flight.tokens and not result.tokens:
            return
        if result.outcome in ("rate_limited", "overloaded"):
            self.tokens.give_back(flight.tokens, now)
            if result.cause != "tokens":
                self.token_rate.corrected(-flight.tokens, flight.at, now)
        elif result.tokens is not None:
            self.tokens.give_back(flight.tokens - result.tokens, now)
            self.token_rate.corrected(result.tokens - flight.tokens, flight.at, now)

    def _listen(self, said: Advertised, sent_at: float, now: float) -> None:
        """What the provider says of its limits is better than anything that could be found out."""
        for limit, left, rate, bucket in (
            (said.requests, said.requests_left, self.request_rate, self.requests),
            (said.tokens, said.tokens_left, self.token_rate, self.tokens),
        ):
            if limit is not None and limit > 0 and self._adaptive:
                rate.advertised(limit / 60)
                bucket.set_rate(rate.at(now), now)
            if left is not None and now - sent_at < FRESH_S:
                bucket.at_most(left, now)


def _was_not_among(refused: Flight, others: Collection[Flight]) -> None:
    """Those that went while it was out counted a call that was not let in."""
    for each in others:
        if each.at >= refused.at:
            each.among -= 1


def _per_second(limits: Limits) -> tuple[float | None, float | None]:
    """Requests and tokens."""
    rates = (limits.rps, None if limits.rpm is None else limits.rpm / 60)
    return (
        min((rate for rate in rates if rate is not None), default=None),
        None if limits.tpm is None else limits.tpm / 60,
    )
