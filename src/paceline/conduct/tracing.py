"""OpenTelemetry: a span for the run, each case, attempt and evaluator; the user's own spans stand inside.

    run ─┬─ case ─┬─ attempt ── whatever the task traces: model calls, tools
         │        ├─ attempt
         │        └─ evaluator ── whatever the evaluator traces: a judge's calls
         └─ case ...

Nothing has to be turned on: where the program has set up a tracer provider (Logfire does), spans go there;
where it has not, this module is not even imported (see `conduct`). Attributes follow the GenAI conventions as
far as these reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from paceline.engine.events import AnyEvent, AttemptFailed, CaseFinished, CaseStarted
from paceline.trajectory.spans import listen

if TYPE_CHECKING:
    from paceline.engine.ports import Work
    from paceline.evaluators.base import EvaluatorContext
    from paceline.evaluators.prepare import Prepared
    from paceline.journal.records import ErrorFacts, Key

NANOSECONDS: Final = 1_000_000_000


class Tracing:
    """Makes the spans of one run. It is a listener for events, and stands around attempts and evaluators."""

    def __init__(self, suite: str, run_id: str) -> None:
        self._tracer = trace.get_tracer("paceline", version("paceline"))
        self._suite = suite
        self._run_id = run_id
        self._run: Span = trace.INVALID_SPAN
        self._cases: dict[Key, Span] = {}

    @contextmanager
    def run(self, attributes: Mapping[str, Any]) -> Iterator[None]:
        """The span of the run, a child of whatever span is current."""
        common = {
            "gen_ai.operation.name": "evaluate",
            "paceline.suite": self._suite,
            "paceline.run_id": self._run_id,
        }
        with self._tracer.start_as_current_span(
            f"evaluate {self._suite}", attributes={**common, **attributes}
        ) as self._run:
            try:
                yield
            finally:
                for span in self._cases.values():
                    span.set_status(Status(StatusCode.ERROR, "not finished"))
                    span.end()
                self._cases.clear()

    def __call__(self, event: AnyEvent) -> None:
        """Begin and end cases, and say what came of them."""
        match event:
            case CaseStarted(key=key) if key not in self._cases:
                self._cases[key] = self._start_case(key, event.at)
            case AttemptFailed(key=key) if key in self._cases:
                self._cases[key].add_event(
                    "retry", {"error.type": event.error.type, "paceline.retry_in_s": event.retry_in}
                )
            case CaseFinished(key=key) if (span := self._cases.pop(key, None)) is not None:
                _tell_result(span, event)
                span.end(end_time=int(event.at * NANOSECONDS))
            case _:
                pass

    @contextmanager
    def attempt(self, work: Work) -> Iterator[AttemptTrace]:
        """Around one attempt of the task."""
        with self._inside(work.key, "attempt", {"paceline.attempt": work.attempt}) as span:
            work.traced = listen()
            yield AttemptTrace(span)

    @contextmanager
    def evaluator(self, prepared: Prepared, ctx: EvaluatorContext[Any, Any, Any]) -> Iterator[None]:
        """Around one call of an evaluator."""
        assert ctx.key is not None
        with self._inside(
            ctx.key, f"evaluator {prepared.label}", {"gen_ai.evaluation.name": prepared.default_name}
        ):
            yield

    @contextmanager
    def _inside(self, key: Key, name: str, attributes: dict[str, Any]) -> Iterator[Span]:
        parent = trace.set_span_in_context(self._cases.get(key, self._run))
        token = otel_context.attach(parent)
        try:
            with self._tracer.start_as_current_span(name, attributes=attributes) as span:
                yield span
        finally:
            otel_context.detach(token)

    def _start_case(self, key: Key, at: float) -> Span:
        attributes: dict[str, Any] = {"paceline.case": key.case, "paceline.repeat": key.repeat}
        if key.variant:
            attributes["paceline.variant"] = key.variant
        return self._tracer.start_span(
            f"case {key.case}",
            context=trace.set_span_in_context(self._run),
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            start_time=int(at * NANOSECONDS),
        )


class AttemptTrace:
    """The span of an attempt, for whoever carries it out in another process."""

    def __init__(self, span: Span) -> None:
        self._span = span

    @property
    def environ(self) -> Mapping[str, str]:
        """Environment variables that make spans of another process children of this one."""
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier, trace.set_span_in_context(self._span))
        return {name.upper(): value for name, value in carrier.items()}

    def tell_error(self, error: ErrorFacts) -> None:
        """What an exception tells by passing through."""
        self._span.add_event(
            "exception",
            {
                "exception.type": error.type,
                "exception.message": error.message,
                "exception.stacktrace": error.trace,
            },
        )
        self._span.set_status(Status(StatusCode.ERROR, f"{error.type}: {error.message[:500]}"))


def _tell_result(span: Span, event: CaseFinished) -> None:
    span.set_attributes(
        {
            "paceline.outcome": event.outcome,
            "paceline.attempts": event.attempts,
            "paceline.seconds": event.seconds,
            "paceline.waited_s": event.waited,
        }
    )
    if event.passed is not None:
        span.set_attribute("paceline.passed", event.passed)
    for score in event.scores:
        attributes: dict[str, Any] = {"gen_ai.evaluation.name": score.name}
        if isinstance(score.value, str | bool):
            attributes["gen_ai.evaluation.score.label"] = str(score.value).lower()
        if not isinstance(score.value, str):
            attributes["gen_ai.evaluation.score.value"] = float(score.value)
        if score.reason:
            attributes["gen_ai.evaluation.explanation"] = score.reason
        span.add_event("gen_ai.evaluation.result", attributes)
    for failure in event.failures:
        span.add_event(
            "gen_ai.evaluation.result",
            {"gen_ai.evaluation.name": failure.by, "error.type": failure.error.type},
        )
    if event.error is not None:
        span.set_attribute("error.type", event.error.type)
        span.set_status(Status(StatusCode.ERROR, event.error.message[:500]))
