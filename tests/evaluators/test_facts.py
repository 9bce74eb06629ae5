"""The type of an output, and how long the task worked."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators import IsInstance, MaxDuration
from tests.evaluators.cases import finished, passes, reason


class Animal:
    class Tail:
        pass


class Dog(Animal):
    pass


@pytest.mark.parametrize(
    ("name", "output", "answer"),
    [
        ("str", "x", True),
        ("int", "x", False),
        ("int", True, True),
        ("NoneType", None, True),
        ("dict", None, False),
        ("Dog", Dog(), True),
        ("Animal", Dog(), True),
        ("object", Dog(), True),
        ("Dog", Animal(), False),
        ("Tail", Animal.Tail(), True),
        ("Animal.Tail", Animal.Tail(), True),
    ],
)
def test_a_type_is_known_by_its_name_or_that_of_a_base(name: str, output: object, answer: bool) -> None:
    assert passes(IsInstance(name), output) is answer


def test_the_reason_names_the_type_there_is() -> None:
    assert reason(IsInstance("Dog"), Animal.Tail()) == "the output is of type Animal.Tail, not Dog"


@pytest.mark.parametrize(
    ("limit", "duration", "answer"),
    [
        (1.0, 0.5, True),
        (1.0, 1.0, True),
        (1, 1.000001, False),
        (0.3, 0.1 + 0.2, True),
        (timedelta(milliseconds=500), 0.6, False),
        (timedelta(milliseconds=500), 0.5, True),
        (0, 0.0, True),
    ],
)
def test_a_duration_is_held_against_its_limit(limit: Any, duration: float, answer: bool) -> None:
    assert MaxDuration(limit).evaluate(finished(duration=duration)).value is answer


def test_the_reason_names_both_durations() -> None:
    assert MaxDuration(2).evaluate(finished(duration=3.25)).reason == "took 3.25 s, and 2 s were allowed"


@pytest.mark.parametrize("limit", [-1, math.nan, math.inf, "2", None, True, timedelta(seconds=-1)])
def test_a_limit_that_is_none_is_refused_at_construction(limit: Any) -> None:
    with pytest.raises(UsageError):
        MaxDuration(limit)
