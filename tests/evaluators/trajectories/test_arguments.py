"""One call of a tool, and what it was called with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import ArgumentCorrectness, NoTrajectory
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import Call, after, holds, of, openai, said

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same JSON: true is not 1."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) is isinstance(right, bool) and left == right


@given(actual=ARGUMENTS, expected=ARGUMENTS)
def test_a_subset_is_of_the_arguments_and_exact_is_all_of_them(
    actual: dict[str, Any], expected: dict[str, Any]
) -> None:
    call = Call("f", actual)
    subset = all(name in actual and same(actual[name], value) for name, value in expected.items())
    assert holds(ArgumentCorrectness("f", expected), call) is subset
    assert holds(ArgumentCorrectness("f", expected, match_mode="exact"), call) is same(actual, expected)


def test_the_reason_names_each_difference() -> None:
    expected = {"query": "cats", "filters": {"lang": "en"}, "limit": 5}
    call = Call("search", {"query": "dogs", "filters": {"lang": "en", "year": 2026}})
    value, why = said(ArgumentCorrectness("search", expected), after(call))
    assert value is False
    assert why == (
        "search.query is 'dogs', expected 'cats'; search.filters.year is not expected; "
        "search.limit is missing"
    )


CALLS = (Call("f", {"n": 0}), Call("g", {"n": 9}), Call("f", {"n": 1}), Call("f", {"n": 2}))


@pytest.mark.parametrize(("which", "n"), [("first", 0), ("last", 2), (0, 0), (1, 1), (2, 2)])
def test_the_occurrence_says_which_call_of_the_tool(which: Any, n: int) -> None:
    assert holds(ArgumentCorrectness("f", {"n": n}, occurrence=which), *CALLS)
    assert not holds(ArgumentCorrectness("f", {"n": n + 1}, occurrence=which), *CALLS)


def test_a_call_that_there_was_not_is_a_no() -> None:
    assert said(ArgumentCorrectness("h", {}), after(*CALLS)) == (False, "'h' was never called")
    value, why = said(ArgumentCorrectness("f", {}, occurrence=3), after(*CALLS))
    assert (value, why) == (False, "'f' was called 3 times, so there is no call 3")


def test_calls_that_failed_count_only_if_they_are_to() -> None:
    calls = (Call("f", {"n": 0}, failed=True), Call("f", {"n": 1}))
    assert holds(ArgumentCorrectness("f", {"n": 1}), *calls)
    assert holds(ArgumentCorrectness("f", {"n": 0}, include_failed=True), *calls)
    _, why = said(ArgumentCorrectness("f", {}), after(calls[0]))
    assert why == "'f' failed each of the 1 times it was called"


def test_what_is_no_json_object_has_no_arguments() -> None:
    value, why = said(ArgumentCorrectness("f", {}), finished(openai(of(Call("f", "n=1")))))
    assert (value, why) == (False, "the arguments of 'f' are no JSON object: 'n=1'")


def test_arguments_that_nobody_has_told_are_unknown() -> None:
    call = {"id": "c", "name": "f", "arguments": None}
    traced = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    with pytest.raises(NoTrajectory, match="its span does not tell them"):
        ArgumentCorrectness("f", {}).evaluate(finished(trajectory=traced))


def test_arguments_may_be_expected_as_python_has_them() -> None:
    assert holds(ArgumentCorrectness("f", {"point": (1, 2.0)}), Call("f", {"point": [1.0, 2]}))


@pytest.mark.parametrize(
    "bad", [{"match_mode": "loose"}, {"occurrence": -1}, {"occurrence": True}, {"occurrence": "second"}]
)
def test_what_cannot_be_meant_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        ArgumentCorrectness("f", {}, **bad)
    with pytest.raises(UsageError):
        ArgumentCorrectness("f", ["x"])  # type: ignore[arg-type]
