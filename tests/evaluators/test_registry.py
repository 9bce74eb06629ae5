"""Evaluators by name: from a spec, back to it, and as a schema for editors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import (
    Contains,
    Equals,
    EqualsExpected,
    Evaluator,
    JSONEquals,
    Matches,
    MaxDuration,
    Normalized,
    NumericClose,
    OneOf,
    TextSimilarity,
)
from paceline.evaluators.base import AnyContext
from paceline.evaluators.registry import BUILT_IN, build, schema_of, spec_of, types_by_name

if TYPE_CHECKING:
    from somewhere import Unknown  # type: ignore[import-not-found]


@dataclass
class Polite(Evaluator[object, object, object]):
    """Says please.

    And more, for those who read on.
    """

    words: list[str] = field(default_factory=lambda: ["please"])
    strict: bool = False

    def evaluate(self, ctx: AnyContext) -> bool:
        return True


class Plain:
    """Of another library: nothing but the method."""

    def __init__(self, limit: float, **options: object) -> None:
        if limit < 0:
            raise RuntimeError("below zero")
        self.limit, self.options = limit, options

    def evaluate(self, ctx: object) -> bool:
        return True


@dataclass
class Unresolved(Evaluator[object, object, object]):
    of: Unknown = None

    def evaluate(self, ctx: AnyContext) -> bool:
        return True


@dataclass
class Renamed(Evaluator[object, object, object]):
    def evaluate(self, ctx: AnyContext) -> bool:
        return True

    @classmethod
    def get_serialization_name(cls) -> str:
        return "another_name"


def made(written: Any, *custom: type) -> Any:
    return build(EvaluatorSpec.parse(written), custom, where="cases.yaml:3")


@pytest.mark.parametrize(
    ("written", "evaluator"),
    [
        ("EqualsExpected", EqualsExpected()),
        ({"Contains": "Paris"}, Contains("Paris")),
        ({"Contains": {"value": "Paris", "as_strings": True}}, Contains("Paris", as_strings=True)),
        ({"Equals": None}, Equals(None)),
        ({"Equals": [1]}, Equals([1])),
        ({"name": "Equals", "arguments": [{"a": 1}]}, Equals({"a": 1})),
        ({"Equals": {"value": {"a": 1}}}, Equals({"a": 1})),
        ({"MaxDuration": 2}, MaxDuration(2)),
        ({"MaxDuration": "PT2S"}, MaxDuration(timedelta(seconds=2))),
        ({"OneOf": ["a", "b"]}, OneOf(["a", "b"])),
        ("OneOf", OneOf()),
        ({"Normalized": {"strip": True}}, Normalized(strip=True)),
        ({"NumericClose": {"rel_tol": 0.01}}, NumericClose(rel_tol=0.01)),
        ({"Matches": {"pattern": "x", "full_match": True}}, Matches("x", full_match=True)),
        ({"TextSimilarity": {"threshold": 0.5, "method": "token_f1"}}, TextSimilarity(0.5, "token_f1")),
        ({"JSONEquals": {"value": {"a": 1}}}, JSONEquals({"a": 1})),
    ],
)
def test_a_spec_becomes_its_evaluator_and_is_written_back(written: Any, evaluator: Any) -> None:
    built = made(written)
    assert built == evaluator
    assert made(spec_of(built)) == evaluator


def test_every_built_in_is_known_by_its_own_name() -> None:
    assert {name: kind.__name__ for name, kind in types_by_name().items()} == {
        name: name for name in BUILT_IN
    }


def test_types_of_ones_own_come_before_built_in_ones() -> None:
    class Contains:
        def evaluate(self, ctx: object) -> bool:
            return True

    assert isinstance(made("Contains", Contains), Contains)
    assert isinstance(made("another_name", Renamed), Renamed)
    assert made({"Polite": {"words": ["please", "thanks"]}}, Polite) == Polite(["please", "thanks"])
    assert made({"Plain": {"limit": 3, "colour": "red"}}, Plain).options == {"colour": "red"}
    assert made({"Unresolved": "anything"}, Unresolved).of == "anything"


@pytest.mark.parametrize(
    ("written", "problem", "hint"),
    [
        ("equalsexpected", "no evaluator 'equalsexpected'", "did you mean EqualsExpected?"),
        ({"Contain": "x"}, "no evaluator 'Contain'", "did you mean Contains?"),
        ("Zebra", "no evaluator 'Zebra'", "Contains, Equals, EqualsExpected"),
        ("Equals", "missing a required argument: 'value'", "Equals takes value, evaluation_name=None"),
        ({"Equals": {"a": 1}}, "there is no argument 'a'", "`Equals: {value: ...}`"),
        ({"Contains": {"value": 1, "cased": True}}, "there is no argument 'cased'", "case_sensitive=True"),
        (
            {"Contains": {"value": 1, "as_strings": "yes"}},
            "as_strings is 'yes': Expected `bool`",
            "Contains takes",
        ),
        ({"MaxDuration": "soon"}, "seconds is 'soon'", "MaxDuration takes seconds"),
        ({"MaxDuration": -1}, "not -1", "MaxDuration(2.5)"),
        ({"Matches": "("}, "is not a regular expression", "Python's `re`"),
        ({"JSONSchema": {"schema": {"type": "text"}}}, "not valid at $.type", "json-schema.org"),
        ({"TextSimilarity": {"method": "cosine"}}, "method is 'cosine'", "TextSimilarity takes"),
        ({"Polite": {"words": "please"}}, "words is 'please': Expected `array`", "Polite takes"),
        ({"Plain": -1}, "cannot be made of {'Plain': -1}: RuntimeError: below zero", "Plain takes limit"),
        ({"Renamed": 1}, "no evaluator 'Renamed'", "another_name"),
        ({"another_name": 1}, "too many positional arguments", "takes no arguments"),
    ],
)
def test_what_cannot_be_made_is_an_error_with_place_and_remedy(written: Any, problem: str, hint: str) -> None:
    with pytest.raises(DatasetError) as refused:
        made(written, Polite, Plain, Renamed)
    assert str(refused.value).startswith("cases.yaml:3: ")
    assert problem in str(refused.value)
    assert hint in refused.value.hint


@pytest.mark.parametrize("kind", [dict, 3, "Polite", lambda ctx: True])
def test_what_is_no_evaluator_type_is_refused(kind: Any) -> None:
    with pytest.raises(UsageError, match="not an evaluator type"):
        types_by_name([kind])


def test_two_types_of_one_name_are_refused_and_one_given_twice_is_not() -> None:
    def another() -> type:
        return type("Polite", (), {"evaluate": lambda self, ctx: True})

    assert types_by_name([Polite, Polite])["Polite"] is Polite
    with pytest.raises(UsageError, match="two evaluator types are called Polite"):
        types_by_name([Polite, another()])


@pytest.mark.parametrize("evaluator", [lambda output: True, Plain(1), Equals(object())])
def test_what_a_file_cannot_say_is_refused_when_writing(evaluator: Any) -> None:
    with pytest.raises(UsageError, match="cannot be written to a file"):
        spec_of(evaluator)


plain_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(plain_values, st.sampled_from([Equals, Contains]))
def test_any_plain_value_survives_the_way_into_a_file_and_back(
    value: Any, kind: Callable[[Any], Any]
) -> None:
    written = json.loads(json.dumps(spec_of(kind(value))))
    assert made(written) == kind(value)


def validates(written: Any, *custom: type) -> bool:
    return jsonschema.Draft202012Validator(schema_of(custom)).is_valid(written)


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema_of([Polite, Plain, Unresolved]))


@pytest.mark.parametrize(
    "written",
    [
        "EqualsExpected",
        {"Contains": "Paris"},
        {"Contains": {"value": "Paris", "as_strings": True}},
        {"Equals": [1]},
        {"Equals": None},
        {"Equals": {"value": {"a": 1}}},
        {"MaxDuration": 2},
        {"MaxDuration": "PT2S"},
        {"OneOf": ["a", "b"]},
        {"Normalized": {"strip": True}},
        {"JSONSchema": {"schema": {"type": "object"}}},
        "Polite",
        {"Polite": ["please"]},
        {"Plain": 3},
        {"Unresolved": 3},
        "another_name",
    ],
)
def test_the_schema_accepts_what_can_be_built(written: Any) -> None:
    made(written, Polite, Plain, Unresolved, Renamed)
    assert validates(written, Polite, Plain, Unresolved, Renamed)


@pytest.mark.parametrize(
    "written",
    [
        "Equals",
        "Zebra",
        {"Equals": {"a": 1}},
        {"Contains": {"value": 1, "as_strings": "yes"}},
        {"Contains": 1, "Equals": 1},
        {"TextSimilarity": {"method": "cosine"}},
        {"Polite": "please"},
        3,
    ],
)
def test_the_schema_refuses_what_cannot(written: Any) -> None:
    assert not validates(written, Polite)


def test_the_schema_carries_the_first_words_about_each_evaluator() -> None:
    described = json.dumps(schema_of([Polite]))
    assert '"description": "Says please."' in described
    assert "read on" not in described
