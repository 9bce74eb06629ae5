"""Threads for what blocks: sync tasks and sync evaluators.

Not asyncio's default executor, which has five threads on a small machine and joins them at exit: these are as
many as are asked for, started when needed, and daemonic, so that one that hangs is left behind and holds
nobody up.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from contextvars import Context
from typing import Any

from paceline.engine.contexts import called_in


class LeftBehind(asyncio.CancelledError):
    """The call is cancelled, and its thread works on."""


class _Call:
    """One call on its way through a thread. Its fields are changed under the lock of `Threads`."""

    __slots__ = ("arguments", "context", "finished", "function", "future", "given_up", "loop", "running")

    def __init__(
        self,
        context: Context,
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.context = context
        self.function = function
        self.arguments = arguments
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.running = False
        self.finished = False
        self.given_up = False


class Threads:
    """At most `limit` calls at once on daemon threads; an abandoned call no longer counts."""

    def __init__(self, limit: int, *, name: str) -> None:
        self._limit = limit
        self._name = name
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._serving = 0
        """Threads that take calls, those left behind not counted."""
        self._outstanding = 0
        """Calls that wait for a thread or have one."""
        self._stopped = False
        self.left_behind = 0

    async def call(self, context: Context, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call `function` on a thread, inside `context`; where cancelling leaves it behind: `LeftBehind`."""
        call = _Call(context, function, arguments, asyncio.get_running_loop())
        with self._lock:
            self._start_thread_for(self._outstanding + 1)
            self._outstanding += 1
        self._calls.put(call)
        try:
            return await call.future
        except asyncio.CancelledError:
            if self._give_up(call):
                raise LeftBehind from None
            raise

    def stop(self) -> None:
        """Let the idle threads go. Those still busy end after their call, or with the process."""
        with self._lock:
            self._stopped = True
            for _ in range(self._serving):
                self._calls.put(None)

    def _start_thread_for(self, calls: int) -> None:
        """See that as many threads serve as there are calls, if there may be as many."""
        if calls <= self._serving or self._serving >= self._limit or self._stopped:
            return
        number = self._serving + self.left_behind + 1
        thread = threading.Thread(target=self._serve, name=f"{self._name}-{number}", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more to give. Those there are will do; without any, nothing would.
            if not self._serving:
                raise
        else:
            self._serving += 1

    def _give_up(self, call: _Call) -> bool:
        """Count a call no longer; whether a thread is left behind with it."""
        with self._lock:
            if call.finished or not call.future.cancelled():
                return False  # its thread is well: it has come back, if only with a CancelledError of its own
            call.given_up = True
            self._outstanding -= 1
            if call.running:
                # Its thread may be stuck for good, so it counts no longer and another may be started.
                self._serving -= 1
                self.left_behind += 1
                with contextlib.suppress(RuntimeError):
                    self._start_thread_for(self._outstanding)
            return call.running

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            with self._lock:
                call.running = not call.given_up
            if call.running:
                _carry_out(call)
                if not self._goes_on(call):
                    return
            del call  # an idle thread keeps nothing alive

    def _goes_on(self, call: _Call) -> bool:
        """Note that a call is over; whether its thread is to take another."""
        with self._lock:
            call.finished = True
            if not call.given_up:
                self._outstanding -= 1
                return True
            self.left_behind -= 1  # it came back after all, and may stay if its place is still free
            if self._stopped or self._serving >= self._limit:
                return False
            self._serving += 1
            return True


def _carry_out(call: _Call) -> None:
    try:
        result = called_in(call.context, call.function, *call.arguments)
    except BaseException as error:
        _deliver(call, None, error)
    else:
        _deliver(call, result, None)


def _deliver(call: _Call, result: Any, error: BaseException | None) -> None:
    # A loop that is closed has nobody waiting on it any more.
    with contextlib.suppress(RuntimeError):
        call.loop.call_soon_threadsafe(_settle, call.future, result, error)


def _settle(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
