"""The run: lanes take turns from the source until there are none left.

    take a turn ─ begin ─ attempt ─┬─ failed, worth a retry ── wait, without holding a place ── attempt
                                   ├─ failed ── outcome
                                   └─ output ── instant evaluators ─┬─ nothing waits ── outcome
                                                                    └─ scoring stage ── outcome

The run never fails because of a case. It ends early in four ways only: an interrupt, a spent budget, a
recorder that the disk has failed, and an executor that cannot be started.

Knows the order of steps. What each step is stands in `lanes`, `keys`, `scoring`, `decisions`, `bookkeeping`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, Literal

import msgspec

from paceline.engine.bookkeeping import Bookkeeper, Listener
from paceline.engine.budget import Purse, Spent
from paceline.engine.clock import Clock, SystemClock
from paceline.engine.deadlines import Deadlines
from paceline.engine.decisions import skipped
from paceline.engine.events import Abandoned, Draining, Gauge
from paceline.engine.keys import KeyWorker
from paceline.engine.lanes import Lane, LaneLost
from paceline.engine.plan import Plan
from paceline.engine.ports import Executor, Recorder, Source, Turn
from paceline.engine.scoring import Scorer

UNBOUNDED: Final = 100_000
"""Lanes at most where all cases may be in progress at once."""

BREATH: Final = 0.02
"""Seconds that a lane may go on without letting the loop look after its other business."""


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a process left the run."""

    how: Literal["complete", "interrupted", "budget", "failed"]
    reason: str = ""
    left_behind: int = 0
    error: Exception | None = None


class Run:
    """One process at work on a run."""

    def __init__(
        self,
        *,
        source: Source,
        executor: Executor,
        recorder: Recorder,
        plan: Plan,
        listeners: Iterable[Listener] = (),
        gauge: Gauge | None = None,
        spent: Spent | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.plan = plan
        self.source = source
        self.executor = executor
        self.gauge = gauge if gauge is not None else Gauge(expected=source.expected)
        self.clock = clock or SystemClock()
        self.dice = random.Random(plan.seed)
        self.books = Bookkeeper(recorder, self.gauge, listeners, self.clock)
        self.purse = Purse(plan.budget, spent or Spent(), now=self.clock.now())
        self._recorder = recorder
        self._lanes: set[Lane] = set()
        self._idle: deque[asyncio.Future[None]] = deque()
        self._retries: list[tuple[float, int, Turn]] = []
        self._counter = itertools.count()
        self._scoring: set[asyncio.Task[None]] = set()
        self._places = plan.concurrency or UNBOUNDED
        self._stop_reason = ""
        self._how: Literal["complete", "interrupted", "budget", "failed"] = "complete"
        self._error: Exception | None = None
        self._taking = True
        self._stopping = False
        self._finished: asyncio.Future[None]

    # The way through

    async def carry_out(self) -> Ending:
        """Work until nothing is left to do, or until told to stop. Cancelling it stops the run in order."""
        self._loop = loop = asyncio.get_running_loop()
        self.deadlines = Deadlines(loop)
        self._finished = loop.create_future()
        self.scorer = Scorer(
            concurrency=self.plan.evaluator_concurrency or self.plan.concurrency,
            timeout=self.plan.evaluator_timeout,
            retry=self.plan.retry_evaluators,
            deadlines=self.deadlines,
            clock=self.clock,
            dice=self.dice,
            grace=self.plan.grace,
            around=self.plan.around_evaluator,
        )
        self.keys = KeyWorker(self)
        self._recorder.on_commit = lambda _sequence: self._from_any_thread(self._committed)
        self._recorder.on_broken = lambda error: self._from_any_thread(self._broken, error)
        await self.executor.start()
        unwanted = False
        try:
            self._start_lanes()
            unwanted = await self._until_finished()
            await self._close_the_rest()
        except Exception as error:
            self._fail(error)
        finally:
            self.deadlines.close()
            self.scorer.stop()
            await self.executor.stop()
            self._recorder.on_commit = self._recorder.on_broken = None
        if unwanted:
            raise asyncio.CancelledError
        left = self.executor.left_behind + self.scorer.left_behind + self.keys.left_behind
        return Ending(how=self._how, reason=self._stop_reason, left_behind=left, error=self._error)

    async def _until_finished(self) -> bool:
        """Wait for the last lane and the last score; whether somebody cancelled the run meanwhile."""
        unwanted = False
        while not self._finished.done():
            try:
                await asyncio.wait([self._finished])
            except asyncio.CancelledError:
                # Whoever awaits the run wants it gone: what is in flight is cut off and recorded as such.
                unwanted = True
                self.cancel("the run was cancelled")
        return unwanted

    # Lanes

    def _start_lanes(self) -> None:
        expected = self.source.expected
        wanted = self._places if expected is None else min(self._places, max(expected, 1))
        for _ in range(wanted):
            self._start_lane(None)

    def _start_lane(self, lost: Lane | None) -> None:
        lane = Lane(self.deadlines, grace=self.plan.grace, on_lost=self._lane_lost)
        lane.stopping = self._stopping
        self._lanes.add(lane)
        self.deadlines.watch(lane)
        lane.task = self._loop.create_task(self._work(lane, lost), name="paceline-lane")

    async def _work(self, lane: Lane, lost: Lane | None) -> None:
        """One lane, from its first turn to its last."""
        try:
            if lost is not None:
                await self.keys.take_over(lane, lost)
            now = self.clock.now
            breath = now() + BREATH
            while (turn := self._take() or await self._next()) is not None:
                lane.turn = turn
                await self.keys.work(lane, turn)
                lane.turn = None
                if now() > breath:
                    # Tasks that never wait would keep the loop from everything else it has to do.
                    await asyncio.sleep(0)
                    breath = now() + BREATH
        except LaneLost:
            return
        except Exception as error:  # a broken promise of our own, or of the disk: the run cannot go on
            self._fail(error)
        finally:
            self._lanes.discard(lane)
            self.deadlines.forget(lane)
            self._finish_if_done()

    def _lane_lost(self, lane: Lane) -> None:
        """The code in a lane ignores its cancellation: leave it there and go on in another lane."""
        self._lanes.discard(lane)
        self.deadlines.forget(lane)
        if lane.turn is not None:
            self.books.tell(Abandoned(at=self.clock.epoch(), key=lane.turn.key, what=lane.stage))
        self._start_lane(lane)

    # Turns

    def _take(self) -> Turn | None:
        """The next turn where there is one right now: retries that are due come before fresh work."""
        if not self._taking:
            return None
        if self._retries and self._retries[0][0] <= self.clock.now():
            self.gauge.retrying -= 1
            return heapq.heappop(self._retries)[2]
        if self._recorder.lagging or len(self._retries) >= self._places:
            return None
        if not self.purse.unlimited and not self._affordable():
            return None
        return self.source.take()

    def _affordable(self) -> bool:
        in_flight = self.gauge.in_flight
        reason = self.purse.refusal(in_flight=in_flight, now=self.clock.now())
        if reason is not None:
            self._run_out(reason)
            return False
        return not self.purse.must_wait(in_flight=in_flight)

    async def _next(self) -> Turn | None:
        """The next turn, waited for; None when there is none left for this lane."""
        while self._taking:
            if (turn := self._take()) is not None:
                return turn
            if self.source.exhausted and not self._retries:
                return None
            await self._something_new()
        return None

    async def _something_new(self) -> None:
        """Wait until a retry is due, the recorder has caught up, money was settled, or the source has
        more."""
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._idle.append(waiter)
        timer = self._loop.call_at(self._retries[0][0], self.wake) if self._retries else None
        more: asyncio.Task[None] | None = None
        if not self.source.exhausted and not self._recorder.lagging and self.purse.unlimited:
            more = self._loop.create_task(self.source.wait_for_more())
            more.add_done_callback(lambda _task: self.wake())
        try:
            await waiter
        finally:
            if timer is not None:
                timer.cancel()
            if more is not None:
                more.cancel()

    def wake(self) -> None:
        """Let every idle lane look again."""
        idle, self._idle = self._idle, deque()
        for waiter in idle:
            if not waiter.done():
                waiter.set_result(None)

    def retry_later(self, turn: Turn, seconds: float) -> None:
        """Put a turn aside until its next try; it holds no place meanwhile."""
        self.gauge.retrying += 1
        heapq.heappush(self._retries, (self.clock.now() + seconds, next(self._counter), turn))
        if self._idle:
            self.wake()

    # The scoring stage

    async def room_for_scoring(self) -> None:
        """Wait until the scoring stage can take another case."""
        while len(self._scoring) >= self._places and not self._stopping:
            await asyncio.wait(self._scoring, return_when=asyncio.FIRST_COMPLETED)

    def score_apart(self, scoring: asyncio.Task[None]) -> None:
        """Let a case be scored while its lane goes on."""
        self._scoring.add(scoring)
        self.gauge.scoring += 1
        scoring.add_done_callback(self._scored)

    def _scored(self, scoring: asyncio.Task[None]) -> None:
        self._scoring.discard(scoring)
        self.gauge.scoring -= 1
        if not scoring.cancelled() and (error := scoring.exception()) is not None:
            self._fail(error if isinstance(error, Exception) else RuntimeError(repr(error)))
        self._finish_if_done()

    # Ending

    def drain(self, reason: str) -> None:
        """Begin nothing more; what is in flight may finish, for as long as the plan allows."""
        if not self._taking:
            return
        self._taking = False
        self._how, self._stop_reason = "interrupted", reason
        in_flight = self.gauge.in_flight + len(self._scoring)
        self.books.tell(Draining(at=self.clock.epoch(), reason=reason, in_flight=in_flight))
        self._loop.call_later(self.plan.drain_timeout, self.cancel, reason)
        self.wake()
        self._finish_if_done()

    def cancel(self, reason: str) -> None:
        """Cut off what is in flight."""
        if self._stopping:
            return
        if self._how == "complete":
            self._how, self._stop_reason = "interrupted", reason
        self._taking, self._stopping = False, True
        for lane in list(self._lanes):
            lane.stop()
        for scoring in list(self._scoring):
            scoring.cancel()
        self.wake()
        self._finish_if_done()

    def blame(self, what: str) -> None:
        """Record the key whose code holds the loop as a timeout. Called from another thread, the loop
        being held."""
        culprit = asyncio.current_task(self._loop)
        for lane in self._lanes:
            if lane.task is culprit and lane.turn is not None:
                self.keys.condemn(lane.turn, what)

    def _run_out(self, reason: str) -> None:
        if self._taking:
            self._taking = False
            self._how, self._stop_reason = "budget", reason
            self.books.tell(Draining(at=self.clock.epoch(), reason=reason, in_flight=self.gauge.in_flight))
            self.wake()

    def _fail(self, error: Exception) -> None:
        if self._error is None:
            self._error, self._how, self._stop_reason = error, "failed", str(error)
        self.cancel(str(error))

    def _broken(self, error: Exception) -> None:
        self._fail(error)

    def _finish_if_done(self) -> None:
        if not self._lanes and not self._scoring and not self._finished.done():
            self._finished.set_result(None)

    async def _close_the_rest(self) -> None:
        """Keys that this process will not run any more get the outcome that says why."""
        for _due, _count, waiting in self._retries:
            self.keys.cut_off(waiting)
        self._retries.clear()
        if self._how != "budget":
            return  # after an interrupt they stay open, and a resume runs them
        while (turn := self.source.take()) is not None:
            self.books.outcome(turn, "skipped_budget", skipped(self._stop_reason), total=0.0)
            while self._recorder.lagging and self._error is None:
                await self._something_new()

    # The recorder's messages

    def _from_any_thread(self, function: object, *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(function, *arguments)  # type: ignore[arg-type]

    def _committed(self) -> None:
        self.books.on_commit()
        if self._idle:
            self.wake()
