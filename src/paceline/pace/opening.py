"""Opening the pace of a process: its desk, and the doors to it, from one value that can travel.

    with Opening(limits=Limits(rpm=600))() as desk:      # here, or in a child process
        ...

A run opens it where its cases are in progress; each child process that attempts some of them opens it again,
and shares the pools of its parent. A desk is made with the first call that asks for leave: a run without any
meets nobody, and leaves nothing in the user's home. Knows which parts there are, and nothing of what they do.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paceline.errors import UsageError
from paceline.pace.desk import NO_LIMITS, Granting, desk_closed, installed
from paceline.pace.messages import FRESH, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed, PoolFacts
from paceline.pace.prices import Price
from paceline.setting_kinds import LIMIT_NAMES, limits

if TYPE_CHECKING:
    from paceline.pace.door import Door

OnClosed = Callable[[PoolId, Closed], None]


@dataclass(frozen=True, kw_only=True)
class Opening:
    """What the pace of a process is opened with."""

    limits: Limits = NO_LIMITS
    per_pool: Mapping[str, Limits] = field(default_factory=dict)
    adaptive: bool = True
    share: bool = True
    """Whether pools are shared with other processes of this user."""
    learn: bool = True
    """Whether to begin near the limits that earlier runs have learned, and to keep what this one learns."""
    state: Path | None = None
    """Where what is learned is kept, and where those who share meet; None is the user's own place."""
    meet: Path | None = None
    """Where the processes of one run meet that share with nobody else."""
    http: bool = True
    """Whether calls over `httpx2` and `httpx` go through a door."""
    redirect: str | None = None
    """The base URL of a simulated provider that answers in place of any other."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """What models cost, before other lists are asked."""

    def redirected(self, url: str) -> Opening:
        """The same, with a simulated provider at `url` in place of any other."""
        return replace(self, redirect=url)

    def __call__(self, on_closed: OnClosed | None = None) -> AbstractContextManager[DeskOnDemand]:
        return self._opened(on_closed)

    @contextmanager
    def _opened(self, on_closed: OnClosed | None) -> Iterator[DeskOnDemand]:
        desk = self.desk(on_closed)
        try:
            with self.at(desk):
                yield desk
        finally:
            desk.close()

    @contextmanager
    def at(self, desk: Granting) -> Iterator[None]:
        """The doors, to a desk that somebody else has made and looks after."""
        with installed(desk), self._doors(desk):
            yield

    @contextmanager
    def _doors(self, desk: Granting) -> Iterator[None]:
        if not self.http:
            yield
            return
        from paceline.pace.transport import install

        with install(self.door(desk)):
            yield

    def desk(self, on_closed: OnClosed | None = None) -> DeskOnDemand:
        """A desk that nobody has installed."""
        return DeskOnDemand(self._made, on_closed)

    def _made(self) -> Granting:
        from paceline.pace.sharing import open_desk

        return open_desk(
            limits=self.limits,
            per_pool=self.per_pool,
            adaptive=self.adaptive,
            share=self.share,
            learn=self.learn,
            state=self.state,
            meet=self.meet,
        )

    def door(self, desk: Granting) -> Door:
        """A door that asks this desk."""
        from paceline.pace.door import Door

        return Door(desk, redirect=self.redirect, prices=self.prices)


class DeskOnDemand:
    """A desk that is made when the first call asks for leave."""

    def __init__(self, make: Callable[[], Granting], on_closed: OnClosed | None = None) -> None:
        self.on_closed = on_closed
        self._make = make
        self._desk: Granting | None = None
        self._closed = False
        self._making = threading.Lock()
        self.asked: set[PoolId] = set()
        """Pools that somebody here has asked; other runs may have pools at the same desk."""

    async def acquire(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        """See `Granting`, as for all that follow."""
        self.asked.add(pool)
        return await self.open().acquire(pool, tokens=tokens, priority=priority)

    def acquire_sync(self, pool: PoolId, *, tokens: float = 0.0, priority: int = FRESH) -> Grant:
        self.asked.add(pool)
        return self.open().acquire_sync(pool, tokens=tokens, priority=priority)

    def settle(self, grant: Grant, result: Result) -> None:
        assert self._desk is not None, "the grant is its own"
        self._desk.settle(grant, result)

    def facts(self) -> list[PoolFacts]:
        return self._desk.facts() if self._desk is not None else []

    def close(self) -> None:
        with self._making:
            self._closed = True
        if self._desk is not None:
            self._desk.close()

    def open(self) -> Granting:
        """The desk behind it, made now if it was not before; raises `DeskClosed`."""
        if self._desk is None:
            # A loop may stand still here, but for milliseconds: meeting other runs is a lock and a socket.
            with self._making:
                if self._closed:
                    raise desk_closed()
                if self._desk is None:
                    desk = self._make()
                    desk.on_closed = self._tell
                    self._desk = desk
        return self._desk

    def _tell(self, pool: PoolId, closed: Closed) -> None:
        if self.on_closed is not None:
            self.on_closed(pool, closed)


def stated(given: Mapping[str, Any] | None) -> tuple[Limits, dict[str, Limits]]:
    """The limits that somebody has written: those for all pools, and those for single ones."""
    try:
        written = limits(given or {})
    except (ValueError, TypeError):
        raise UsageError(
            f"limits={given!r} cannot be read",
            hint='limits are such as {"rpm": 600, "openai:gpt-5": {"window": 8}}',
        ) from None
    general = {name: value for name, value in written.items() if name in LIMIT_NAMES}
    single = {name: Limits(**value) for name, value in written.items() if name not in LIMIT_NAMES}
    return Limits(**general), single
