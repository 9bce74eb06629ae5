"""What a Python callable is as the thing under test: its name, its kind, its version."""

from __future__ import annotations

import functools
import types
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.tasks import CallableTask
from paceline.tasks.callable import name_of


def plain(inputs: str) -> str:
    return inputs


async def later(inputs: str) -> str:
    return inputs


def several(inputs: str, *, model: str = "small") -> str:
    return inputs + model


class Object:
    version = "3"

    def __call__(self, inputs: str) -> str:
        return inputs

    def method(self, inputs: str) -> str:
        return inputs

    async def async_method(self, inputs: str) -> str:
        return inputs


class AsyncObject:
    async def __call__(self, inputs: str) -> str:
        return inputs


class Made:
    """A class is called to make an instance, which is sync however async the instance is."""

    def __init__(self, inputs: str) -> None:
        self.inputs = inputs

    async def __call__(self, inputs: str) -> str:
        return inputs


def nested() -> Callable[[str], str]:
    def inner(inputs: str) -> str:
        return inputs

    return inner


@types.coroutine
def old_style(inputs: str) -> Generator[Any, Any, str]:
    yield
    return inputs


@pytest.mark.parametrize(
    ("call", "is_async", "name"),
    [
        (plain, False, "plain"),
        (later, True, "later"),
        (functools.partial(several, model="large"), False, "several"),
        (functools.partial(functools.partial(later)), True, "later"),
        (Object(), False, "Object"),
        (Object().method, False, "Object.method"),
        (Object().async_method, True, "Object.async_method"),
        (AsyncObject(), True, "AsyncObject"),
        (Made, False, "Made"),
        (lambda inputs: inputs, False, "<lambda>"),
        (nested(), False, "inner"),
        (str.upper, False, "str.upper"),
        (len, False, "len"),
        (old_style, False, "old_style"),
    ],
)
def test_a_callable_is_known_by_its_name_and_by_how_it_is_called(
    call: Callable[..., Any], is_async: bool, name: str
) -> None:
    task = CallableTask(call)
    assert (task.is_async, task.name) == (is_async, name)
    assert name_of(call) == name


def test_a_name_may_be_given() -> None:
    assert CallableTask(plain, name="gpt").name == "gpt"


def test_a_version_is_what_the_callable_declares_as_text() -> None:
    assert CallableTask(Object()).version == "3"
    assert CallableTask(plain).version is None

    def numbered(inputs: str) -> str:
        return inputs

    numbered.version = 3  # type: ignore[attr-defined]
    assert CallableTask(numbered).version is None


def no_argument() -> str:
    return ""


def two(first: str, second: str) -> str:
    return first + second


def keyword_only(*, inputs: str) -> str:
    return inputs


@pytest.mark.parametrize("call", [no_argument, two, keyword_only, functools.partial(plain, "bound")])
def test_a_task_takes_exactly_the_inputs(call: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="cannot be called with one argument") as caught:
        CallableTask(call)
    assert "functools.partial" in caught.value.hint


@pytest.mark.parametrize("call", [several, lambda *inputs: inputs, functools.partial(two, second="b")])
def test_further_arguments_with_a_default_are_no_trouble(call: Callable[..., Any]) -> None:
    assert CallableTask(call).call is call


def yields(inputs: str) -> Iterator[str]:
    yield inputs


async def streams(inputs: str) -> AsyncIterator[str]:
    yield inputs


@pytest.mark.parametrize("call", [yields, streams, functools.partial(streams)])
def test_a_generator_gives_no_answer_and_is_refused(call: Callable[..., Any]) -> None:
    with pytest.raises(UsageError, match="generator") as caught:
        CallableTask(call)
    assert "return" in caught.value.hint


@pytest.mark.parametrize("given", [None, "plain", 3, {"task": plain}])
def test_what_cannot_be_called_is_no_task(given: Any) -> None:
    with pytest.raises(UsageError, match="cannot be called"):
        CallableTask(given)


def test_a_callable_whose_parameters_cannot_be_read_is_given_the_benefit_of_the_doubt() -> None:
    assert CallableTask(print).name == "print"
    assert CallableTask(dict).name == "dict"
