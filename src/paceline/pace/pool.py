"""A pool: calls that share a quota, as a machine without waiting.

    ask ──▶ waiting ──grant(now)──▶ in flight ──settle──▶ gone
              └─withdraw──▶ gone         └─its time to live is over──▶ gone

The promises. No more calls are in flight than the window holds, and no more go per second than the buckets
let through. Retries go before fresh calls, each in the order they came; but a fresh call never sees more than
a few retries in a row pass it. Whatever is withdrawn or settled leaves nothing behind. A pool that is closed
for good grants nothing any more.

Never waits and never looks at a clock: `now` is an argument. What to learn from a result is the controller's,
whether calls are worth making at all the breaker's. Threads and loops are `desk`'s.
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict
from math import inf
from typing import Final, Literal

import msgspec

from paceline.pace.breaker import Breaker
from paceline.pace.controller import Controller, Flight
from paceline.pace.learned import Learned
from paceline.pace.messages import FRESH, RETRY, Ask, Cause, Grant, Limits, PoolId, Result

TIME_TO_LIVE_S: Final = 3600.0
PASSED: Final = 4
"""Retries that may go before a fresh call that waits; then it is its turn."""
RETRIES: Final = 100.0
"""Retries that may go without an answer having come; each answer allows one more."""
RETRIES_PER_S: Final = 1.0
"""However ill the provider is, so many a second may go: no call waits for ever."""

UNLIMITED: Final = Limits()

Binding = Literal["window", "requests", "tokens", "blocked", "outage", ""]
"""What holds the first waiting call back."""


class Closed(msgspec.Struct, frozen=True, kw_only=True):
    """Why a pool grants nothing any more."""

    cause: Cause
    message: str
    at: float


class PoolFacts(msgspec.Struct, frozen=True, kw_only=True):
    """How a pool stands, for reports and progress."""

    id: PoolId
    window: float | None
    """None is unlimited."""
    in_flight: int
    waiting: int
    binding: Binding
    rate: float | None
    """Requests a second that may go; None is unlimited."""
    token_rate: float | None
    blocked_until: float | None
    """On the pool's clock; None where nothing is blocked now."""
    accepted: int
    rejected: int
    by_cause: dict[str, int]
    """Rejections by cause; overload and failures that are no limit by their outcome."""
    lost: int
    """Grants whose time to live was over before they were settled."""
    knee: bool
    """Whether a wider window was tried and found to bring nothing, or was rejected."""


class Pool:
    """One quota, and the calls that share it."""

    def __init__(
        self,
        id: PoolId,  # noqa: A002 - the word of messages
        *,
        limits: Limits = UNLIMITED,
        start: Learned | None = None,
        dice: random.Random,
        now: float,
        adaptive: bool = True,
        time_to_live_s: float = TIME_TO_LIVE_S,
    ) -> None:
        self.id = id
        self.closed: Closed | None = None
        self._control = Controller(limits=limits, start=start, adaptive=adaptive, dice=dice, now=now)
        self._breaker = Breaker()
        self._time_to_live_s = time_to_live_s
        # By priority, in the order of asking; what is withdrawn is simply taken out.
        self._waiting: tuple[OrderedDict[int, _Waiter], OrderedDict[int, _Waiter]] = (
            OrderedDict(),
            OrderedDict(),
        )
        self._flights: dict[int, Flight] = {}
        """In the order of granting, so the oldest lease is the first."""
        self._passed = 0
        self._retries = RETRIES
        self._retries_at = now
        self._accepted = 0
        self._rejected = 0
        self._lost = 0
        self._by_cause: Counter[str] = Counter()

    # Asking

    def ask(self, ask: Ask, now: float) -> None:
        """Somebody wants to make a call."""
        self._waiting[RETRY if ask.priority <= RETRY else FRESH][ask.id] = _Waiter(ask, now)

    def withdraw(self, ask_id: int, now: float) -> None:  # noqa: ARG002 - every word to a pool says when
        """An ask that still waits is not wanted any more."""
        for waiting in self._waiting:
            waiting.pop(ask_id, None)

    def grant(self, now: float) -> list[Grant]:
        """Everything that may go now."""
        self._expire(now)
        if self.closed is not None:
            return []
        self._control.tick(now)
        granted: list[Grant] = []
        while (waiter := self._next(now)) is not None:
            binding = self._binding(waiter.ask, now)
            if binding:
                self._tell(binding)
                break
            granted.append(self._go(waiter, now))
        return granted

    def next_due(self, now: float) -> float | None:
        """When `grant` is worth calling again though nothing new has come; None if only news can help."""
        due = self._next_expiry()
        if self.closed is None and (waiter := self._next(now)) is not None:
            due = min(due, self._due(waiter.ask, now))
        elif self.closed is None and self._waiting[RETRY]:
            due = min(due, now + (1 - self._retries) / RETRIES_PER_S)
        return None if due == inf else max(due, now)

    # Results

    def settle(self, grant_id: int, result: Result, now: float) -> None:
        """A call has ended. One whose lease was over before is news, but no longer holds a slot."""
        flight = self._flights.pop(grant_id, None)
        if flight is None:
            return
        if result.outcome == "fatal":
            self._close(result, now)
        if flight.probe and result.outcome in ("rate_limited", "overloaded", "transient"):
            # The breaker knows already that it is ill.
            self._control.unwell(result, now)
        else:
            self._control.settled(flight, result, self._flights.values(), now)
        self._count(flight, result, now)

    def facts(self, now: float) -> PoolFacts:
        """How the pool stands."""
        control = self._control
        control.tick(now)
        width = control.width(now)
        waiter = self._next(now)
        return PoolFacts(
            id=self.id,
            window=None if width == inf else width,
            in_flight=len(self._flights),
            waiting=sum(map(len, self._waiting)),
            binding=self._binding(waiter.ask, now) if waiter else "blocked" if self._waiting[RETRY] else "",
            rate=control.requests.rate,
            token_rate=control.tokens.rate,
            blocked_until=control.blocked_until if control.blocked_until > now else None,
            accepted=self._accepted,
            rejected=self._rejected,
            by_cause=dict(self._by_cause),
            lost=self._lost,
            knee=control.window.knee,
        )

    def learned(self) -> Learned | None:
        """What the next run may start from; None where nothing was learned that it does not know already."""
        return self._control.learned(self._accepted, self._rejected)

    # Who goes next

    def _next(self, now: float) -> _Waiter | None:
        """The first that waits and is allowed to as far as its priority goes."""
        retries, fresh = self._waiting
        if retries and (not fresh or self._passed < PASSED) and self._may_retry(now):
            return next(iter(retries.values()))
        return next(iter(fresh.values())) if fresh else None

    def _binding(self, ask: Ask, now: float) -> Binding:
        control, breaker = self._control, self._breaker
        if self.closed is not None:
            return "outage"
        if breaker.open:
            if now < breaker.next_probe:
                return "outage"
            return "window" if len(self._flights) + 1 > control.cap else ""
        if control.blocked_until > now:
            return "blocked"
        if self._full(now):
            return "window"
        if control.requests.wait(1.0, now) > 0:
            return "requests"
        return "tokens" if control.tokens.wait(ask.tokens, now) > 0 else ""

    def _due(self, ask: Ask, now: float) -> float:
        """When what holds it back may be over."""
        control, breaker = self._control, self._breaker
        if breaker.open:
            return breaker.next_probe if len(self._flights) + 1 <= control.cap else inf
        if control.blocked_until > now:
            return control.blocked_until
        if self._full(now):
            return control.window_due(now)
        return now + max(control.requests.wait(1.0, now), control.tokens.wait(ask.tokens, now))

    def _full(self, now: float) -> bool:
        # Not by rounding the width down: there may be no bound to it, and infinity has no whole part.
        return len(self._flights) + 1 > self._control.width(now)

    def _go(self, waiter: _Waiter, now: float) -> Grant:
        ask = waiter.ask
        retry = self._waiting[RETRY].pop(ask.id, None) is not None
        if retry:
            self._retries -= 1
            self._passed += 1
        else:
            del self._waiting[FRESH][ask.id]
            self._passed = 0
        flight = Flight(ask.id, now, ask.tokens, among=len(self._flights) + 1, probe=self._breaker.open)
        if flight.probe:
            self._breaker.probing(now)
        self._flights[ask.id] = flight
        self._control.sent(flight, now)
        return Grant(
            id=ask.id,
            pool=self.id,
            at=now,
            tokens=ask.tokens,
            waited=now - waiter.since,
            fruitless=self._breaker.fruitless,
        )

    def _tell(self, binding: Binding) -> None:
        if binding == "window":
            self._control.waits_for_window()
        else:
            self._control.waits_for_rate()

    def _may_retry(self, now: float) -> bool:
        if now > self._retries_at:
            self._retries = min(RETRIES, self._retries + (now - self._retries_at) * RETRIES_PER_S)
            self._retries_at = now
        return self._retries >= 1 - 1e-9

    # What a result means beside the pace

    def _close(self, result: Result, now: float) -> None:
        if self.closed is None:
            self.closed = Closed(cause=result.cause or "unknown", message=result.message, at=now)

    def _count(self, flight: Flight, result: Result, now: float) -> None:
        match result.outcome:
            case "ok":
                self._accepted += 1
                self._retries = min(RETRIES, self._retries + 1)
                if self._breaker.answered(flight.at, now):
                    self._control.resume(now)
            case "rate_limited":
                self._rejected += 1
                self._by_cause[result.cause or "unknown"] += 1
                self._breaker.rejected(now)
            case "overloaded" | "transient":
                self._by_cause[result.outcome] += 1
                self._breaker.failed(now)
            case "fatal":
                self._by_cause[result.cause or "unknown"] += 1
            case "cancelled":
                pass

    # Leases

    def _next_expiry(self) -> float:
        oldest = next(iter(self._flights.values()), None)
        return inf if oldest is None else oldest.at + self._time_to_live_s

    def _expire(self, now: float) -> None:
        """Whoever has vanished with a grant holds it no longer."""
        while self._next_expiry() <= now:
            del self._flights[next(iter(self._flights))]
            self._lost += 1


class _Waiter:
    """An ask and when it came."""

    __slots__ = ("ask", "since")

    def __init__(self, ask: Ask, since: float) -> None:
        self.ask = ask
        self.since = since
