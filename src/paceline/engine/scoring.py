"""The scoring stage: asks evaluators about a finished case, each once, under its own deadline.

Instant evaluators are called in place. The others run side by side, at most as many as the run allows, over
all cases together; each result is on record as soon as it is there, so that a judge's answer is never paid
for twice.
"""

from __future__ import annotations

import asyncio
import inspect
import random
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from paceline.engine.calls import CallsOfAttempt
from paceline.engine.clock import Clock
from paceline.engine.complaints import complain_of
from paceline.engine.deadlines import NEVER, Deadlines
from paceline.engine.failures import classify, describe, retry_after
from paceline.engine.ports import Attempted, Turn, Work
from paceline.engine.retry import RetryPolicy, next_wait, turned_down
from paceline.engine.taping import Taping
from paceline.engine.threads import Threads
from paceline.engine.verdicts import Record, VerdictsOnRecord
from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.prepare import Prepared, scores_of
from paceline.evaluators.verdicts import current_verdicts
from paceline.journal.records import ErrorFacts, EvaluatorFailure, Score
from paceline.pace.calls import current_listener

if TYPE_CHECKING:
    from paceline.pace.calls import Call

AroundEvaluator = Callable[[Prepared, EvaluatorContext[Any, Any, Any]], AbstractContextManager[object]]
"""What stands around every call of an evaluator: OpenTelemetry's span, say."""
Landed = Callable[[list[Score], list[EvaluatorFailure]], None]


THREADS: Final = 512
"""Sync evaluators at once where nothing else limits them."""


class Found(msgspec.Struct, eq=False):
    """What the evaluators of a case have said and not been able to say."""

    scores: list[Score] = []
    failures: list[EvaluatorFailure] = []


class Asked(NamedTuple):
    """An evaluator that has been asked and has not answered yet."""

    label: str
    turn: Turn


class Scorer:
    """Calls evaluators."""

    def __init__(
        self,
        *,
        concurrency: int | None,
        timeout: float | None,
        retry: RetryPolicy,
        deadlines: Deadlines,
        clock: Clock,
        dice: random.Random,
        grace: float,
        around: AroundEvaluator | None = None,
        shows_errors: bool = False,
        record_call: Callable[[Work, Call], None] | None = None,
        taping: Taping | None = None,
        record_verdict: Record,
    ) -> None:
        """`record_call` takes the model calls of evaluators, where there are doors that tell of them."""
        self._record_verdict = record_verdict
        self._record_call = record_call
        self._shows_errors = shows_errors
        self._taping = taping
        self._around = around or _nothing_around
        places = None if concurrency is None else asyncio.Semaphore(concurrency)
        self._places = places or nullcontext()
        # Waiting for a thread is not the evaluator's time, so nobody is to wait for one within its deadline.
        self._places_on_threads = places or asyncio.Semaphore(THREADS)
        self._threads = Threads(concurrency or THREADS, name="paceline-score")
        self._asked: dict[asyncio.Task[Any], Asked] = {}
        self._timeout = timeout
        self._retry = retry
        self._deadlines = deadlines
        self._now = clock.now
        self._dice = dice
        self._grace = grace
        self.abandoned = 0

    @property
    def left_behind(self) -> int:
        """Evaluators that ignored their deadline."""
        return self._threads.left_behind + self.abandoned

    def stop(self) -> None:
        """Let the threads go."""
        self._threads.stop()

    def asked_in(self, task: asyncio.Task[Any]) -> Asked | None:
        """Whose evaluator a task is."""
        return self._asked.get(task)

    def ask_instant(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any], found: Found) -> None:
        """Call an instant evaluator in place."""
        try:
            returned = prepared.call(ctx) if self._around is _nothing_around else self._called(prepared, ctx)
            found.scores += scores_of(prepared, returned, seconds=0.0)
        except BaseException as error:
            facts = self._shown(prepared, f"{ctx.key or ctx.name}", error)
            found.failures.append(EvaluatorFailure(by=prepared.label, error=facts))

    def _shown(self, prepared: Prepared, key: str, error: BaseException) -> ErrorFacts:
        """The facts of an error of an evaluator, told as it happens where that is wanted."""
        facts = describe(error, stage="evaluator")
        if self._shows_errors:
            complain_of(f"{key}, evaluator {prepared.label}", facts, error)
        return facts

    async def ask_waiting(
        self,
        waiting: list[Prepared],
        ctx: EvaluatorContext[Any, Any, Any],
        landed: Landed,
        turn: Turn,
    ) -> Found:
        """Ask all of them side by side; `landed` is told of each answer but the last one, which is
        returned."""
        last = Found()
        missing = len(waiting)

        async def ask(prepared: Prepared) -> None:
            nonlocal missing
            answer = await self._ask(prepared, ctx, turn)
            missing -= 1
            if missing:
                landed(answer.scores, answer.failures)
            else:
                last.scores, last.failures = answer.scores, answer.failures

        if len(waiting) == 1:
            await ask(waiting[0])
        else:
            async with asyncio.TaskGroup() as group:
                for prepared in waiting:
                    group.create_task(ask(prepared))
        return last

    async def _ask(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any], turn: Turn) -> Found:
        """One evaluator's answer, after as many tries as its retry policy allows."""
        places = self._places_on_threads if prepared.mode == "thread" else self._places
        tries, first = 0, self._now()
        tape, taping = None, self._taping if self._record_call is not None else None
        verdicts = VerdictsOnRecord(turn, prepared.label, self._record_verdict, taping)
        if taping is not None:
            # One for all tries: an answer that could not be read is followed by the one that could.
            tape = taping.tape(turn.key, prepared.label, goes_on=verdicts.goes_on)
        while True:
            tries += 1
            async with places:
                started = self._now()
                work = Work(turn.key, turn.attempt, None, record_call=self._record_call, counted={})
                work.by, work.tape = prepared.label, tape
                try:
                    returned = await self._call(prepared, ctx, turn, work, verdicts)
                    if (refused := turned_down(self._retry, returned, tries)) is not None:
                        raise refused
                    seconds = self._now() - started - work.waited
                    return Found(scores=scores_of(prepared, returned, seconds=seconds))
                except asyncio.CancelledError as error:
                    if asyncio.current_task().cancelling():  # type: ignore[union-attr]
                        raise
                    failed: BaseException = error
                except BaseException as error:
                    failed = error
                seconds = self._now() - started - work.waited
            attempt = Attempted(
                error=self._shown(prepared, str(turn.key), failed),
                error_class="timeout" if type(failed) is EvaluatorOverdue else classify(failed),
                retry_after=retry_after(failed),
                exception=failed,
                seconds=seconds,
            )
            wait = next_wait(self._retry, attempt, tries, elapsed=self._now() - first, dice=self._dice)
            if wait is None:
                assert attempt.error is not None
                return Found(
                    failures=[EvaluatorFailure(by=prepared.label, error=attempt.error, seconds=seconds)]
                )
            await asyncio.sleep(wait)

    async def _call(
        self,
        prepared: Prepared,
        ctx: EvaluatorContext[Any, Any, Any],
        turn: Turn,
        work: Work,
        verdicts: VerdictsOnRecord,
    ) -> object:
        call = self._on_thread(prepared, ctx) if prepared.mode == "thread" else self._on_loop(prepared, ctx)
        context, calls = copy_context(), None
        context.run(current_verdicts.set, verdicts)
        if self._record_call is not None:
            calls = CallsOfAttempt.here(work, self._now)
            context.run(current_listener.set, calls)
        timeout = None if prepared.keeps_time else self._timeout
        answer = _Deadline(self._deadlines, call, timeout, self._grace, context)
        work.stopwatch = answer
        self._asked[answer.task] = Asked(prepared.label, turn)
        try:
            return await answer.wait()
        finally:
            del self._asked[answer.task]
            self.abandoned += answer.abandoned
            if calls is not None:
                calls.close()

    async def _on_thread(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any]) -> object:
        # By now in the context that the evaluator was given.
        returned = await self._threads.call(copy_context(), self._called, prepared, ctx)
        return await returned if inspect.isawaitable(returned) else returned

    async def _on_loop(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any]) -> object:
        with self._around(prepared, ctx):
            returned = prepared.call(ctx)
            return await returned if inspect.isawaitable(returned) else returned

    def _called(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any]) -> object:
        with self._around(prepared, ctx):
            return prepared.call(ctx)


def _nothing_around(
    _prepared: Prepared, _ctx: EvaluatorContext[Any, Any, Any]
) -> AbstractContextManager[object]:
    return nullcontext()


class EvaluatorOverdue(TimeoutError):
    """An evaluator did not answer before its deadline."""


class _Deadline:
    """Runs a coroutine as a task of its own that can be left behind."""

    __slots__ = (
        "_deadlines",
        "_grace",
        "_left",
        "_over",
        "_timed_out",
        "_timeout",
        "abandoned",
        "deadline",
        "task",
    )

    def __init__(
        self,
        deadlines: Deadlines,
        call: Coroutine[Any, Any, object],
        timeout: float | None,
        grace: float,
        context: Context,
    ) -> None:
        self.deadline = NEVER
        self._left: float | None = None
        """Seconds that remain, while the clock stands still."""
        self._deadlines = deadlines
        self._timeout = timeout
        self._grace = grace
        self._timed_out = False
        self.abandoned = False
        """Whether it ignored its cancellation too."""
        loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = loop.create_future()
        self.task = loop.create_task(_contained(call), context=context)

    async def wait(self) -> object:
        self.task.add_done_callback(self._finish)
        self._deadlines.watch(self)
        if self._timeout is not None:
            self._deadlines.set(self, asyncio.get_running_loop().time() + self._timeout)
        try:
            await self._over
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        finally:
            self._deadlines.forget(self)
        if self._timed_out:
            raise EvaluatorOverdue(f"the evaluator took longer than {self._timeout:g} s")
        result, error = self.task.result()
        if error is not None:
            raise error
        return result

    def hold(self) -> None:
        """Stand still: the evaluator waits for a limit."""
        if self._timeout is not None and not self._timed_out and self._left is None:
            self._left = self.deadline - asyncio.get_running_loop().time()
            self._deadlines.set(self, NEVER)

    def go(self) -> None:
        """Run on."""
        if self._left is not None and not self._timed_out:
            self._deadlines.set(self, asyncio.get_running_loop().time() + self._left)
        self._left = None

    def _finish(self, _task: object) -> None:
        if not self._over.done():
            self._over.set_result(None)

    def overdue(self) -> None:
        if not self._timed_out:
            self._timed_out = True
            self.task.cancel()
            self._deadlines.set(self, asyncio.get_running_loop().time() + self._grace)
        else:
            self.abandoned = True
            self._finish(None)


async def _contained(call: Coroutine[Any, Any, object]) -> tuple[object, BaseException | None]:
    """A task must not end with `SystemExit` or `KeyboardInterrupt`: asyncio would stop its loop."""
    try:
        return await call, None
    except BaseException as error:
        return None, error
