"""What an evaluator is, where it runs, and by which label it is known, told before anything runs."""

from __future__ import annotations

import asyncio
import functools
import inspect
from abc import abstractmethod
from collections.abc import Awaitable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.evaluators import Contains, Equals, EqualsExpected, Evaluator, instant
from paceline.evaluators.base import AnyContext
from paceline.evaluators.prepare import Prepared, prepare
from tests.evaluators.cases import finished


@dataclass
class Slow(Evaluator[object, object, object]):
    limit: float = 1.0
    evaluation_name: str | None = None

    def evaluate(self, ctx: AnyContext) -> bool:
        return True


@dataclass
class Judging(Evaluator[object, object, object]):
    evaluator_version: str = "v3"

    async def evaluate(self, ctx: AnyContext) -> bool:
        return True


class Foreign:
    """An evaluator of another library: nothing but the method."""

    def evaluate(self, ctx: AnyContext) -> bool:
        return ctx.output == "yes"


class AsyncCall:
    async def __call__(self, output: object) -> bool:
        return True


async def graded(output: object) -> float:
    return 0.5


def promising(output: object) -> Awaitable[float]:
    return graded(output)


@instant
def quick(output: object) -> bool:
    return True


def slow(output: object) -> bool:
    return True


def labels(*evaluators: object) -> list[str]:
    return [prepared.label for prepared in prepare(evaluators)]


@pytest.mark.parametrize(
    ("evaluator", "mode"),
    [
        (EqualsExpected(), "instant"),
        (Slow(), "thread"),
        (Judging(), "loop"),
        (Foreign(), "thread"),
        (slow, "thread"),
        (quick, "instant"),
        (functools.partial(quick), "instant"),
        (functools.partial(slow), "thread"),
        (graded, "loop"),
        (functools.partial(graded), "loop"),
        (AsyncCall(), "loop"),
        (promising, "thread"),
    ],
)
def test_only_what_is_marked_instant_runs_in_place(evaluator: object, mode: str) -> None:
    (prepared,) = prepare([evaluator])
    assert prepared.mode == mode


def test_a_mode_may_differ_from_instance_to_instance() -> None:
    @dataclass
    class Sized(Evaluator[object, object, object]):
        size: int
        instant: bool = field(init=False, default=False)  # type: ignore[misc]

        def __post_init__(self) -> None:
            self.instant = self.size < 10

        def evaluate(self, ctx: AnyContext) -> bool:
            return True

    assert [prepared.mode for prepared in prepare([Sized(1), Sized(100)])] == ["instant", "thread"]


def test_labels_are_unique_and_in_the_order_given() -> None:
    assert labels(Equals(1), Equals(2), Contains("x"), Equals(3)) == [
        "Equals",
        "Equals_2",
        "Contains",
        "Equals_3",
    ]
    assert labels(slow, lambda output: True, lambda ctx: True) == ["slow", "lambda", "lambda_2"]
    assert labels(functools.partial(slow), Foreign(), AsyncCall()) == ["slow", "Foreign", "AsyncCall"]


def test_a_label_that_looks_like_a_numbered_one_is_not_given_twice() -> None:
    assert labels(Equals(1, evaluation_name="x_2"), Equals(2, "x"), Equals(3, "x")) == ["x_2", "x", "x_3"]


def test_the_evaluators_of_a_case_get_labels_that_those_of_the_dataset_do_not_have() -> None:
    for_all = prepare([Equals(1)])
    (own,) = prepare([Equals(2)], after=for_all)
    assert own.label == "Equals_2"
    assert own.default_name == "Equals"


def test_an_evaluation_name_is_the_name_of_its_result() -> None:
    (prepared,) = prepare([Equals(1, evaluation_name="capital")])
    assert (prepared.label, prepared.default_name) == ("capital", "capital")


def test_a_version_goes_with_the_results() -> None:
    class Versioned(Foreign):
        def get_evaluator_version(self) -> str:
            return "2026-11"

    assert [each.version for each in prepare([Judging(), Versioned(), slow])] == ["v3", "2026-11", None]


def test_what_a_file_could_say_is_kept_for_the_journal() -> None:
    written = [each.written for each in prepare([EqualsExpected(), Contains("x"), Slow(limit=2.0), slow])]
    assert written == ["EqualsExpected", {"Contains": "x"}, {"Slow": 2.0}, None]


def test_what_is_written_tells_arguments_apart_and_is_the_same_in_every_process() -> None:
    class Opaque:
        pass

    (one, other, bag) = prepare([Equals(Opaque()), Equals(1 + 2j), Contains({"b", "a", "c"})])
    assert one.written != other.written
    assert "0x" not in str(one.written)
    assert bag.written == {"Contains": ["a", "b", "c"]}


def test_an_argument_that_cannot_be_described_does_not_stop_a_run() -> None:
    class Mute:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

        __eq__ = object.__eq__
        __hash__ = object.__hash__

    (prepared,) = prepare([Equals(Mute())])
    assert prepared.written is None
    assert prepared.call(finished("x")) is False


@pytest.mark.parametrize(
    ("evaluator", "problem"),
    [
        (Equals, "Equals is a class"),
        (Foreign, "Foreign is a class"),
        ("EqualsExpected", "is not an evaluator"),
        (None, "is not an evaluator"),
        (SimpleNamespace(evaluate=3), "is not an evaluator"),
        (Equals(1, evaluation_name=" "), "for a name"),
    ],
)
def test_what_is_no_evaluator_is_refused_with_a_remedy(evaluator: object, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        prepare([evaluator])
    assert refused.value.hint


def test_calling_a_sync_function_that_returns_an_awaitable_returns_it() -> None:
    (prepared,) = prepare([promising])
    returned = prepared.call(finished("x"))
    assert inspect.isawaitable(returned)

    async def awaited(promise: Awaitable[Any]) -> object:
        return await promise

    assert asyncio.run(awaited(returned)) == 0.5


class LikeTheirs:
    """The base class of Pydantic Evals, in its shape."""

    @abstractmethod
    def evaluate(self, ctx: Any) -> Any: ...

    async def evaluate_async(self, ctx: Any) -> Any:
        return self.evaluate(ctx)

    def get_default_evaluation_name(self) -> str:
        return type(self).__name__

    def as_spec(self) -> object:
        return SimpleNamespace(name=type(self).__name__, arguments=getattr(self, "arguments", None))


class Plain(LikeTheirs):
    def evaluate(self, ctx: Any) -> bool:
        return True


class Threaded(Plain):
    async def evaluate_async(self, ctx: Any) -> str:
        return "from the override"


def only(evaluator: object) -> Prepared:
    (prepared,) = prepare([evaluator])
    return prepared


def test_an_evaluator_of_pydantic_evals_is_called_as_their_engine_would() -> None:
    assert only(Plain()).mode == "thread"
    overridden = only(Threaded())
    assert overridden.mode == "loop"
    returned = overridden.call(finished("x"))
    assert inspect.iscoroutine(returned)
    assert asyncio.run(returned) == "from the override"


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        (None, "Plain"),
        (("x",), {"Plain": "x"}),
        (([1],), {"Plain": [1]}),
        (({"a": 1},), {"name": "Plain", "arguments": [{"a": 1}]}),
        ({"value": 1, "other": 2}, {"Plain": {"value": 1, "other": 2}}),
    ],
)
def test_a_spec_of_pydantic_evals_is_understood_by_its_shape(arguments: object, written: object) -> None:
    evaluator = Plain()
    evaluator.arguments = arguments  # type: ignore[attr-defined]
    assert only(evaluator).written == written
