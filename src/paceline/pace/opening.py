"""Opening the pace of a process: its desk, and the doors to it, from one value that can travel.

    with Opening(limits=Limits(rpm=600))() as desk:      # here, or in a child process
        ...

A run opens it where its cases are in progress; each child process that attempts some of them opens it again,
and shares the pools of its parent. Knows which parts there are. Knows nothing of what they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from paceline.errors import UsageError
from paceline.pace.desk import NO_LIMITS, Granting, installed
from paceline.pace.messages import Limits, PoolId
from paceline.pace.pool import Closed
from paceline.pace.prices import Price
from paceline.setting_kinds import LIMIT_NAMES, limits

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
    http: bool = True
    """Whether calls over `httpx2` and `httpx` go through a door."""
    redirect: str | None = None
    """The base URL of a simulated provider that answers in place of any other."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """What models cost, before other lists are asked."""

    def redirected(self, url: str) -> Opening:
        """The same, with a simulated provider at `url` in place of any other."""
        return replace(self, redirect=url)

    def __call__(self, on_closed: OnClosed | None = None) -> AbstractContextManager[Granting]:
        return self._opened(on_closed)

    @contextmanager
    def _opened(self, on_closed: OnClosed | None) -> Iterator[Granting]:
        from paceline.pace.sharing import open_desk

        desk = open_desk(
            limits=self.limits,
            per_pool=self.per_pool,
            adaptive=self.adaptive,
            share=self.share,
            learn=self.learn,
            state=self.state,
        )
        desk.on_closed = on_closed
        try:
            with installed(desk), self._doors(desk):
                yield desk
        finally:
            desk.close()

    @contextmanager
    def _doors(self, desk: Granting) -> Iterator[None]:
        if not self.http:
            yield
            return
        from paceline.pace.transport import Door, install

        with install(Door(desk, redirect=self.redirect, prices=self.prices)):
            yield


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
