"""The pace of one run: the desk and its doors, who has closed, and where calls go in a rehearsal.

Everything is opened before the first case and closed after the last, whatever happens in between.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from paceline.conduct.rehearsal import check_rehearsal, rehearsal
from paceline.options import Options
from paceline.pace.calls import Call
from paceline.pace.desk import pool_closed
from paceline.pace.messages import PoolId
from paceline.pace.opening import DeskOnDemand, Opening, stated
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
        self._lock = threading.Lock()
        self._shut: dict[PoolId, Closed] = {}
        """Those that some other run at the same desk has found closed."""
        self._seen: set[tuple[str, str, str]] = set()
        self._desk: DeskOnDemand | None = None
        self._on_closed: Callable[[str], None] | None = None

    @property
    def listens(self) -> bool:
        """Whether there are doors that tell of calls."""
        return self.opening.http

    @property
    def _in_processes(self) -> bool:
        return self._options.isolation == "process" and self.listens

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Open the desk and its doors."""
        with ExitStack() as stack:
            if rehearse := self._options.rehearse:
                url = stack.enter_context(rehearsal(rehearse))
                self.opening = self.opening.redirected(url)
            if self._in_processes and not (self.opening.share and self.opening.adaptive):
                # The children share with each other all the same: a limit is one for the run.
                place = stack.enter_context(tempfile.TemporaryDirectory(prefix="paceline-"))
                self.opening = replace(self.opening, meet=Path(place))
            self._desk = stack.enter_context(self.opening(self._close))
            if self._in_processes:
                self._desk.open()  # the calls are the children's; whether a pool closes is to be heard here
            yield

    def when_closed(self, tell: Callable[[str], None]) -> None:
        """Whom to tell, on whatever thread, that a provider will not answer any more."""
        self._on_closed = tell

    def saw(self, call: Call) -> None:
        """A call of this run has ended; of those of its children, that is how their pools are known."""
        with self._lock:
            self._seen.add((call.pool, call.host, call.account))
            ours = [each for each in self._shut if self._is_ours(each)]
            told = [(each, self._shut.pop(each)) for each in ours]
        for pool, closed in told:
            self._close(pool, closed)

    def facts(self) -> list[PoolFacts]:
        """How the pools stand that this run uses. Runs that share a desk have others there as well."""
        return [each for each in self._desk.facts() if self._is_ours(each.id)] if self._desk else []

    def names_in_vain(self) -> list[str]:
        """Pools that limits were set for, and that no call went to."""
        used = {
            name
            for pool in (facts.id for facts in self.facts())
            for name in (str(pool), pool.model, f"{pool.provider}:*")
        }
        return [name for name in self.opening.per_pool if name not in used] if used else []

    def _is_ours(self, pool: PoolId) -> bool:
        asked_here = self._desk is not None and pool in self._desk.asked
        return asked_here or (str(pool), pool.host, pool.account) in self._seen

    def _close(self, pool: PoolId, closed: Closed) -> None:
        with self._lock:
            if not self._is_ours(pool):
                self._shut[pool] = closed  # another run's: nothing to us, unless a call of ours goes there
                return
            error = pool_closed(pool, closed)
            if pool in self.closed:
                return
            self.closed[pool] = str(error)
        if self._on_closed is not None:
            self._on_closed(f"{error}; {error.hint}")
