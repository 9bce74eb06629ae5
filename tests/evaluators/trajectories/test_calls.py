"""Tool calls are the same in whatever form they are told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators import Called, tool_calls
from paceline.evaluators.trajectories.calls import calls_in
from paceline.models.messages import Assistant, ToolCall, ToolResult
from paceline.trajectory.listed import Step
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import FORMS, Call, of

names = st.sampled_from(["search", "fetch", "delete"])
arguments = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=3), max_size=2)
results = st.none() | st.text("xyz", max_size=3)
calls = st.lists(st.builds(Call, names, arguments, results, st.just(value=False)), max_size=5)


def seen(found: tuple[Called, ...]) -> list[tuple[Any, ...]]:
    return [(call.name, call.arguments, call.result) for call in found]


@given(st.sampled_from(sorted(FORMS)), calls.filter(bool))
def test_every_form_tells_the_same_calls_in_the_same_order(form: str, told: list[Call]) -> None:
    if form == "gemini":  # names its calls by their tools: a result goes to the first that waits
        told = [call._replace(result="r") for call in told]
    found = tool_calls(finished(FORMS[form](told)))
    assert seen(found) == [(call.name, call.arguments, call.result) for call in told]


@pytest.mark.parametrize("form", FORMS)
def test_whether_a_call_has_failed_is_known_where_its_form_has_a_word_for_it(form: str) -> None:
    told = of(Call("a", failed=True), Call("b"), Call("c", result=None))
    failed = [call.failed for call in tool_calls(finished(FORMS[form](told)))]
    assert failed == ([None, None, None] if form in ("openai", "responses") else [True, False, None])


def test_calls_of_one_turn_stand_in_its_order_and_have_their_own_results() -> None:
    a, b = (ToolCall(id=name, name=name, arguments={}) for name in "ab")
    steps = [
        Step(Assistant("", (a, b))),
        Step(ToolResult(call_id="b", content="B")),
        Step(ToolResult(call_id="a", content="A", is_error=True)),
    ]
    assert [(call.name, call.result, call.failed) for call in calls_in(steps)] == [
        ("a", "A", True),
        ("b", "B", None),
    ]


def test_where_ids_come_again_the_first_call_that_waits_has_the_result() -> None:
    call = ToolCall(id="", name="f", arguments={})
    steps = [Step(Assistant("", (call, call))), Step(ToolResult(call_id="", content="1"))]
    assert [found.result for found in calls_in(steps)] == ["1", None]


def test_what_was_given_was_not_called() -> None:
    call = ToolCall(id="c", name="f", arguments={})
    steps = [Step(Assistant("", (call,)), given=True), Step(ToolResult(call_id="c", content="x"))]
    assert calls_in(steps) == ()


def test_arguments_that_are_no_object_are_kept_as_they_are() -> None:
    (call,) = tool_calls(finished(FORMS["openai"](of(Call("f", arguments="{'x': 1")))))
    assert call.arguments == "{'x': 1"
