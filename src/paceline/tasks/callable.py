"""A Python callable as the thing under test: what it is called, how it must be called, what version it is.

Knows the callable. Knows nothing of threads, deadlines or retries: that is the executor's.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from paceline.errors import UsageError


class CallableTask:
    """A task made of any callable with one argument, the inputs."""

    __slots__ = ("call", "is_async", "name", "needs_place", "timeout", "version")

    def __init__(self, call: Callable[[Any], Any], *, name: str | None = None) -> None:
        if not callable(call):
            raise UsageError(
                f"the task is a {type(call).__name__}, which cannot be called",
                hint="pass a function of one argument, sync or async: `async def task(inputs): ...`",
            )
        _require_an_answer(call)
        _require_one_argument(call)
        self.call = call
        self.is_async = _is_async(call)
        self.name = name or name_of(call)
        version = getattr(call, "version", None)
        self.version = version if isinstance(version, str) else None
        timeout = getattr(call, "timeout", None)
        self.timeout = float(timeout) if isinstance(timeout, int | float) and timeout > 0 else None
        """Seconds for an attempt, where the task itself says so."""
        self.needs_place = getattr(call, "needs_place", False) is True
        """Whether it is told which attempt it is, see `attempt`."""


def name_of(call: Callable[..., Any]) -> str:
    """A name to call a callable by in reports."""
    while isinstance(call, functools.partial):
        call = call.func
    return str(getattr(call, "__qualname__", None) or type(call).__qualname__).rpartition("<locals>.")[2]


def _is_async(call: Callable[..., Any]) -> bool:
    while isinstance(call, functools.partial):
        call = call.func
    if inspect.iscoroutinefunction(call):
        return True
    # An object whose `__call__` is async. A class is called to make an instance, which is sync.
    return not inspect.isclass(call) and inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004


def _require_an_answer(call: Callable[..., Any]) -> None:
    flags = getattr(getattr(call, "__code__", None), "co_flags", 0)
    if inspect.isasyncgenfunction(call) or (
        inspect.isgeneratorfunction(call) and not flags & inspect.CO_ITERABLE_COROUTINE
    ):
        raise UsageError(
            f"the task {name_of(call)} is a generator, which gives no answer when it is called",
            hint="collect what it yields and return that: `return [each async for each in stream(inputs)]`",
        )


def _require_one_argument(call: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):
        return  # builtins without a signature: calling will tell
    try:
        signature.bind(None)
    except TypeError:
        shown = f"{name_of(call)}{signature}"
        raise UsageError(
            f"the task {shown} cannot be called with one argument",
            hint="a task takes the inputs of a case, no more; bind the rest with functools.partial",
        ) from None
