"""Functions as evaluators: parameters say by name what they want to see."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators import EvaluatorContext
from paceline.evaluators.calls import FIELD_OF, call_by_name
from paceline.evaluators.prepare import prepare
from tests.evaluators.cases import finished

CASE = finished(
    "the output",
    "the expected output",
    name="the name",
    inputs="the inputs",
    metadata={"level": 1},
    duration=1.5,
    attributes={"model": "small"},
    metrics={"tokens": 3},
    trajectory=[{"role": "user"}],
)


def said(function: Callable[..., object]) -> object:
    (prepared,) = prepare([function])
    return prepared.call(CASE)


def shown(*seen: object, **named: object) -> tuple[object, ...]:
    return (*seen, *named.values())


def keyword_only(*, expected: object, output: object) -> object:
    return (output, expected)


def with_a_threshold(output: object, threshold: float = 0.5) -> object:
    return (output, threshold)


def between(output: object, threshold: float = 0.5, expected: object = None) -> object:
    return (output, threshold, expected)


def positional_only(output: object, expected: object, /) -> object:
    return (output, expected)


def annotated(case: EvaluatorContext[Any, Any, Any], output: object) -> object:
    return (case is CASE, output)


def variadic(output: object, **rest: object) -> object:
    return (output, rest)


def test_each_name_gets_its_field_of_the_context() -> None:
    for name, field in FIELD_OF.items():
        function = eval(f"lambda {name}: {name}")  # noqa: S307  # the name of the parameter is what is tested
        assert said(function) is (getattr(CASE, field) if field else CASE), name


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda output, expected_output: (output, expected_output), ("the output", "the expected output")),
        (lambda metadata, inputs, name: (metadata, inputs, name), ({"level": 1}, "the inputs", "the name")),
        (lambda output, expected=None: (output, expected), ("the output", "the expected output")),
        (keyword_only, ("the output", "the expected output")),
        (with_a_threshold, ("the output", 0.5)),
        (between, ("the output", 0.5, "the expected output")),
        (positional_only, ("the output", "the expected output")),
        (annotated, (True, "the output")),
        (variadic, ("the output", {})),
        (functools.partial(with_a_threshold, threshold=0.9), ("the output", 0.9)),
        (functools.partial(lambda needle, output: (needle, output), "gold"), ("gold", "the output")),
        (functools.partial(lambda output, name: (output, name), name="fixed"), ("the output", "fixed")),
    ],
)
def test_a_function_is_given_what_it_names(function: Callable[..., object], expected: object) -> None:
    assert said(function) == expected


@pytest.mark.parametrize(
    "function",
    [lambda c: c, lambda x, limit=3: x, lambda *seen: seen[0], lambda context: context],
)
def test_a_lone_parameter_of_another_name_gets_the_context(function: Callable[..., object]) -> None:
    assert said(function) is CASE


def test_methods_and_callable_objects_are_called_by_name_too() -> None:
    class Checker:
        def check(self, output: object) -> object:
            return output

        def __call__(self, expected: object) -> object:
            return expected

    assert said(Checker().check) == "the output"
    assert said(Checker()) == "the expected output"


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda output, answer: True, "'answer'"),
        (lambda outputs, expected_outputs: True, "'outputs'"),
        (functools.partial(lambda output, needle: True), "'needle'"),
    ],
)
def test_asking_for_what_nobody_has_is_an_error_before_anything_runs(
    function: Callable[..., object], named: str
) -> None:
    with pytest.raises(UsageError, match=named) as refused:
        prepare([function])
    assert "lambda" in str(refused.value)
    for name in FIELD_OF:
        assert name in refused.value.hint


def test_a_lone_parameter_that_is_annotated_as_something_else_does_not_get_the_context() -> None:
    def check(text: str) -> bool:
        return bool(text)

    with pytest.raises(UsageError, match="'text'"):
        prepare([check])


def test_a_function_that_looks_at_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="takes no argument"):
        prepare([lambda: True])


def test_a_function_whose_parameters_cannot_be_read_is_refused() -> None:
    class Unreadable:
        __signature__ = "none that Python knows"

        def __call__(self, output: object) -> bool:
            return True

    with pytest.raises(UsageError, match="cannot be read"):
        prepare([Unreadable()])


def test_a_lone_parameter_that_names_nothing_known_is_refused_not_handed_something_else() -> None:
    def nonempty(answer: str) -> bool:
        return bool(answer)

    def without_annotation(answer):  # type: ignore[no-untyped-def]
        return bool(answer)

    for function in (nonempty, without_annotation):
        with pytest.raises(UsageError, match="asks for 'answer'"):
            call_by_name(function, label="nonempty")
