"""Questions of the Berkeley Function-Calling Leaderboard: every reference answer passes, no mutated one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paceline.evaluators import AcceptedCalls
from tests.evaluators.cases import finished
from tests.evaluators.trajectories.told import FORMS, Call, said

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
OPTIONAL = ""
OTHER = "zzyzx"
"""A text that nobody accepts."""


class Row(NamedTuple):
    """A question with the values that are accepted for its one call."""

    id: str
    function: dict[str, Any]
    name: str
    accepted: dict[str, list[Any]]

    @property
    def required(self) -> set[str]:
        return set(self.function["parameters"].get("required", ()))

    def call(self, **arguments: Any) -> Call:
        """The reference answer, with some arguments in place of its own."""
        return Call(self.name, {**self.reference, **arguments})

    def without(self, argument: str) -> Call:
        return Call(self.name, {name: value for name, value in self.reference.items() if name != argument})

    @property
    def reference(self) -> dict[str, Any]:
        """Of each argument that has one, the first accepted value."""
        return {name: first for name, values in self.accepted.items() for first in choices(values)[:1]}


def choices(values: list[Any]) -> list[Any]:
    """Accepted values as a call has them: a mapping says of each key which are."""
    return [_chosen(value) for value in values if value != OPTIONAL]


def _chosen(value: Any) -> Any:
    match value:
        case dict():
            return {key: each[0] for key, each in value.items()}
        case list() if value and isinstance(value[0], dict):
            return [_chosen(each) for each in value]
    return value


@cache
def rows() -> list[Row]:
    questions, answers = DATA / "bfcl_simple_python.jsonl", DATA / "bfcl_simple_python_answers.jsonl"
    if not questions.exists() or not answers.exists():
        pytest.skip("../shared/data/bfcl_simple_python*.jsonl is not here")
    found = []
    for question, answer in zip(_read(questions), _read(answers), strict=True):
        assert question["id"] == answer["id"]
        (function,), (call,) = question["function"], answer["ground_truth"]
        ((name, accepted),) = call.items()
        found.append(Row(question["id"], function, name, accepted))
    return found


def _read(path: Path) -> Iterator[Any]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def verdict(row: Row, calls: list[Call], form: str = "recorded") -> tuple[bool, str]:
    """What is said of these calls, in messages of some form."""
    if form in ("openai", "responses"):  # these take no dots in names
        calls = [call._replace(name=call.name.replace(".", "_")) for call in calls]
    ctx = finished(
        trajectory=FORMS[form](calls),
        inputs={"function": [row.function]},
        expected=[{row.name: row.accepted}],
    )
    value, reason = said(AcceptedCalls(), ctx)
    return value, reason


@pytest.mark.parametrize("form", FORMS)
def test_every_reference_answer_passes_in_the_words_of_every_provider(form: str) -> None:
    refused = {row.id: why for row in rows() if (why := verdict(row, [row.call()], form)[1])}
    assert len(rows()) == 400
    assert refused == {}


def test_every_accepted_value_passes_and_so_does_leaving_out_what_is_optional() -> None:
    tried = 0
    for row in rows():
        for argument, values in row.accepted.items():
            for value in choices(values):
                tried += 1
                assert verdict(row, [row.call(**{argument: value})]) == (True, ""), (row.id, argument, value)
            if OPTIONAL in values and argument not in row.required:
                tried += 1
                assert verdict(row, [row.without(argument)]) == (True, ""), (row.id, argument)
    assert tried > 1_400


# Answers that are wrong in one way each ------------------------------------------------------------------

Mutant = Callable[[Row], Iterator[list[Call]]]


def values_of(row: Row, kind: type) -> Iterator[tuple[str, Any]]:
    """Arguments of the reference answer whose value is of a type; of lists, those that hold something."""
    return ((name, each) for name, each in row.reference.items() if type(each) is kind and each != [])


def changed(kind: type, change: Callable[[Any], Any]) -> Mutant:
    """Answers with one value of a type changed, where the change makes another value of it."""

    def mutants(row: Row) -> Iterator[list[Call]]:
        for name, value in values_of(row, kind):
            other = change(value)
            as_left_out = OPTIONAL in row.accepted[name] and other in ("", [])
            if not as_left_out and all(
                other != each or type(other) is not type(each) for each in row.accepted[name]
            ):
                yield [row.call(**{name: other})]

    return mutants


def in_mappings(change: Callable[[dict[str, Any], str], dict[str, Any]]) -> Mutant:
    """Answers with one key of a mapping, or of one in a list, changed."""

    def mutants(row: Row) -> Iterator[list[Call]]:
        for name, value in values_of(row, dict):
            for key in value:
                yield [row.call(**{name: change(value, key)})]
        for name, listed in values_of(row, list):
            if listed and isinstance(listed[0], dict):
                for key in listed[0]:
                    yield [row.call(**{name: [change(listed[0], key), *listed[1:]]})]

    return mutants


def always(make: Callable[[Row], list[Call]]) -> Mutant:
    return lambda row: iter([make(row)])


def each_argument(make: Callable[[Row, str], Call]) -> Mutant:
    return lambda row: ([make(row, name)] for name in row.reference)


def missing(row: Row, *, required: bool) -> Iterator[list[Call]]:
    for name, values in row.accepted.items():
        if (
            name in row.reference
            and (name in row.required) is required
            and (required or OPTIONAL not in values)
        ):
            yield [row.without(name)]


def without_key(value: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: each for name, each in value.items() if name != key}


MUTANTS: dict[str, Mutant] = {
    # the call
    "no call": always(lambda row: []),
    "another tool": always(lambda row: [row.call()._replace(name=OTHER)]),
    "a tool with almost that name": always(lambda row: [row.call()._replace(name=f"{row.name}s")]),
    "the same call twice": always(lambda row: [row.call(), row.call()]),
    "another call besides": always(lambda row: [row.call(), Call(OTHER)]),
    # its arguments
    "a required argument left out": lambda row: missing(row, required=True),
    "one left out that is not marked as optional": lambda row: missing(row, required=False),
    "an argument that there is not": always(lambda row: [row.call(**{OTHER: 1})]),
    "a misspelt argument": each_argument(
        lambda row, name: Call(
            row.name, {f"{each}_" if each == name else each: row.reference[each] for each in row.reference}
        )
    ),
    "arguments within an argument": always(lambda row: [Call(row.name, {"arguments": row.reference})]),
    "null for a value": each_argument(lambda row, name: row.call(**{name: None})),
    # numbers
    "another integer": changed(int, lambda value: value + 1_000_003),
    "an integer as text": changed(int, str),
    "an integer as a fraction": changed(int, float),
    "an integer in a list": changed(int, lambda value: [value]),
    "another fraction": changed(float, lambda value: value + 0.017),
    "a fraction as text": changed(float, str),
    # booleans
    "the other boolean": changed(bool, lambda value: not value),
    "a boolean as text": changed(bool, lambda value: str(value).lower()),
    "a boolean as a number": changed(bool, int),
    # texts
    "a text with a further word": changed(str, lambda value: f"{value} {OTHER}"),
    "another text": changed(str, lambda value: OTHER),
    "no text": changed(str, lambda value: ""),
    "a text in a list": changed(str, lambda value: [value]),
    "a number for a text": changed(str, lambda value: 1_000_003),
    # lists
    "a list without its last item": changed(list, lambda value: value[:-1]),
    "a list with a further item": changed(list, lambda value: [*value, value[-1]]),
    "a list backwards": changed(list, lambda value: value[::-1]),
    "a list with another item": changed(
        list, lambda value: [OTHER if isinstance(value[0], str) else 1_000_003, *value[1:]]
    ),
    "the first item of a list": changed(list, lambda value: value[0]),
    "a list as text": changed(list, json.dumps),
    # mappings
    "a mapping without a key": in_mappings(without_key),
    "a mapping with a further key": in_mappings(lambda value, key: {**value, OTHER: 1}),
    "a mapping with another value": in_mappings(lambda value, key: {**value, key: OTHER}),
}


@pytest.mark.parametrize("kind", MUTANTS)
def test_no_mutated_answer_passes(kind: str) -> None:
    made, passed = 0, []
    forms = sorted(FORMS)
    for row in rows():
        for calls in MUTANTS[kind](row):
            made += 1
            if verdict(row, calls, forms[made % len(forms)])[0]:
                passed.append((row.id, calls))
    assert passed == []
    assert made > 0, "no question has what this changes"


def test_there_are_twenty_kinds_of_mutated_answers_and_more() -> None:
    assert len(MUTANTS) >= 20
    made = sum(1 for row in rows() for mutant in MUTANTS.values() for _ in mutant(row))
    assert made > 10_000


def test_arguments_that_are_no_json_are_refused() -> None:
    for row in rows():
        broken = row.call()._replace(arguments=json.dumps(row.reference)[:-1])
        assert verdict(row, [broken], "openai")[0] is False
