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
from paceline.engine.deadlines import NEVER, Deadlines
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
        self._alarm: asyncio.Handle | None = None
        self._alarm_at = NEVER
        self._more: asyncio.Task[None] | None = None
        self._dry = False
        """Whether the source had nothing when it was asked last."""
        self._short = False
        """Whether what is in flight has to be paid for before anything else is begun."""
        self._retries: list[tuple[float, int, Turn]] = []
        self._counter = itertools.count()
        self._scoring: set[asyncio.Task[None]] = set()
        self._scored_next: deque[asyncio.Future[None]] = deque()
        self._places = plan.concurrency or UNBOUNDED
        self._stop_reason = ""
        self._how: Literal["complete", "interrupted", "budget", "failed"] = "complete"
        self._error: Exception | None = None
        self._taking = True
        self._draining = False
        self._stopping = False
        self._breath = 0.0
        self._breathing = False
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
            shows_errors=self.plan.show_errors,
            record_call=self.books.call if self.plan.listens else None,
            taping=self.plan.taping,
            record_verdict=self.books.verdict,
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
            self._no_more_alarms()
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
        lane.start(self._work(lane, lost))

    async def _work(self, lane: Lane, lost: Lane | None) -> None:
        """One lane, from its first turn to its last."""
        try:
            with suppress(LaneLost):
                try:
                    await self._work_turn_by_turn(lane, lost)
                except KeyboardInterrupt:  # nobody has taken Ctrl-C in hand
                    self.cancel("interrupted")
                    raise
                except (LaneLost, GeneratorExit):
                    raise
                except (
                    BaseException
                ) as error:  # a broken promise of our own, or of the disk: this cannot go on
                    self._fail(error)
                    await self.keys.clear_away(lane)
        finally:
            self._lanes.discard(lane)
            self.deadlines.forget(lane)
            self._finish_if_done()

    async def _work_turn_by_turn(self, lane: Lane, lost: Lane | None) -> None:
        if lost is not None:
            await self.keys.take_over(lane, lost)
        now = self.clock.now
        while (turn := self._take() or await self._next()) is not None:
            lane.turn = turn
            await self.keys.work(lane, turn)
            lane.turn = None
            if now() > self._breath:
                await self._breathe()

    async def _breathe(self) -> None:
        """Let the loop look after everything else: tasks that never wait would keep it from that.

        The breath is the run's, not the lane's: fifty lanes that each go on for a while before they let go
        are as bad as one that goes on fifty times as long.
        """
        if not self._breathing:
            self._breathing = True
            self._loop.call_soon(self._breathed)
        await asyncio.sleep(0)

    def _breathed(self) -> None:
        self._breathing = False
        self._breath = self.clock.now() + BREATH

    @property
    def places(self) -> int:
        """How many cases may be in progress."""
        return self._places

    @property
    def full(self) -> bool:
        """Whether more cases would be in progress if more of them might be."""
        return self._taking and not self._idle and not self.source.exhausted

    @property
    def scoring_full(self) -> bool:
        """Whether answers wait for the scoring stage to have room, and keep their places meanwhile."""
        return bool(self._scored_next)

    @property
    def lagging(self) -> bool:
        """Whether the record is so far behind that nothing is begun."""
        return self._recorder.lagging

    def widen(self, places: int) -> None:
        """Let more cases be in progress from now on."""
        more, self._places = places - self._places, max(places, self._places)
        if self._taking:
            for _ in range(more):
                self._start_lane(None)

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
            if not self.purse.unlimited and not self._affordable():
                return None
            self.gauge.retrying -= 1
            return self._begun(heapq.heappop(self._retries)[2])
        if self._recorder.lagging or len(self._retries) >= self._places:
            return None
        if not self.purse.unlimited and not self._affordable():
            return None
        if (turn := self.source.take()) is None:
            self._dry = True
            return None
        return turn if self.purse.unlimited else self._begun(turn)

    def _begun(self, turn: Turn) -> Turn:
        if turn.stored is None and not self.purse.unlimited:
            self.purse.reserve(turn.key)
        return turn

    def _affordable(self) -> bool:
        reason = self.purse.refusal(now=self.clock.now())
        if reason is not None:
            self._short = False
            self._run_out(reason)
            return False
        self._short = self.purse.must_wait()
        return not self._short

    async def allowance(self, turn: Turn) -> bool:
        """Wait until another attempt at a key that has kept its lane is affordable; False if it never is."""
        while not self._stopping:
            if self._affordable():
                self.purse.reserve(turn.key)
                self._wake_one()
                return True
            if not self._short:
                return False
            await self._something_new()
        return False

    async def _next(self) -> Turn | None:
        """The next turn, waited for; None when there is none left for this lane."""
        while self._taking:
            if (turn := self._take()) is not None:
                self._wake_one()  # what has woken this lane may be good for another one
                return turn
            if self.source.exhausted and not self._retries:
                self.wake()
                return None
            await self._something_new()
        return None

    async def _something_new(self) -> None:
        """Wait until a retry is due, the recorder has caught up, money was settled, or the source has more.

        One lane is woken at a time, and wakes the next one if it has found something: a thousand idle lanes
        cost nothing.
        """
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._idle.append(waiter)
        self._look_ahead()
        await waiter

    def _look_ahead(self) -> None:
        """See that somebody wakes an idle lane."""
        # Short of money, a retry has to wait for the next settlement anyway.
        if self._retries and not self._short and self._retries[0][0] < self._alarm_at:
            if self._alarm is not None:
                self._alarm.cancel()
            self._alarm_at = self._retries[0][0]
            self._alarm = self._loop.call_at(self._alarm_at, self._ring)
        if self._dry and self._more is None and not self.source.exhausted:
            self._more = self._loop.create_task(self.source.wait_for_more())
            self._more.add_done_callback(self._more_came)

    def _ring(self) -> None:
        self._alarm, self._alarm_at = None, NEVER
        self._wake_one()

    def _more_came(self, more: asyncio.Task[None]) -> None:
        self._more, self._dry = None, False
        if not more.cancelled() and (error := more.exception()) is not None:
            self._fail(error)
        self._wake_one()

    def _no_more_alarms(self) -> None:
        for alarm in (self._alarm, self._more):
            if alarm is not None:
                alarm.cancel()

    def settled(self) -> None:
        """An attempt has told its cost, or a case has failed: see who can go on."""
        self._short = False
        self._wake_one()

    def _wake_one(self) -> None:
        while self._idle:
            waiter = self._idle.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

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
            self._look_ahead()

    # The scoring stage

    async def room_for_scoring(self) -> None:
        """Wait until the scoring stage can take another case."""
        while len(self._scoring) >= self._places and not self._stopping:
            waiter: asyncio.Future[None] = self._loop.create_future()
            self._scored_next.append(waiter)
            await waiter

    def score_apart(self, scoring: asyncio.Task[None]) -> None:
        """Let a case be scored while its lane goes on."""
        self._scoring.add(scoring)
        self.gauge.scoring += 1
        scoring.add_done_callback(self._scored)

    def _scored(self, scoring: asyncio.Task[None]) -> None:
        self._scoring.discard(scoring)
        self.gauge.scoring -= 1
        if not scoring.cancelled() and (error := scoring.exception()) is not None:
            self._fail(error)
        if self._scored_next:
            self._scored_next.popleft().set_result(None)
        self._finish_if_done()

    # Ending

    def drain(self, reason: str) -> None:
        """Begin nothing more; what is in flight may finish, for as long as the plan allows."""
        if self._draining or self._stopping:
            return
        self._draining = True
        if self._taking:  # not so where the budget has run out already
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
        while self._scored_next:
            self._scored_next.popleft().set_result(None)
        self.wake()
        self._finish_if_done()

    @property
    def stopping(self) -> bool:
        """Whether what is in flight is being cut off."""
        return self._stopping

    def blame(self, what: str) -> None:
        """Record the key whose code holds the loop as a timeout. Called from another thread, the loop
        being held."""
        culprit = asyncio.current_task(self._loop)
        for lane in self._lanes:
            if lane.task is culprit and lane.turn is not None:
                self.keys.condemn(lane.turn, f"the attempt {what}")
        if culprit is not None and (asked := self.scorer.asked_in(culprit)) is not None:
            self.keys.condemn(asked.turn, f"evaluator {asked.label} {what}", stage="evaluator")

    def _run_out(self, reason: str) -> None:
        if self._taking:
            self._taking = False
            self._how, self._stop_reason = "budget", reason
            self.books.tell(Draining(at=self.clock.epoch(), reason=reason, in_flight=self.gauge.in_flight))
            self.wake()

    def _fail(self, error: BaseException) -> None:
        while isinstance(
            error, BaseExceptionGroup
        ):  # of a task group of ours: all that counts is what began it
            error = error.exceptions[0]
        if not isinstance(error, Exception):
            error = RuntimeError(f"{type(error).__name__} where nothing may raise it")
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
        spent = self._stop_reason if self._how == "budget" else None
        for due, _count, waiting in self._retries:
            self.keys.cut_off(waiting, due, spent=spent)
        self._retries.clear()
        self.gauge.retrying = 0
        if spent is None:
            return  # after an interrupt they stay open, and a resume runs them
        while not self._stopping and (turn := self.source.take()) is not None:
            self.books.outcome(turn, "skipped_budget", skipped(spent), total=0.0)
            while self._recorder.lagging and self._error is None:
                await self._something_new()
            if self.clock.now() > self._breath:
                await self._breathe()

    # The recorder's messages

    def _from_any_thread(self, function: object, *arguments: object) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody is left to be told
            self._loop.call_soon_threadsafe(function, *arguments)  # type: ignore[arg-type]

    def _committed(self) -> None:
        self.books.on_commit()
        if self._idle:
            self._wake_one()
