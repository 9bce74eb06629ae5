"""Driving a coroutine inside a context of its own, without a task of its own.

A task per attempt would give it two things: its own context variables and its own cancellation count. The
first is had here for a fraction of the price; the second is the lane's business (`lanes`).
"""

from __future__ import annotations

import types
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


@types.coroutine
def in_context(context: Context, coroutine: Coroutine[Any, Any, ResultT]) -> Generator[Any, Any, ResultT]:
    """Await `coroutine`, each of its steps inside `context`; what it awaits is passed on untouched."""
    run = context.run
    send, throw = coroutine.send, coroutine.throw
    try:
        awaited = run(send, None)
        while True:
            try:
                answer = yield awaited
            except GeneratorExit:
                run(coroutine.close)
                raise
            except BaseException as error:
                awaited = run(throw, error)
            else:
                awaited = run(send, answer)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]  # StopIteration carries an Any
