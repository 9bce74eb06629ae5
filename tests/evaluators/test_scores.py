"""What an evaluator returned becomes results, or an error that says what is wrong with it."""

from __future__ import annotations

import enum
import json
import math
from collections.abc import Callable
from decimal import Decimal
from types import MappingProxyType, SimpleNamespace
from typing import Any, NoReturn

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators import EvaluationReason
from paceline.evaluators.prepare import merge_names, prepare, scores_of
from paceline.journal.records import Score

(CHECK,) = prepare([lambda output: output])


def scores(returned: object) -> list[tuple[str, object, str | None]]:
    return [(score.name, score.value, score.reason) for score in scores_of(CHECK, returned, seconds=0.25)]


class Color(enum.StrEnum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Weird(float):
    def __repr__(self) -> str:
        return "weird"


@pytest.mark.parametrize(
    ("returned", "value"),
    [
        (True, True),
        (False, False),
        (3, 3),
        (0.5, 0.5),
        ("good", "good"),
        (Color.RED, "red"),
        (Level.HIGH, 3),
        (Weird(0.5), 0.5),
        (np.bool_(True), True),
        (np.bool_(False), False),
        (np.int64(7), 7),
        (np.float64(0.25), 0.25),
        (np.float32(0.5), 0.5),
        (np.array(2.0), 2.0),
        (np.array([True]), True),
    ],
)
def test_a_single_value_is_a_result_under_the_name_of_the_evaluator(returned: object, value: object) -> None:
    ((name, found, reason),) = scores(returned)
    assert (name, found, reason) == ("lambda", value, None)
    assert type(found) in (bool, int, float, str)
    assert isinstance(found, bool) is isinstance(value, bool)


def test_a_result_knows_who_said_it_and_how_long_that_took() -> None:
    assert scores_of(CHECK, True, seconds=0.25) == [
        Score(name="lambda", value=True, by="lambda", seconds=0.25)
    ]
    assert scores_of(CHECK, 0.5, seconds=0.25) == [Score(name="lambda", value=0.5, by="lambda", seconds=0.25)]


def test_a_reason_is_kept_whole() -> None:
    assert scores(EvaluationReason(False, "why " * 1000)) == [("lambda", False, "why " * 1000)]


def test_a_value_with_a_reason_is_recognised_by_its_shape() -> None:
    assert scores(SimpleNamespace(value=0.5, reason="so")) == [("lambda", 0.5, "so")]


def test_a_mapping_is_several_results_in_its_order() -> None:
    returned = MappingProxyType({"b": 1, "a": EvaluationReason("x", "why"), "c": np.bool_(True)})
    assert scores(returned) == [("b", 1, None), ("a", "x", "why"), ("c", True, None)]


def test_an_empty_mapping_says_nothing() -> None:
    assert scores({}) == []


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        (None, TypeError, "lambda returned None; return a bool"),
        (math.nan, ValueError, "lambda returned nan; a score is a finite number"),
        (math.inf, ValueError, "lambda returned inf"),
        (np.float64("nan"), ValueError, "lambda returned nan"),
        (10**400, ValueError, "beyond what a float holds"),
        ({"fluency": math.nan}, ValueError, "returned nan for 'fluency'"),
        ({"fluency": None}, TypeError, "returned None for 'fluency'"),
        ({"fluency": {"deep": 1}}, TypeError, "returned a dict for 'fluency'"),
        ([True], TypeError, "returned a list"),
        (Decimal("0.5"), TypeError, "returned a Decimal"),
        (1j, TypeError, "returned a complex"),
        (np.array([1, 2]), ValueError, "size 1"),
        (EvaluationReason, TypeError, "returned a type"),
        (EvaluationReason(True, 3), TypeError, "gave an int for a reason"),  # type: ignore[arg-type]
        (EvaluationReason(None), TypeError, "returned None"),  # type: ignore[arg-type]
        ({"": True}, TypeError, "named a result ''"),
        ({" ": True}, TypeError, "named a result ' '"),
        ({3: True}, TypeError, "named a result 3"),
    ],
)
def test_anything_else_is_an_error_that_says_what_is_wrong(
    returned: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words.replace("(", r"\(")):
        scores(returned)


class Hostile:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("repr")


class HostileMapping(dict[str, object]):
    def items(self) -> NoReturn:
        raise KeyError("items")


class HostileScalar:
    dtype = "weird"

    def item(self) -> NoReturn:
        raise MemoryError


def everything() -> st.SearchStrategy[Any]:
    scalars = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.text(st.characters(min_codepoint=0xD800, max_codepoint=0xDFFF), max_size=3)
        | st.binary()
        | st.complex_numbers()
        | st.decimals()
        | st.builds(np.float64, st.floats())
        | st.builds(np.array, st.lists(st.integers(0, 9), max_size=2))
        | st.sampled_from([Color.RED, Hostile, object(), 10**400])
    )
    return st.recursive(
        scalars,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
            | st.builds(EvaluationReason, inner, inner)
        ),
        max_leaves=5,
    )


@given(everything())
def test_whatever_is_returned_is_valid_results_or_a_type_or_value_error(returned: object) -> None:
    try:
        found = scores_of(CHECK, returned, seconds=0)
    except (TypeError, ValueError):
        return
    for score in found:
        assert type(score.value) in (bool, int, float, str)
        assert score.name.strip()
        assert isinstance(score.value, str) or math.isfinite(score.value)
    written = msgspec.json.encode(found)
    json.loads(written)
    assert msgspec.json.decode(written, type=list[Score]) == found


@pytest.mark.parametrize("hostile", [Hostile, lambda: HostileMapping(a=1), HostileScalar])
@pytest.mark.parametrize("wrapped", [lambda one: one, lambda one: {"x": one}, EvaluationReason])
def test_what_raises_when_looked_at_is_a_type_error_too(
    hostile: Callable[[], object], wrapped: Callable[[object], object]
) -> None:
    with pytest.raises(TypeError):
        scores(wrapped(hostile()))


def result(name: str, by: str) -> Score:
    return Score(name=name, value=True, by=by)


def test_repeated_names_are_numbered_in_the_order_of_the_evaluators_whoever_was_first() -> None:
    landed = [result("ok", "C"), result("ok", "A"), result("other", "B"), result("ok", "B")]
    merged = merge_names(landed, order=["A", "B", "C"])
    assert [(score.name, score.by) for score in merged] == [
        ("ok", "A"),
        ("other", "B"),
        ("ok_2", "B"),
        ("ok_3", "C"),
    ]


def test_a_number_that_is_taken_is_not_given_again() -> None:
    merged = merge_names([result("a", "1"), result("a_2", "2"), result("a", "3")])
    assert [score.name for score in merged] == ["a", "a_2", "a_3"]


@given(st.lists(st.builds(result, st.sampled_from(["a", "a_2", "b"]), st.sampled_from("XYZ")), max_size=8))
def test_merged_names_are_unique_and_merging_again_changes_nothing(landed: list[Score]) -> None:
    merged = merge_names(landed, order="XYZ")
    assert len({score.name for score in merged}) == len(merged) == len(landed)
    assert merge_names(merged, order="XYZ") == merged


@given(st.permutations([result("a", "X"), result("b", "Y"), result("a", "Y2"), result("a", "Z")]))
def test_names_do_not_depend_on_the_order_of_arrival(arrived: list[Score]) -> None:
    order = ["X", "Y", "Y2", "Z"]
    assert merge_names(arrived, order=order) == merge_names(
        sorted(arrived, key=lambda one: one.by), order=order
    )
