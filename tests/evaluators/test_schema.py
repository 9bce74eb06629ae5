"""JSON of a given shape."""

from __future__ import annotations

import copy
import pickle
import socket
import sys
from typing import Any, NoReturn

import pytest

from paceline.errors import UsageError
from paceline.evaluators import JSONSchema, PatternTooSlow
from paceline.evaluators.prepare import prepare
from tests.evaluators.cases import finished, passes, reason

PERSON = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "child": {"$ref": "#"},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("schema", "output", "answer"),
    [
        (PERSON, '{"name": "Ada", "age": 36}', True),
        (PERSON, {"name": "Ada"}, True),
        (PERSON, '```json\n{"name": "Ada"}\n```', True),
        (PERSON, '{"age": 36}', False),
        (PERSON, '{"name": "Ada", "child": {"name": 3}}', False),
        (PERSON, "sorry", False),
        (PERSON, None, False),
        (True, "1", True),
        (False, "1", False),
        ({"type": "array"}, (1, 2), True),
        ({"pattern": "^a+$"}, '"aaa"', True),
        ({"pattern": "^a+$"}, '"b"', False),
        ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": 1}, False),
        ({"$defs": {"n": {"type": "number"}}, "$ref": "#/$defs/n"}, "3", True),
        ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, {"type": "string"}, True),
        ({"const": {"$ref": "just data"}}, {"$ref": "just data"}, True),
    ],
)
def test_valid_is_what_the_schema_says(schema: Any, output: object, answer: bool) -> None:
    assert passes(JSONSchema(schema), output) is answer


def test_the_reason_names_place_and_fault_and_is_short() -> None:
    assert (
        reason(JSONSchema(PERSON), '{"name": "Ada", "age": "old"}') == "$.age: 'old' is not of type 'integer'"
    )
    assert reason(JSONSchema({"items": {"type": "string"}}), [1] * 9).endswith("; and more")
    assert len(reason(JSONSchema({"type": "string"}), ["x" * 100_000])) < 1000


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "text"}, "not valid at \\$.type"),
        ({"pattern": "("}, "not valid at \\$.pattern"),
        ("{}", "is not a JSON schema"),
        ({"$ref": "https://example.com/person.json"}, "refers to 'https://example.com/person.json'"),
        ({"properties": {"a": {"$ref": "#/$defs/gone"}}}, "refers to '#/\\$defs/gone'"),
        ({"patternProperties": {"^(a+)+$": {}}}, "could take for ever"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_construction(schema: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as refused:
        JSONSchema(schema)
    assert refused.value.hint


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("a schema went to the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    nested = {
        "$id": "https://a.example/",
        "$defs": {"x": {"$id": "b", "$ref": "https://c.example/"}},
        "$ref": "b",
    }
    evaluator = JSONSchema(nested)
    with pytest.raises(Exception, match=r"c\.example"):
        evaluator.evaluate(finished("1"))


def test_a_pattern_in_a_schema_cannot_hang_even_behind_a_reference_to_the_root() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"name": {"pattern": r"^(\w+\s*)+:\1$"}, "child": {"$ref": "#"}},
    }
    with pytest.raises(PatternTooSlow):
        JSONSchema(schema).evaluate(finished({"child": {"name": "a" * 40}}))


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(UsageError) as refused:
        JSONSchema({})
    assert refused.value.hint == "pip install 'paceline[jsonschema]'"


def test_it_can_be_copied_and_sent_to_another_process() -> None:
    for again in (copy.deepcopy(JSONSchema(PERSON)), pickle.loads(pickle.dumps(JSONSchema(PERSON)))):
        assert again == JSONSchema(PERSON)
        assert passes(again, {"name": "Ada"}) is True


def test_checking_leaves_the_loop_free() -> None:
    assert [each.mode for each in prepare([JSONSchema({})])] == ["thread"]
