"""Run directories: where they lie, how they are named, which is the latest.

    runs/<suite>/<started>-<short id>/journal.jsonl

A directory is a run if its journal is one of ours; nothing else is ever listed, resumed or removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from paceline.errors import JournalError, UsageError
from paceline.journal.journal import Journal
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import RunLine


class FoundRun(NamedTuple):
    """A run on disk, known by its first line."""

    path: Path
    line: RunLine


def runs_root(given: str | os.PathLike[str] | None = None) -> Path:
    """The directory that runs are kept in: as given, else `PACELINE_RUNS`, else `runs`."""
    return Path(given or os.environ.get("PACELINE_RUNS") or "runs")


def new_run_id() -> str:
    """A short id, unlikely to come twice."""
    return os.urandom(4).hex()


def new_run_path(root: Path, suite: str, run_id: str, *, started: float) -> Path:
    """Where a new run goes."""
    stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(started))
    return root / (directory_name(suite) or "unnamed") / f"{stamp}-{run_id}"


def directory_name(suite: str) -> str:
    """A suite's name as one that every file system takes and that leads nowhere else."""
    return re.sub(r"[^\w.-]+", "-", suite).strip(".-")[:80]


def file_name(suite: str, run_id: str, ending: str) -> str:
    """A name for a file that is made of a run."""
    return "-".join(filter(None, map(directory_name, (suite, run_id)))) + ending


def find_runs(root: Path, suite: str | None = None) -> Iterator[FoundRun]:
    """The runs under a directory, latest first: those of suites, and those that were put there by `-o`."""
    found = [
        FoundRun(path, line)
        for path in _folders_with_a_journal(root)
        if (line := first_line(path)) is not None and suite in (None, line.suite)
    ]
    yield from sorted(found, key=lambda run: run.line.started, reverse=True)


def nameless_runs(root: Path) -> Iterator[Path]:
    """Runs whose first line is damaged: what they are of is not known, and all else about them is."""
    for path in _folders_with_a_journal(root):
        with contextlib.suppress(JournalError):  # what is no run of ours is nobody's business here
            if first_line(path) is None and Journal.exists(path):
                yield path


def _folders_with_a_journal(root: Path) -> list[Path]:
    patterns = ("*/journal.jsonl", "*/*/journal.jsonl")
    return [journal.parent for pattern in patterns for journal in sorted(root.glob(pattern))]


def latest_run(root: Path, suite: str | None = None) -> FoundRun:
    """The run that was started last."""
    found = next(find_runs(root, suite), None)
    if found is None:
        what = f"no run of {suite}" if suite else "no run"
        raise UsageError(
            f"there is {what} under {root}", hint="name the run, or start one with `paceline run`"
        )
    return found


def first_line(path: str | os.PathLike[str]) -> RunLine | None:
    """What a run says of itself; None where there is no run, or its first line is damaged."""
    try:
        entry = next(FileSource(path).entries(), None)
    except JournalError:
        return None
    return entry.line if isinstance(entry, Recorded) and isinstance(entry.line, RunLine) else None
