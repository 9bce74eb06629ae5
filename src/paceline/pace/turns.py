"""Turns: at most so many at once, for what limits itself: who has the object shares it, and nobody else does.

    turns = Turns(3)
    turn = await turns.take()      at most three have one, whatever loop they are on
    ...
    turn.give_back()               from any thread, and as often as it seems safe: once counts

Who comes first goes first. Waiting is told to whoever listens, as it is no work. Whoever is cancelled while
it waits leaves nothing behind. A copy, and what comes out of a pickle, has turns of its own.

A `slot` is known to the whole process by a name, and to threads, and belongs to a block. This is for calls
that may be left behind: somebody else gives their turn back then.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque

from paceline.pace.listening import waiting_told
from paceline.pace.turnstile import Turnstile


class _Waiter:
    """Somebody in line."""

    __slots__ = ("granted", "loop", "thread", "woken")

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.thread = threading.get_ident()
        self.woken: asyncio.Future[None] = self.loop.create_future()
        self.granted = False

    def wake(self) -> bool:
        """Let it go on; whether anybody is there to."""
        try:
            if self.thread == threading.get_ident():
                self._set()
            else:
                self.loop.call_soon_threadsafe(self._set)
        except RuntimeError:
            return False  # the loop is closed, and with it whoever waited there
        return True

    def _set(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class Turn:
    """The right to be one of so many."""

    __slots__ = ("_taken_from",)

    def __init__(self, taken_from: Turns) -> None:
        self._taken_from: Turns | None = taken_from

    def give_back(self) -> None:
        """Let the next one have it."""
        turns, self._taken_from = self._taken_from, None
        if turns is not None:
            turns.leave(None)


class Turns:
    """As many turns as `n`."""

    def __init__(self, n: int) -> None:
        self._n = self._free = n
        self._line: deque[_Waiter] = deque()
        """Empty while any turn is free: who gives one back hands it over."""
        self._inside: Turnstile[_Waiter | None] = Turnstile(self._run, _no_news)
        self.leave = self._inside.leave

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._n,)

    async def take(self) -> Turn:
        """Wait for a turn."""
        with self._inside:
            if self._free:
                self._free -= 1
                return Turn(self)
            waiter = _Waiter()
            self._line.append(waiter)
        try:
            with waiting_told():
                await waiter.woken
        except BaseException:
            self._inside.leave(waiter)
            raise
        return Turn(self)

    def _run(self, gone: _Waiter | None) -> None:
        """With the lock held: a turn comes back, or somebody goes out of line, who may have got one."""
        if gone is not None and not gone.granted:
            self._line.remove(gone)
            return
        while self._line:
            following = self._line.popleft()
            following.granted = True
            if following.wake():
                return
        self._free += 1


def _no_news() -> None:
    """Nobody has to be told of anything but those in line, and they are."""


__all__ = ["Turn", "Turns"]
