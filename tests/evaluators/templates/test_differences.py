"""Two JSON documents, the calls and the steps of an agent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from tests.evaluators.templates.asked import passes, value

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("output", "expected", "share"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 2}, 1),
        ('{"a": 1, "b": 2}', {"a": 1, "b": 3}, 1 / 2),
        ({"a": 1}, {"a": 1, "b": {"c": 1, "d": 2}}, 1 / 3),
        ([1, 2, 3], [1, 2], 2 / 3),
        ({}, {}, 1),
        ({"a": {}}, {"a": {}}, 1),
        ({"a": {}}, {"a": []}, 0),
        ({"a": 1}, {"a": True}, 0),
        ({"a": 1.0}, {"a": 1}, 1),
        (5, {"a": 1, "b": 2}, 0),
    ],
)
def test_json_is_compared_value_by_value(output: Any, expected: Any, share: float) -> None:
    assert value("json_diff", output=output, expected=expected) == pytest.approx(share)


@given(JSON, JSON)
def test_the_share_is_mutual_and_1_for_the_same_only(one: Any, other: Any) -> None:
    share = value("json_diff", output=[one], expected=[other])
    assert 0 <= share <= 1
    assert share == value("json_diff", output=[other], expected=[one])
    assert value("json_diff", output=[one], expected=[one]) == 1
    if [one] != [other]:
        assert share < 1


LOOK = {"name": "look_up", "arguments": {"word": "tree"}}
ADD = {"function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}


@pytest.mark.parametrize(
    ("output", "expected", "share"),
    [
        ([LOOK, ADD], [ADD, LOOK], 1),
        ([{"name": "add", "args": {"b": 2, "a": 1}}], [ADD], 1),
        ([{"name": "add", "arguments": {"a": 1, "b": 3}}], [ADD], 1 / 2),
        ([LOOK, LOOK], [LOOK], 1 / 2),
        ([], [LOOK], 0),
        ([], [], 1),
        ([{"name": "add", "arguments": {}}, ADD], [ADD, ADD], 3 / 4),
    ],
)
def test_calls_count_fully_with_their_arguments_and_half_by_name(
    output: Any, expected: Any, share: float
) -> None:
    assert value("tool_call_accuracy", output=output, expected=expected) == pytest.approx(share)


@pytest.mark.parametrize("wrong", ["no JSON", [{"arguments": {}}], 5, ["look_up"]])
def test_what_are_no_calls_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="list of calls of tools"):
        value("tool_call_accuracy", output=wrong, expected=[LOOK])


@pytest.mark.parametrize(
    ("output", "mode", "share"),
    [
        ("search, open, answer", "strict", 1),
        (["search", "answer", "open"], "strict", 1 / 3),
        (["search", "answer", "open"], "unordered", 1),
        (["search"], "strict", 1 / 3),
        (["search", "search"], "unordered", 1 / 4),
        (["answer", "open", "think", "search"], "subset", 1),
        (["search", "think"], "subset", 1 / 3),
        (["search"], "superset", 1),
        (["search", "think"], "superset", 1 / 2),
        ([{"name": "search"}, {"action": "open"}, {"name": "answer"}], "strict", 1),
    ],
)
def test_steps_match_as_the_mode_says(output: Any, mode: str, share: float) -> None:
    expected = ["search", "open", "answer"]
    found = value("trajectory_match", output=output, expected=expected, mode=mode)
    assert found == pytest.approx(share)


@pytest.mark.parametrize(
    ("given", "fine"),
    [
        ({"max_steps": 3}, True),
        ({"max_steps": 2}, False),
        ({"min_steps": 3, "max_steps": 5}, True),
        ({"min_steps": 4}, False),
        ({"expected_steps": 3}, True),
        ({"expected_steps": 2}, False),
    ],
)
def test_steps_are_counted(given: dict[str, int], fine: bool) -> None:
    assert passes("step_count", output=["a", "b", "c"], **given) is fine


def test_counting_steps_against_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="no number of steps"):
        passes("step_count", output=["a"])
