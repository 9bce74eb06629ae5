"""One call, heard to its end, whatever that is: an answer, an error, a deadline that has passed.

The deadline is for the work that is done: its clock stands still while each call of a model that is under
way waits for a limit. What ignores its deadline is left behind, so that it holds up nobody.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

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


async def hear(call: Callable[[], Awaitable[Any]], *, within: float | None) -> Heard:
    """Make a call, and say how it has ended. Raises only when this is cancelled itself."""
    clock = _Clock(within)
    context = copy_context()
    context.run(current_listener.set, clock)
    task = asyncio.get_running_loop().create_task(_contained(call), context=context)
    task.add_done_callback(clock.ring)
    clock.start()
    try:
        # Not for the task itself: one that has been left behind goes on, and nobody waits for it.
        await clock.rung
        if task.done():
            returned, error = task.result()
            away = error is not None and (clock.turned_away or isinstance(error, PaceError))
            return Heard(returned, error, away)
        return Heard(error=Overdue(f"it took longer than {within:g} s"))
    finally:
        clock.stop()
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE_S)


async def _contained(call: Callable[[], Awaitable[Any]]) -> tuple[Any, BaseException | None]:
    """A task must not end with `SystemExit` or `KeyboardInterrupt`: asyncio would stop its loop."""
    try:
        return await call(), None
    except BaseException as error:
        return None, error


class _Clock(Listening):
    """The time that is left to a call; a listener, which passes all that it is told on to the one before."""

    def __init__(self, seconds: float | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._live = self._waiting = 0
        self.all_wait = False
        self._parent: Listener | None = current_listener.get()
        self._left = seconds
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.rung: asyncio.Future[None] = self._loop.create_future()
        """Done when the call is over, or its time is."""
        self.turned_away = False

    @property
    def tape(self) -> Tape | None:
        """For doors: what keeps the calls, and may have their answers."""
        tape: Tape | None = getattr(self._parent, "tape", None)
        return tape

    def start(self) -> None:
        """Let the time run, unless all calls wait."""
        if self._left is not None and self._timer is None and not self.all_wait:
            self._since = self._loop.time()
            self._timer = self._loop.call_later(self._left, self.ring)

    def stop(self) -> None:
        """Let it run no more, for good."""
        self._hold()
        self._left = None

    def turned(self) -> None:
        if self.all_wait:
            self._hold()
        else:
            self.start()

    def _hold(self) -> None:
        if self._timer is not None and self._left is not None:
            self._timer.cancel()
            self._timer = None
            self._left = max(0.0, self._left - (self._loop.time() - self._since))

    def ring(self, _task: object = None) -> None:
        """Wake whoever waits for the call to end."""
        if not self.rung.done():
            self.rung.set_result(None)

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


__all__ = ["Heard", "Overdue", "hear"]
