"""What happens to one key, step by step: setup, attempts, scoring, teardown, outcome.

Each step ends in a value that says how it went; nothing that user code does gets past this module as an
exception. A key without setup and teardown holds its lane only while an attempt is under way: it waits for
another try, and is scored, elsewhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

from paceline.engine.complaints import complain
from paceline.engine.contexts import in_context
from paceline.engine.deadlines import NEVER
from paceline.engine.decisions import cancelled, outcome_of, timed_out
from paceline.engine.failures import classify, describe
from paceline.engine.lanes import Lane, Overdue, Stopped
from paceline.engine.ports import Attempted, Turn, Work
from paceline.engine.scoring import Found
from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.prepare import Prepared, prepare
from paceline.journal.records import ErrorFacts, EvaluatorFailure, OutcomeKind

if TYPE_CHECKING:
    from paceline.engine.run import Run


class KeyWorker:
    """Takes keys from their first attempt to their outcome, on behalf of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._plan = plan = run.plan
        self._books = run.books
        self._scorer = run.scorer
        self._executor = run.executor
        self._gauge = run.gauge
        self._time = run.clock.now
        self._timeout = NEVER if plan.timeout is None else plan.timeout
        self._case_timeout = NEVER if plan.case_timeout is None else plan.case_timeout
        self._has_budget = not run.purse.unlimited
        self.left_behind = 0

    async def work(self, lane: Lane, turn: Turn) -> None:
        """Do with a turn what is to be done next, until its outcome or until it goes on elsewhere."""
        if not turn.started:
            turn.started = self._time()
            if self._plan.lifecycle is not None and (failed := await self._set_up(lane, turn)) is not None:
                await self._end(lane, turn, failed)
                return
        if turn.stored is not None:
            attempted = _as_attempted(turn.stored)
            if not turn.on_record:
                self._books.begin(turn)
        else:
            attempted = await self._attempt(lane, turn)
        if attempted.error is None and turn.lifecycle is None:
            ctx = _context_of(turn, attempted)
            found, waiting = self._ask_in_place(turn, ctx)
            if waiting:
                await self._score_further(lane, turn, attempted, ctx, waiting, found)
            else:
                self._conclude(
                    turn, attempted, "evaluator_error" if found.failures else "scored", found=found
                )
        else:
            await self._after(lane, turn, attempted)

    async def take_over(self, lane: Lane, lost: Lane) -> None:
        """Go on with the key of a lane whose code ignores its cancellation."""
        turn = lost.turn
        assert turn is not None
        lane.turn = turn
        turn.abandoned += 1
        self.left_behind += 1
        seconds = self._time() - turn.started
        if lane.stopping:
            attempted = cancelled(seconds, stage=lost.stage)
        else:
            attempted = timed_out(seconds, stage=lost.stage, limit=self._limit(lost.stage), abandoned=True)
        if lost.stage == "task":
            self._gauge.in_flight -= 1
        if lost.stage == "teardown":
            self._conclude(turn, attempted, outcome_of(attempted))
        else:
            await self._after(lane, turn, attempted)
        lane.turn = None

    def cut_off(self, turn: Turn) -> None:
        """A key that was waiting for another try when the run ended."""
        turn.tries = max(turn.tries, 1)
        self._conclude(turn, cancelled(0.0), "cancelled")

    def condemn(self, turn: Turn, what: str) -> None:
        """A key whose code holds up everything, for good: a resume must not walk into it again."""
        error = ErrorFacts(type="Timeout", message=f"the attempt {what}")
        self._conclude(turn, Attempted(error=error, error_class="timeout"), "timeout")

    # Attempts

    async def _attempt(self, lane: Lane, turn: Turn) -> Attempted:
        """One attempt, under the attempt's deadline and the case's."""
        turn.tries += 1
        self._books.begin(turn)
        lane.stage = "task"
        case_until = turn.started + self._case_timeout
        started = self._time()
        until = started + self._timeout
        stage = "task" if until <= case_until else "case"
        call = self._executor.attempt(
            Work(turn.key, turn.tried + turn.tries, turn.case.inputs, self._plan.timeout)
        )
        if turn.context is not None:
            call = in_context(turn.context, call)
        self._gauge.in_flight += 1
        try:
            attempted = await lane.guard(call, until=min(until, case_until))
        except Overdue:
            attempted = timed_out(self._time() - started, stage=stage, limit=self._limit(stage))
        except Stopped:
            attempted = cancelled(self._time() - started)
        except asyncio.CancelledError as stray:
            attempted = Attempted(error=describe(stray), exception=stray, seconds=self._time() - started)
        except Exception as broken:  # the executor itself, not the task: that would be data
            attempted = Attempted(error=describe(broken, stage="engine"), error_class="infrastructure")
        finally:
            if not lane.lost:
                self._gauge.in_flight -= 1
        if lane.stopping and attempted.error is not None:
            attempted = cancelled(attempted.seconds)
        if self._has_budget:
            self._run.purse.settle(attempted.metrics)
            self._run.wake()
        if attempted.error is not None and self._plan.show_errors:
            _show(turn, attempted)
        return attempted

    def _limit(self, stage: str) -> float | None:
        match stage:
            case "task":
                return self._plan.timeout
            case "case":
                return self._plan.case_timeout
            case _:
                return self._plan.hook_timeout

    async def _after(self, lane: Lane, turn: Turn, attempted: Attempted) -> None:
        """Score, try again, or end."""
        while attempted.error is not None:
            wait = self._retry_in(lane, turn, attempted)
            if wait is None:
                await self._end(lane, turn, attempted)
                return
            self._books.failed_attempt(turn, attempted, wait)
            turn.waited += wait
            if turn.lifecycle is None and not self._plan.one_by_one:
                self._run.retry_later(turn, wait)
                return
            try:
                await lane.guard(asyncio.sleep(wait), until=NEVER)
            except Stopped:
                await self._end(lane, turn, cancelled(0.0))
                return
            attempted = await self._attempt(lane, turn)
        await self._score(lane, turn, attempted)

    def _retry_in(self, lane: Lane, turn: Turn, attempted: Attempted) -> float | None:
        assert attempted.error is not None
        if (
            turn.stored is not None
            or lane.stopping
            or attempted.error_class == "cancelled"
            or attempted.error.stage not in ("task", "engine")
        ):
            return None
        wait = self._plan.retry_task.wait(attempted, turn.tries, self._run.dice)
        if wait is not None and self._time() + wait >= turn.started + self._case_timeout:
            return None
        return wait

    # Scoring

    async def _score(self, lane: Lane, turn: Turn, attempted: Attempted) -> None:
        ctx = _context_of(turn, attempted)
        if turn.lifecycle is not None:
            ctx, failed = await self._prepare_context(lane, turn, ctx)
            if failed is not None:
                await self._end(lane, turn, attempted, error=failed.error)
                return
            attempted.attributes, attempted.metrics = ctx.attributes, ctx.metrics
        found, waiting = self._ask_in_place(turn, ctx)
        if waiting:
            await self._score_further(lane, turn, attempted, ctx, waiting, found)
        else:
            await self._end(lane, turn, attempted, found=found)

    def _ask_in_place(self, turn: Turn, ctx: EvaluatorContext[Any, Any, Any]) -> tuple[Found, list[Prepared]]:
        """What the instant evaluators say, and who else is to be asked."""
        found = Found()
        waiting: list[Prepared] = []
        scored = {score.by for score in turn.stored.scores} if turn.stored is not None else ()
        for prepared in self._evaluators(turn, found):
            if prepared.label in scored:
                continue
            if prepared.mode == "instant":
                self._scorer.ask_instant(prepared, ctx, found)
            else:
                waiting.append(prepared)
        return found, waiting

    async def _score_further(
        self,
        lane: Lane,
        turn: Turn,
        attempted: Attempted,
        ctx: EvaluatorContext[Any, Any, Any],
        waiting: list[Prepared],
        found: Found,
    ) -> None:
        """Put the output on record, then ask the evaluators that wait: apart where the lane may go on."""
        if turn.stored is None or not turn.stored.on_record:
            self._books.output(turn, attempted)
        if turn.lifecycle is None and not self._plan.one_by_one:
            await self._run.room_for_scoring()
            if lane.stopping:
                return  # the output is on record: a resume scores it
            scoring = self._score_waiting(None, turn, attempted, ctx, waiting, found)
            self._run.score_apart(asyncio.get_running_loop().create_task(scoring))
        else:
            await self._score_waiting(lane, turn, attempted, ctx, waiting, found)

    def _evaluators(self, turn: Turn, found: Found) -> tuple[Prepared, ...]:
        """Those of the dataset, then those of the case."""
        everyones = self._plan.evaluators
        if not turn.case.evaluators:
            return everyones
        try:
            return everyones + prepare(turn.case.evaluators, after=everyones)
        except Exception as error:
            found.failures.append(EvaluatorFailure(by="evaluators", error=describe(error, stage="evaluator")))
            return everyones

    async def _score_waiting(
        self,
        lane: Lane | None,
        turn: Turn,
        attempted: Attempted,
        ctx: EvaluatorContext[Any, Any, Any],
        waiting: list[Prepared],
        found: Found,
    ) -> None:
        """Ask the evaluators that wait. Cut off, the key stays open with its output on record."""
        told = list(turn.stored.scores) if turn.stored is not None else []

        def landed(scores: list[Any], failures: list[EvaluatorFailure]) -> None:
            if scores:
                self._books.scores(turn, scores)
                told.extend(scores)
            found.failures.extend(failures)

        asking = self._scorer.ask_waiting(waiting, ctx, landed)
        try:
            last = await (asking if lane is None else lane.guard(asking, until=NEVER))
        except (Stopped, asyncio.CancelledError):
            if lane is not None and turn.lifecycle is not None:
                await self._tear_down(lane, turn, None)
            return
        found.scores.extend(last.scores)
        found.failures.extend(last.failures)
        await self._end(lane, turn, attempted, found=found, told=told, output_on_record=True)

    # Hooks

    async def _set_up(self, lane: Lane, turn: Turn) -> Attempted | None:
        """Make the lifecycle of the key and call its setup; how it failed, if it did."""
        turn.context = copy_context()
        assert self._plan.lifecycle is not None
        try:
            turn.lifecycle = self._plan.lifecycle(turn.case)
        except BaseException as error:
            turn.tries = 1
            self._books.begin(turn)
            return Attempted(
                error=describe(error, stage="setup"), error_class=classify(error), exception=error
            )
        _nothing, failed = await self._hook(lane, turn, "setup", turn.lifecycle.setup)
        if failed is not None and turn.tries == 0:
            turn.tries = 1
            self._books.begin(turn)
        return failed

    async def _prepare_context(
        self, lane: Lane, turn: Turn, ctx: EvaluatorContext[Any, Any, Any]
    ) -> tuple[EvaluatorContext[Any, Any, Any], Attempted | None]:
        prepared, failed = await self._hook(
            lane, turn, "prepare_context", lambda: turn.lifecycle.prepare_context(ctx)
        )
        return (ctx if prepared is None else prepared), failed

    async def _tear_down(self, lane: Lane, turn: Turn, row: Any) -> Attempted | None:
        _nothing, failed = await self._hook(lane, turn, "teardown", lambda: turn.lifecycle.teardown(row))
        return failed

    async def _hook(
        self, lane: Lane, turn: Turn, name: str, hook: Callable[[], Awaitable[Any] | Any]
    ) -> tuple[Any, Attempted | None]:
        """Call a hook under its deadline: what it returned, or how it failed."""
        assert turn.context is not None
        limit = self._plan.hook_timeout
        started = self._time()
        lane.stage = name
        stopping, lane.stopping = lane.stopping, lane.stopping and name != "teardown"
        try:
            call = in_context(turn.context, _called(hook))
            return await lane.guard(call, until=NEVER if limit is None else started + limit), None
        except Overdue:
            failed = timed_out(self._time() - started, stage=name, limit=limit)
        except Stopped:
            failed = cancelled(self._time() - started, stage=name)
        except BaseException as error:
            if lane.lost:
                raise
            failed = Attempted(error=describe(error, stage=name), error_class="permanent", exception=error)
        finally:
            lane.stopping = lane.stopping or stopping
            lane.stage = "task"
        if self._plan.show_errors:
            _show(turn, failed)
        return None, failed

    # The end

    async def _end(
        self,
        lane: Lane | None,
        turn: Turn,
        attempted: Attempted,
        *,
        error: ErrorFacts | None = None,
        found: Found | None = None,
        told: list[Any] | None = None,
        output_on_record: bool = False,
    ) -> None:
        """Teardown where there is one, then the outcome."""
        found = found or Found()
        outcome: OutcomeKind = "task_error" if error is not None else outcome_of(attempted)
        if outcome == "scored" and found.failures:
            outcome = "evaluator_error"
        if turn.lifecycle is not None and lane is not None:
            row = None
            if self._plan.row_of is not None:
                row = self._plan.row_of(
                    turn, attempted, outcome, [*(told or []), *found.scores], found.failures
                )
            torn = await self._tear_down(lane, turn, row)
            if torn is not None and outcome in ("scored", "evaluator_error"):
                outcome, error = outcome_of(torn), torn.error
        self._conclude(
            turn, attempted, outcome, error=error, found=found, told=told, output_on_record=output_on_record
        )

    def _conclude(
        self,
        turn: Turn,
        attempted: Attempted,
        outcome: OutcomeKind,
        *,
        error: ErrorFacts | None = None,
        found: Found | None = None,
        told: list[Any] | None = None,
        output_on_record: bool = False,
    ) -> None:
        found = found or Found()
        self._books.outcome(
            turn,
            outcome,
            attempted,
            total=self._time() - turn.started,
            error=error,
            output_on_record=output_on_record or (turn.stored is not None and turn.stored.on_record),
            told=told if told is not None or turn.stored is None else list(turn.stored.scores),
            scores=found.scores,
            failures=found.failures,
        )
        if self._has_budget and (outcome != "scored" or any(score.value is False for score in found.scores)):
            self._run.purse.spent.failures += 1
            self._run.wake()


def _context_of(turn: Turn, attempted: Attempted) -> EvaluatorContext[Any, Any, Any]:
    case = turn.case
    return EvaluatorContext(
        name=turn.key.case,
        key=turn.key,
        inputs=case.inputs,
        metadata=case.metadata,
        expected_output=case.expected_output,
        output=attempted.output,
        duration=attempted.seconds,
        attributes=attempted.attributes,
        metrics=attempted.metrics,
        trajectory=attempted.trajectory,
        recorded_spans=attempted.spans,
    )


async def _called(hook: Callable[[], Awaitable[Any] | Any]) -> Any:
    result = hook()
    return await result if isinstance(result, Awaitable) else result


def _as_attempted(stored: Any) -> Attempted:
    return Attempted(
        output=stored.output,
        error=stored.error,
        error_class=stored.error_class,
        seconds=stored.seconds,
        waited=stored.waited,
        metrics=stored.metrics,
        attributes=stored.attributes,
        trajectory=stored.trajectory,
    )


def _show(turn: Turn, attempted: Attempted) -> None:
    """The traceback as it happens, for whoever runs one case at a time to see what is wrong."""
    told = [f"paceline: {turn.key}, attempt {turn.attempt}:"]
    if attempted.exception is not None:
        with contextlib.suppress(Exception):  # an exception may refuse to be shown
            told += traceback.format_exception(attempted.exception)
    if len(told) == 1 and attempted.error is not None:
        told.append(f"  {attempted.error.type}: {attempted.error.message}")
    complain(told[0] + "\n" + "".join(told[1:]))
