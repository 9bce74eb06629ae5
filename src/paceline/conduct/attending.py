"""Attending to tasks that hold something while a run goes on: workspaces, containers.

A task is attended if it has these methods; most have none of them.

    begin_run(place)                    before the first attempt; raises a UsageError where it cannot be
    case_ended(place, key, failed=...)  a key has its outcome on record, its evaluators included
    end_run(place)                      after the last; nothing of it is left then
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from paceline.engine.events import AnyEvent, CaseFinished
from paceline.journal.places import locate
from paceline.tasks.attempt import RunPlace
from paceline.tasks.callable import CallableTask


class Attendance:
    """The attended tasks of a run. It is a listener for events."""

    def __init__(self, tasks: Mapping[str, CallableTask], *, redact: Iterable[str]) -> None:
        self._attended: dict[str, Any] = {
            variant: task.call for variant, task in tasks.items() if hasattr(task.call, "begin_run")
        }
        self._redact = tuple(redact)
        self.place: RunPlace | None = None
        """What such tasks are told of the run while it goes on."""

    @asynccontextmanager
    async def over(self, run_id: str, path: Path | None) -> AsyncIterator[None]:
        """Attend for as long as the block lasts."""
        files = None if path is None else locate(path).files
        self.place = place = RunPlace(run_id=run_id, files=files, redact=self._redact)
        begun: list[Any] = []
        try:
            for call in self._attended.values():
                begun.append(call)
                # On a thread: what a killed run has left is cleared away first, and may be much.
                await asyncio.to_thread(call.begin_run, place)
            yield
        finally:
            for call in begun:
                await asyncio.to_thread(call.end_run, place)

    def __call__(self, event: AnyEvent) -> None:
        """Tell a task that a key of its own has come to its end."""
        match event:
            case CaseFinished(key=key) if self.place is not None and key.variant in self._attended:
                failed = event.outcome != "scored" or event.passed is False
                self._attended[key.variant].case_ended(self.place, key, failed=failed)
            case _:
                pass

    def __bool__(self) -> bool:
        return bool(self._attended)
