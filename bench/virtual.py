"""Virtual time: callers against the simulated provider, event by event, with no waiting and no HTTP.

The pools of the library, harnesses of a fixed width, an AIMD like that of a known harness, and an oracle make the same
calls against the same provider with the same chance, and are timed on its clock. Event for event the
same with the same seed. A limit on events ends what would go on for ever.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log
from typing import Final, NamedTuple, Protocol

from paceline.pace.learned import Learned
from paceline.pace.messages import FRESH, RETRY, Ask, PoolId, Result
from paceline.pace.pool import Pool
from paceline.sim.provider import Admitted, Provider, Refused
from paceline.sim.scenario import Scenario

MAX_TRIES: Final = 8
"""More than this and the door would have given a call up."""


class Call(NamedTuple):
    """One call that has to be answered."""

    input_tokens: float
    output_tokens: float
    estimate: float
    """What the caller thinks it will be charged."""


def calls(count: int, seed: int) -> list[Call]:
    """500 to 8,000 tokens each, about a third off when estimated."""
    dice = random.Random(f"calls {seed}")
    made = []
    for _ in range(count):
        tokens = exp(dice.uniform(log(500), log(8000)))
        guess = tokens * dice.lognormvariate(0.0, 0.3)
        made.append(Call(0.8 * tokens, 0.2 * tokens, guess))
    return made


class Caller(Protocol):
    """Decides which calls go when. Calls are numbers."""

    def ready(self, call: int, now: float, *, again: bool) -> None:
        """A call wants to go, for the first time or again."""

    def sends(self, now: float) -> list[int]:
        """Those that go now."""

    def due(self, now: float) -> float | None:
        """When to be asked again though nothing has happened."""

    def result(self, call: int, result: Result, now: float) -> float | None:
        """How it went; the seconds until it wants to go again, None if it was answered."""


@dataclass(slots=True)
class Outcome:
    """What came of it."""

    calls: int
    answered: int = 0
    makespan: float = inf
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
    finished: list[float] = field(default_factory=list)
    """When each caller had all its answers."""


def play(
    scenario: Scenario,
    callers: Sequence[Caller],
    work: Sequence[Call],
    *,
    seed: int,
    events: int = 400_000,
    models: bool = False,
) -> Outcome:
    """Let callers make the calls, dealt out in turn; with `models`, each caller asks for another model."""
    provider = Provider(scenario, seed=seed)
    outcome = Outcome(calls=len(work), finished=[0.0] * len(callers))
    tries = [0] * len(work)
    queue: list[tuple[float, int, int, int, Admitted | Refused | None]] = []
    wakes = [inf] * len(callers)
    order = 0
    for call in range(len(work)):
        callers[call % len(callers)].ready(call, 0.0, again=False)

    def let_go(who: int, now: float) -> None:
        nonlocal order
        caller = callers[who]
        for call in caller.sends(now):
            each = work[call]
            tries[call] += 1
            outcome.sent += 1
            arrived = provider.arrive(
                now,
                model=f"model {who}" if models else "",
                input_tokens=each.input_tokens,
                output_tokens=each.output_tokens,
                max_tokens=2 * each.output_tokens,
            )
            order += 1
            heapq.heappush(queue, (now + arrived.seconds, order, who, call, arrived))
        due = caller.due(now)
        if due is not None and (due < wakes[who] or wakes[who] <= now):
            order += 1
            wakes[who] = due
            heapq.heappush(queue, (due, order, who, -1, None))

    for who in range(len(callers)):
        let_go(who, 0.0)
    while queue and outcome.events < events and outcome.answered < len(work):
        now, _, who, call, arrived = heapq.heappop(queue)
        outcome.events += 1
        if call < 0:
            if now != wakes[who]:
                continue
            wakes[who] = inf
        elif arrived is None:
            callers[who].ready(call, now, again=True)
        else:
            if isinstance(arrived, Admitted):
                provider.leave(arrived.id, now)
            result = result_of(arrived, work[call])
            again = callers[who].result(call, result, now)
            note(outcome, result, now, tries[call])
            if again is not None:
                order += 1
                heapq.heappush(queue, (now + again, order, who, call, None))
            else:
                outcome.finished[who] = now
        let_go(who, now)
    outcome.in_flight_peak = provider.stats(0.0).in_flight_peak
    if outcome.answered == len(work):
        outcome.makespan = outcome.answers[-1]
    return outcome


def result_of(arrived: Admitted | Refused, call: Call) -> Result:
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
        tokens=call.input_tokens + call.output_tokens,
        seconds=arrived.seconds,
        advertised=arrived.advertised,
    )


def note(outcome: Outcome, result: Result, now: float, tries: int) -> None:
    """Count it."""
    outcome.most_tries = max(outcome.most_tries, tries)
    if result.outcome == "ok":
        outcome.answered += 1
        outcome.seconds += result.seconds
        outcome.answers.append(now)
    elif result.outcome == "rate_limited":
        outcome.rejected += 1
    else:
        outcome.failed += 1


# Callers ------------------------------------------------------------------------------------------


class Paced:
    """A pool of the library, and a door that sends again what was rejected."""

    def __init__(self, pool: Pool, work: Sequence[Call], *, seed: int) -> None:
        self.pool = pool
        self._work = work
        self._dice = random.Random(f"door {seed}")
        self._tries: dict[int, int] = {}

    def ready(self, call: int, now: float, *, again: bool) -> None:
        tokens = self._work[call].estimate
        ask = Ask(id=call, pool=self.pool.id, tokens=tokens, priority=RETRY if again else FRESH)
        self.pool.ask(ask, now)

    def sends(self, now: float) -> list[int]:
        return [grant.id for grant in self.pool.grant(now)]

    def due(self, now: float) -> float | None:
        return self.pool.next_due(now)

    def result(self, call: int, result: Result, now: float) -> float | None:
        self.pool.settle(call, result, now)
        if result.outcome == "ok":
            return None
        tries = self._tries[call] = self._tries.get(call, 0) + 1
        return max(result.retry_after or 0.0, self._dice.uniform(0.0, min(60.0, 2.0 ** (tries - 1))))


def paced(
    work: Sequence[Call], *, seed: int, start: Learned | None = None, model: str = "m", tokens: bool = True
) -> Paced:
    """A caller with a new pool."""
    pool = Pool(
        PoolId("openai", "http://sim", model),
        start=start,
        dice=random.Random(f"pool {model} {seed}"),
        now=0.0,
    )
    if not tokens:
        work = [call._replace(estimate=0.0) for call in work]
    return Paced(pool, work, seed=seed)


class Fixed:
    """So many at once, each place kept until its call is answered, back-off included, as with a semaphore
    around a client that retries."""

    def __init__(self, width: int, *, seed: int) -> None:
        self._width = width
        self._fresh: deque[int] = deque()
        self._again: deque[int] = deque()
        self._held = 0
        self._tries: dict[int, int] = {}
        self._dice = random.Random(f"fixed {seed}")

    def ready(self, call: int, now: float, *, again: bool) -> None:  # noqa: ARG002
        (self._again if again else self._fresh).append(call)

    def sends(self, now: float) -> list[int]:  # noqa: ARG002
        going = list(self._again)  # they have kept their places
        self._again.clear()
        while self._fresh and self._held < self.width():
            going.append(self._fresh.popleft())
            self._held += 1
        return going

    def due(self, now: float) -> float | None:  # noqa: ARG002
        return None

    def width(self) -> int:
        return self._width

    def result(self, call: int, result: Result, now: float) -> float | None:  # noqa: ARG002
        if result.outcome == "ok":
            self._held -= 1
            self._tries.pop(call, None)
            return None
        tries = self._tries[call] = self._tries.get(call, 0) + 1
        return self.back_off(tries, result)

    def back_off(self, tries: int, result: Result) -> float:
        """Full jitter, doubling up to a minute, and never shorter than the provider asked for."""
        return max(result.retry_after or 0.0, self._dice.uniform(0.0, min(60.0, 2.0 ** min(tries - 1, 10))))


class Aimd(Fixed):
    """Additive increase, multiplicative decrease of the width, with the constants of Inspect AI: from 20, at least 10,
    at most 100; doubled after each clean round until the first rejection, then +5 %; ×0.8 at a rejection,
    once in 15 s; widths are multiples of 5. It grows only if 80 % were used. Backs off 3 s, doubling, with up
    to 3 s of jitter, whatever the provider asks for."""

    def __init__(self, *, seed: int) -> None:
        super().__init__(20, seed=seed)
        self._clean = 0
        self._peak = 0
        self._doubling = True
        self._cool_until = -inf

    def sends(self, now: float) -> list[int]:
        going = super().sends(now)
        self._peak = max(self._peak, self._held)
        return going

    def result(self, call: int, result: Result, now: float) -> float | None:
        if result.outcome == "rate_limited":
            self._clean, self._doubling = 0, False
            if now >= self._cool_until:
                self._width = max(10, int(0.8 * self._width) // 5 * 5)
                self._cool_until = now + 15.0
        elif result.outcome != "ok":
            self._clean = 0
        elif call not in self._tries and now >= self._cool_until:
            self._clean += 1
            if self._clean >= max(self._width, 4):
                self._grow()
        return super().result(call, result, now)

    def _grow(self) -> None:
        if self._peak >= 0.8 * self._width:
            step = max(1, 0.05 * self._width)
            wider = 2 * self._width if self._doubling else self._width + int(-(-step // 5) * 5)
            self._width = min(100, wider)
        self._clean, self._peak = 0, self._held

    def back_off(self, tries: int, result: Result) -> float:  # noqa: ARG002
        return float(min(1800.0, 3.0 * 2.0 ** min(tries - 1, 10)) + self._dice.uniform(0.0, 3.0))


class Oracle:
    """Sends each call at the very moment at which the provider takes it, and knows where the knee is."""

    def __init__(self, scenario: Scenario) -> None:
        self._phases = scenario.phases()
        self._outages = scenario.outages
        self._waiting: deque[int] = deque()
        self._in_flight = 0
        self._not_before = 0.0
        self._full = False

    def ready(self, call: int, now: float, *, again: bool) -> None:  # noqa: ARG002
        if again:
            self._waiting.appendleft(call)
        else:
            self._waiting.append(call)

    def sends(self, now: float) -> list[int]:
        """One at a time: whether it was taken decides on the next."""
        if not self._waiting or now < self._not_before or self._full or self._in_flight >= self._knee(now):
            return []
        self._in_flight += 1
        return [self._waiting.popleft()]

    def due(self, now: float) -> float | None:
        if not self._waiting or self._full or self._in_flight >= self._knee(now):
            return None
        return max(now, self._not_before)

    def result(self, call: int, result: Result, now: float) -> float | None:  # noqa: ARG002
        self._in_flight -= 1
        self._full = False
        if result.outcome == "ok":
            return None
        if result.outcome == "rate_limited":
            self._not_before = now + (result.retry_after or 0.0)
            self._full = result.cause == "concurrency"
            for outage in self._outages:
                if outage.at <= now < outage.until:
                    self._not_before = outage.until
        return 0.0

    def _knee(self, now: float) -> float:
        knee = next(rules.knee for at, rules in reversed(self._phases) if at <= now)
        return inf if knee is None else knee


def ideal(scenario: Scenario, work: Sequence[Call], *, seed: int) -> float:
    """The makespan of the oracle. It looks by asking, so to it refusals are free and exact."""
    seeing = scenario.changed(
        {
            "rejects_consume": False,
            "retry_after": True,
            "told": True,
            "headers": "openai",
            "refusal_seconds": 0,
        }
    )
    return play(seeing, [Oracle(scenario)], work, seed=seed, events=2_000_000).makespan


MakeCallers = Callable[[Sequence[Call], int], Sequence[Caller]]
"""The callers for some calls and a seed."""
