"""Those who wait for a grant, each in its own way: a coroutine on a loop, a thread.

A waiter is told once, by `resolve`: a grant, or the reason why none will come. It is the `outcome` that
decides, and waking is only a nudge to look at it. So whoever gives up waiting can be asked whether its grant
had come already, and nothing is lost between the giving and the waking.

    entered = desk.enter(ask, LoopWaiter)      a Grant, or a waiter
    try:
        await entered.woken
    except BaseException:
        desk.leave(entered)                    takes the ask back, or the grant that came meanwhile
        raise

`Acquiring` is that pattern, for whatever has `enter` and `leave`.
"""

from __future__ import annotations

import asyncio
import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from paceline.errors import PaceError
from paceline.pace.messages import FRESH, Ask, Grant, PoolId, Result


class Waiter(ABC):
    """Somebody whose ask has not been granted yet."""

    __slots__ = ("ask", "outcome", "since")

    def __init__(self, ask: Ask, since: float) -> None:
        self.ask = ask
        self.since = since
        """When the ask was made, on the desk's clock."""
        self.outcome: Grant | PaceError | None = None

    def resolve(self, outcome: Grant | PaceError) -> bool:
        """Tell how it ends; whether anybody is there to hear it. Never waits."""
        self.outcome = outcome
        return self.wake()

    @abstractmethod
    def wake(self) -> bool:
        """Have the one who waits look at the outcome; False if there is nobody any more."""

    def taken(self) -> Grant:
        """The grant, or the error that stands in its place."""
        match self.outcome:
            case Grant() as grant:
                return grant
            case PaceError() as error:
                raise error
            case _:
                raise AssertionError("woken without an outcome")


class LoopWaiter(Waiter):
    """A coroutine on some event loop, which may be another thread's, and may be closed by the time it is
    woken.
    """

    __slots__ = ("_loop", "_thread", "woken")

    def __init__(self, ask: Ask, since: float) -> None:
        super().__init__(ask, since)
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self.woken: asyncio.Future[None] = self._loop.create_future()

    def wake(self) -> bool:
        try:
            if self._thread == threading.get_ident():
                self._set()  # in the loop's own thread the loop is awake: it need not be written to
            else:
                self._loop.call_soon_threadsafe(self._set)
        except RuntimeError:
            return False  # the loop is closed, and with it whoever waited there
        return True

    def _set(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class ThreadWaiter(Waiter):
    """A thread that blocks."""

    __slots__ = ("_closed",)

    def __init__(self, ask: Ask, since: float) -> None:
        super().__init__(ask, since)
        # The plainest thing that a thread can wait for: unlike an Event it can be set from a finalizer that
        # runs in the midst of the waiting.
        self._closed = threading.Lock()
        self._closed.acquire()

    def wake(self) -> bool:
        self._closed.release()
        return True

    def wait(self) -> None:
        self._closed.acquire()


WaiterT = TypeVar("WaiterT", bound=Waiter)


class Acquiring(ABC):
    """`acquire` and `acquire_sync` for whatever takes asks and gives grants."""

    def __init__(self) -> None:
        self.ids = itertools.count(1)
        """Of asks, and so of grants; `next` on it is atomic."""

    @abstractmethod
    def enter(self, ask: Ask, waiter: Callable[[Ask, float], WaiterT]) -> Grant | WaiterT:
        """Ask. Either the grant, at once, or a waiter that is told later; raises as `acquire` does."""

    @abstractmethod
    def leave(self, waiter: Waiter) -> None:
        """Wait no longer: the ask is taken back, or the grant if it has come. Never waits itself."""

    @abstractmethod
    def settle(self, grant: Grant, result: Result) -> None:
        """Say how a granted call went, which frees its place. From any thread; never waits."""

    async def acquire(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        """Wait for leave to make a call; raises `PoolClosed` where that will never come.

        Cancelled at any time, it leaves nothing behind. What it returned must be settled.
        """
        entered = self.enter(Ask(id=next(self.ids), pool=pool, tokens=tokens, priority=priority), LoopWaiter)
        if isinstance(entered, Grant):
            return entered
        try:
            await entered.woken
        except BaseException:
            self.leave(entered)
            raise
        return entered.taken()

    def acquire_sync(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        """`acquire` for a thread: blocks until the call may be made."""
        entered = self.enter(
            Ask(id=next(self.ids), pool=pool, tokens=tokens, priority=priority), ThreadWaiter
        )
        if isinstance(entered, Grant):
            return entered
        try:
            entered.wait()
        except BaseException:  # an interrupt, in the main thread
            self.leave(entered)
            raise
        return entered.taken()
