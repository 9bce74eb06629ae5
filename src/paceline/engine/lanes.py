"""A lane: one place in the run, working on one key after another.

A lane drives the user's code itself, so it has to keep the user's doings with cancellation apart from the engine's. All of
that is in `Lane.guard`: it gives one await a deadline, and says in one of three ways that it did not come to its end.

    Overdue     the deadline passed; the code was cancelled and gave in
    Stopped     the run is being cancelled
    LaneLost    the code ignored its cancellation; another lane has taken the key over and this one must end

A `CancelledError` that nobody asked for is the user's own and is passed on as it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, TypeVar

from paceline.engine.deadlines import NEVER, Deadlines
from paceline.engine.ports import Turn

ResultT = TypeVar("ResultT")


class Overdue(Exception):
    """The deadline has passed."""


class Stopped(Exception):
    """The run is being cancelled."""


class LaneLost(BaseException):
    """This lane was given up while its code ignored a cancellation. Not an Exception: nobody may catch it on the way."""


class Lane:
    """One place in the run."""

    __slots__ = (
        "_deadlines",
        "_grace",
        "_guarding",
        "_on_lost",
        "_verdict",
        "deadline",
        "lost",
        "stage",
        "stopping",
        "task",
        "turn",
    )

    def __init__(self, deadlines: Deadlines, *, grace: float, on_lost: Callable[[Lane], None]) -> None:
        self.deadline = NEVER
        self.turn: Turn | None = None
        self.stage = "task"
        """What is being guarded, for messages."""
        self.lost = False
        self.stopping = False
        self.task: asyncio.Task[None]
        self._guarding = False
        self._verdict: Literal["overdue", "stopped"] | None = None
        self._deadlines = deadlines
        self._grace = grace
        self._on_lost = on_lost

    async def guard(self, awaitable: Awaitable[ResultT], *, until: float) -> ResultT:
        """Await under a deadline in the loop's time."""
        if self.stopping:
            _close(awaitable)
            raise Stopped
        self._guarding = True
        self._deadlines.set(self, until)
        try:
            result = await awaitable
        except BaseException:
            if self.lost:
                raise LaneLost from None
            if self._verdict is None:
                await self._forget_cancellation()
                raise
            # Cancelled by us: whatever it raised on its way out, that is what happened.
        else:
            if self.lost:
                raise LaneLost
            if self._verdict is None:
                if self.task.cancelling():
                    await self._forget_cancellation()
                return result
            if self._verdict == "stopped":
                # It finished all the same; what was paid for is kept.
                self._verdict = None
                await self._forget_cancellation()
                return result
        finally:
            self._guarding = False
            self.deadline = NEVER
        verdict, self._verdict = self._verdict, None
        await self._forget_cancellation()
        raise Overdue if verdict == "overdue" else Stopped

    def overdue(self) -> None:
        """The deadline has passed: cancel; the second time, when that was ignored, give the lane up."""
        if self._verdict is None:
            self._verdict = "overdue"
            self.task.cancel()
            self._deadlines.set(self, asyncio.get_running_loop().time() + self._grace)
        else:
            self.lost = True
            self._on_lost(self)

    def stop(self) -> None:
        """The run is being cancelled: cancel what is guarded now, and guard nothing more."""
        self.stopping = True
        if self._guarding and self._verdict is None:
            self._verdict = "stopped"
            self.task.cancel()
            self._deadlines.set(self, asyncio.get_running_loop().time() + self._grace)

    async def _forget_cancellation(self) -> None:
        """Leave the lane's task as if it had never been cancelled.

        A task that cancels itself and returns has the cancellation still coming: it is met here, not in the middle
        of the next case.
        """
        if self.task.cancelling():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
            while self.task.cancelling():
                self.task.uncancel()


def _close(awaitable: Awaitable[object]) -> None:
    close = getattr(awaitable, "close", None)
    if callable(close):
        close()
