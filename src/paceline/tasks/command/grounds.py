"""The grounds of the runs that go on, and the threads on which workspaces are made and cleared away.

A ground is claimed when its run begins and let go when it ends; tasks find it by the run. A process that
does a part of a run for another (a worker) uses the ground of that one, and leaves clearing away to it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

from paceline.tasks.attempt import RunPlace
from paceline.workspaces.ground import Ground, grounds_root, sweep

ResultT = TypeVar("ResultT")

MARK: Final = "workspaces"
"""The file in which a run says where its workspaces lie, for a resume that would look elsewhere."""
PINS: Final = "commits.json"

_claimed: dict[str, Ground] = {}
_guard = threading.Lock()


def begin(place: RunPlace) -> bool:
    """Claim the ground of a run; False where that is done already."""
    with _guard:
        if place.run_id in _claimed:
            return False
        root = grounds_root()
        if place.files is not None:
            _sweep_elsewhere(place.files / MARK, root)
        ground = _ground(place, root)
        ground.claim()
        if place.files is not None:
            place.files.mkdir(parents=True, exist_ok=True)
            (place.files / MARK).write_text(f"{root}\n")
        _claimed[place.run_id] = ground
        return True


def end(place: RunPlace) -> None:
    """Let it go, with all that lies on it."""
    with _guard:
        ground = _claimed.pop(place.run_id, None)
    if ground is not None:
        clearing.settle()
        ground.close()


@contextmanager
def ground_for(run: RunPlace | None) -> Iterator[Ground]:
    """The ground for an attempt: that of its run, or one of its own where it belongs to none."""
    if run is not None:
        yield _claimed.get(run.run_id) or _ground(run, grounds_root())
        return
    own = Ground(grounds_root(), f"call-{secrets.token_hex(4)}")
    own.claim()
    try:
        yield own
    finally:
        own.close()


def _ground(place: RunPlace, root: Path) -> Ground:
    return Ground(root, place.run_id, pins=None if place.files is None else place.files / PINS)


def _sweep_elsewhere(mark: Path, root: Path) -> None:
    """What a killed process has left where this one would not look."""
    with suppress(OSError):
        before = Path(mark.read_text().strip())
        if before != root and before.name == root.name and before.is_dir():
            sweep(before)


class Clearing:
    """Threads for what takes the disk's time: making workspaces, comparing them, clearing them away."""

    def __init__(self) -> None:
        self._threads: ThreadPoolExecutor | None = None
        self._under_way: set[Future[Any]] = set()
        self._guard = threading.Lock()

    def submit(self, function: Callable[..., ResultT], *arguments: Any) -> Future[ResultT]:
        """Have something done; `settle` waits for it."""
        with self._guard:
            if self._threads is None:
                width = max(os.cpu_count() or 1, 4)
                self._threads = ThreadPoolExecutor(width, thread_name_prefix="paceline-workspace")
            future = self._threads.submit(function, *arguments)
            self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    async def done(self, function: Callable[..., ResultT], *arguments: Any) -> ResultT:
        """Have something done and wait for it. Whoever gives up waiting does not stop it."""
        return await asyncio.wrap_future(self.submit(function, *arguments))

    def settle(self) -> None:
        """Wait until all that was asked for is done."""
        while under_way := list(self._under_way):
            wait(under_way)


clearing: Final = Clearing()
