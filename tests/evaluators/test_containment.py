"""Containment: text in text, items in collections, entries in what has named fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec
import numpy as np
import pydantic
import pytest

from paceline.evaluators import Contains
from tests.evaluators.cases import finished, passes, reason


@dataclass
class Address:
    city: str


@dataclass
class Person:
    name: str
    address: Address


class Model(pydantic.BaseModel):
    name: str
    tags: list[str]


class Record(msgspec.Struct):
    name: str


@pytest.mark.parametrize(
    ("value", "output", "contained"),
    [
        ("Paris", "It is Paris.", True),
        ("paris", "It is Paris.", False),
        ("", "anything", True),
        (2, [1, 2], True),
        (3, (1, 2), False),
        ("a", {"a": 1}, True),
        ("b", {"a": 1}, False),
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 2}, {"a": 1, "b": 2}, False),
        ({"c": 1}, {"a": 1}, False),
        ({}, {"a": 1}, True),
        ("a", {"a", "b"}, True),
        ({"name": "Ada"}, Person("Ada", Address("London")), True),
        ({"address": {"city": "London"}}, Person("Ada", Address("London")), True),
        ({"address": Address("London")}, Person("Ada", Address("London")), True),
        ({"address": {"city": "Paris"}}, Person("Ada", Address("London")), False),
        ("name", Person("Ada", Address("London")), True),
        ("Ada", Person("Ada", Address("London")), False),
        ({"tags": ["x"]}, Model(name="m", tags=["x"]), True),
        ({"name": "n"}, Model(name="m", tags=["x"]), False),
        ({"name": "r"}, Record("r"), True),
        (5, None, False),
        (5, "12345", False),
        (5, 12345, False),
        ([1], {1: 2}, False),
        (2, np.array([1, 2]), True),
    ],
)
def test_what_contains_what(value: object, output: object, contained: bool) -> None:
    assert passes(Contains(value), output) is contained


@pytest.mark.parametrize(
    ("evaluator", "output", "contained"),
    [
        (Contains("PARIS", case_sensitive=False), "It is Paris.", True),
        (Contains("rome", case_sensitive=False), "It is Paris.", False),
        (Contains(5, as_strings=True), 12345, True),
        (Contains("5", as_strings=True), [1, 5], True),
        (Contains(None, as_strings=True), "None at all", True),
        (Contains("A", as_strings=True, case_sensitive=False), ["xax"], True),
        (Contains("A", case_sensitive=False), ["a"], False),
    ],
)
def test_options_look_past_case_and_type(evaluator: Contains, output: object, contained: bool) -> None:
    assert passes(evaluator, output) is contained


@pytest.mark.parametrize(
    ("value", "output", "words"),
    [
        ("Rome", "It is Paris.", "'Rome' is not in 'It is Paris.'"),
        ({"a": 1}, {"b": 2}, "the output has no 'a'"),
        ({"a": 1}, {"a": 2}, "'a' is 2, not 1"),
        ("b", {"a": 1}, "'b' is not a key of the output {'a': 1}"),
        (5, None, "the output is None"),
        (3, [1, 2], "3 is not in the output [1, 2]"),
    ],
)
def test_the_reason_says_what_is_lacking(value: object, output: object, words: str) -> None:
    assert words in reason(Contains(value), output)


def test_a_huge_output_gets_a_short_reason() -> None:
    for output in ("x" * 1_000_000, list(range(1_000_000)), dict.fromkeys(range(100_000), "x")):
        assert len(reason(Contains("absent"), output)) < 500


def test_a_value_that_cannot_be_compared_is_an_error_and_not_an_answer() -> None:
    with pytest.raises(TypeError, match="neither true nor false"):
        Contains({"a": 1}).evaluate(finished({"a": np.array([1, 2])}))


def test_what_a_container_raises_is_not_swallowed() -> None:
    class Broken:
        def __contains__(self, item: object) -> NoReturn:
            raise ConnectionError("asked a server")

    with pytest.raises(ConnectionError):
        Contains("x").evaluate(finished(Broken()))


def test_a_pass_has_no_reason() -> None:
    said: Any = Contains("a").evaluate(finished("abc"))
    assert said.reason is None
