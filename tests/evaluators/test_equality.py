"""Equality, and being one of several."""

from __future__ import annotations

import math
from typing import Any, NoReturn

import numpy as np
import pytest

from paceline.errors import UsageError
from paceline.evaluators import Equals, EqualsExpected, OneOf
from paceline.evaluators.prepare import prepare
from tests.evaluators.cases import finished, passes, reason


class Undecided:
    """Compares to something that is no answer, as query builders do."""

    def __eq__(self, other: object) -> Any:
        return "a clause"

    __hash__ = None  # type: ignore[assignment]


class Broken:
    def __eq__(self, other: object) -> NoReturn:
        raise ConnectionError("the comparison asked a server")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("output", "value", "equal"),
    [
        ("Paris", "Paris", True),
        ("paris", "Paris", False),
        (1, 1.0, True),
        (None, None, True),
        (None, "x", False),
        ([1, {"a": 2}], [1, {"a": 2}], True),
        (math.nan, math.nan, False),
        (np.int64(3), 3, True),
        (np.float64(3), 4, False),
        pytest.param("x" * 1_000_000, "x" * 1_000_000, True, id="long text"),
    ],
)
def test_equal_is_what_python_calls_equal(output: object, value: object, equal: bool) -> None:
    assert passes(Equals(value), output) is equal
    if value is not None:
        assert passes(EqualsExpected(), output, value) is equal


def test_without_an_expected_output_nothing_is_said() -> None:
    assert passes(EqualsExpected(), "x") is None
    assert passes(EqualsExpected(), None) is None
    assert passes(OneOf(), "x") is None


@pytest.mark.parametrize("falsy", [0, "", False, []])
def test_an_expected_output_that_is_falsy_is_one_all_the_same(falsy: object) -> None:
    assert passes(EqualsExpected(), falsy, falsy) is True
    assert passes(EqualsExpected(), "x", falsy) is False


@pytest.mark.parametrize(
    ("output", "value"),
    [
        (np.array([1, 2]), np.array([1, 2])),
        (np.array([1, 2]), 1),
        ({"a": np.array([1, 2])}, {"a": np.array([1, 2])}),
        (Undecided(), 1),
    ],
)
def test_a_comparison_that_gives_no_yes_or_no_is_an_error_that_says_so(output: object, value: object) -> None:
    for evaluator in (Equals(value), EqualsExpected(), OneOf([value])):
        with pytest.raises(TypeError, match="neither true nor false"):
            evaluator.evaluate(finished(output, value))


def test_what_a_comparison_raises_is_not_swallowed() -> None:
    for evaluator in (Equals(1), EqualsExpected(), OneOf([1])):
        with pytest.raises(ConnectionError):
            evaluator.evaluate(finished(Broken(), 1))


@pytest.mark.parametrize(
    ("evaluator", "output", "expected", "answer"),
    [
        (OneOf(["a", "b"]), "b", None, True),
        (OneOf(["a", "b"]), "B", None, False),
        (OneOf(["a", "b"], case_sensitive=False), "B", None, True),
        (OneOf(["a", "b"], strip=True), " b\n", None, True),
        (OneOf(["a", "b"]), " b\n", None, False),
        (OneOf(["a", "b"], strip=True, case_sensitive=False), " B ", None, True),
        (OneOf([1, 2]), 2, None, True),
        (OneOf(["a"]), "b", ["b"], False),
        (OneOf(), "b", ["a", "b"], True),
        (OneOf(), "b", ("a", "c"), False),
        (OneOf(), "b", {"a", "b"}, True),
        (OneOf(), "b", "b", True),
        (OneOf(), "b", "abc", False),
        (OneOf(), "b", [], False),
        (OneOf(), None, ["a"], False),
    ],
)
def test_one_of_several(evaluator: OneOf, output: object, expected: object, answer: bool) -> None:
    assert passes(evaluator, output, expected) is answer


def test_the_reason_shows_both_sides_and_stays_short() -> None:
    why = reason(OneOf([f"answer {i}" for i in range(1000)]), "x" * 10_000)
    assert "'answer 0'" in why
    assert len(why) < 500


def test_a_reason_needs_no_repr_that_works() -> None:
    class Wordless:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

    assert "Wordless" in reason(OneOf(["a"]), Wordless())


@pytest.mark.parametrize("values", [[], "yes", 3])
def test_values_that_could_never_be_met_are_refused_at_construction(values: Any) -> None:
    with pytest.raises(UsageError):
        OneOf(values)


def test_comparing_runs_in_place() -> None:
    assert {each.mode for each in prepare([Equals(1), EqualsExpected(), OneOf([1])])} == {"instant"}
