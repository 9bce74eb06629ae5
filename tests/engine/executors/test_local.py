"""Attempts in this process: coroutines on the loop, sync callables on threads."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from paceline.engine.executors.local import LocalExecutor
from paceline.engine.ports import Attempted, Work
from paceline.journal.records import Key
from paceline.tasks.callable import CallableTask
from paceline.tasks.notes import increment_eval_metric, set_eval_attribute
from tests.engine.stage import cases, really

span: ContextVar[str] = ContextVar("span", default="none")


def attempt(task: Callable[..., Any], inputs: Any = 1, **how: Any) -> Attempted:
    async def main() -> Attempted:
        executor = LocalExecutor({"": CallableTask(task)}, concurrency=2, **how)
        try:
            return await executor.attempt(Work(Key("case"), 1, inputs))
        finally:
            await executor.stop()

    return asyncio.run(main())


async def on_loop(inputs: int) -> str:
    return threading.current_thread().name


def on_thread(inputs: int) -> str:
    return threading.current_thread().name


def looks_sync(inputs: int) -> Coroutine[Any, Any, str]:
    """Like a lambda or a wrapper around a coroutine function."""
    return on_loop(inputs)


class Called:
    def __call__(self, inputs: int) -> str:
        return on_thread(inputs)


class CalledLater:
    async def __call__(self, inputs: int) -> str:
        return await on_loop(inputs)

    async def method(self, inputs: int) -> str:
        return await on_loop(inputs)


@pytest.mark.parametrize(
    "task",
    [on_loop, CalledLater(), CalledLater().method, functools.partial(on_loop)],
    ids=type,
)
def test_what_is_async_runs_on_the_loop(task: Callable[..., Any]) -> None:
    assert attempt(task).output == threading.main_thread().name


@pytest.mark.parametrize("task", [on_thread, Called(), functools.partial(on_thread)], ids=type)
def test_what_is_sync_runs_on_a_thread_of_ours(task: Callable[..., Any]) -> None:
    assert attempt(task).output.startswith("paceline-task")


@pytest.mark.parametrize("task", [on_thread, looks_sync])
def test_for_a_debugger_everything_runs_in_place(task: Callable[..., Any]) -> None:
    assert attempt(task, inline=True).output == threading.main_thread().name


def test_what_looks_sync_and_is_async_is_awaited_on_the_loop() -> None:
    assert attempt(looks_sync).output == threading.main_thread().name


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("kind", [SystemExit, GeneratorExit, StopIteration, asyncio.CancelledError])
def test_what_a_sync_task_raises_is_data_on_a_thread_and_in_place(
    kind: type[BaseException], inline: bool
) -> None:
    def task(inputs: int) -> None:
        raise kind

    attempted = attempt(task, inline=inline)
    assert attempted.error is not None
    assert kind.__name__ in attempted.error.type + attempted.error.message


def test_what_stands_around_attempts_is_seen_by_them_and_told_how_they_end() -> None:
    told: list[object] = []

    @contextmanager
    def around(work: Work) -> Iterator[None]:
        token = span.set(f"attempt {work.attempt}")
        try:
            yield
        except BaseException as error:
            told.append(type(error))
            raise
        finally:
            span.reset(token)

    async def later(inputs: int) -> str:
        await asyncio.sleep(0)
        set_eval_attribute("span", span.get())
        return span.get()

    def now(inputs: int) -> str:
        return span.get()

    def failing(inputs: int) -> str:
        raise LookupError

    assert attempt(later, around=around).output == "attempt 1"
    assert attempt(later, around=around).attributes == {"span": "attempt 1"}
    assert attempt(now, around=around).output == "attempt 1"
    assert attempt(failing, around=around).error is not None
    assert told == [LookupError]
    assert span.get() == "none"


def test_what_stands_around_and_fails_itself_is_data_too() -> None:
    def around(work: Work) -> Any:
        raise RuntimeError("no exporter")

    attempted = attempt(on_loop, around=around)
    assert attempted.error is not None
    assert attempted.error.message == "no exporter"


def test_what_comes_after_the_end_of_an_attempt_notes_nothing_any_more() -> None:
    late = threading.Event()
    noted = threading.Event()

    def task(inputs: int) -> int:
        from contextvars import copy_context

        def linger() -> None:
            late.wait(10)
            increment_eval_metric("late", 1)
            set_eval_attribute("late", True)
            noted.set()

        threading.Thread(target=copy_context().run, args=(linger,), daemon=True).start()
        increment_eval_metric("in time", 1)
        return inputs

    attempted = attempt(task)
    late.set()
    assert noted.wait(10)
    assert attempted.metrics == {"in time": 1}
    assert attempted.attributes == {}


def test_a_sync_task_that_hangs_is_left_behind_counted_and_replaced() -> None:
    over = threading.Event()

    def task(number: int) -> int:
        if number < 3:
            over.wait(30)
        return number

    began = time.monotonic()
    carried = really(cases(10), task, concurrency=2, timeout=0.1)
    over.set()
    assert carried.ended == {"timeout": 3, "scored": 7}
    assert carried.ending.left_behind == 3
    assert time.monotonic() - began < 10


def test_with_all_at_once_no_sync_task_is_late_for_want_of_a_thread() -> None:
    from paceline.engine.clock import SystemClock

    def task(number: int) -> int:
        time.sleep(0.05)
        return number

    few = LocalExecutor({"": CallableTask(task)}, concurrency=2, clock=SystemClock())
    carried = really(cases(16), task, executor=few, concurrency=None, timeout=0.25)
    assert carried.ended == {"scored": 16}
    assert max(line.seconds for line in carried.outcomes.values()) < 0.25
    assert max(line.waited for line in carried.outcomes.values()) > 0.25


def test_a_coroutine_of_a_case_sees_nothing_that_the_case_before_it_has_set() -> None:
    async def task(inputs: str) -> str:
        before = span.get()
        span.set(inputs)
        return before

    async def main() -> list[str]:
        executor = LocalExecutor({"": CallableTask(task)}, concurrency=1)
        return [(await executor.attempt(Work(Key("case"), 1, each))).output for each in ("one", "two")]

    assert asyncio.run(main()) == ["none", "none"]
