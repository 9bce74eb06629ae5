"""A lane: one place in the run, working on one key after another.

A lane drives the user's code itself, so it has to keep the user's doings with cancellation apart from the
engine's. All of that is in `Lane.guard`: it gives one await a deadline, and says in one of three ways that it
did not come to its end.

    Overdue     the deadline passed; the code was cancelled and gave in
    Stopped     the run is being cancelled
    LaneLost    the code ignored its cancellation; another lane has taken the key over and this one must end

A `CancelledError` that nobody asked for is the user's own and is passed on as it is. Between two awaits of
user code, and for what an earlier attempt has left behind (a timeout scope it never closed, say), a lane
cannot be cancelled at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Literal, TypeVar

from paceline.engine.deadlines import NEVER, Deadlines
from paceline.engine.ports import Attempted, Turn, Work
from paceline.tasks.notes import current_notes

ResultT = TypeVar("ResultT")


class Overdue(Exception):
    """The deadline has passed."""


class Stopped(Exception):
    """The run is being cancelled."""


class LaneLost(BaseException):
    """This lane was given up while its code ignored a cancellation. Not an Exception: nobody may catch it
    on the way."""


class Lane:
    """One place in the run."""

    __slots__ = (
        "_at_most",
        "_deadlines",
        "_grace",
        "_held_since",
        "_left",
        "_on_lost",
        "_stoppable",
        "_verdict",
        "answered",
        "conclude",
        "deadline",
        "guarding",
        "held",
        "lost",
        "since",
        "stage",
        "stopping",
        "task",
        "turn",
        "work",
    )

    def __init__(self, deadlines: Deadlines, *, grace: float, on_lost: Callable[[Lane], None]) -> None:
        self.deadline = NEVER
        self.turn: Turn | None = None
        self.stage = "task"
        """What is being guarded, for messages and for whoever takes over."""
        self.answered: Attempted | None = None
        """What the task has answered, while a hook looks at it."""
        self.conclude: Callable[[Attempted | None], None]
        """How the key ends once its teardown is over, however that went."""
        self.work: Work | None = None
        """What the executor was asked last."""
        self.since = 0.0
        """When what is guarded was begun."""
        self.held = 0.0
        """Seconds that the clock of the current attempt has stood still."""
        self.guarding = False
        self.lost = False
        self.stopping = False
        self.task: asyncio.Task[None]
        self._stoppable = True
        self._at_most = NEVER
        self._left = NEVER
        self._held_since: float | None = None
        self._verdict: Literal["overdue", "stopped"] | None = None
        self._deadlines = deadlines
        self._grace = grace
        self._on_lost = on_lost

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin; `work` is what the lane does until it ends."""
        self.task = _LaneTask(self, work)

    async def guard(
        self, awaitable: Awaitable[ResultT], *, until: float, at_most: float = NEVER, stoppable: bool = True
    ) -> ResultT:
        """Await under a deadline in the loop's time.

        `at_most` stands for what is `until` only as far as the clock runs on (see `hold`). What is not
        `stoppable` may come to its end, within its deadline, also while the run is being cancelled.
        """
        if self.stopping and stoppable:
            _close(awaitable)
            raise Stopped
        self._stoppable, self._at_most = stoppable, at_most
        self.guarding = True
        self._deadlines.set(self, min(until, at_most))
        try:
            try:
                result = await awaitable
            finally:
                if self._held_since is not None:
                    self.go()
                self.guarding, self.deadline = False, NEVER
                verdict, self._verdict = self._verdict, None
        except GeneratorExit:  # its loop is gone, and it goes too
            raise
        except BaseException:
            if self.lost:
                raise LaneLost from None
            if verdict is None:
                await self._forget_cancellation()
                raise
            # Cancelled by us: whatever it raised on its way out, that is what happened.
        else:
            if self.lost:
                raise LaneLost
            if verdict != "overdue":
                # Stopped, it finished all the same: what was paid for is kept.
                if self.task.cancelling():
                    await self._forget_cancellation()
                return result
        await self._forget_cancellation()
        raise Overdue if verdict == "overdue" else Stopped

    # The clock of what is guarded

    def hold(self) -> None:
        """Stop the clock: what is guarded waits for something that is not its own doing. `at_most` still
        holds."""
        if self.guarding and self._verdict is None and self._held_since is None:
            self._held_since = now = asyncio.get_running_loop().time()
            self._left = self.deadline - now
            self._deadlines.set(self, self._at_most)

    def go(self) -> None:
        """Let the clock run on."""
        if self._held_since is not None:
            now = asyncio.get_running_loop().time()
            self.held += now - self._held_since
            self._held_since = None
            if self.guarding and self._verdict is None:
                self._deadlines.set(self, min(now + self._left, self._at_most))

    # What others do to it

    def overdue(self) -> None:
        """The deadline has passed: cancel; the second time, when that was ignored, give the lane up."""
        if self._verdict is None:
            self._cut_off("overdue")
        else:
            self.lost = True
            self._on_lost(self)

    def stop(self) -> None:
        """The run is being cancelled: cancel what is guarded now, and guard nothing more that can be
        stopped."""
        self.stopping = True
        if self.guarding and self._stoppable and self._verdict is None:
            self._cut_off("stopped")

    def _cut_off(self, verdict: Literal["overdue", "stopped"]) -> None:
        self._verdict = verdict
        self.task.cancel()
        self._deadlines.set(self, asyncio.get_running_loop().time() + self._grace)

    async def _forget_cancellation(self) -> None:
        """Leave the lane's task as if it had never been cancelled.

        A task that cancels itself and returns has the cancellation still coming: it is met here, not in the
        middle of the next case.
        """
        if self.task.cancelling():
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
            while self.task.cancelling():
                self.task.uncancel()


class _LaneTask(asyncio.Task[None]):
    """The task that a lane runs in."""

    def __init__(self, lane: Lane, work: Coroutine[Any, Any, None]) -> None:
        self._lane = lane
        super().__init__(work, loop=asyncio.get_running_loop(), name="paceline-lane")

    def cancel(self, msg: Any | None = None) -> bool:
        # Whoever calls runs in the context of the attempt that it was started by.
        caller = current_notes.get()
        if not self._lane.guarding or (caller is not None and caller.over):
            return False
        return super().cancel(msg)


def _close(awaitable: Awaitable[object]) -> None:
    close = getattr(awaitable, "close", None)
    if callable(close):
        close()
