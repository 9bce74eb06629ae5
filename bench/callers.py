"""Those who make the calls: the pools of the library, harnesses of a fixed width, an AIMD like that of a
known harness, and an oracle that shows what is possible at all.

The library's are what it ships: its pool, and its rule for what is sent again and when. The others keep a
call's place while it backs off, as a semaphore around a client that retries does, and never give up.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from math import inf

from bench.virtual import GIVEN_UP, Call, play
from paceline.pace.answers import Reading
from paceline.pace.learned import Learned
from paceline.pace.messages import FRESH, RETRY, Ask, PoolId, Result
from paceline.pace.pool import Pool
from paceline.pace.retrying import Patience, wait_before_resend
from paceline.sim.scenario import Scenario


class Paced:
    """A pool of the library, and what its door does with a call that comes back."""

    def __init__(self, pool: Pool, work: Sequence[Call], *, seed: int) -> None:
        self.pool = pool
        self._work = work
        self._dice = random.Random(f"door {seed}")
        self._failures: dict[int, int] = {}
        self._fruitless: set[int] = set()
        self._began: dict[int, float] = {}
        self._succeeded = 0.0

    def ready(self, call: int, now: float, *, again: bool) -> None:
        self._began.setdefault(call, now)
        tokens = self._work[call].estimate
        self.pool.ask(Ask(id=call, pool=self.pool.id, tokens=tokens, priority=RETRY if again else FRESH), now)

    def sends(self, now: float) -> list[int]:
        granted = self.pool.grant(now)
        self._fruitless |= {grant.id for grant in granted if grant.fruitless}
        return [grant.id for grant in granted]

    def due(self, now: float) -> float | None:
        return self.pool.next_due(now)

    def result(self, call: int, result: Result, now: float) -> float | None:
        self.pool.settle(call, result, now)
        if result.outcome == "ok":
            self._succeeded = now
            return None
        outage = call in self._fruitless
        self._fruitless.discard(call)
        if result.outcome != "rate_limited" and not outage:
            self._failures[call] = self._failures.get(call, 0) + 1
        wait = wait_before_resend(
            Reading(outcome=result.outcome, cause=result.cause, retry_after=result.retry_after),
            failures=self._failures.get(call, 0),
            fruitless=now - max(self._began[call], self._succeeded),
            dice=self._dice,
            patience=Patience(),
            outage=outage,
        )
        return GIVEN_UP if wait is None else wait


def paced(
    work: Sequence[Call], *, seed: int, start: Learned | None = None, model: str = "m", tokens: bool = True
) -> Paced:
    """A caller with a new pool; without `tokens` it does not guess what a call will take."""
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
        while self._fresh and self._held < self._width:
            going.append(self._fresh.popleft())
            self._held += 1
        return going

    def due(self, now: float) -> float | None:  # noqa: ARG002
        return None

    def result(self, call: int, result: Result, now: float) -> float | None:  # noqa: ARG002
        if result.outcome == "ok":
            self._held -= 1
            self._tries.pop(call, None)
            return None
        tries = self._tries[call] = self._tries.get(call, 0) + 1
        return self._back_off(tries, result)

    def _back_off(self, tries: int, result: Result) -> float:
        """Full jitter, doubling up to a minute, and never shorter than the provider asked for."""
        return max(result.retry_after or 0.0, self._dice.uniform(0.0, min(60.0, 2.0 ** min(tries - 1, 10))))


class Aimd(Fixed):
    """Additive increase and multiplicative decrease of the width, with the constants of Inspect AI.

    From 20, at least 10, at most 100; doubled after each clean round until the first rejection, then +5 %;
    ×0.8 at a rejection, once in 15 s; widths are multiples of 5. It grows only if 80 % were used. Backs off
    3 s, doubling, with up to 3 s of jitter, whatever the provider asks for.
    """

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

    def _back_off(self, tries: int, result: Result) -> float:  # noqa: ARG002
        return float(min(1800.0, 3.0 * 2.0 ** min(tries - 1, 10)) + self._dice.uniform(0.0, 3.0))


LOOK_AGAIN_S = 0.05
"""When the oracle asks again where nobody can say when a call will be taken."""


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
        for outage in self._outages:
            if outage.at <= now < outage.until:
                self._not_before = outage.until
        if result.cause == "concurrency" or (result.outcome == "overloaded" and self._crowded(now)):
            self._full = True
        elif result.outcome == "rate_limited":
            self._not_before = max(self._not_before, now + (result.retry_after or LOOK_AGAIN_S))
        return 0.0

    def _rules(self, now: float) -> Scenario:
        return next(rules for at, rules in reversed(self._phases) if at <= now)

    def _crowded(self, now: float) -> bool:
        above = self._rules(now).overload.above
        return above is not None and self._in_flight >= above

    def _knee(self, now: float) -> float:
        knee = self._rules(now).knee
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
