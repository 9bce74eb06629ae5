"""Virtual time: callers against the simulated provider, event by event, with no waiting and no HTTP.

Whoever is compared makes the same calls against the same provider with the same chance, and is timed on its
clock: event for event the same with the same seed. A limit on events ends what would go on for ever.

Knows what a caller is. Who they are is in `bench.callers`.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import exp, inf, log
from typing import Final, NamedTuple, Protocol

from paceline.pace.messages import Result
from paceline.sim.provider import Admitted, Provider, Refused
from paceline.sim.scenario import Charge, Scenario

EVENTS: Final = 400_000
"""More than this is a storm: no orderly run of the calls that are played here comes near it."""


class Call(NamedTuple):
    """One call that has to be answered."""

    input_tokens: float
    output_tokens: float
    max_tokens: float
    """What the caller allows the answer to have."""
    estimate: float
    """What the caller thinks it will be charged."""


def calls(count: int, seed: int, *, charge: Charge = "used") -> list[Call]:
    """500 to 8,000 tokens each, about a third off when estimated; what is charged in advance is known."""
    dice = random.Random(f"calls {seed}")
    made = []
    for _ in range(count):
        tokens = exp(dice.uniform(log(500), log(8000)))
        guess = tokens * dice.lognormvariate(0.0, 0.3)
        most = 0.4 * tokens
        made.append(Call(0.8 * tokens, 0.2 * tokens, most, guess if charge == "used" else 0.8 * guess + most))
    return made


GIVEN_UP: Final = -1.0
"""In place of the seconds until a call wants to go again: it never will."""


class Caller(Protocol):
    """Decides which calls go when. Calls are numbers."""

    def ready(self, call: int, now: float, *, again: bool) -> None:
        """A call wants to go, for the first time or again."""

    def sends(self, now: float) -> list[int]:
        """Those that go now."""

    def due(self, now: float) -> float | None:
        """When to be asked again though nothing has happened."""

    def result(self, call: int, result: Result, now: float) -> float | None:
        """How it went; the seconds until it wants to go again, None if it was answered, or GIVEN_UP."""


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    calls: int
    answered: int = 0
    given_up: int = 0
    makespan: float = inf
    """When the last call was answered or given up; infinite where it never came to that."""
    sent: int = 0
    rejected: int = 0
    failed: int = 0
    in_flight_peak: int = 0
    most_tries: int = 0
    events: int = 0
    seconds: float = 0.0
    """Sum of the latencies of answered calls."""
    answers: list[float] = field(default_factory=list)
    """When each answer came."""
    shares: list[list[float]] = field(default_factory=list)
    """The same for each caller."""


def play(
    scenario: Scenario,
    callers: Sequence[Caller],
    work: Sequence[Call],
    *,
    seed: int,
    events: int = EVENTS,
    models: bool = False,
) -> Outcome:
    """Let callers make the calls, dealt out in turn; with `models`, each caller asks for another model."""
    return _Play(scenario, callers, work, seed=seed, models=models).carried_out(events)


class _Event(NamedTuple):
    """A call has come back; one wants to go again (no `arrived`); or a caller wants to be asked (no call)."""

    at: float
    order: int
    who: int
    call: int | None = None
    arrived: Admitted | Refused | None = None


class _Play:
    """One play: what is to happen, and what has come of it so far."""

    def __init__(
        self, scenario: Scenario, callers: Sequence[Caller], work: Sequence[Call], *, seed: int, models: bool
    ) -> None:
        self._provider = Provider(scenario, seed=seed)
        self._charge = scenario.charge
        self._callers = callers
        self._work = work
        self._models = models
        self._outcome = Outcome(calls=len(work), shares=[[] for _ in callers])
        self._tries = [0] * len(work)
        self._events: list[_Event] = []
        self._wakes = [inf] * len(callers)
        """When each caller is to be asked next; an event for another time is out of date."""
        self._order = 0

    def carried_out(self, events: int) -> Outcome:
        outcome = self._outcome
        for call in range(len(self._work)):
            self._callers[call % len(self._callers)].ready(call, 0.0, again=False)
        for who in range(len(self._callers)):
            self._let_go(who, 0.0)
        while self._events and outcome.events < events and outcome.makespan == inf:
            event = heapq.heappop(self._events)
            outcome.events += 1
            self._happens(event)
        outcome.in_flight_peak = self._provider.stats(0.0).in_flight_peak
        return outcome

    def _happens(self, event: _Event) -> None:
        now, _, who, call, arrived = event
        if call is None:
            if now != self._wakes[who]:
                return
            self._wakes[who] = inf
        elif arrived is None:
            self._callers[who].ready(call, now, again=True)
        else:
            self._comes_back(who, call, arrived, now)
        self._let_go(who, now)

    def _let_go(self, who: int, now: float) -> None:
        caller = self._callers[who]
        for call in caller.sends(now):
            each = self._work[call]
            self._tries[call] += 1
            self._outcome.sent += 1
            arrived = self._provider.arrive(
                now,
                model=f"model {who}" if self._models else "",
                input_tokens=each.input_tokens,
                output_tokens=each.output_tokens,
                max_tokens=each.max_tokens,
            )
            self._plan(now + arrived.seconds, who, call, arrived)
        due = caller.due(now)
        if due is not None and (due < self._wakes[who] or self._wakes[who] <= now):
            self._wakes[who] = due
            self._plan(due, who)

    def _plan(
        self, at: float, who: int, call: int | None = None, arrived: Admitted | Refused | None = None
    ) -> None:
        self._order += 1
        heapq.heappush(self._events, _Event(at, self._order, who, call, arrived))

    def _comes_back(self, who: int, call: int, arrived: Admitted | Refused, now: float) -> None:
        if isinstance(arrived, Admitted):
            self._provider.leave(arrived.id, now)
        result = result_of(arrived, self._work[call], self._charge)
        again = self._callers[who].result(call, result, now)
        outcome = self._outcome
        outcome.most_tries = max(outcome.most_tries, self._tries[call])
        if result.outcome == "ok":
            outcome.answered += 1
            outcome.seconds += result.seconds
            outcome.answers.append(now)
            outcome.shares[who].append(now)
        elif result.outcome == "rate_limited":
            outcome.rejected += 1
        else:
            outcome.failed += 1
        if again == GIVEN_UP:
            outcome.given_up += 1
        elif again is not None:
            self._plan(now + again, who, call)
        if outcome.answered + outcome.given_up == len(self._work):
            outcome.makespan = now


def result_of(arrived: Admitted | Refused, call: Call, charge: Charge) -> Result:
    """What a door would make of it."""
    if isinstance(arrived, Refused):
        if arrived.status == 429 and arrived.cause != "quota":
            return Result(
                outcome="rate_limited",
                cause=arrived.cause if arrived.told else "unknown",
                retry_after=arrived.retry_after,
                seconds=arrived.seconds,
                advertised=arrived.advertised,
            )
        overloaded = arrived.status in (503, 529)
        return Result(outcome="overloaded" if overloaded else "transient", seconds=arrived.seconds)
    if arrived.fault not in (None, "slow"):
        return Result(outcome="transient", seconds=arrived.seconds, advertised=arrived.advertised)
    return Result(
        outcome="ok",
        tokens=call.input_tokens + (call.max_tokens if charge == "reserved" else call.output_tokens),
        seconds=arrived.seconds,
        advertised=arrived.advertised,
    )
