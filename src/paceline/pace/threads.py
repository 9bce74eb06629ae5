"""Threads that a task starts: calls made there belong to the attempt that started them.

A new thread knows nothing of the context it was started in, and one of a pool has a different reason to be
there each time. Without this such calls would be paced, but would belong to nobody, and a sum without them
would be too low.

While somebody wants it, threads and thread pools take along who listens, and which door is theirs; nothing
else of a context, so that a task finds its own variables as it would without us.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final

from paceline.pace.standins import StandIns


class Carrying:
    """Takes some variables along to threads, while it stands."""

    def __init__(self, variables: Iterable[ContextVar[Any]]) -> None:
        self._variables: Final = tuple(variables)
        self._stand_ins = StandIns()

    def stand(self) -> None:
        """From now on. Once at a time."""
        self._stand_ins.put(threading.Thread, "start", self._starting(threading.Thread.start))
        self._stand_ins.put(ThreadPoolExecutor, "submit", self._submitting(ThreadPoolExecutor.submit))

    def stand_down(self) -> None:
        """No more."""
        self._stand_ins.take_back()

    def _starting(self, plain: Callable[..., None]) -> Callable[..., None]:
        @wraps(plain)
        def start(thread: threading.Thread) -> None:
            if any(values := self._values()):
                thread.run = self._carried(values, thread.run)  # type: ignore[method-assign]
            plain(thread)

        return start

    def _submitting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(plain)
        def submit(
            pool: ThreadPoolExecutor, function: Callable[..., Any], /, *args: Any, **named: Any
        ) -> Any:
            values = self._values()
            # A thread that this may start will do the work of others, too: it is nobody's.
            return self._carried((None,) * len(values), plain)(
                pool, self._carried(values, function), *args, **named
            )

        return submit

    def _values(self) -> tuple[Any, ...]:
        return tuple(variable.get() for variable in self._variables)

    def _carried(self, values: tuple[Any, ...], function: Callable[..., Any]) -> Callable[..., Any]:
        """A function in whose calls the variables have these values."""

        @wraps(function)
        def carried(*args: Any, **named: Any) -> Any:
            tokens = [
                (variable, variable.set(value))
                for variable, value in zip(self._variables, values, strict=True)
            ]
            try:
                return function(*args, **named)
            finally:
                for variable, token in tokens:
                    variable.reset(token)

        return carried
