"""Which attempt this is, for tasks that have to know: they start processes, make files, and name them.

The engine sets it around every call of a task that says `needs_place = True`. Outside a run there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from paceline.journal.records import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlace:
    """The run that an attempt belongs to, and where it keeps files."""

    run_id: str
    files: Path | None = None
    """The folder for files of attempts, beside the journal; None where nothing is recorded."""
    redact: tuple[str, ...] = ()
    """Fields and variables whose values are secrets, as the run was told."""


def _nothing() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt, as its task may know it."""

    key: Key
    number: int
    run: RunPlace
    clock_held: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the clock of the attempt stands still: what is done there is not the attempt's doing."""
    environ: Callable[[], Mapping[str, str]] = _nothing
    """Variables that make spans of a child process children of this attempt's: `TRACEPARENT`."""


current_attempt: ContextVar[Attempt | None] = ContextVar("paceline_attempt", default=None)
