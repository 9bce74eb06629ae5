"""Bookkeeping: what happens to a key becomes lines, and, once they are safe, events and counts.

A line is handed to the recorder at once. What is told to anybody, the gauge included, waits until the
recorder says that the line is committed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from paceline import values
from paceline.engine.clock import Clock
from paceline.engine.complaints import complain
from paceline.engine.events import AnyEvent, AttemptFailed, CaseFinished, CaseStarted, Gauge
from paceline.engine.ports import Attempted, Recorder, Said, Turn, Work
from paceline.evaluators.spelling import spell_truly
from paceline.journal.bodies import CallBodies, body_text
from paceline.journal.records import (
    NOTHING,
    AttemptLine,
    BeginLine,
    CallLine,
    ErrorFacts,
    EvaluatorFailure,
    Key,
    OutcomeKind,
    OutcomeLine,
    OutputLine,
    Score,
    ScoresLine,
    VerdictLine,
    key_of,
    verdict,
)

if TYPE_CHECKING:
    from paceline.pace.calls import Call

Listener = Callable[[AnyEvent], None]

# One empty value for all lines that have none: a fresh one each would cost more than the rest of the line.
NO_METRICS: Final[dict[str, int | float]] = {}
NO_SCORES: Final[list[Score]] = []
NO_FAILURES: Final[list[EvaluatorFailure]] = []
NO_EVALUATORS: Final[list[Any]] = []


class Bookkeeper:
    """Writes lines, and tells what is safe."""

    def __init__(self, recorder: Recorder, gauge: Gauge, listeners: Iterable[Listener], clock: Clock) -> None:
        self._append = recorder.append
        self._keep = recorder.keep
        self._recorder = recorder
        self._epoch = clock.epoch
        self._uncommitted: deque[tuple[int, OutcomeLine, list[Score] | None, int]] = deque()
        self._listeners = list(listeners)
        # Events of single cases are made only for who wants them: a progress view reads the gauge.
        self._cases_are_told = any(getattr(each, "wants_cases", True) for each in self._listeners)
        self.gauge = gauge
        self.on_call: Callable[[Call], None] | None = None
        """Told of each model call that has ended."""
        self.on_judging: Callable[[Call], None] | None = None
        """Told of those that evaluators have made, and that were paid for."""

    def listen(self, listener: Listener) -> None:
        """Tell one more, who came too late for the list."""
        self._listeners.append(listener)
        self._cases_are_told = self._cases_are_told or getattr(listener, "wants_cases", True)

    # Lines

    def begin(self, turn: Turn) -> None:
        """An attempt starts."""
        key = turn.key
        inputs = expected = metadata = NOTHING
        evaluators = NO_EVALUATORS
        if not turn.on_record:
            turn.on_record = True
            inputs = self._keep(turn.inputs_raw)
            if turn.expected_raw:
                expected = self._keep(turn.expected_raw)
            if turn.metadata_raw:
                metadata = self._keep(turn.metadata_raw)
            if turn.case.evaluators:
                evaluators = [spell_truly(each) for each in turn.case.evaluators]
        self._append(
            BeginLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                attempt=turn.tried + turn.tries,
                at=self._epoch(),
                hash=turn.hash,
                inputs=inputs,
                expected_output=expected,
                metadata=metadata,
                evaluators=evaluators,
            )
        )
        if self._cases_are_told:
            self.tell(CaseStarted(at=self._epoch(), key=key, attempt=turn.attempt))

    def call(self, work: Work, call: Call) -> None:
        """A model call of an attempt has ended: it is paid for, whatever becomes of the attempt."""
        key, usage, at = work.key, call.usage, self._epoch()
        self._keep_bodies(work, call, at)
        used: dict[str, int | None] = {}
        if usage is not None:
            used = {
                "input_tokens": usage.input,
                "output_tokens": usage.output,
                "cached_tokens": usage.cached,
                "cache_write_tokens": usage.cache_write,
                "reasoning_tokens": usage.reasoning,
            }
        self._append(
            CallLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                attempt=work.attempt,
                ordinal=work.calls,
                at=at,
                pool=call.pool,
                host=call.host,
                model=call.model,
                account=call.account,
                request=call.request,
                status=call.status,
                outcome=call.outcome,
                cause=call.cause or "",
                price=call.price,
                seconds=call.seconds,
                first_token=call.first_token,
                waited=call.waited,
                tries=call.tries,
                streamed=call.streamed,
                simulated=call.simulated,
                by=work.by,
                replayed=call.replayed,
                error=call.error,
                **used,
            )
        )
        self.gauge.calls += 1
        if self.on_call is not None:
            self.on_call(call)
        if work.by and self.on_judging is not None and was_paid(call.outcome, call.usage, call.replayed):
            self.on_judging(call)

    def _keep_bodies(self, work: Work, call: Call, at: float) -> None:
        bodies = None if call.replayed else call.bodies
        if (bodies is None and not call.replayed) or work.tape is None or not work.tape.kept:
            return
        kept = CallBodies(
            case=work.key.case,
            repeat=work.key.repeat,
            variant=work.key.variant,
            attempt=work.attempt,
            by=work.by,
            part=work.part,
            ordinal=work.calls,
            began=call.at,
            ended=at,
            request=call.request,
            replayed=call.replayed,
        )
        if bodies is not None:
            asked, _ = body_text(bodies.asked)
            answered, as_bytes = body_text(bodies.answered)
            kept = msgspec.structs.replace(
                kept,
                path=bodies.path,
                status=call.status or 200,
                content_type=bodies.content_type,
                simulated=call.simulated,
                asked=asked,
                answered=answered,
                answered_bytes=as_bytes,
            )
        work.before = self._recorder.keep_bodies(kept, work.before)

    def anew(self, work: Work) -> None:
        """An attempt of a key that was attempted before: what that has asked is not to be played again."""
        key = work.key
        self._recorder.keep_bodies(
            CallBodies(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                attempt=work.attempt,
                ordinal=0,
                fresh=True,
            )
        )

    def failed_attempt(self, turn: Turn, attempted: Attempted, retry_in: float) -> None:
        """An attempt failed and another one follows."""
        assert attempted.error is not None
        key, at = turn.key, self._epoch()
        self._append(
            AttemptLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                attempt=turn.attempt,
                at=at,
                error=attempted.error,
                error_class=attempted.error_class,
                seconds=attempted.seconds,
                waited=attempted.waited,
                retry_in=retry_in,
                metrics=countable(attempted.metrics),
                attributes=self._value(attempted.attributes),
            )
        )
        self.gauge.retries += 1
        self.gauge.waited += retry_in + attempted.waited
        if self._cases_are_told:
            self.tell(
                AttemptFailed(
                    at=at,
                    key=key,
                    attempt=turn.attempt,
                    error=attempted.error,
                    error_class=attempted.error_class,
                    retry_in=retry_in,
                )
            )

    def output(self, turn: Turn, attempted: Attempted) -> None:
        """The task has answered, and evaluators that wait come next."""
        key = turn.key
        turn.parts = 1
        self._append(
            OutputLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                attempt=turn.attempt,
                at=self._epoch(),
                seconds=attempted.seconds,
                waited=turn.waited + attempted.waited,
                output=self._output_of(attempted),
                metrics=countable(attempted.metrics),
                attributes=self._value(attempted.attributes),
                trajectory=self._trajectory(attempted),
            )
        )

    def verdict(self, key: Key, said: Said, value: msgspec.Raw) -> None:
        """A part of an evaluator has come to its verdict. Any thread may tell."""
        self._append(
            VerdictLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                at=self._epoch(),
                by=said.by,
                part=said.part,
                seen=said.seen,
                value=self._keep(bytes(value)),
            )
        )

    def scores(self, turn: Turn, scores: list[Score]) -> None:
        """An evaluator has answered while others of the case have not."""
        key = turn.key
        turn.parts += 1
        self._append(
            ScoresLine(
                case=key.case,
                repeat=key.repeat,
                variant=key.variant,
                at=self._epoch(),
                scores=scores,
            )
        )

    def outcome(
        self,
        turn: Turn,
        outcome: OutcomeKind,
        attempted: Attempted,
        *,
        total: float,
        error: ErrorFacts | None = None,
        output_on_record: bool = False,
        told: list[Score] | None = None,
        scores: list[Score] | None = None,
        failures: list[EvaluatorFailure] | None = None,
    ) -> None:
        """A key has come to its end. `told` are scores on record already, `scores` those that are not."""
        key = turn.key
        output = attributes = trajectory = NOTHING
        metrics = NO_METRICS
        if not output_on_record:
            if attempted.error is None:
                output = self._output_of(attempted)
            if attempted.metrics:
                metrics = countable(attempted.metrics)
            if attempted.attributes:
                attributes = self._value(attempted.attributes)
            if attempted.trajectory is not None:
                trajectory = self._trajectory(attempted)
        # At most fifteen keywords: with more of them CPython takes a call path that is four times as slow.
        rare: dict[str, Any] = {}
        if turn.parts or key.repeat or key.variant or turn.abandoned:
            rare = {
                "repeat": key.repeat,
                "variant": key.variant,
                "abandoned": turn.abandoned,
                "builds_on": turn.parts,
            }
        line = OutcomeLine(
            case=key.case,
            attempt=turn.tried + turn.tries,
            at=self._epoch(),
            outcome=outcome,
            seconds=attempted.seconds,
            waited=turn.waited + attempted.waited,
            total=total,
            error=error or attempted.error,
            output=output,
            metrics=metrics,
            attributes=attributes,
            trajectory=trajectory,
            scores=scores or NO_SCORES,
            failures=failures or NO_FAILURES,
            **rare,
        )
        self._uncommitted.append((self._append(line), line, told, turn.tries))

    def _output_of(self, attempted: Attempted) -> msgspec.Raw:
        raw, attempted.raw = attempted.raw, b""  # a big one is not kept while it is being scored
        return self._keep(raw or values.encode(attempted.output))

    def _trajectory(self, attempted: Attempted) -> msgspec.Raw:
        # An empty one says that nothing was done; none at all, that nobody knows.
        trajectory = attempted.trajectory
        return NOTHING if trajectory is None else self._keep(values.encode(trajectory))

    def _value(self, value: Any) -> msgspec.Raw:
        return self._keep(values.encode(value)) if value else NOTHING

    # What is safe

    def on_commit(self) -> None:
        """Count and tell every outcome that is safe by now. Called on the loop."""
        committed = self._recorder.committed
        uncommitted = self._uncommitted
        count, cases_are_told = self._count, self._cases_are_told
        while uncommitted and uncommitted[0][0] <= committed:
            _sequence, line, told, tries = uncommitted.popleft()
            passed = verdict([*told, *line.scores] if told else line.scores)
            count(line.outcome, passed)
            if cases_are_told:
                self.tell(_finished(line, told or [], tries, passed if line.outcome == "scored" else False))

    def _count(self, outcome: OutcomeKind, passed: bool | None) -> None:
        gauge = self.gauge
        gauge.done += 1
        if outcome != "scored":
            gauge.errors += 1
        elif passed is None:
            gauge.unasserted += 1
        elif passed:
            gauge.passed += 1
        else:
            gauge.failed += 1

    def tell(self, event: AnyEvent) -> None:
        """Send an event to every listener; one that raises is reported and not asked again."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._listeners.remove(listener)
                complain(f"paceline: on_event raised {type(error).__name__}, and is not called again")


def was_paid(outcome: str, usage: object, replayed: bool) -> bool:
    """Whether a call has cost anything now, as far as can be seen."""
    return not replayed and (outcome == "ok" or usage is not None)


def countable(metrics: Mapping[str, Any]) -> dict[str, int | float]:
    """The metrics that are finite numbers, as plain ones; the record holds nothing else."""
    if not metrics:
        return NO_METRICS
    numbers = ((str(name), _plain_number(value)) for name, value in metrics.items())
    return {name: number for name, number in numbers if number is not None}


def _plain_number(value: Any) -> int | float | None:
    """A number proper: bools, NumPy's scalars, decimals and fractions are turned into one."""
    try:
        if isinstance(value, int):
            return int.__index__(value)
        if isinstance(value, str | bytes | bytearray):
            return None
        number = value.__index__() if hasattr(value, "__index__") else float(value)
    except BaseException:  # a foreign number
        return None
    return number if number - number == 0 else None  # false for NaN and the infinities


def _finished(line: OutcomeLine, told: list[Score], tries: int, passed: bool | None) -> CaseFinished:
    return CaseFinished(
        at=line.at,
        key=key_of(line),
        outcome=line.outcome,
        passed=passed,
        attempts=tries,
        seconds=line.seconds,
        waited=line.waited,
        total=line.total,
        scores=[*told, *line.scores],
        failures=line.failures,
        error=line.error,
    )
