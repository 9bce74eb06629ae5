"""Whatever a task, an evaluator or a hook raises is data, and each key comes to one outcome."""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, NoReturn

import pytest

from paceline.engine.lifecycle import CaseLifecycle
from paceline.evaluators.base import Evaluator, instant
from tests.engine.stage import Carried, cases, play, really

NEED_ARGUMENTS: dict[str, Callable[[], BaseException]] = {
    "UnicodeDecodeError": lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
    "UnicodeEncodeError": lambda: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "no"),
    "UnicodeTranslateError": lambda: UnicodeTranslateError("x", 0, 1, "no"),
    "ExceptionGroup": lambda: ExceptionGroup("several", [ValueError("one"), KeyError("two")]),
    "BaseExceptionGroup": lambda: BaseExceptionGroup("several", [SystemExit(3), KeyboardInterrupt()]),
}
BUILTIN = sorted(
    {
        kind.__name__
        for kind in vars(builtins).values()
        if isinstance(kind, type) and issubclass(kind, BaseException)
    }
)


class BrokenStr(Exception):
    def __str__(self) -> str:
        raise SystemExit("even my name")

    __repr__ = __str__


class BrokenEverywhere(Exception):
    def __getattribute__(self, name: str) -> Any:
        raise KeyboardInterrupt(name)


class Unpicklable(Exception):
    def __init__(self) -> None:
        super().__init__(lambda: None)

    def __reduce__(self) -> NoReturn:
        raise TypeError("not me")


class OddText(str):
    __slots__ = ()

    def __len__(self) -> int:
        raise SystemExit

    encode = __len__  # type: ignore[assignment]


class OddMessage(Exception):
    def __str__(self) -> str:
        return OddText("odd")


def _circular() -> BaseException:
    first, second = ValueError("first"), ValueError("second")
    first.__context__, second.__context__ = second, first
    return first


def _long_chain() -> BaseException:
    error: BaseException = ValueError("innermost")
    for number in range(5_000):
        outer = ValueError(f"number {number}")
        outer.__cause__ = error
        error = outer
    return error


def _odd_arguments() -> BaseException:
    error = OSError()
    error.args = ({}, object(), "\udcff")
    return error


ODD: dict[str, Callable[[], BaseException]] = {
    "CancelledError": asyncio.CancelledError,
    "CancelledError with a message": lambda: asyncio.CancelledError("stray"),
    "InvalidStateError": asyncio.InvalidStateError,
    "broken str": BrokenStr,
    "broken everywhere": BrokenEverywhere,
    "unpicklable": Unpicklable,
    "odd message": OddMessage,
    "fifty megabytes": lambda: ValueError("x" * 50_000_000),
    "lone surrogate": lambda: ValueError("\ud800"),
    "own BaseException": type("Mine", (BaseException,), {}),
    "a name that is not text": type("Odd", (Exception,), {"__module__": "\ud800"}),
    "a name that never ends": type("Endless" * 10_000, (Exception,), {}),
    "circular context": _circular,
    "long chain": _long_chain,
    "odd arguments": _odd_arguments,
    "group of groups": lambda: BaseExceptionGroup("a", [BaseExceptionGroup("b", [SystemExit(1)])]),
}


def make(name: str) -> BaseException:
    """A fresh exception of this kind."""
    if name in ODD:
        return ODD[name]()
    if name in NEED_ARGUMENTS:
        return NEED_ARGUMENTS[name]()
    kind: type[BaseException] = getattr(builtins, name)
    return kind()


ALL = [*BUILTIN, *ODD]


def check(carried: Carried, *, victims: int, bystanders: int, outcome: set[str]) -> None:
    assert carried.ending.how == "complete", carried.ending
    assert len(carried.outcomes) == victims + bystanders
    ended = carried.ended
    assert ended["scored"] == bystanders
    assert sum(ended[each] for each in outcome) == victims
    for line in carried.outcomes.values():
        if line.error is not None:
            assert len(line.error.message) <= 4_200
            assert len(line.error.trace) <= 8_300


@pytest.mark.parametrize("when", ["at once", "after a wait"])
@pytest.mark.parametrize("name", ALL)
def test_what_a_task_raises_is_its_own_outcome_and_nobody_elses(name: str, when: str) -> None:
    async def task(number: int) -> int:
        if when == "after a wait":
            await asyncio.sleep(1)
        if number % 2:
            raise make(name)
        await asyncio.sleep(2)
        return number

    carried = play(cases(6), task, concurrency=3, retry_task=no_retry())
    check(carried, victims=3, bystanders=3, outcome={"task_error", "infra_error"})
    assert all(carried.begun(f"case-{number}") == 1 for number in range(6))


def no_retry() -> Any:
    from paceline.engine.retry import NO_RETRY

    return NO_RETRY


def test_whatever_the_tasks_raise_on_threads_each_key_has_one_outcome() -> None:
    def task(number: int) -> int:
        if number < len(ALL):
            raise make(ALL[number])
        return number

    carried = really(cases(len(ALL) + 3), task, concurrency=4, retry_task=no_retry())
    check(carried, victims=len(ALL), bystanders=3, outcome={"task_error", "infra_error"})


def test_whatever_tasks_raise_in_place_each_key_has_one_outcome() -> None:
    from paceline.engine.executors.local import LocalExecutor
    from paceline.tasks.callable import CallableTask
    from tests.engine.stage import LoopClock

    def task(number: int) -> int:
        raise make(ALL[number])

    inline = LocalExecutor({"": CallableTask(task)}, concurrency=1, inline=True, clock=LoopClock())
    carried = play(cases(len(ALL)), task, executor=inline, concurrency=1, retry_task=no_retry())
    check(carried, victims=len(ALL), bystanders=0, outcome={"task_error", "infra_error"})


@instant
def in_place(inputs: int) -> bool:
    if inputs < len(ALL):
        raise make(ALL[inputs])
    return True


async def on_loop(inputs: int) -> bool:
    await asyncio.sleep(0.5)
    return in_place(inputs)


def on_thread(inputs: int) -> bool:
    return in_place(inputs)


async def echo(number: int) -> int:
    return number


@pytest.mark.parametrize("evaluators", [[in_place], [on_loop], [on_loop, on_loop], [in_place, on_loop]])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_whatever_evaluators_raise_is_told_beside_the_output(evaluators: list[Any], concurrency: int) -> None:
    carried = play(
        cases(len(ALL) + 3), echo, evaluators=evaluators, concurrency=concurrency, retry_evaluators=no_retry()
    )
    check(carried, victims=len(ALL), bystanders=3, outcome={"evaluator_error"})
    for number in range(len(ALL)):
        assert len(carried.outcomes[f"case-{number}"].failures) >= 1


def test_whatever_evaluators_raise_on_threads_is_told() -> None:
    carried = really(cases(len(ALL) + 3), echo, evaluators=[on_thread], retry_evaluators=no_retry())
    check(carried, victims=len(ALL), bystanders=3, outcome={"evaluator_error"})


def test_evaluators_of_a_case_that_cannot_be_made_ready_are_its_evaluator_error() -> None:
    class Odd:
        @property
        def evaluate(self) -> Any:
            raise SystemExit("who asks?")

    broken = cases(1, evaluators=(Odd(),))
    carried = play([*broken, *cases(1)], echo, evaluators=[in_place_fine])
    assert carried.ending.how == "complete"
    assert carried.outcomes["case-0"].outcome == "evaluator_error"
    assert carried.outcomes["case-0"].scores, "the others are asked all the same"


@instant
def in_place_fine(output: object) -> bool:
    return output is not None


HOOKS = ["__init__", "setup", "prepare_context", "teardown"]


@pytest.mark.parametrize("hook", HOOKS)
def test_whatever_a_hook_raises_is_the_outcome_of_its_case(hook: str) -> None:
    class Raising(CaseLifecycle[int, int, Any]):
        def __init__(self, case: Any) -> None:
            super().__init__(case)
            self.raise_in("__init__")

        def raise_in(self, name: str) -> None:
            if name == hook and self.case.inputs < len(ALL):
                raise make(ALL[self.case.inputs])

        async def setup(self) -> None:
            self.raise_in("setup")

        async def prepare_context(self, ctx: Any) -> Any:
            await asyncio.sleep(0.1)
            self.raise_in("prepare_context")
            return ctx

        async def teardown(self, result: Any) -> None:
            self.raise_in("teardown")

    carried = play(cases(len(ALL) + 3), echo, lifecycle=Raising, concurrency=4)
    check(carried, victims=len(ALL), bystanders=3, outcome={"task_error", "infra_error"})
    for number in range(len(ALL)):
        error = carried.outcomes[f"case-{number}"].error
        assert error is not None
        assert error.stage == ("setup" if hook == "__init__" else hook)


def test_a_lifecycle_without_hooks_is_an_outcome_and_not_the_end_of_the_run() -> None:
    carried = play(cases(2), echo, lifecycle=lambda case: object())
    assert carried.ending.how == "complete"
    assert carried.ended == {"task_error": 2}


@pytest.mark.parametrize("returned", [3, "context", object(), {"metrics": {}}])
def test_a_hook_that_returns_no_context_is_an_outcome(returned: object) -> None:
    class Odd(CaseLifecycle[int, int, Any]):
        async def prepare_context(self, ctx: Any) -> Any:
            return returned

    carried = play(cases(2), echo, lifecycle=Odd)
    assert carried.ending.how == "complete"
    assert carried.ended == {"task_error": 2}
    error = carried.outcomes["case-0"].error
    assert error is not None
    assert error.stage == "prepare_context"
    assert carried.output("case-0") == 0, "the task has answered, and that is on record"


# Tasks that do odd things with cancellation and with tasks of their own


async def cancelling_itself(number: int) -> int:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)
    return number


async def cancelling_itself_on_the_way_out(number: int) -> int:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    return number


async def cancelling_itself_often(number: int) -> int:
    task = asyncio.current_task()
    assert task is not None
    for _ in range(5):
        task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(0.1)
    return number


async def leaving_a_timeout_scope_open(number: int) -> int:
    await asyncio.timeout(0.75).__aenter__()
    return number


async def leaving_a_task_group_open(number: int) -> int:
    group = await asyncio.TaskGroup().__aenter__()
    group.create_task(failing_soon())
    return number


async def failing_soon() -> None:
    await asyncio.sleep(0.75)
    raise ValueError("after its case")


left_behind: list[asyncio.Task[None]] = []


async def leaving_a_child_that_cancels(number: int) -> int:
    parent = asyncio.current_task()
    assert parent is not None

    async def cancel_the_parent_later() -> None:
        await asyncio.sleep(0.75)
        parent.cancel()

    left_behind.append(asyncio.get_running_loop().create_task(cancel_the_parent_later()))
    return number


@pytest.mark.parametrize(
    ("odd", "own"),
    [
        (cancelling_itself, "task_error"),
        (cancelling_itself_on_the_way_out, "scored"),
        (cancelling_itself_often, "scored"),
        (leaving_a_timeout_scope_open, "scored"),
        (leaving_a_task_group_open, "scored"),
        (leaving_a_child_that_cancels, "scored"),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 3])
def test_what_a_task_does_to_its_own_cancellation_is_no_other_cases_trouble(
    odd: Callable[[int], Coroutine[Any, Any, int]], own: str, concurrency: int
) -> None:
    async def task(number: int) -> int:
        if number % 3 == 0:
            return await odd(number)
        await asyncio.sleep(0.5)
        await asyncio.sleep(0.5)
        return number

    carried = play(cases(9), task, concurrency=concurrency, evaluators=[on_loop_fine])
    assert carried.ending.how == "complete"
    for number in range(9):
        assert carried.outcomes[f"case-{number}"].outcome == ("scored" if number % 3 else own), number


async def on_loop_fine(output: int) -> bool:
    await asyncio.sleep(0.5)
    return output >= 0


def test_an_evaluator_that_cancels_its_task_is_its_own_failure() -> None:
    async def suicidal(output: int) -> bool:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)
        return True

    carried = play(cases(3), echo, evaluators=[suicidal, on_loop_fine])
    assert carried.ended == {"evaluator_error": 3}
    assert all(len(line.failures) == 1 for line in carried.outcomes.values())


def test_the_members_of_a_group_are_told_by_name() -> None:
    async def task(number: int) -> int:
        async with asyncio.TaskGroup() as group:
            group.create_task(failing_soon())
        return number

    error = play(cases(1), task).outcomes["case-0"].error
    assert error is not None
    assert error.type == "ExceptionGroup"
    assert "ValueError: after its case" in error.message


class NotADataclass(Evaluator[Any, Any, Any]):
    def evaluate(self, ctx: Any) -> Any:
        return ctx.output.nothing_like_it


def test_the_trace_names_the_line_of_the_users_own_code() -> None:
    carried = really(cases(1), echo, evaluators=[NotADataclass()])
    (failure,) = carried.outcomes["case-0"].failures
    assert "test_raising.py" in failure.error.trace
    assert "nothing_like_it" in failure.error.trace
