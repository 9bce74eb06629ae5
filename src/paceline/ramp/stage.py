"""The stage: holds a level with real cases of a suite, and writes them down as any run does.

Each level is a run of the engine's, on cases of its own, with as many of them in progress as the level says
and a window of the same width for every pool of calls. Nothing adapts meanwhile; a time that the provider
asks to wait is waited by all. When a level is given up because of rejections, the pace adapts again, so that
what was begun comes to its end without further harm.

All levels write to one journal, so a later run of the suite takes their cases as done.

Knows the engine, the desk and the record. Decides nothing about levels: that is asked of `heed`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from paceline.conduct.limiting import Limiting, Moment
from paceline.engine.bookkeeping import Listener
from paceline.engine.budget import Spent
from paceline.engine.events import AnyEvent, Draining, Gauge
from paceline.engine.plan import Plan
from paceline.engine.ports import Executor, Recorder, Turn
from paceline.engine.run import Ending, Run
from paceline.pace.ceilings import strictest
from paceline.pace.desk import Desk
from paceline.pace.messages import Limits, PoolId
from paceline.pace.pool import PoolFacts
from paceline.pace.sharing import SharedDesk
from paceline.ramp.machine import Meter
from paceline.ramp.seen import Glimpse, Halt, Heed, LevelRun
from paceline.ramp.sightings import Sightings, Witness

LOOK_S: Final = 0.2
"""Between two looks at a level."""

Ceiling = Callable[[PoolId], Limits]
Watch = Callable[[Run], AbstractContextManager[object]]


class Cases:
    """A source of the cases of one level, until it is closed."""

    def __init__(self, turns: Sequence[Turn], *, gave: Callable[[], None]) -> None:
        self._turns = list(turns)
        self._gave = gave
        self.begun = 0
        self.closed = False

    @property
    def expected(self) -> int | None:
        """How many there are."""
        return len(self._turns)

    @property
    def exhausted(self) -> bool:
        """Whether none will come any more."""
        return self.closed or self.begun == len(self._turns)

    def take(self) -> Turn | None:
        """The next one."""
        if self.exhausted:
            return None
        turn = self._turns[self.begun]
        self.begun += 1
        self._gave()
        return turn

    async def wait_for_more(self) -> None:
        """There are those that there are."""
        raise AssertionError("asked for more after `take` had none")


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """How a level stands, for whoever shows it."""

    level: int
    paced: float | None
    cases: int
    """That may be begun."""
    begun: int
    done: int
    in_flight: int
    """Cases under way."""
    answers: int
    rejected: int
    failed: int
    seconds: float
    halt: Halt | None = None


class _Level:
    """A level that is being held."""

    def __init__(self, level: int, turns: Sequence[Turn], rps: float | None, meter: Meter) -> None:
        self.level = level
        self.rps = rps
        self.started = self.held_until = time.monotonic()
        self.cases = Cases(turns, gave=self._gave)
        self.sightings = Sightings()
        self.halt: Halt | None = None
        self.halted: float | None = None
        self._meter = meter
        meter.start()
        self.machine = meter.read()

    def _gave(self) -> None:
        self.held_until = time.monotonic()
        if self.cases.exhausted:
            self.machine = self._meter.read()

    def stop(self, halt: Halt) -> None:
        """Begin no more."""
        if self.halt is None:
            if not self.cases.exhausted:
                self.machine = self._meter.read()
            self.halt, self.halted = halt, time.monotonic()
            self.cases.closed = True


@dataclass(kw_only=True)
class RunStage:
    """Holds levels with the cases of a run, one level after the other."""

    executor: Executor
    """Started and stopped by whoever made it: it outlives levels."""
    recorder: Recorder
    flush: Callable[[], object]
    """Waits until all lines so far are safe."""
    plan: Plan
    desk: Desk | SharedDesk
    stated: Ceiling
    """Limits that somebody has set: no level goes beyond."""
    gauge: Gauge
    limiting: Limiting
    """Adds up what has limited the sweep: it stands in the record, as of any run."""
    spent: Spent = field(default_factory=Spent)
    listeners: Sequence[Listener] = ()
    clean: Callable[[str], str] = str
    """Takes secrets out of a text."""
    show: Callable[[Now], None] | None = None
    watch: Watch = lambda _run: nullcontext()
    """Stands around the run of each level."""
    make_ready: Callable[[int], Awaitable[None]] | None = None
    """Sees that so many attempts can be made at a time, where that takes its time."""

    def __post_init__(self) -> None:
        self.ids: dict[str, PoolId] = {}
        """Pools by the names that they have in rows."""
        self.interrupts = 0
        self.unknown: str | None = None
        """What a budget was set on and could not be seen."""
        self._interrupted: Halt | None = None
        self._run: Run | None = None
        self._now: _Level | None = None
        self._pressed: PoolId | None = None
        """The pool that rejected most so far."""
        self._closed = ""

    # From outside

    def drain(self, reason: str) -> None:
        """Begin nothing more; what is in flight may finish. On the loop."""
        self.interrupts += 1
        self._stop_for_good(Halt(kind="interrupt", reason=reason))
        if self._run is not None:
            self._run.drain(reason)

    def cancel(self, reason: str) -> None:
        """Cut off what is in flight. On the loop."""
        self.interrupts += 1
        self._stop_for_good(Halt(kind="interrupt", reason=reason))
        if self._run is not None:
            self._run.cancel(reason)

    def close(self, reason: str) -> None:
        """A provider will not answer any more. On the loop."""
        self._closed = reason
        if self._now is not None:
            self._now.stop(Halt(kind="closed", reason=reason))
        if self._run is not None:
            self._run.drain(reason)

    def _stop_for_good(self, halt: Halt) -> None:
        self._interrupted = self._interrupted or halt
        if self._now is not None:
            self._now.stop(halt)

    # A level

    async def hold(
        self, level: int, cases: Sequence[Turn], heed: Heed, *, rps: float | None = None
    ) -> LevelRun:
        """Carry out these cases, `level` at a time, until they are done or `heed` says to stop."""
        if self.make_ready is not None and self._interrupted is None:
            await self.make_ready(level)
        meter = Meter()
        try:
            now = _Level(level, cases, rps, meter)
            if self._interrupted is not None:
                now.stop(self._interrupted)
            self._set_limits(level, rps)
            self.desk.when_settled(now.sightings.settled)
            witness = Witness(self.recorder, clean=self.clean)
            self._now, self._run = now, self._run_of(now, witness)
            looking = asyncio.ensure_future(self._look(now, witness, heed))
            try:
                with self.watch(self._run):
                    ending = await self._run.carry_out()
            finally:
                self._tick(now)
                looking.cancel()
                with suppress(asyncio.CancelledError):
                    await looking
                self.flush()
                self._run.books.on_commit()
                self.spent, self.unknown = self._run.purse.spent, self._run.purse.unknown
                self._run = self._now = None
        finally:
            meter.close()
        self._heed_ending(now, ending)
        return self._seen(now, witness)

    def _run_of(self, now: _Level, witness: Witness) -> Run:
        def close_when_spent(event: AnyEvent) -> None:
            if isinstance(event, Draining):
                now.cases.closed = True  # what was not begun stays open, for whoever goes on

        return Run(
            source=now.cases,
            executor=Kept(self.executor),
            recorder=witness,
            plan=replace(self.plan, concurrency=now.level, evaluator_concurrency=self._scorers(now.level)),
            listeners=(close_when_spent, *self.listeners),
            gauge=self.gauge,
            spent=replace(self.spent),
        )

    def _scorers(self, level: int) -> int:
        stated = self.plan.evaluator_concurrency
        return level if stated is None else min(level, stated)

    def _set_limits(self, level: int, rps: float | None) -> None:
        """The level is the window of every pool; a rate is only for the one that has rejected."""
        pressed = self._pressed

        def ceiling(pool: PoolId) -> Limits:
            own = Limits(window=level, rps=rps if pool == pressed else None)
            return strictest((own, self.stated(pool)))

        self.desk.limit(ceiling, adaptive=False)

    async def _look(self, now: _Level, witness: Witness, heed: Heed) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            pools = self._tick(now)
            if not now.cases.exhausted:
                now.sightings.looked(pools)
            tries = now.sightings.tries
            if now.halt is None:
                glimpse = Glimpse(
                    level=now.level,
                    now=time.monotonic(),
                    started=now.started,
                    tries=tries,
                    done=witness.done,
                )
                halt = heed(glimpse)
                # With no case left to begin, only harm is worth a word.
                if halt is not None and not (halt.kind == "enough" and now.cases.exhausted):
                    self._stop(now, halt)
            if self.show is not None:
                self.show(self._state(now, witness))

    def _tick(self, now: _Level) -> list[PoolFacts]:
        """Give the time since the last look to what has limited this level."""
        pools, gauge, run = self.desk.facts(), self.gauge, self._run
        moment = Moment(
            working=gauge.in_flight,
            places=now.level,
            exhausted=now.cases.exhausted,
            retrying=gauge.retrying,
            scoring=gauge.scoring,
            scoring_full=run is not None and run.scoring_full,
            lagging=self.recorder.lagging,
            loop_cpu_s=time.thread_time(),
            pools=tuple(now.sightings.of_interest(pools)),
        )
        self.limiting.tick(time.monotonic(), moment)
        return pools

    def _stop(self, now: _Level, halt: Halt) -> None:
        now.stop(halt)
        if halt.kind == "limit":
            # The limit has been seen. What is under way is not to run against it any longer than it must.
            level = Limits(window=now.level)
            self.desk.limit(
                lambda pool: strictest((level, self.stated(pool))), adaptive=True, start=now.sightings.pace_of
            )
        elif halt.kind in ("errors", "closed") and self._run is not None:
            self._run.drain(halt.reason)

    def _state(self, now: _Level, witness: Witness) -> Now:
        outcomes = [each.outcome for each in now.sightings.tries]
        return Now(
            level=now.level,
            paced=now.rps,
            cases=now.cases.expected or 0,
            begun=now.cases.begun,
            done=len(witness.done),
            in_flight=now.cases.begun - len(witness.done),
            answers=outcomes.count("ok"),
            rejected=outcomes.count("rate_limited"),
            failed=sum(outcome in ("overloaded", "transient", "fatal") for outcome in outcomes),
            seconds=time.monotonic() - now.started,
            halt=now.halt,
        )

    def _heed_ending(self, now: _Level, ending: Ending) -> None:
        if ending.how == "failed":
            assert ending.error is not None
            raise ending.error
        if ending.how == "budget" and now.halt is None:
            now.stop(Halt(kind="budget", reason=ending.reason))

    def _seen(self, now: _Level, witness: Witness) -> LevelRun:
        sightings = now.sightings
        for pool in sightings.pools:
            self.ids[str(pool)] = pool
        if sightings.rejecting:
            self._pressed = sightings.main_pool
        unit = sightings.unit
        main = sightings.main_pool
        return LevelRun(
            level=now.level,
            paced=now.rps,
            begun=now.cases.begun,
            started=now.started,
            held_until=now.held_until,
            ended=time.monotonic(),
            tries=sightings.tries,
            done=witness.done,
            unit=unit,
            machine=now.machine,
            halt=now.halt,
            halted=now.halted,
            waits=sightings.waits,
            advertised=sightings.advertised.get(main) if main is not None else None,
            interrupts=self.interrupts,
        )


class Kept:
    """An executor that stays when the run which uses it ends: the next level uses it too."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.attempt = executor.attempt

    @property
    def left_behind(self) -> int:
        """Of the executor within."""
        return self._executor.left_behind

    async def start(self) -> None:
        """It has been started."""

    async def stop(self) -> None:
        """It is needed further on."""
