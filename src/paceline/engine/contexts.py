"""Driving a coroutine inside a context of its own, without a task of its own.

A task per attempt would give it two things: its own context variables and its own cancellation count. The
first is had here for a fraction of the price; the second is the lane's business (`lanes`).

`StopIteration` and `GeneratorExit` mean something to whoever drives a coroutine. Raised by the code itself
they become a `RuntimeError`, as Python has it for the first of them.
"""

from __future__ import annotations

import types
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


@types.coroutine
def in_context(context: Context, coroutine: Coroutine[Any, Any, ResultT]) -> Generator[Any, Any, ResultT]:
    """Await `coroutine`, each of its steps inside `context`; what it awaits is passed on untouched."""
    run = context.run
    try:
        send, throw = coroutine.send, coroutine.throw
    except AttributeError:  # marked as a coroutine function, and returns some other awaitable
        coroutine = awaited_once(coroutine)
        send, throw = coroutine.send, coroutine.throw
    closing = False
    try:
        awaited = run(send, None)
        while True:
            try:
                answer = yield awaited
            except GeneratorExit:
                closing = True
                run(coroutine.close)
                raise
            except BaseException as error:
                awaited = run(throw, error)
            else:
                awaited = run(send, answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # StopIteration carries an Any
    except GeneratorExit as error:
        if closing:
            raise
        raise RuntimeError("the code raised GeneratorExit") from error


async def awaited_once(awaitable: Awaitable[ResultT]) -> ResultT:
    """Any awaitable as a coroutine."""
    return await awaitable


def called_in(context: Context, function: Callable[..., ResultT], *arguments: Any) -> ResultT:
    """Call a plain function inside `context`."""
    try:
        return context.run(function, *arguments)
    except (StopIteration, GeneratorExit) as error:
        raise RuntimeError(f"the code raised {type(error).__name__}") from error
