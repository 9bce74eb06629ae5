"""Spans of a run, as an exporter sees them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask, Dataset
from paceline.evaluators import EqualsExpected

pytest.importorskip("opentelemetry.sdk", reason="tracing needs the `otel` extra")

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module")
def provider() -> Iterator[InMemorySpanExporter]:
    """One provider for the process: OpenTelemetry lets it be set only once."""
    own = TracerProvider()
    own.add_span_processor(SimpleSpanProcessor(EXPORTER))
    before = trace._TRACER_PROVIDER
    trace._TRACER_PROVIDER = own
    yield EXPORTER
    trace._TRACER_PROVIDER = before


@pytest.fixture
def exported(provider: InMemorySpanExporter) -> InMemorySpanExporter:
    provider.clear()
    return provider


async def judged(output: str) -> bool:
    with trace.get_tracer("user").start_as_current_span("judge call"):
        return output == "A"


async def answer(question: str) -> str:
    with trace.get_tracer("user").start_as_current_span(f"model call {question}"):
        if question == "broken":
            raise ValueError("no answer")
        return question.upper()


def answer_on_a_thread(question: str) -> str:
    with trace.get_tracer("user").start_as_current_span(f"model call {question}"):
        return question.upper()


def spans_of(exported: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exported.get_finished_spans()}


def parents(spans: dict[str, ReadableSpan]) -> dict[str, str | None]:
    names = {span.context.span_id: name for name, span in spans.items() if span.context}
    return {name: names[span.parent.span_id] if span.parent else None for name, span in spans.items()}


def run(task: Any, *questions: str, **options: Any) -> None:
    dataset = Dataset(
        name="letters",
        cases=[Case(name=each, inputs=each, expected_output=each.upper()) for each in questions],
        evaluators=[EqualsExpected(), judged],
    )
    dataset.evaluate_sync(task, journal=False, progress=False, **options)


@pytest.mark.parametrize("task", [answer, answer_on_a_thread])
def test_the_users_spans_stand_inside_those_of_run_case_attempt_and_evaluator(
    exported: InMemorySpanExporter, task: Any
) -> None:
    run(task, "a")
    assert parents(spans_of(exported)) == {
        "evaluate letters": None,
        "case a": "evaluate letters",
        "attempt": "case a",
        "model call a": "attempt",
        "evaluator EqualsExpected": "case a",
        "evaluator judged": "case a",
        "judge call": "evaluator judged",
    }


def test_cases_that_run_at_once_keep_their_spans_apart(exported: InMemorySpanExporter) -> None:
    questions = [f"q{number}" for number in range(20)]
    run(answer, *questions)
    by_id = {span.context.span_id: span for span in exported.get_finished_spans() if span.context}
    for span in by_id.values():
        if span.name.startswith("model call"):
            attempt = by_id[span.parent.span_id]  # type: ignore[union-attr]
            case = by_id[attempt.parent.span_id]  # type: ignore[union-attr]
            assert case.name == span.name.replace("model call", "case")


def test_a_case_tells_its_scores_and_a_failed_one_its_error(exported: InMemorySpanExporter) -> None:
    run(answer, "a", "broken")
    spans = spans_of(exported)
    scored, broken = spans["case a"], spans["case broken"]
    assert {event.attributes["gen_ai.evaluation.name"] for event in scored.events} == {  # type: ignore[index]
        "EqualsExpected",
        "judged",
    }
    assert scored.attributes is not None
    assert scored.attributes["paceline.outcome"] == "scored"
    assert scored.attributes["paceline.passed"] is True
    assert broken.attributes is not None
    assert broken.attributes["paceline.outcome"] == "task_error"
    assert broken.attributes["error.type"] == "ValueError"
    assert broken.status.status_code is trace.StatusCode.ERROR


def test_a_program_without_a_tracer_provider_never_loads_opentelemetry() -> None:
    probe = (
        "import sys; from paceline import Case, Dataset;"
        "Dataset(cases=[Case(inputs=1)]).evaluate_sync(lambda x: x, journal=False, progress=False);"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# In processes -------------------------------------------------------------------------------------


def traceparent(question: str) -> str:
    """Runs in another process."""
    if question == "broken":
        raise ValueError("no answer")
    return os.environ["TRACEPARENT"]


def test_attempts_in_processes_have_spans_that_these_processes_are_told_of(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACEPARENT", "of whoever started the run")
    cases = [Case(name=name, inputs=name) for name in ("a", "b", "broken")]
    dataset = Dataset(name="letters", cases=cases)
    report = dataset.evaluate_sync(
        traceparent, journal=False, progress=False, isolation="process", max_concurrency=1
    )
    attempts = {
        span.parent.span_id: span
        for span in exported.get_finished_spans()
        if span.name == "attempt" and span.parent
    }
    case_spans = {name: span for name, span in spans_of(exported).items() if name.startswith("case ")}
    told = {}
    for name, span in case_spans.items():
        assert span.context
        attempt = attempts[span.context.span_id]
        assert attempt.context
        told[name] = f"00-{attempt.context.trace_id:032x}-{attempt.context.span_id:016x}"
        failed = attempt.status.status_code is trace.StatusCode.ERROR
        assert failed == (name == "case broken")
    assert {f"case {row.name}": row.output.rpartition("-")[0] for row in report.cases} == {
        "case a": told["case a"],
        "case b": told["case b"],
    }
    (event,) = attempts[case_spans["case broken"].context.span_id].events
    assert event.attributes is not None
    assert (event.attributes["exception.type"], event.attributes["exception.message"]) == (
        "ValueError",
        "no answer",
    )


def test_a_command_is_told_the_span_of_its_attempt(
    exported: InMemorySpanExporter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PACELINE_WORKSPACES", str(tmp_path))
    monkeypatch.setenv("TRACEPARENT", "of whoever started the run")
    dataset = Dataset[Any, Any, Any](name="commands", cases=[Case(name="a", inputs="")])
    report = dataset.evaluate_sync(CommandTask("echo $TRACEPARENT"), journal=False, progress=False)
    context = spans_of(exported)["attempt"].get_span_context()
    assert context is not None
    assert report.cases[0].output.startswith(f"00-{context.trace_id:032x}-{context.span_id:016x}-")
