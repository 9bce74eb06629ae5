"""Side by side with Pydantic Evals: of the same spans, its evaluators of trajectories and ours say the same.

Skipped where that library is not installed; it is no dependency, of tests neither.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import evaluators as ours
from paceline.trajectory.spans import messages_of
from tests.evaluators.cases import asked, finished

pytest.importorskip("opentelemetry.sdk", reason="spans need the `otel` extra")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Status, StatusCode

theirs: Any = pytest.importorskip("pydantic_evals.evaluators")
otel: Any = pytest.importorskip("pydantic_evals.otel.span_tree")

EXPORTER = InMemorySpanExporter()
PROVIDER = TracerProvider()
PROVIDER.add_span_processor(SimpleSpanProcessor(EXPORTER))
TRACER = PROVIDER.get_tracer("agent")


class Ran(NamedTuple):
    """A tool that has run, or a model that was asked where there is no name."""

    name: str
    arguments: dict[str, Any]
    failed: bool
    old: bool
    """Whether its span is one of those that Pydantic AI made before."""


names = st.sampled_from(["search", "fetch", "rm"])
arguments = st.dictionaries(st.sampled_from("ab"), st.integers(2, 4) | st.text("xy", max_size=1), max_size=2)
runs = st.lists(st.builds(Ran, names | st.just(""), arguments, st.booleans(), st.booleans()), max_size=6)
expected = st.lists(names, max_size=5)


def traced(ran: list[Ran]) -> Any:
    """A case of whose attempt there are these spans, for both kinds of evaluators."""
    EXPORTER.clear()
    with TRACER.start_as_current_span("invoke_agent"):
        for each in ran:
            name, attributes = _span(each)
            with TRACER.start_as_current_span(name, attributes=attributes) as span:
                if each.failed:
                    span.set_status(Status(StatusCode.ERROR))
    spans = EXPORTER.get_finished_spans()
    tree = otel.SpanTree()
    tree.add_readable_spans(list(spans))
    return finished(trajectory=messages_of(spans), recorded_spans=tree)


def _span(ran: Ran) -> tuple[str, dict[str, Any]]:
    if not ran.name:
        return "chat m", {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    name, told = ("running tool", "tool_arguments") if ran.old else ("", "gen_ai.tool.call.arguments")
    facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": ran.name}
    return name or f"execute_tool {ran.name}", {**facts, told: json.dumps(ran.arguments)}


@given(ran=runs.filter(lambda ran: any(each.name for each in ran)), expected=expected, data=st.data())
def test_the_same_spans_get_the_same_answers(
    ran: list[Ran], expected: list[str], data: st.DataObject
) -> None:
    case = traced(ran)
    flag = data.draw(st.booleans())
    limit = data.draw(st.integers(0, 4))
    made: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
        ("ToolCorrectness", (expected,), {"allow_extra": data.draw(st.booleans()), "include_failed": flag}),
        ("MaxToolCalls", (limit,), {"include_failed": flag}),
        *(
            ("TrajectoryMatch", (expected,), {"order": order, "include_failed": flag})
            for order in ("exact", "in_order", "any_order")
        ),
        (
            "ArgumentCorrectness",
            (data.draw(names), data.draw(arguments)),
            {
                "match_mode": data.draw(st.sampled_from(["subset", "exact"])),
                "occurrence": data.draw(st.sampled_from(["first", "last", 0, 1, 2])),
                "include_failed": flag,
            },
        ),
    ]
    if any(not each.name for each in ran):
        made.append(("MaxModelRequests", (limit,), {}))
    for name, positional, keywords in made:
        mine = asked(getattr(ours, name)(*positional, **keywords), case)
        yours = asked(getattr(theirs, name)(*positional, **keywords), case)
        assert mine == pytest.approx(yours), (name, positional, keywords)


@pytest.mark.parametrize(
    "name", ["ToolCorrectness", "TrajectoryMatch", "ArgumentCorrectness", "MaxToolCalls", "MaxModelRequests"]
)
def test_parameters_and_defaults_are_theirs(name: str) -> None:
    def parameters(kind: Any) -> list[tuple[str, object]]:
        return [(field.name, field.default) for field in dataclasses.fields(kind)]

    wanted = parameters(getattr(theirs, name))
    assert parameters(getattr(ours, name))[: len(wanted)] == wanted
