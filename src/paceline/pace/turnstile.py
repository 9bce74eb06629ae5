"""A lock that nobody has to wait for who only leaves something.

    with turnstile:              the inside is mine; waits for whoever is in
        ...
    turnstile.leave(errand)      never waits: done at once if nobody is in, else by whoever is, on the way out

A call may end anywhere: on a thread, on a loop, in a signal handler, in a finalizer that the garbage
collector runs in the very thread that holds the lock. Were a lock taken to say so, the last of these would
wait for itself for good.

Errands are done in the order in which they were left, each once, with the lock held.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

ErrandT = TypeVar("ErrandT")


class Turnstile(Generic[ErrandT]):
    """Mutual exclusion, and a place to leave what is to be done inside."""

    __slots__ = ("_after", "_errands", "_lock", "_run")

    def __init__(self, run: Callable[[ErrandT], None], after: Callable[[], None]) -> None:
        self._run = run
        """Does one errand; called with the lock held."""
        self._after = after
        """Called without the lock when errands have been done: what they led to may be told to anybody."""
        self._lock = threading.Lock()
        self._errands: deque[ErrandT] = deque()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()
        # After the release: what was left until then found the lock taken, and counts on this look.
        if self._errands:
            self._tidy()

    def leave(self, errand: ErrandT) -> None:
        """See that `errand` is done, by this thread or by the one that is inside now."""
        self._errands.append(errand)
        self._tidy()

    def _tidy(self) -> None:
        # Looked at again after each release, as in `__exit__`: nothing is left that nobody looks for.
        while self._errands and self._lock.acquire(blocking=False):
            try:
                while self._errands:
                    self._run(self._errands.popleft())
            finally:
                self._lock.release()
            self._after()
