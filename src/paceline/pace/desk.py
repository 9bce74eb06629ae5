"""The desk: all pools of a process behind one lock, for coroutines on any loop and for threads.

    desk = Desk(limits=Limits(rpm=600))
    grant = await desk.acquire(pool, tokens=900)           # raises PoolClosed
    desk.settle(grant, Result(outcome="rate_limited", cause="requests", retry_after=2.0))

Promises: what can be granted at once is granted without a thread switch or a future. Who gives up waiting, at
whatever moment, leaves nothing in flight. Whoever waits is told: the grant, or `PoolClosed`, or `DeskClosed`.
`settle` never waits and may be called from anywhere, twice too.

Knows threads, loops and times of waking. Knows nothing of windows, quotas and answers (`pool`), and nothing
of HTTP.
"""

from __future__ import annotations

import math
import os
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final, Protocol

from paceline.errors import DeskClosed, PoolClosed
from paceline.pace.alarm import Alarm, ThreadAlarm
from paceline.pace.ceilings import limits_for
from paceline.pace.joint import JointPool
from paceline.pace.learned import Learned, LearnedLimits
from paceline.pace.messages import FRESH, Ask, Grant, Limits, PoolId, Result
from paceline.pace.pool import TIME_TO_LIVE_S, Closed, PoolFacts
from paceline.pace.turnstile import Turnstile
from paceline.pace.waiters import Acquiring, Waiter, WaiterT

NO_LIMITS: Final = Limits()
Start = Callable[[PoolId], Learned | None]
"""Where a pool may begin, as somebody knows who has watched it."""
OnSettled = Callable[[Grant, Result, float], None]
"""Told of a call that has ended, how, and when."""
_GIVEN_BACK: Final = Result(outcome="cancelled")


class Granting(Protocol):
    """What a door needs: a `Desk`, or one that shares its pools with other processes (`sharing`)."""

    on_closed: Callable[[PoolId, Closed], None] | None
    """Told once of each pool that closes, on whatever thread learns of it. Must not raise."""

    async def acquire(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        """Wait for leave to make a call; raises `PoolClosed`, `DeskClosed`."""
        ...

    def acquire_sync(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        """The same for a thread."""
        ...

    def settle(self, grant: Grant, result: Result) -> None:
        """Say how a granted call went. From any thread; never waits."""
        ...

    def facts(self) -> list[PoolFacts]:
        """What is known of each pool now; still there when the desk is closed."""
        ...

    def close(self) -> None:
        """Grant no more, wake whoever waits with `DeskClosed`, keep what was learned."""
        ...


class _Line:
    """A pool, and who stands in line for it or holds a grant of it."""

    __slots__ = ("held", "pool", "told", "waiters")

    def __init__(self, pool: JointPool) -> None:
        self.pool = pool
        self.waiters: dict[int, Waiter] = {}
        self.held: set[int] = set()
        self.told = False
        """Whether it is known here that the pool has closed."""


class Desk(Acquiring):
    """All pools of a process."""

    def __init__(
        self,
        *,
        limits: Limits = NO_LIMITS,
        per_pool: Mapping[str, Limits] | None = None,
        learned: LearnedLimits | None = None,
        adaptive: bool = True,
        now: Callable[[], float] = time.monotonic,
        dice: random.Random | None = None,
        alarm: Callable[[Callable[[], None]], Alarm] | None = None,
        time_to_live_s: float = TIME_TO_LIVE_S,
    ) -> None:
        """`per_pool`: see `ceilings`. `alarm`: given what to call, something that calls it at a time."""
        super().__init__()
        self._ceiling: Callable[[PoolId], Limits] = partial(
            limits_for, general=limits, per_pool=dict(per_pool or {})
        )
        self._learned = learned
        self._adaptive = adaptive
        self.now = now
        self._dice = dice or random.Random()
        self._lines: dict[PoolId, _Line] = {}
        self._inside: Turnstile[Waiter | tuple[Grant, Result]] = Turnstile(self._run, self._tell)
        self._alarm = alarm(self._look_at_clock) if alarm else ThreadAlarm(self._look_at_clock, now)
        self._rings_at = math.inf
        self._news: list[tuple[PoolId, Closed]] = []
        """Pools that have closed, of which `on_closed` is to be told."""
        self._time_to_live_s = time_to_live_s
        self._paused = False
        self._succeeds = False
        self._closed = False
        self.on_closed: Callable[[PoolId, Closed], None] | None = None
        self._on_settled: OnSettled | None = None

    def enter(self, ask: Ask, waiter: Callable[[Ask, float], WaiterT]) -> Grant | WaiterT:
        with self._inside:
            if self._closed:
                raise desk_closed()
            line = self._line(ask.pool)
            now = self.now()
            if closed := line.pool.closed:
                raise pool_closed(ask.pool, closed)
            line.pool.ask(ask, now)
            if granted := self._serve(line, now, ask.id):
                return granted
            waiting = waiter(ask, now)
            line.waiters[ask.id] = waiting
            self._set_alarm(line, now)
            return waiting

    def leave(self, waiter: Waiter) -> None:
        self._inside.leave(waiter)

    def settle(self, grant: Grant, result: Result) -> None:
        """Say how a granted call went, which frees its place. From any thread; never waits; once counts."""
        self._inside.leave((grant, result))

    def facts(self) -> list[PoolFacts]:
        with self._inside:
            now = self.now()
            return [line.pool.facts(now) for line in self._lines.values()]

    def close(self) -> None:
        with self._inside:
            if self._closed:
                return
            self._closed = True
            now = self.now()
            for line in self._lines.values():
                for waiter in line.waiters.values():
                    line.pool.withdraw(waiter.ask.id, now)
                    waiter.resolve(desk_closed())
                line.waiters.clear()
            known = [(name, line.pool.learned()) for name, line in self._lines.items()]
        self._alarm.stop()
        if self._learned is not None:
            for name, learned in known:
                if learned is not None:
                    self._learned.store(name, learned)

    # ---- for whoever shares its pools with other processes (`sharing`)

    def closed(self, name: PoolId) -> Closed | None:
        """Whether and why a pool grants nothing any more."""
        with self._inside:
            line = self._lines.get(name)
            return line.pool.closed if line else None

    def limit(
        self,
        ceiling: Callable[[PoolId], Limits],
        *,
        adaptive: bool | None = None,
        start: Start | None = None,
    ) -> None:
        """Keep every pool to other limits from now on; where `adaptive` is given, to nothing else or not.

        Pools that have learned nothing themselves begin where `start` says.
        """
        with self._inside:
            self._ceiling = ceiling
            self._adaptive = self._adaptive if adaptive is None else adaptive
            now = self.now()
            for name, line in self._lines.items():
                known = start(name) if start is not None else None
                line.pool.limit(ceiling(name), now, adaptive=self._adaptive, start=known)
                self._go_on(line, now)

    def when_settled(self, tell: OnSettled | None) -> None:
        """Whom to tell of each call that has ended, with the lock held: must neither wait nor ask the
        desk."""
        with self._inside:
            self._on_settled = tell

    def succeed(self) -> None:
        """Another desk has just let calls go: no quota is thought to be there in full."""
        self._succeeds = True

    def take_over(self, waiters: Iterable[Waiter], held: Iterable[Grant]) -> None:
        """Go on where another desk ended: with those in line at it, and the calls it had granted."""
        with self._inside:
            now = self.now()
            for grant in held:
                line = self._line(grant.pool)
                line.pool.adopt(grant, now)
                line.held.add(grant.id)
            for waiter in waiters:
                line = self._line(waiter.ask.pool)
                line.pool.ask(waiter.ask, waiter.since)
                line.waiters[waiter.ask.id] = waiter
            for line in self._lines.values():
                self._go_on(line, now)

    def pause(self) -> None:
        """Grant nothing until `resume`: somebody is about to say what is in flight."""
        with self._inside:
            self._paused = True

    def resume(self) -> None:
        with self._inside:
            self._paused = False
            now = self.now()
            for line in self._lines.values():
                self._go_on(line, now)

    # ---- with the lock held

    def _line(self, name: PoolId) -> _Line:
        line = self._lines.get(name)
        if line is None:
            pool = JointPool(
                name,
                limits=self._ceiling(name),
                start=self._learned.load(name) if self._learned else None,
                dice=self._dice,
                now=self.now(),
                adaptive=self._adaptive,
                time_to_live_s=self._time_to_live_s,
            )
            if self._succeeds:
                pool.drained(self.now())
            line = self._lines[name] = _Line(pool)
        return line

    def _run(self, errand: Waiter | tuple[Grant, Result]) -> None:
        now = self.now()
        if isinstance(errand, Waiter):
            self._take_back(errand, now)
        else:
            self._end(*errand, now)

    def _take_back(self, waiter: Waiter, now: float) -> None:
        line = self._lines.get(waiter.ask.pool)
        if line is None:
            return
        if line.waiters.pop(waiter.ask.id, None) is not None:
            line.pool.withdraw(waiter.ask.id, now)
            self._go_on(line, now)  # the one behind it may want less
        elif isinstance(waiter.outcome, Grant):
            self._end(waiter.outcome, _GIVEN_BACK, now)

    def _end(self, grant: Grant, result: Result, now: float) -> None:
        line = self._lines.get(grant.pool)
        if line is None or grant.id not in line.held:
            return  # settled before
        line.held.remove(grant.id)
        line.pool.settle(grant.id, result, now)
        if self._on_settled is not None:
            self._on_settled(grant, result, now)
        self._go_on(line, now)

    def _go_on(self, line: _Line, now: float) -> None:
        """After something has changed: grant what may go now, and see when to look again."""
        if self._closed:
            return
        if line.waiters:
            self._serve(line, now)
        if closed := line.pool.closed:
            self._shut(line, closed, now)
        else:
            self._set_alarm(line, now)

    def _serve(self, line: _Line, now: float, own: int = -1) -> Grant | None:
        """Hand out what the pool grants, but return the grant of the ask `own`: nobody waits for it yet."""
        mine = None
        if self._paused:
            return None
        for grant in line.pool.grant(now):
            line.held.add(grant.id)
            if grant.id == own:
                mine = grant
            elif not (waiter := line.waiters.pop(grant.id)).resolve(grant):
                self._inside.leave(waiter)
        return mine

    def _shut(self, line: _Line, closed: Closed, now: float) -> None:
        for waiter in line.waiters.values():
            line.pool.withdraw(waiter.ask.id, now)
            waiter.resolve(pool_closed(waiter.ask.pool, closed))
        line.waiters.clear()
        if not line.told:
            line.told = True
            self._news.append((line.pool.id, closed))

    def _set_alarm(self, line: _Line, now: float) -> None:
        if not line.waiters or self._paused:
            return
        due = line.pool.next_due(now)
        if due is not None and due < self._rings_at:
            self._rings_at = due
            self._alarm.set(due)

    # ---- without it

    def _look_at_clock(self) -> None:
        with self._inside:
            self._rings_at = math.inf
            now = self.now()
            for line in self._lines.values():
                self._go_on(line, now)
        self._tell()

    def _tell(self) -> None:
        # Outside the lock: whoever is told may well ask the desk something.
        while self._news:
            try:
                news = self._news.pop()
            except IndexError:
                return  # another thread tells it
            if self.on_closed is not None:
                self.on_closed(*news)


def desk_closed() -> DeskClosed:
    return DeskClosed(
        "no more calls are granted: the run is ending", hint="`paceline resume` goes on from here"
    )


_WHY: Final[Mapping[str, tuple[str, str]]] = {
    "quota": ("its quota is spent", "pay, or raise the spending limit of the account"),
    "auth": ("the key is refused", "set a key that may use this model"),
}


def pool_closed(pool: PoolId, closed: Closed) -> PoolClosed:
    """What a person is told when a provider will not answer any more."""
    why, remedy = _WHY.get(closed.cause, ("it has said so for good", "see what the provider asks for"))
    said = " ".join(closed.message.split())
    return PoolClosed(
        f"{pool} answers no more calls: {why}" + (f". It said: {said[:300]}" if said else ""),
        hint=f"{remedy}, then `paceline resume`: all results so far are kept",
        pool=str(pool),
        cause=closed.cause,
    )


# ---- the desk of the run

_installed: list[Granting] = []


def current_desk() -> Granting | None:
    """The desk that doors ask: that of the run that began last and goes on."""
    return _installed[-1] if _installed else None


@contextmanager
def installed(desk: Granting) -> Iterator[None]:
    """Make a desk the one that doors ask, in the whole process.

    Not a context variable: a task's own threads and loops make calls too. Runs may overlap and end in any
    order.
    """
    _installed.append(desk)
    try:
        yield
    finally:
        _installed[:] = [other for other in _installed if other is not desk]


# A forked child has neither the thread nor the socket of its parent's desk: whoever waited would wait for
# good.
os.register_at_fork(after_in_child=_installed.clear)
