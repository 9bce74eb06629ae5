"""Listening to calls: how many are under way, and whether all of them wait.

Whoever sets a deadline for work that calls models listens, and lets its clock stand still while nothing is
being done: waiting for a limit is neither latency nor lateness. Doors tell of calls from whatever thread they
are made on; the clock is stopped and started on the loop that the work is driven by.

Counts. Knows nothing of clocks, of who made the calls, or of what they asked.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from paceline.pace.calls import current_listener

if TYPE_CHECKING:
    from paceline.pace.calls import Call

counting: Final = threading.RLock()
"""One for all who listen: it is held for a few additions, and most work never needs it. Reentrant: a call
that is thrown away stops waiting in a finalizer, which may run in the midst of this."""


class Listening:
    """A `Listener` (see `calls`) of one piece of work, which says when all of its calls wait.

    It has no fields of its own: those that it counts in are its heirs', who may be structs. They are made on
    the loop that drives the work.
    """

    if not TYPE_CHECKING:
        __slots__ = ()  # type checkers would hold it against the fields below
    else:
        _loop: asyncio.AbstractEventLoop
        _thread: int
        """The one that the loop is driven by."""
        _live: int
        _waiting: int
        all_wait: bool
        """Whether calls are under way, and each of them waits."""

    def turned(self) -> None:
        """`all_wait` has changed, perhaps more than once. Called on the loop."""
        raise NotImplementedError

    # What doors tell, from any thread

    def begun(self) -> None:
        """A call is under way, or about to wait for its turn."""
        self._count(live=1)

    def waiting(self) -> None:
        """A call waits for its turn, or to be sent again."""
        self._count(waiting=1)

    def going(self) -> None:
        """A call waits no more."""
        self._count(waiting=-1)

    def ended(self, call: Call | None) -> None:  # noqa: ARG002  # for heirs who want to know which it was
        """A call is over; `call` is what is known of it, where it was one of a model."""
        self._count(live=-1)

    def forgotten(self, call: Call | None) -> None:
        """The same, told by a finalizer: what this thread is in the midst of comes first."""
        self.later(self.ended, call)

    def later(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a function on the loop, when that is done with what it is in the midst of."""
        with suppress(RuntimeError):  # the loop is closed: the run is over
            self._loop.call_soon_threadsafe(function, *arguments)

    def _count(self, *, live: int = 0, waiting: int = 0) -> None:
        with counting:
            self._live += live
            self._waiting += waiting
            all_wait = 0 < self._live <= self._waiting
            if all_wait == self.all_wait:
                return
            self.all_wait = all_wait
        self.on_the_loop(self.turned)

    def on_the_loop(self, function: Callable[..., None], *arguments: object) -> None:
        """Call a function on the loop: at once where this is its thread."""
        if threading.get_ident() == self._thread:
            function(*arguments)
        else:
            self.later(function, *arguments)


@contextmanager
def waiting_told() -> Iterator[None]:
    """Within: whoever listens here is told that nothing is being done.

    Waiting is a call of its own, which is over when the waiting is: what comes then is work, and other calls
    may be under way meanwhile.
    """
    listener = current_listener.get()
    if listener is None:
        yield
        return
    listener.begun()
    listener.waiting()
    try:
        yield
    finally:
        listener.going()
        listener.ended(None)
