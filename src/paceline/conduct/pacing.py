"""The pace of one run: the desk and its doors, who has closed, and where calls go in a rehearsal.

Everything is opened before the first case and closed after the last, whatever happens in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from paceline.conduct.rehearsal import check_rehearsal, rehearsal
from paceline.options import Options
from paceline.pace.desk import Granting, pool_closed
from paceline.pace.messages import PoolId
from paceline.pace.opening import Opening, stated
from paceline.pace.pool import Closed, PoolFacts
from paceline.pace.prices import Price
from paceline.setting_kinds import prices


class Pacing:
    """The pace of one run."""

    def __init__(self, options: Options) -> None:
        self._options = options
        check_rehearsal(options.rehearse)
        general, single = stated(options.limits)
        self.opening = Opening(
            limits=general,
            per_pool=single,
            # What a simulated provider bears says nothing about the real one, and is nobody else's.
            adaptive=options.adaptive,
            share=options.share_pools and not options.rehearse,
            learn=options.adaptive and not options.rehearse,
            http=options.pace_http or bool(options.rehearse),
            prices={model: Price(**price) for model, price in prices(options.prices or {}).items()},
        )
        self.closed: dict[PoolId, str] = {}
        """Pools that grant nothing any more, and why."""
        self._desk: Granting | None = None
        self._on_closed: Callable[[str], None] | None = None

    @property
    def listens(self) -> bool:
        """Whether there are doors that tell of calls."""
        return self.opening.http

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the desk and its doors."""
        with ExitStack() as stack:
            if rehearse := self._options.rehearse:
                url = stack.enter_context(rehearsal(rehearse))
                self.opening = self.opening.redirected(url)
            self._desk = stack.enter_context(self.opening(self._close))
            yield

    def when_closed(self, tell: Callable[[str], None]) -> None:
        """Whom to tell, on whatever thread, that a provider will not answer any more."""
        self._on_closed = tell

    def facts(self) -> list[PoolFacts]:
        """How the pools stand."""
        return self._desk.facts() if self._desk is not None else []

    def _close(self, pool: PoolId, closed: Closed) -> None:
        error = pool_closed(pool, closed)
        self.closed[pool] = str(error)
        if self._on_closed is not None:
            self._on_closed(f"{error}; {error.hint}")
