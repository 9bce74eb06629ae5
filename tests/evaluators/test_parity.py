"""Side by side with Pydantic Evals: the same outputs get the same answers, and its own evaluators work here.

Skipped where that library is not installed; it is no dependency, of tests neither.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import evaluators as ours
from paceline.dataset.spec import EvaluatorSpec
from paceline.evaluators.prepare import prepare, scores_of
from paceline.evaluators.registry import build, spec_of
from tests.evaluators.cases import asked, finished

theirs: Any = pytest.importorskip("pydantic_evals.evaluators")


@dataclass
class Point:
    x: int
    y: int


class Model(pydantic.BaseModel):
    name: str
    tags: list[str]


def answer(evaluator: Any, output: object, expected: object = None, **known: Any) -> dict[str, object]:
    return asked(evaluator, finished(output, expected, **known))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text("abAB", max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.tuples(inner)
        | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
        | st.builds(Point, st.integers(0, 1), st.integers(0, 1))
        | st.builds(Model, name=st.text("ab", max_size=1), tags=st.just(["x"]))
    ),
    max_leaves=4,
)


@given(values, values)
def test_equals_agrees(output: Any, value: Any) -> None:
    assert answer(ours.Equals(value), output) == answer(theirs.Equals(value), output)
    assert answer(ours.EqualsExpected(), output, value) == answer(theirs.EqualsExpected(), output, value)


@given(values, values, st.booleans(), st.booleans())
def test_contains_agrees(output: Any, value: Any, case_sensitive: bool, as_strings: bool) -> None:
    arguments: dict[str, Any] = {"value": value, "case_sensitive": case_sensitive, "as_strings": as_strings}
    assert answer(ours.Contains(**arguments), output) == answer(theirs.Contains(**arguments), output)


@given(values, st.sampled_from(["str", "int", "NoneType", "Point", "BaseModel", "object", "Nothing"]))
def test_is_instance_agrees(output: Any, name: str) -> None:
    assert answer(ours.IsInstance(name), output) == answer(theirs.IsInstance(name), output)


@given(st.floats(0, 10), st.floats(0, 10) | st.timedeltas(timedelta(0), timedelta(seconds=10)))
def test_max_duration_agrees(duration: float, limit: Any) -> None:
    mine, other = ours.MaxDuration(limit), theirs.MaxDuration(limit)
    assert answer(mine, 1, duration=duration) == answer(other, 1, duration=duration)


@pytest.mark.parametrize("name", ["Equals", "EqualsExpected", "Contains", "IsInstance", "MaxDuration"])
def test_the_same_evaluators_take_the_same_arguments(name: str) -> None:
    def parameters(kind: type) -> list[tuple[str, object]]:
        return [(one.name, one.default) for one in inspect.signature(kind).parameters.values()]

    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))


@pytest.mark.parametrize(
    "evaluator",
    [
        lambda room: room.Equals([1]),
        lambda room: room.Equals({"a": 1}),
        lambda room: room.Contains("x", as_strings=True),
        lambda room: room.EqualsExpected(),
        lambda room: room.EqualsExpected(evaluation_name="same"),
        lambda room: room.MaxDuration(2.0),
        lambda room: room.IsInstance("str", evaluation_name="text"),
    ],
)
def test_what_one_writes_the_other_reads(evaluator: Any) -> None:
    adapter: Any = importlib.import_module("pydantic").TypeAdapter(theirs.EvaluatorSpec)
    mine, other = evaluator(ours), evaluator(theirs)
    assert build(EvaluatorSpec.parse(spec_of(other))) == mine
    read = adapter.validate_python(spec_of(mine))
    assert getattr(theirs, read.name)(*read.args, **read.kwargs) == other


class Custom(theirs.Evaluator):  # type: ignore[misc]
    def evaluate(self, ctx: Any) -> Any:
        return {
            "long": theirs.EvaluationReason(value=len(ctx.output) > 3, reason="counted"),
            "length": len(ctx.output),
            "kind": "text",
        }


class Asynchronous(theirs.Evaluator):  # type: ignore[misc]
    async def evaluate(self, ctx: Any) -> float:
        return 0.5


class Failing(theirs.Evaluator):  # type: ignore[misc]
    def evaluate(self, ctx: Any) -> NoReturn:
        raise LookupError("as it is")


def test_their_own_evaluators_work_unchanged() -> None:
    (custom, later, named, failing) = prepare(
        [Custom(), Asynchronous(), theirs.Equals("Paris", evaluation_name="capital"), Failing()]
    )
    case = finished("Paris")
    said = [
        (score.name, score.value, score.reason) for score in scores_of(custom, custom.call(case), seconds=0)
    ]
    assert said == [("long", True, "counted"), ("length", 5, None), ("kind", "text", None)]
    assert (later.mode, custom.mode) == ("loop", "thread")
    promise: Any = later.call(case)
    assert asyncio.run(promise) == 0.5
    assert (named.label, named.written) == (
        "capital",
        {"Equals": {"evaluation_name": "capital", "value": "Paris"}},
    )
    assert named.call(case) is True
    with pytest.raises(LookupError):
        failing.call(case)


def test_their_classes_serve_as_types_of_ones_own() -> None:
    built = build(
        EvaluatorSpec.parse({"HasMatchingSpan": {"query": {"name_equals": "x"}}}), [theirs.HasMatchingSpan]
    )
    assert isinstance(built, theirs.HasMatchingSpan)
    assert spec_of(built) == {"HasMatchingSpan": {"query": {"name_equals": "x"}}}


def test_their_span_evaluators_are_told_when_no_spans_were_recorded() -> None:
    with pytest.raises(ours.SpanTreeRecordingError, match="no spans were recorded"):
        theirs.HasMatchingSpan(query={"name_equals": "x"}).evaluate(finished("x"))
