"""One call, heard to its end, whatever that is: an answer, an error, a deadline that has passed.

The deadline is for the work that is done: its clock stands still while each call of a model that is under
way waits for a limit. What ignores its deadline is left behind, so that it holds up nobody.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from paceline.errors import PaceError
from paceline.pace.calls import Listener, current_listener
from paceline.pace.listening import Listening

if TYPE_CHECKING:
    from paceline.pace.calls import Call
    from paceline.pace.tape import Tape

GRACE_S: Final = 1.0
"""How long a call that is cancelled may take to clear away."""


class Overdue(TimeoutError):
    """A call did not end before its deadline."""


@dataclass(frozen=True, slots=True)
class Heard:
    """How a call has ended."""

    returned: Any = None
    error: BaseException | None = None
    turned_away: bool = False
    """Whether nobody was asked, and nobody will be for now: the money is spent, the key is refused, or the
    run is ending."""


Leave: TypeAlias = Callable[[Heard], None]
"""Told, instead of whoever waits for the task of a call, that it is left behind."""


async def hear(call: Callable[[], Awaitable[Any]], *, within: float | None, leave: Leave) -> Heard:
    """Make a call, and say how it has ended. Raises only when this is cancelled itself.

    Has to have a task of its own: that is what is cancelled at the deadline, and left behind if it does not
    listen. A second task for the call would start when all others have been made ready, and not at once.
    """
    task = asyncio.current_task()
    assert task is not None
    clock = _Clock(within, task, leave)
    before = current_listener.set(clock)
    returned: Any = None
    error: BaseException | None = None
    clock.start()
    try:
        returned = await call()
    except GeneratorExit:
        raise  # the loop is gone, and whoever throws this away does so in some context of its own
    except BaseException as raised:
        error = raised
    clock.stop()
    current_listener.reset(before)
    if clock.late:
        if task.uncancel():
            raise asyncio.CancelledError  # somebody else's, who wants this gone too
        return clock.too_late()
    if isinstance(error, asyncio.CancelledError) and task.cancelling():
        raise error
    return Heard(returned, error, error is not None and (clock.turned_away or isinstance(error, PaceError)))


class _Clock(Listening):
    """The time that is left to a call; a listener, which passes all that it is told on to the one before."""

    def __init__(self, seconds: float | None, task: asyncio.Task[Any], leave: Leave) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._live = self._waiting = 0
        self.all_wait = False
        self._parent: Listener | None = current_listener.get()
        self._seconds = self._left = seconds
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._task = task
        self._leave = leave
        self.late = False
        self.turned_away = False

    @property
    def tape(self) -> Tape | None:
        """For doors: what keeps the calls, and may have their answers."""
        tape: Tape | None = getattr(self._parent, "tape", None)
        return tape

    def too_late(self) -> Heard:
        """How a call has ended that had no time left."""
        return Heard(error=Overdue(f"it took longer than {self._seconds:g} s"))

    def start(self) -> None:
        """Let the time run, unless all calls wait."""
        if self._left is not None and self._timer is None and not self.all_wait:
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._left, self._over)

    def stop(self) -> None:
        """Let it run no more, for good."""
        if self._timer is not None:
            self._timer.cancel()
        self._left = self._timer = None

    def turned(self) -> None:
        if not self.all_wait:
            self.start()
        elif self._timer is not None and self._left is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (self._loop.time() - self._since))

    def _over(self) -> None:
        self.late, self._left = True, None
        self._task.cancel()
        self._timer = self._loop.call_later(GRACE_S, self._deaf)

    def _deaf(self) -> None:
        self._leave(self.too_late())

    # Passed on

    def begun(self) -> None:
        if self._parent is not None:
            self._parent.begun()
        super().begun()

    def waiting(self) -> None:
        if self._parent is not None:
            self._parent.waiting()
        super().waiting()

    def going(self) -> None:
        if self._parent is not None:
            self._parent.going()
        super().going()

    def ended(self, call: Call | None) -> None:
        if call is not None:
            self.turned_away = call.outcome == "fatal"
        if self._parent is not None:
            self._parent.ended(call)
        super().ended(call)


__all__ = ["GRACE_S", "Heard", "Leave", "Overdue", "hear"]
