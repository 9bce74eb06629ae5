"""What happens to one key, step by step: setup, attempts, scoring, teardown, outcome.

Each step ends in a value that says how it went; nothing that user code does gets past this module as an
exception. A key without setup and teardown holds its lane only while an attempt is under way: it waits for
another try, and is scored, elsewhere.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from paceline import values
from paceline.engine.answers import context_of, lost_answer, stored_answer
from paceline.engine.bookkeeping import countable
from paceline.engine.budget import total
from paceline.engine.complaints import complain_of
from paceline.engine.contexts import in_context
from paceline.engine.deadlines import NEVER
from paceline.engine.decisions import cancelled, is_owed, outcome_of, skipped, timed_out
from paceline.engine.events import Abandoned
from paceline.engine.failures import describe
from paceline.engine.hooks import Hooks
from paceline.engine.inputs import own_copy
from paceline.engine.lanes import Lane, LaneLost, Overdue, Stopped
from paceline.engine.ports import Attempted, Turn, Work
from paceline.engine.retry import TenacityRetry, next_wait, turned_down
from paceline.engine.scoring import Found
from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.prepare import Prepared, prepare
from paceline.journal.records import ErrorFacts, EvaluatorFailure, OutcomeKind, Score, verdict

if TYPE_CHECKING:
    from paceline.engine.run import Run
    from paceline.pace.calls import Call


class KeyWorker:
    """Takes keys from their first attempt to their outcome, on behalf of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._plan = plan = run.plan
        self._books = run.books
        self._record_call = run.books.call
        self._scorer = run.scorer
        self._executor = run.executor
        self._hooks = Hooks(plan, run.clock)
        self._gauge = run.gauge
        self._time = run.clock.now
        self._case_timeout = NEVER if plan.case_timeout is None else plan.case_timeout
        self._has_budget = not run.purse.unlimited
        if run.purse.limits_money:
            self._books.on_judging = self._judged
        self._looks_at_answers = isinstance(plan.retry_task, TenacityRetry)
        self.left_behind = 0

    async def work(self, lane: Lane, turn: Turn) -> None:
        """Do with a turn what is to be done next, until its outcome or until it goes on elsewhere."""
        if not turn.started:
            turn.started = self._time()
            if (
                self._plan.lifecycle is not None
                and (failed := await self._hooks.set_up(lane, turn)) is not None
            ):
                self._begin_at_least(turn)
                await self._end(lane, turn, self._shown(turn, failed))
                return
        if turn.stored is not None:
            attempted = stored_answer(turn.stored)
            if not turn.on_record:
                self._books.begin(turn)
        else:
            attempted = await self._attempt(lane, turn)
        if attempted.error is None and turn.lifecycle is None:
            ctx = context_of(turn, attempted)
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
        self._begin_at_least(turn)
        failed = self._shown(turn, self._left_behind(turn, lost))
        match lost.stage:
            case "teardown":
                lost.conclude(failed)
            case "prepare_context" if lost.answered is not None:
                await self._end_unprepared(lane, turn, lost.answered, failed)
            case "task":
                self._gauge.in_flight -= 1
                self._settle(turn, failed)
                await self._after(lane, turn, failed)
            case _:
                await self._end(lane, turn, failed)
        lane.turn = None

    def _left_behind(self, turn: Turn, lost: Lane) -> Attempted:
        if lost.stage == "task":
            failed = self._overdue(turn, lost, abandoned=True)
        else:
            failed = self._hooks.overdue(turn, lost.stage, since=lost.since, abandoned=True)
        # A teardown is never stopped, only late.
        if not self._run.stopping or lost.stage == "teardown":
            return failed
        return cancelled(failed.seconds, stage=lost.stage, metrics=failed.metrics, abandoned=True)

    async def clear_away(self, lane: Lane) -> None:
        """The run cannot go on, and a key has still something that its teardown would clear away."""
        if lane.turn is not None and lane.turn.lifecycle is not None:
            lane.conclude = lambda _torn: None
            await self._hooks.tear_down(lane, lane.turn, None)

    def cut_off(self, turn: Turn, due: float, *, spent: str | None) -> None:
        """A key that was waiting for another try when the run ended; `spent` says which budget was."""
        turn.waited -= max(due - self._time(), 0.0)
        if spent is None:
            self._conclude(turn, cancelled(0.0), "cancelled")
        else:
            self._conclude(turn, skipped(spent), "skipped_budget")

    def condemn(self, turn: Turn, message: str, *, stage: str = "task") -> None:
        """A key whose code holds up everything, for good: a resume must not walk into it again."""
        error = ErrorFacts(type="Timeout", message=message, stage=stage)
        self._conclude(turn, Attempted(error=error, error_class="timeout"), "timeout")

    def _begin_at_least(self, turn: Turn) -> None:
        """A key that has come to its end before its first attempt was begun all the same."""
        if not turn.tries:
            turn.tries = 1
            self._books.begin(turn)

    # Attempts

    async def _attempt(self, lane: Lane, turn: Turn) -> Attempted:
        """One attempt, under the attempt's deadline and the case's."""
        lane.since = started = self._time()
        case_until = turn.started + self._case_timeout
        if started >= case_until:
            self._begin_at_least(turn)
            return timed_out(0.0, stage="case", limit=self._plan.case_timeout)
        turn.tries += 1
        lane.stage, lane.held = "task", 0.0
        lane.work = work = self._work(turn, lane)
        self._books.begin(turn)
        call = self._executor.attempt(work)
        if turn.context is not None:
            call = in_context(turn.context, call)
        self._gauge.in_flight += 1
        try:
            attempted = await lane.guard(call, until=started + (work.timeout or NEVER), at_most=case_until)
        except Overdue:
            attempted = self._overdue(turn, lane, abandoned=work.abandoned > 0)
        except Stopped:
            attempted = cancelled(self._time() - started, metrics=work.counted, abandoned=work.abandoned > 0)
        except asyncio.CancelledError as stray:
            attempted = Attempted(error=describe(stray), exception=stray, seconds=self._time() - started)
        except (LaneLost, GeneratorExit):
            raise
        except BaseException as broken:  # the executor itself, not the task: that would be data
            attempted = Attempted(error=describe(broken, stage="engine"), error_class="infrastructure")
        finally:
            if not lane.lost:
                self._gauge.in_flight -= 1
        if work.abandoned:
            turn.abandoned += work.abandoned
            self._books.tell(Abandoned(at=self._run.clock.epoch(), key=turn.key, what="task"))
        if lane.stopping and attempted.error is not None:
            attempted = cancelled(attempted.seconds, metrics=attempted.metrics)
        self._settle(turn, attempted)
        if attempted.error is None:
            return self._answered(turn, attempted)
        return self._shown(turn, attempted)

    def _answered(self, turn: Turn, attempted: Attempted) -> Attempted:
        """An answer, encoded before anybody who looks at it can change it; or a failure, where the retry
        policy turns it down."""
        if self._looks_at_answers:
            refused = turned_down(self._plan.retry_task, attempted.output, turn.tries)
            if refused is not None:
                attempted.error, attempted.exception = describe(refused), refused
                return self._shown(turn, attempted)
        attempted.raw = values.encode(attempted.output)
        return attempted

    def _work(self, turn: Turn, lane: Lane) -> Work:
        """What the executor is to do."""
        plan, key = self._plan, turn.key
        timeout = plan.timeouts.get(key.variant, plan.timeout) if plan.timeouts else plan.timeout
        work = Work(key, turn.tried + turn.tries, own_copy(turn.case.inputs), timeout, lane)
        work.record_call = self._record_call
        taping = plan.taping
        if taping is not None:
            if turn.taped or taping.always:
                work.tape = taping.tape(turn.key, goes_on=True)
            else:
                work.taping = taping
                if work.attempt > 1 and taping.keeps:
                    self._books.anew(work)
        return work

    def _overdue(self, turn: Turn, lane: Lane, *, abandoned: bool = False) -> Attempted:
        """An attempt that did not end before its deadline, or before that of its case."""
        now = self._time()
        late_case = now >= turn.started + self._case_timeout
        failed = timed_out(
            max(now - lane.since - lane.held, 0.0),
            stage="case" if late_case else "task",
            limit=self._plan.case_timeout if late_case else self._timeout_of(turn),
            waited=lane.held,
            abandoned=abandoned,
        )
        if lane.work is not None:
            # Copies: what was left behind may go on counting.
            failed.metrics, failed.attributes = dict(lane.work.counted), dict(lane.work.noted)
        return failed

    def _timeout_of(self, turn: Turn) -> float | None:
        """Seconds for an attempt at this key."""
        return self._plan.timeouts.get(turn.key.variant, self._plan.timeout)

    def _settle(self, turn: Turn, attempted: Attempted) -> None:
        if self._has_budget:
            self._run.purse.settle(turn.key, countable(attempted.metrics))
            self._run.settled()

    def _judged(self, call: Call) -> None:
        """A call of an evaluator was paid for."""
        usage = call.usage
        self._run.purse.judge(call.price, None if usage is None else total(usage.input, usage.output))
        self._run.settled()

    def _shown(self, turn: Turn, attempted: Attempted) -> Attempted:
        if self._plan.show_errors:
            what = f"{turn.key}, attempt {turn.attempt}"
            complain_of(what, attempted.error, attempted.exception)
        return attempted

    async def _after(self, lane: Lane, turn: Turn, attempted: Attempted) -> None:
        """Score, try again, or end."""
        while attempted.error is not None:
            wait = self._retry_in(lane, turn, attempted)
            if wait is None:
                await self._end(lane, turn, attempted)
                return
            self._books.failed_attempt(turn, attempted, wait)
            turn.taped = turn.taped and is_owed(attempted, lane.work)
            turn.waited += wait + attempted.waited
            due = self._time() + wait
            if turn.lifecycle is None and not self._plan.one_by_one:
                self._run.retry_later(turn, wait)
                return
            if not await self._wait_in_lane(lane, turn, wait):
                turn.waited -= max(due - self._time(), 0.0)
                await self._end(lane, turn, cancelled(0.0) if lane.stopping else attempted)
                return
            attempted = await self._attempt(lane, turn)
        await self._score(lane, turn, attempted)

    async def _wait_in_lane(self, lane: Lane, turn: Turn, wait: float) -> bool:
        """Wait for the next try without giving the lane up; whether there may be one."""
        lane.stage = "wait"
        try:
            await lane.guard(asyncio.sleep(wait), until=NEVER)
        except Stopped:
            return False
        except asyncio.CancelledError:
            pass  # somebody else's, and there is nothing here that it could be about
        return not self._has_budget or await self._run.allowance(turn)

    def _retry_in(self, lane: Lane, turn: Turn, attempted: Attempted) -> float | None:
        """Seconds until the next try, or None where there is none."""
        error = attempted.error
        assert error is not None
        if turn.stored is not None or lane.stopping or attempted.error_class == "cancelled":
            return None
        now = self._time()
        wait = next_wait(
            self._plan.retry_task, attempted, turn.tries, elapsed=now - turn.started, dice=self._run.dice
        )
        if wait is None or now + wait >= turn.started + self._case_timeout:
            return None
        if self._has_budget and self._run.purse.refusal(now=now) is not None:
            return None
        return wait

    # Scoring

    async def _score(self, lane: Lane, turn: Turn, attempted: Attempted) -> None:
        ctx = context_of(turn, attempted)
        if turn.lifecycle is not None:
            lane.answered = attempted
            ctx, failed = await self._hooks.prepare_context(lane, turn, ctx)
            if failed is not None:
                await self._end_unprepared(lane, turn, attempted, self._shown(turn, failed))
                return
            attempted.attributes, attempted.metrics = ctx.attributes, ctx.metrics
        found, waiting = self._ask_in_place(turn, ctx)
        if waiting:
            await self._score_further(lane, turn, attempted, ctx, waiting, found)
        else:
            await self._end(lane, turn, attempted, found=found)

    async def _end_unprepared(self, lane: Lane, turn: Turn, attempted: Attempted, failed: Attempted) -> None:
        """The task has answered, and there is no context to score it by."""
        if failed.error_class == "cancelled":
            self._keep_output(turn, attempted)  # the key stays open, and a resume scores it
            await self._hooks.tear_down(lane, turn, None)
        else:
            await self._end(lane, turn, attempted, failed=failed)

    def _ask_in_place(self, turn: Turn, ctx: EvaluatorContext[Any, Any, Any]) -> tuple[Found, list[Prepared]]:
        """What the instant evaluators say, and who else is to be asked."""
        found = Found()
        waiting: list[Prepared] = []
        stored = turn.stored
        scored = {score.by for score in stored.scores} if stored is not None else ()
        lost = lost_answer(ctx) if stored is not None else None
        asked = self._evaluators(turn, found) if turn.case.evaluators else self._plan.evaluators
        for prepared in asked:
            if prepared.label in scored:
                continue
            if lost is not None:
                found.failures.append(EvaluatorFailure(by=prepared.label, error=lost))
            elif prepared.mode == "instant":
                if turn.context is None:
                    self._scorer.ask_instant(prepared, ctx, found)
                else:
                    turn.context.run(self._scorer.ask_instant, prepared, ctx, found)
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
        self._keep_output(turn, attempted)
        if turn.lifecycle is None and not self._plan.one_by_one:
            await self._run.room_for_scoring()
            if lane.stopping:
                return  # the output is on record: a resume scores it
            scoring = self._score_waiting(None, turn, attempted, ctx, waiting, found)
            self._run.score_apart(asyncio.get_running_loop().create_task(scoring))
        else:
            await self._score_waiting(lane, turn, attempted, ctx, waiting, found)

    def _keep_output(self, turn: Turn, attempted: Attempted) -> None:
        if turn.stored is None or not turn.stored.on_record:
            self._books.output(turn, attempted)

    def _evaluators(self, turn: Turn, found: Found) -> tuple[Prepared, ...]:
        """Those of the dataset, then those of the case."""
        everyones = self._plan.evaluators
        try:
            return everyones + prepare(turn.case.evaluators, after=everyones)
        except BaseException as error:
            found.failures.append(_about_all(error))
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

        asking = self._scorer.ask_waiting(waiting, ctx, landed, turn)
        if turn.context is not None:
            asking = in_context(turn.context, asking)
        try:
            if lane is None:
                last = await asking
            else:
                lane.stage = "scoring"
                last = await lane.guard(asking, until=NEVER)
        except (Stopped, asyncio.CancelledError) as cut:
            if self._run.stopping:
                if lane is not None and turn.lifecycle is not None:
                    await self._hooks.tear_down(lane, turn, None)
                return
            last = Found(failures=[_about_all(cut)])  # nobody of ours has cancelled it
        found.scores.extend(last.scores)
        found.failures.extend(last.failures)
        await self._end(lane, turn, attempted, found=found, told=told, output_on_record=True)

    # The end

    async def _end(
        self,
        lane: Lane | None,
        turn: Turn,
        attempted: Attempted,
        *,
        failed: Attempted | None = None,
        found: Found | None = None,
        told: list[Score] | None = None,
        output_on_record: bool = False,
    ) -> None:
        """Teardown where there is one, then the outcome. `failed` is of a hook after the task's answer."""
        found = found or Found()
        outcome = outcome_of(failed or attempted)
        if outcome == "scored" and found.failures:
            outcome = "evaluator_error"

        def conclude(torn: Attempted | None) -> None:
            verdict, error = outcome, failed.error if failed is not None else None
            if torn is not None and outcome in ("scored", "evaluator_error"):
                verdict, error = outcome_of(torn), torn.error
            self._conclude(
                turn,
                attempted,
                verdict,
                error=error,
                found=found,
                told=told,
                output_on_record=output_on_record,
            )

        if turn.lifecycle is None or lane is None:
            conclude(None)
            return
        row = None
        if self._plan.row_of is not None:
            row = self._plan.row_of(turn, attempted, outcome, [*(told or []), *found.scores], found.failures)
        lane.conclude = conclude
        torn = await self._hooks.tear_down(lane, turn, row)
        conclude(torn if torn is None else self._shown(turn, torn))

    def _conclude(
        self,
        turn: Turn,
        attempted: Attempted,
        outcome: OutcomeKind,
        *,
        error: ErrorFacts | None = None,
        found: Found | None = None,
        told: list[Score] | None = None,
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
        if self._has_budget:
            purse = self._run.purse
            purse.release(turn.key)
            if outcome not in ("cancelled", "scored") or verdict([*(told or []), *found.scores]) is False:
                purse.spent.failures += 1
            self._run.settled()


def _about_all(error: BaseException) -> EvaluatorFailure:
    return EvaluatorFailure(by="evaluators", error=describe(error, stage="evaluator"))
