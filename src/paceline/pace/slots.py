"""Slots: at most so many at once, for any resource that a user can name.

    async with paceline.slot("docs-mcp", 3):     at most three are inside, by this name, in the whole process
        ...
    with paceline.slot("docs-mcp", 3):           the same slots, for plain threads

Who comes first goes first, whatever thread or loop it is on. Waiting for a slot is no work: it counts neither
as latency nor towards a deadline. Whoever is cancelled while it waits leaves nothing behind.

A slot is a pool with a fixed window at a desk of its own, so all that the desk promises holds here.
"""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from types import TracebackType
from typing import Final

from paceline.errors import UsageError
from paceline.pace.desk import Desk
from paceline.pace.listening import waiting_told
from paceline.pace.messages import Grant, Limits, PoolId, Result

_LEFT: Final = Result()


class Slot:
    """A context manager, sync and async; one object may be entered by many at a time. Made by `slot`."""

    def __init__(self, name: str, n: int) -> None:
        self.name = name
        self.n = n
        self._pool = PoolId(provider="slot", host="", model=name)
        self._held: deque[tuple[Desk, Grant]] = deque()
        """Of all who are inside through this object. They are alike, so whoever leaves gives any one back."""
        _desks.get(name, n)

    def __repr__(self) -> str:
        return f"paceline.slot({self.name!r}, {self.n})"

    def __enter__(self) -> None:
        desk = _desks.get(self.name, self.n)
        with waiting_told():
            grant = desk.acquire_sync(self._pool)
        self._held.append((desk, grant))

    async def __aenter__(self) -> None:
        desk = _desks.get(self.name, self.n)
        with waiting_told():
            grant = await desk.acquire(self._pool)
        self._held.append((desk, grant))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        desk, grant = self._held.popleft()
        desk.settle(grant, _LEFT)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def slot(name: str, n: int) -> Slot:
    """At most `n` at once inside `with` or `async with`, over all that use this name in the process.

    Each block holds one slot. A block inside another of the same name needs a second one: where every slot is
    held by somebody who waits for its second, all wait for good, so take it once, around the whole. Slots of
    different names are apart; take them in one order everywhere.

    Other processes have slots of their own, those of `isolation="process"` included.
    """
    _refuse_nonsense(name, n)
    return Slot(name, n)


def _refuse_nonsense(name: object, n: object) -> None:
    if not (isinstance(name, str) and name):
        raise UsageError(
            f"a slot needs a name, not {name!r}", hint='name what is shared: paceline.slot("docs-mcp", 3)'
        )
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise UsageError(
            f"slot {name!r} cannot be {n!r} wide", hint="say how many may be inside at once: 1 or more"
        )


def _desk(n: int) -> Desk:
    # A block may last as long as it likes: its slot is not taken from it.
    return Desk(limits=Limits(window=n), adaptive=False, time_to_live_s=math.inf)


class _Desks:
    """The desk of each name. A desk for each, since their widths differ."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start anew, as a forked child has to: those inside and those in line are its parent's."""
        self._lock = threading.Lock()
        self._known: dict[str, tuple[int, Desk]] = {}

    def get(self, name: str, n: int) -> Desk:
        known = self._known.get(name)  # without the lock: what is there stays
        if known is None:
            with self._lock:
                known = self._known.setdefault(name, (n, _desk(n)))
        width, desk = known
        if width != n:
            raise UsageError(
                f"slot {name!r} is {width} wide elsewhere in this process, and {n} here",
                hint="say the same number everywhere, or use another name",
            )
        return desk


_desks = _Desks()
os.register_at_fork(after_in_child=_desks.renew)
