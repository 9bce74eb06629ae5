"""Values for schemas: they fit, they are made of what there is to say, and no schema is too much."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.sim.schemas import LARGEST, Material, Unusable, instance

YES, NO = Material("fine", None, True), Material("fine", None, False)

TREE: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "left": {"$ref": "#"}, "right": {"$ref": "#"}},
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("schema", "material", "value"),
    [
        ({"type": "string"}, Material("391"), "391"),
        ({"type": "integer"}, Material("391", 391.0), 391),
        ({"type": "number", "minimum": 400}, Material("391", 391.0), 400),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 1}, YES, 1),
        ({"type": "integer", "minimum": 1, "maximum": 5}, YES, 5),
        ({"type": "integer", "minimum": 1, "maximum": 5}, NO, 1),
        ({"type": "integer", "multipleOf": 5, "minimum": 1, "maximum": 13}, YES, 10),
        ({"type": "boolean"}, YES, True),
        ({"type": "boolean"}, NO, False),
        ({"enum": ["no", "yes"]}, YES, "yes"),
        ({"enum": ["GOOD", "BAD"]}, NO, "BAD"),
        ({"enum": ["red", "Fine"]}, NO, "Fine"),
        ({"enum": [1, 2]}, NO, 2),
        ({"const": {"a": 1}}, YES, {"a": 1}),
        ({"anyOf": [{"type": "null"}, {"type": "boolean"}]}, YES, True),
        ({"type": ["null", "string"]}, YES, "fine"),
        ({"type": "string", "maxLength": 2}, YES, "fi"),
        ({"type": "string", "minLength": 6}, YES, "fine.."),
        ({"type": "string", "format": "date"}, YES, "2026-01-02"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, YES, "A"),
        ({"type": "array", "items": {"type": "boolean"}}, YES, [True]),
        (
            {"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": True},
            YES,
            ["fine", "fine 1"],
        ),
        ({"prefixItems": [{"type": "string"}, {"type": "boolean"}]}, YES, ["fine", True]),
        ({"properties": {"a": {"type": "null"}}}, YES, {"a": None}),
        (
            {"allOf": [{"properties": {"a": {"type": "null"}}}, {"properties": {"b": {"const": 2}}}]},
            YES,
            None,
        ),
        (True, YES, "fine"),
        ({}, YES, "fine"),
    ],
)
def test_a_value_is_made_of_what_there_is_to_say(schema: Any, material: Material, value: Any) -> None:
    found = instance(schema, material)
    if value is not None:
        assert found == value
    jsonschema.validate(found, schema)


def test_references_and_definitions_are_followed() -> None:
    schema = {
        "$ref": "#/$defs/verdict",
        "$defs": {"verdict": {"type": "object", "properties": {"ok": {"const": 1}}}},
    }
    assert instance(schema, YES) == {"ok": 1}


def test_a_schema_that_contains_itself_comes_to_an_end() -> None:
    found = instance(TREE, YES)
    jsonschema.validate(found, TREE)
    many = {"properties": {f"child{n}": {"$ref": "#"} for n in range(50)}}
    jsonschema.validate(instance(many, YES), many)


plain = (
    st.fixed_dictionaries({"type": st.just("string")}, optional={"minLength": st.integers(0, 9)})
    | st.fixed_dictionaries({"type": st.just("boolean")})
    | st.fixed_dictionaries({"type": st.just("null")})
    | st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-9, 0), "maximum": st.integers(0, 9)},
    )
    | st.fixed_dictionaries({"enum": st.lists(st.integers() | st.text(max_size=5), min_size=1, max_size=4)})
)


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.text("abc", min_size=1, max_size=2)
    objects = st.dictionaries(names, inner, max_size=3).flatmap(
        lambda of: st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.just(of),
                "required": st.lists(st.sampled_from(sorted(of)), unique=True) if of else st.just([]),
                "additionalProperties": st.just(False),
            }
        )
    )
    arrays = st.fixed_dictionaries(
        {"type": st.just("array"), "items": inner}, optional={"minItems": st.integers(0, 3)}
    )
    either = st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    return objects | arrays | either


materials = st.builds(Material, st.text(max_size=9), st.none() | st.floats(-99, 99), st.booleans())


@given(schema=st.recursive(plain, larger, max_leaves=8), material=materials)
def test_what_is_made_for_a_schema_fits_it(schema: Any, material: Material) -> None:
    found = instance(schema, material)
    jsonschema.validate(found, schema)
    assert found == instance(schema, material)


KEYWORDS = (
    *("type", "properties", "required", "items", "anyOf", "allOf", "$ref", "enum", "const", "format", "x"),
    *("minimum", "exclusiveMinimum", "multipleOf", "minItems", "maxLength", "pattern", "prefixItems"),
)

garbage = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner | st.sampled_from(["object", "array", "integer", "string", "#", "#/x"]),
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(schema=garbage, material=materials)
def test_what_is_no_schema_gets_some_value_or_is_unusable(schema: Any, material: Material) -> None:
    with suppress(Unusable):
        instance(schema, material)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 10**12},
        {"type": "string", "minLength": LARGEST + 1},
        {"type": "array", "minItems": 1000, "items": {"type": "array", "minItems": 1000}},
        {**TREE, "required": ["left", "right"]},
    ],
    ids=["items", "letters", "squared", "tree"],
)
def test_a_schema_that_asks_for_too_much_is_unusable(schema: Any) -> None:
    with pytest.raises(Unusable, match=r"more than|not one"):
        instance(schema, YES)
