"""The same JSON, or where it differs."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import JSONEquals
from paceline.evaluators.structure import NotJSON, differences, json_in
from tests.evaluators.cases import finished, passes, reason

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@dataclass
class Point:
    x: int
    y: int


class Model(pydantic.BaseModel):
    points: list[int]


@pytest.mark.parametrize(
    ("output", "expected", "answer"),
    [
        ('{"a": 1, "b": [2]}', '{"b": [2], "a": 1.0}', True),
        ('{"a": 1}', {"a": 1}, True),
        ({"a": 1}, '{"a": 1}', True),
        ('{"a": 1}', {"a": True}, False),
        ('{"a": 0}', {"a": False}, False),
        ('{"a": null}', {}, False),
        ("[1, 2]", [2, 1], False),
        ("[1, 2]", (1, 2), True),
        ('"Paris"', '"Paris"', True),
        ("Paris", '"Paris"', False),
        ("", {}, False),
        ("NaN", 1, False),
        ('Here you are:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}, True),
        ('```\n{"a": 1}\n```', {"a": 1}, True),
        ('```json\n{"a": 2}\n```\nbetter:\n```json\n{"a": 1}\n```', {"a": 1}, True),
        ('```json\n{"a": 1}\n```\nrun:\n```\nrm\n```', {"a": 1}, True),
        ('```json\n{"a": 1}', {"a": 1}, True),
        ("```python\nprint()\n```", {"a": 1}, False),
        (Point(1, 2), {"x": 1, "y": 2}, True),
        (Model(points=[1]), {"points": [1]}, True),
        ({1: "a"}, {"1": "a"}, True),
        (np.array([1, 2]), [1, 2], True),
        (dt.date(2026, 11, 18), '"2026-11-18"', True),
        ("{}", None, None),
    ],
)
def test_the_same_json_however_it_is_given(output: object, expected: object, answer: bool | None) -> None:
    assert passes(JSONEquals(), output, expected) is answer


def test_a_value_of_its_own_goes_before_the_expected_output() -> None:
    assert passes(JSONEquals({"a": 1}), '{"a": 1}', {"a": 2}) is True
    assert passes(JSONEquals('{"a": 1}'), '{"a": 1}') is True


@pytest.mark.parametrize(
    ("output", "expected", "words"),
    [
        ({"a": 1}, {"a": 2}, "$.a is 1, expected 2"),
        ({"a": 1}, {"b": 1}, "$.b is missing; $.a is not expected"),
        ({"a": [1, {"b c": 2}]}, {"a": [1, {"b c": 3}]}, "$.a[1]['b c'] is 2, expected 3"),
        ([1], [1, 2, 3], "$[1] is missing; $[2] is missing"),
        ([1, 2], [1], "$[1] is not expected"),
        ([1], {"a": 1}, "$ is [1], expected {'a': 1}"),
        (list(range(9)), list(range(1, 10)), "$[4] is 4, expected 5; and more"),
    ],
)
def test_the_reason_names_each_place_that_differs(output: object, expected: object, words: str) -> None:
    assert reason(JSONEquals(), output, expected).endswith(words)


def test_huge_values_get_a_short_reason() -> None:
    output = {f"key {i}": "x" * 1000 for i in range(1000)}
    expected = {f"key {i}": "y" * 1000 for i in range(1000)}
    assert len(reason(JSONEquals(), output, expected)) < 2000


def test_an_output_that_is_not_json_is_said_to_be_none() -> None:
    assert reason(JSONEquals(), "sorry", {}).startswith("the output is not JSON: Expecting value")
    assert "in the block" in reason(JSONEquals(), "```json\nsorry\n```", {})


def test_an_expected_output_that_is_not_json_is_an_error() -> None:
    with pytest.raises(ValueError, match="the expected output is not JSON"):
        JSONEquals().evaluate(finished("{}", "sorry"))
    with pytest.raises(UsageError, match="cannot be compared"):
        JSONEquals("sorry")
    with pytest.raises(UsageError, match="cannot be compared"):
        JSONEquals(object())


def test_an_output_without_a_form_in_json_is_an_error() -> None:
    with pytest.raises(TypeError, match="has no form in JSON"):
        JSONEquals({}).evaluate(finished(object()))


@given(json_values)
def test_a_value_equals_what_it_is_written_as(value: Any) -> None:
    assert list(differences(json_in(json.dumps(value)), value)) == []
    if value is not None:
        assert passes(JSONEquals(), f"Sure!\n```json\n{json.dumps(value)}\n```", json.dumps(value)) is True


@given(json_values, json_values)
def test_no_difference_is_found_exactly_where_there_is_none(one: Any, other: Any) -> None:
    def told_apart(value: Any) -> Any:
        """Bools apart from numbers, which Python takes for equal."""
        if isinstance(value, dict):
            return {key: told_apart(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [told_apart(inner) for inner in value]
        return ("bool", value) if isinstance(value, bool) else value

    assert (list(differences(one, other)) == []) is (told_apart(one) == told_apart(other))


@given(st.text(max_size=100))
def test_any_text_is_json_or_is_not(text: str) -> None:
    try:
        json.dumps(json_in(text))
    except NotJSON:
        assert passes(JSONEquals({}), text) is False
