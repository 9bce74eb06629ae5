"""What is seen of a level while it is held: each try as the desk settles it, each case as it is recorded.

The desk tells of every call that it granted, from whatever thread; the recorder hands on the lines of the
journal. So nothing has to be measured twice, and what a row says is what is on record.

Knows grants, results and lines. Judges nothing.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from paceline.conduct.unseen import PROVIDER as TASK
from paceline.engine.budget import COST_NAMES
from paceline.engine.ports import Recorder
from paceline.errors import JournalBroken
from paceline.journal.bodies import NONE_BEFORE, Before, CallBodies
from paceline.journal.records import (
    AttemptLine,
    BeginLine,
    CallLine,
    Key,
    Line,
    OutcomeLine,
    OutputLine,
    key_of,
)
from paceline.pace.learned import Learned
from paceline.pace.messages import Advertised, Grant, PoolId, Result
from paceline.pace.pool import Binding, PoolFacts
from paceline.ramp.rows import pressed_by
from paceline.ramp.seen import Done, Try, Unit

SLOWEST_RPS: Final = 0.2
"""Nobody is sent away at a pace slower than this."""
ANSWERED: Final = ("scored", "evaluator_error")
"""Outcomes of cases whose task has answered."""
NOT_RUN: Final = ("cancelled", "skipped_budget")
"""Outcomes of cases that were cut off: they say nothing of the provider."""


class Sightings:
    """Of one level."""

    def __init__(self) -> None:
        self._calls: list[Try] = []
        self._attempts: list[Try] = []
        self.pools: Counter[PoolId] = Counter()
        """Tries by pool."""
        self.rejecting: Counter[PoolId] = Counter()
        """Those that were rejected."""
        self.advertised: dict[PoolId, Advertised] = {}
        self._looks = 0
        self._waiting: Counter[Binding] = Counter()

    def settled(self, grant: Grant, result: Result, now: float) -> None:
        """A try has ended. On any thread, with the desk's lock held: one at a time."""
        seen = Try(
            start=grant.at,
            end=now,
            outcome=result.outcome,
            cause=result.cause,
            tokens=result.tokens,
            pool=str(grant.pool),
            message=result.message,
        )
        if grant.pool.provider == TASK:
            self._attempts.append(seen)
        else:
            self._calls.append(seen)
        if result.outcome != "cancelled":
            self.pools[grant.pool] += 1
        if result.outcome == "rate_limited":
            self.rejecting[grant.pool] += 1
        if result.advertised is not None:
            self.advertised[grant.pool] = merged(self.advertised.get(grant.pool), result.advertised)

    def looked(self, pools: list[PoolFacts]) -> None:
        """How the pools stand at a moment."""
        self._looks += 1
        self._waiting.update(
            {facts.binding for facts in self.of_interest(pools) if facts.waiting and facts.binding}
        )

    def of_interest(self, pools: list[PoolFacts]) -> list[PoolFacts]:
        """Those of calls; where none is seen, those of attempts."""
        return [facts for facts in pools if (facts.id.provider == TASK) == (self.unit == "case")]

    @property
    def unit(self) -> Unit:
        """Calls where any was seen; else attempts stand for them."""
        return "call" if self._calls else "case"

    @property
    def tries(self) -> list[Try]:
        """All tries so far."""
        return list(self._calls or self._attempts)

    @property
    def waits(self) -> Mapping[Binding, float]:
        """The share of the looks at which calls waited, by what held them back."""
        return {binding: count / self._looks for binding, count in self._waiting.items()}

    def pace_of(self, pool: PoolId) -> Learned | None:
        """How a pool that has rejected may be gone on with: at what it has let in so far."""
        if not self.rejecting[pool]:
            return None
        tries = [each for each in self.tries if each.pool == str(pool) and each.outcome != "cancelled"]
        told = pressed_by(tries, -math.inf)
        answers = [each for each in tries if each.outcome == "ok"]
        elapsed = max(each.end for each in tries) - min(each.start for each in tries)
        # Without two rejections to go by, part of what was let in may have been saved up before.
        rate = told.rate or len(answers) / max(elapsed, 1e-3) / 2
        by_tokens = told.cause == "tokens" and told.token_rate
        by_rate = told.cause in ("requests", "tokens")
        return Learned(
            window=math.inf if by_rate else max(1.0, told.in_flight),
            rps=max(rate, SLOWEST_RPS) if told.cause in ("requests", "unknown") else None,
            tps=told.token_rate if by_tokens else None,
        )

    @property
    def main_pool(self) -> PoolId | None:
        """The pool that most rejections came from, or else most tries."""
        counted = self.rejecting or self.pools
        return counted.most_common(1)[0][0] if counted else None


def merged(before: Advertised | None, now: Advertised) -> Advertised:
    """What was said last of each limit: some answers tell of one, some of another."""
    if before is None:
        return now
    told = {name: value for name, value in msgspec.structs.asdict(now).items() if value is not None}
    return msgspec.structs.replace(before, **told)


class Witness:
    """A recorder that sees the lines of a level on their way to the journal."""

    def __init__(self, recorder: Recorder, *, clean: Callable[[str], str] = str) -> None:
        """`clean` takes secrets out of what is said about errors."""
        self._recorder = recorder
        self._clean = clean
        self.done: list[Done] = []
        self._begun: dict[Key, float] = {}
        self._prices: dict[Key, list[float | None]] = {}
        self._metrics: dict[Key, list[Mapping[str, int | float]]] = {}

    def append(self, line: Line) -> int:
        """Take a line."""
        match line:
            case BeginLine():
                self._begun.setdefault(key_of(line), time.monotonic())
            case CallLine(outcome=outcome, price=price):
                prices = self._prices.setdefault(key_of(line), [])
                if outcome == "ok" or price is not None:
                    prices.append(price)
            case AttemptLine(metrics=metrics) | OutputLine(metrics=metrics):
                self._metrics.setdefault(key_of(line), []).append(metrics)
            case OutcomeLine():
                self._ended(line)
            case _:
                pass
        return self._recorder.append(line)

    def _ended(self, line: OutcomeLine) -> None:
        key, now = key_of(line), time.monotonic()
        if not line.builds_on:
            self._metrics.setdefault(key, []).append(line.metrics)
        prices, metrics = self._prices.pop(key, None), self._metrics.pop(key, [])
        begun = self._begun.pop(key, now)
        if line.outcome in NOT_RUN:
            return
        error = line.error
        ok = line.outcome in ANSWERED
        self.done.append(
            Done(
                start=begun,
                end=now,
                ok=ok,
                cost=cost_of(prices, metrics),
                error="" if ok or error is None else self._clean(f"{error.type}: {error.message}"),
            )
        )

    # What the engine asks of any recorder

    @property
    def on_commit(self) -> Callable[[int], None] | None:
        """Whom to tell what is safe."""
        return self._recorder.on_commit

    @on_commit.setter
    def on_commit(self, tell: Callable[[int], None] | None) -> None:
        self._recorder.on_commit = tell

    @property
    def on_broken(self) -> Callable[[JournalBroken], None] | None:
        """Whom to tell that the disk has failed."""
        return self._recorder.on_broken

    @on_broken.setter
    def on_broken(self, tell: Callable[[JournalBroken], None] | None) -> None:
        self._recorder.on_broken = tell

    @property
    def lagging(self) -> bool:
        """Whether nothing should be begun."""
        return self._recorder.lagging

    @property
    def committed(self) -> int:
        """Up to which line all is safe."""
        return self._recorder.committed

    def keep_bodies(self, bodies: CallBodies, before: Before = NONE_BEFORE) -> Before:
        """Keep the bodies of a call."""
        return self._recorder.keep_bodies(bodies, before)

    def keep(self, raw: bytes) -> msgspec.Raw:
        """An encoded value as it goes into a line."""
        return self._recorder.keep(raw)


def cost_of(prices: list[float | None] | None, metrics: list[Mapping[str, int | float]]) -> float | None:
    """US dollars of a case: what its calls cost where these are seen, else what the task says; None where a
    part of it is unknown."""
    if prices is not None:
        known = [price for price in prices if price is not None]
        return sum(known) if len(known) == len(prices) else None
    told = [next((each[name] for name in COST_NAMES if name in each), None) for each in metrics]
    known_costs = [float(each) for each in told if each is not None]
    return sum(known_costs) if told and len(known_costs) == len(told) else None
