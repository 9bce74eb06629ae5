"""The calls of a case are those accepted, one for one."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline import Case, Dataset
from paceline.errors import UsageError
from paceline.evaluators import AcceptedCalls, NoTrajectory
from paceline.evaluators.trajectories.accepted import first_unmet
from paceline.tasks import ModelTask
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import Call, after, openai, recorded, said

AREA = {
    "name": "area",
    "description": "The area of a rectangle.",
    "parameters": {
        "type": "dict",
        "properties": {
            "width": {"type": "integer"},
            "height": {"type": "float"},
            "unit": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["width", "height"],
    },
}
WANTED: Any = [
    {"area": {"width": [3], "height": [4.0], "unit": ["square metres", ""], "tags": [["a", "b"], ""]}}
]


def why(*calls: Call, wanted: Any = WANTED, tools: Any = (AREA,)) -> str:
    """What is said against these calls; empty where they are accepted."""
    value, reason = said(AcceptedCalls(wanted, tools=list(tools)), after(*calls))
    assert bool(value) is not bool(reason)
    return reason


def area(**arguments: Any) -> Call:
    return Call("area", {"width": 3, "height": 4.0, **arguments})


def test_a_call_is_accepted_with_accepted_values_and_without_what_is_optional() -> None:
    assert why(area()) == ""
    assert why(area(unit="Square-Metres", tags=["A", "b."])) == ""
    assert why(area(height=4)) == "", "an integer will do for a float"
    assert why(area(tags=[])) == "", "as good as left out"


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (Call("volume", {}), "'volume' was called, not area"),
        (Call("area", {"width": 3}), "area lacks its argument height, which is required"),
        (area(depth=1), "area has no argument 'depth'"),
        (area(width="3"), "width of area is '3', a str and not an int"),
        (area(width=3.0), "width of area is 3.0, a float and not an int"),
        (area(width=True), "width of area is True, a bool and not an int"),
        (area(width=5), "width of area is 5, which is none of [3]"),
        (area(unit="feet"), "unit of area is 'feet', which is none of ['square metres', '']"),
        (area(tags=["b", "a"]), "tags of area is ['b', 'a'], which is none of [['a', 'b'], '']"),
        (
            area(tags=["a", 2]),
            "tags of area is ['a', 2], and not all of that is of the type that is declared",
        ),
        (Call("area", "width=3"), "the arguments of area are no JSON object: 'width=3'"),
    ],
)
def test_the_reason_says_what_is_wrong(call: Call, reason: str) -> None:
    told = openai([call]) if isinstance(call.arguments, str) else recorded([call])
    value, found = said(AcceptedCalls(WANTED, tools=[AREA]), finished(trajectory=told))
    assert (value, found) == (False, reason)


def test_as_many_calls_have_to_be_made_as_are_accepted() -> None:
    assert why() == "0 calls (none), and 1 are accepted"
    assert why(area(), area()) == "2 calls (area, area), and 1 are accepted"
    assert why(wanted=[]) == "", "nothing was to be called"
    assert why(area(), wanted=[]) == "1 calls (area), and 0 are accepted"


def test_several_calls_may_come_in_any_order_and_none_takes_the_place_of_two() -> None:
    wanted = [{"f": {"x": [1, 2]}}, {"f": {"x": [2]}}, {"g": {}}]
    calls = [Call("f", {"x": 1}), Call("f", {"x": 2}), Call("g")]
    for order in permutations(calls):
        assert why(*order, wanted=wanted, tools=()) == ""
    reason = why(Call("f", {"x": 1}), Call("f", {"x": 1}), Call("g"), wanted=wanted, tools=())
    assert reason == ("accepted call 2, of f, was not made: x of f is 1, which is none of [2]")


def test_a_name_with_dots_may_be_called_as_providers_take_it() -> None:
    wanted = [{"math.area": {"width": [3]}}]
    assert why(Call("math_area", {"width": 3}), wanted=wanted, tools=()) == ""
    assert why(Call("math.area", {"width": 3}), wanted=wanted, tools=()) == ""
    declared = [{"name": "math_area", "input_schema": {"properties": {"width": {"type": "string"}}}}]
    assert "not a str" in why(Call("math_area", {"width": 4.5}), wanted=wanted, tools=declared)


def test_without_a_declaration_the_first_accepted_value_says_the_type() -> None:
    wanted = [{"f": {"n": ["", 5], "x": [1.5, ""]}}]
    assert why(Call("f", {"n": 5}), wanted=wanted, tools=()) == ""
    assert why(Call("f", {}), wanted=wanted, tools=()) == ""
    assert why(Call("f", {"n": 5.0}), wanted=wanted, tools=())
    assert why(Call("f", {"x": 1}), wanted=wanted, tools=())


def test_calls_and_tools_may_stand_in_the_case() -> None:
    dataset: Dataset[Any, Any, Any] = Dataset(
        cases=[
            Case(name="right", inputs={"function": [AREA], "a": area()}, expected_output=WANTED),
            Case(
                name="wrong", inputs={"a": area(width="3")}, metadata={"tools": AREA}, expected_output=WANTED
            ),
            Case(name="nothing to compare", inputs={"a": area()}),
        ],
        evaluators=[AcceptedCalls()],
    )
    report = dataset.evaluate_sync(lambda inputs: openai([inputs["a"]]), progress=False, journal=False)
    assert {row.name: row.passed for row in report.cases} == {
        "right": True,
        "wrong": False,
        "nothing to compare": None,
    }


def test_a_model_that_is_offered_tools_is_judged_by_what_it_asks_for() -> None:
    task = ModelTask("sim", prompt="{{ inputs.ask }}", tools="{{ inputs.function }}")
    case = Case(inputs={"ask": "Use area for this.", "function": [AREA]}, expected_output=WANTED)
    report = Dataset(cases=[case], evaluators=[AcceptedCalls()]).evaluate_sync(
        task, progress=False, journal=False
    )
    (row,) = report.cases
    assert row.assertions["AcceptedCalls"].value is False
    assert "of area is" in str(row.assertions["AcceptedCalls"].reason)


@pytest.mark.parametrize(
    "bad", ["area", [{"f": {}, "g": {}}], [{"f": 5}], [{"f": {"x": 5}}], [5], {"f": {"x": "5"}}]
)
def test_calls_that_are_written_otherwise_are_refused_with_the_form(bad: Any) -> None:
    with pytest.raises(UsageError) as refused:
        AcceptedCalls(bad)
    assert "[{'f': {'x': [5], 'y': ['']}}]" in refused.value.hint
    with pytest.raises(ValueError, match=r"accepted|by name|one call"):
        AcceptedCalls().evaluate(finished(expected=bad, trajectory=[]))


def test_arguments_that_nobody_has_told_are_unknown() -> None:
    call = {"id": "c", "name": "area", "arguments": None}
    traced = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    with pytest.raises(NoTrajectory):
        AcceptedCalls(WANTED).evaluate(finished(trajectory=traced))


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.lists(st.booleans(), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_a_row_goes_without_only_where_no_distribution_serves_all(fits: list[list[bool]]) -> None:
    size = len(fits)
    served = any(
        all(fits[row][column] for row, column in enumerate(order)) for order in permutations(range(size))
    )
    assert (first_unmet(fits) is None) is served


def test_many_calls_that_are_all_alike_are_given_out_in_no_time() -> None:
    assert first_unmet([[True] * 1_500] * 1_500) is None
