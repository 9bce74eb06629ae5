"""Rows: one case of a report as a person looks at it, with the names that Pydantic Evals' users know.

`ReportCase` is a key whose task gave an output, `ReportCaseFailure` one whose task did not; every key that
came to an end is one of the two. Ours beside theirs: `key`, `variant`, `outcome`, `attempts`, `waited`, and
on a failure its type and how long it took.

Knows values. How a row is read from a journal is `reading`'s business; `row_maker` makes one of a key that
has just been run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic

from paceline.dataset.case import InputsT, MetadataT, OutputT
from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError
from paceline.evaluators.base import EvaluationScalar
from paceline.evaluators.prepare import merge_names
from paceline.evaluators.results import EvaluationResult
from paceline.evaluators.results import EvaluatorFailure as EvaluationFailure  # the record has theirs
from paceline.journal.records import ErrorFacts, EvaluatorFacts, EvaluatorFailure, Key, OutcomeKind, Score
from paceline.report.results import WITH_OUTPUT, in_order

if TYPE_CHECKING:
    from paceline.engine.ports import Attempted, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCase(Generic[InputsT, OutputT, MetadataT]):
    """A key whose task gave an output."""

    name: str
    """The case's name; `name [2/3]` where it is repeated."""
    inputs: InputsT
    metadata: MetadataT | None
    expected_output: OutputT | None
    output: OutputT

    metrics: dict[str, float | int] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, EvaluationResult] = field(default_factory=dict)
    labels: dict[str, EvaluationResult] = field(default_factory=dict)
    assertions: dict[str, EvaluationResult] = field(default_factory=dict)

    task_duration: float
    """Seconds that the task worked in the attempt that gave the output; waiting for limits is not in it."""
    total_duration: float
    """Seconds from setup to teardown, scoring and waiting included."""

    source_case_name: str | None = None
    """The case's name where it is repeated."""
    trace_id: str | None = None
    span_id: str | None = None
    evaluator_failures: list[EvaluationFailure] = field(default_factory=list)

    key: Key
    outcome: OutcomeKind = "scored"
    """`scored`, or `evaluator_error` where an evaluator could not say anything."""
    attempts: int = 1
    waited: float = 0.0
    trajectory: list[dict[str, Any]] | None = None

    @property
    def variant(self) -> str:
        return self.key.variant

    @property
    def passed(self) -> bool | None:
        """Whether all assertions are true; None without any; False where an evaluator failed."""
        if self.outcome != "scored":
            return False
        return all(result.value for result in self.assertions.values()) if self.assertions else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCaseFailure(Generic[InputsT, OutputT, MetadataT]):
    """A key that has come to its end without an output."""

    name: str
    inputs: InputsT
    metadata: MetadataT | None
    expected_output: OutputT | None

    error_message: str
    error_stacktrace: str
    error_type: str
    error_stage: str = "task"
    """Where it happened: `task`, `setup`, `prepare_context`, `teardown` or `engine`."""

    source_case_name: str | None = None
    trace_id: str | None = None
    span_id: str | None = None

    key: Key
    outcome: OutcomeKind
    attempts: int = 1
    duration: float = 0.0
    """Seconds that the task worked in its last attempt."""
    total_duration: float = 0.0
    waited: float = 0.0
    metrics: dict[str, float | int] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    output: OutputT | None = None
    """What the task answered, where only what came after it has failed."""
    passed: bool = field(default=False, init=False)

    @property
    def variant(self) -> str:
        return self.key.variant


Row = ReportCase[Any, Any, Any] | ReportCaseFailure[Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What rows need to know of the run that they belong to."""

    repeat: int = 1
    evaluators: Sequence[EvaluatorFacts] = ()

    @property
    def labels(self) -> list[str]:
        """Labels of the evaluators, in order."""
        return [facts.label for facts in self.evaluators]


def shown_name(key: Key, repeat: int) -> str:
    """How a report names a key, as Pydantic Evals does."""
    return f"{key.case} [{key.repeat + 1}/{repeat}]" if repeat > 1 else key.case


class Judged:
    """What evaluators said of a case, sorted into scores, labels and assertions."""

    def __init__(self, scores: Iterable[Score], failures: Iterable[EvaluatorFailure], run: RunFacts) -> None:
        facts = {each.label: each for each in run.evaluators}
        self.scores: dict[str, EvaluationResult] = {}
        self.labels: dict[str, EvaluationResult] = {}
        self.assertions: dict[str, EvaluationResult] = {}
        for score in scores:
            kind = _kind_of(score.value)
            getattr(self, kind)[score.name] = _result(score, facts.get(score.by))
        self.failures = [_failure(failure, facts.get(failure.by)) for failure in failures]


def _kind_of(value: EvaluationScalar) -> str:
    match value:
        case bool():
            return "assertions"
        case str():
            return "labels"
        case _:
            return "scores"


def _result(score: Score, facts: EvaluatorFacts | None) -> EvaluationResult:
    return EvaluationResult(
        name=score.name,
        value=score.value,
        reason=score.reason,
        source=_source(score.by, facts),
        evaluator_version=facts.version if facts else None,
        by=score.by,
        seconds=score.seconds,
    )


def _failure(failure: EvaluatorFailure, facts: EvaluatorFacts | None) -> EvaluationFailure:
    return EvaluationFailure(
        name=failure.by,
        error_message=failure.error.message,
        error_stacktrace=failure.error.trace,
        error_type=failure.error.type,
        source=_source(failure.by, facts),
        evaluator_version=facts.version if facts else None,
        by=failure.by,
        seconds=failure.seconds,
    )


def _source(by: str, facts: EvaluatorFacts | None) -> EvaluatorSpec:
    if facts is not None and facts.spec is not None:
        try:
            return EvaluatorSpec.parse(facts.spec)
        except DatasetError:
            pass  # someone else's spelling; the label says which evaluator it was
    return EvaluatorSpec(name=by, keywords={})


def make_row(
    key: Key,
    outcome: OutcomeKind,
    run: RunFacts,
    *,
    inputs: Any,
    metadata: Any,
    expected_output: Any,
    output: Any,
    error: ErrorFacts | None,
    judged: Judged,
    metrics: dict[str, float | int],
    attributes: dict[str, Any],
    trajectory: list[dict[str, Any]] | None,
    seconds: float,
    total: float,
    waited: float,
    attempts: int,
) -> Row:
    """The row of a key that has come to its end."""
    common: dict[str, Any] = {
        "name": shown_name(key, run.repeat),
        "source_case_name": key.case if run.repeat > 1 else None,
        "key": key,
        "outcome": outcome,
        "inputs": inputs,
        "metadata": metadata,
        "expected_output": expected_output,
        "metrics": metrics,
        "attributes": attributes,
        "attempts": attempts,
        "waited": waited,
        "total_duration": total,
    }
    if outcome in WITH_OUTPUT:
        return ReportCase(
            **common,
            output=output,
            task_duration=seconds,
            scores=judged.scores,
            labels=judged.labels,
            assertions=judged.assertions,
            evaluator_failures=judged.failures,
            trajectory=trajectory,
        )
    error = error or ErrorFacts(type="")
    return ReportCaseFailure(
        **common,
        output=output,
        duration=seconds,
        error_message=error.message,
        error_stacktrace=error.trace,
        error_type=error.type,
        error_stage=error.stage,
    )


RowMaker = Callable[["Turn", "Attempted", OutcomeKind, list[Score], list[EvaluatorFailure]], Row]


def row_maker(repeat: int, evaluators: Sequence[EvaluatorFacts]) -> RowMaker:
    """What makes the row that a lifecycle's `teardown` is given."""
    run = RunFacts(repeat=repeat, evaluators=evaluators)

    def make(
        turn: Turn,
        attempted: Attempted,
        outcome: OutcomeKind,
        scores: list[Score],
        failures: list[EvaluatorFailure],
    ) -> Row:
        case = turn.case
        labels = in_order({score.by for score in scores}, run.labels)
        return make_row(
            turn.key,
            outcome,
            run,
            inputs=case.inputs,
            metadata=case.metadata,
            expected_output=case.expected_output,
            output=attempted.output,
            error=attempted.error,
            judged=Judged(merge_names(scores, order=labels), failures, run),
            metrics=dict(attempted.metrics),
            attributes=dict(attempted.attributes),
            trajectory=attempted.trajectory,
            seconds=attempted.seconds,
            total=0.0,
            waited=turn.waited + attempted.waited,
            attempts=turn.attempt,
        )

    return make


__all__ = [
    "EvaluationFailure",
    "EvaluationResult",
    "Judged",
    "ReportCase",
    "ReportCaseFailure",
    "Row",
    "RunFacts",
    "make_row",
    "row_maker",
    "shown_name",
]
