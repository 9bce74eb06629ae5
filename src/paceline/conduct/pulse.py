"""The pulse of a run: several times a second somebody looks at it, and sees to three things.

What limits the run is added up. Where nobody has said how many cases may be in progress, there are more of
them as long as that brings something. And whoever draws progress finds in the gauge how many calls wait.

Lives on the loop. Decides nothing itself: `limiting` and `width` do, on values.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

from paceline.conduct.limiting import Limiting, Moment
from paceline.conduct.width import next_width
from paceline.engine.events import AnyEvent, LoopBlocked
from paceline.engine.run import Run
from paceline.pace.pool import PoolFacts

BEAT: Final = 0.2

Pools = Callable[[], list[PoolFacts]]


class Pulse:
    """Looks at a run every now and then, from its start to its end."""

    def __init__(self, run: Run, pools: Pools, *, widest: int | None) -> None:
        """`widest` is how many cases may be in progress where the run finds that out; None where it was
        said."""
        self._run = run
        self._pools = pools
        self._widest = widest
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time()
        self._thread_time = time.thread_time()
        self._computed = 0.0
        self._blocked = 0.0
        self.blocker = ""
        """What has blocked the event loop longest."""
        self._longest = 0.0
        self._last: list[PoolFacts] | None = None
        self.limiting = Limiting(self._due)
        self._timer = self._loop.call_later(BEAT, self._beat)

    wants_cases = False

    def __call__(self, event: AnyEvent) -> None:
        """An event of the run."""
        if isinstance(event, LoopBlocked):
            self._blocked += event.seconds
            if event.seconds > self._longest:
                self._longest, self.blocker = event.seconds, event.where

    def stop(self) -> list[PoolFacts]:
        """Look once more, and no more after that; the pools as they are in the end."""
        if self._last is None:
            self._timer.cancel()
            self._last = self._look(self._loop.time())
        return self._last

    def _beat(self) -> None:
        now = self._loop.time()
        lag = max(0.0, now - self._due - BEAT)
        before = self._computed
        pools = self._look(now)
        self._widen(pools, busy=(self._computed - before) / max(now - self._due, BEAT), lag=lag)
        self._due = now
        self._timer = self._loop.call_later(BEAT, self._beat)

    def _look(self, now: float) -> list[PoolFacts]:
        run, gauge = self._run, self._run.gauge
        pools = self._pools()
        computed = time.thread_time()
        self._computed += computed - self._thread_time
        self._thread_time = computed
        gauge.queued = sum(each.waiting for each in pools)
        moment = Moment(
            working=gauge.in_flight,
            places=run.places,
            places_follow=self._widest is not None and run.places < self._widest,
            exhausted=run.source.exhausted,
            retrying=gauge.retrying,
            scoring=gauge.scoring,
            scoring_full=run.scoring_full,
            lagging=run.lagging,
            blocked_s=self._blocked,
            loop_cpu_s=self._computed,
            pools=tuple(pools),
        )
        self.limiting.tick(now, moment)
        return pools

    def _widen(self, pools: list[PoolFacts], *, busy: float, lag: float) -> None:
        if self._widest is None:
            return
        run = self._run
        waiting = sum(each.waiting for each in pools)
        wanted = next_width(run.places, full=run.full, waiting=waiting, busy=busy, lag=lag, most=self._widest)
        if wanted > run.places:
            run.widen(wanted)
