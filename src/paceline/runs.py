"""Run directories: where they lie, how they are named, which is the latest.

    runs/<suite>/<started>-<short id>/journal.jsonl

The name sorts by time. A directory is a run if its journal starts with a run line; nothing else is ever
listed, resumed or removed.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from paceline.errors import JournalError
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
    return root / (_directory_name(suite) or "unnamed") / f"{stamp}-{run_id}"


def _directory_name(suite: str) -> str:
    """A suite's name as one that every file system takes and that leads nowhere else."""
    return re.sub(r"[^\w.-]+", "-", suite).strip(".-")[:80]


def find_runs(root: Path, suite: str | None = None) -> Iterator[FoundRun]:
    """The runs under a directory, latest first."""
    folder = _directory_name(suite) if suite is not None else "*"
    found = [each.parent for each in root.glob(f"{folder}/*/journal.jsonl")]
    found.sort(key=_stamp_of, reverse=True)
    for _, same_second in groupby(found, key=_stamp_of):
        runs = [FoundRun(path, line) for path in same_second if (line := first_line(path)) is not None]
        for run in sorted(runs, key=lambda run: run.line.started, reverse=True):
            if suite is None or run.line.suite == suite:
                yield run


def _stamp_of(path: Path) -> str:
    return path.name.rpartition("-")[0]


def latest_run(root: Path, suite: str | None = None) -> FoundRun:
    """The run that was started last."""
    found = next(find_runs(root, suite), None)
    if found is None:
        what = f"no run of {suite}" if suite else "no run"
        raise JournalError(
            f"there is {what} under {root}", hint="name the run, or start one with `paceline run`"
        )
    return found


def first_line(path: str | os.PathLike[str]) -> RunLine | None:
    """What a run says of itself; None where there is no run."""
    try:
        entry = next(FileSource(path).entries(), None)
    except JournalError:
        return None
    return entry.line if isinstance(entry, Recorded) and isinstance(entry.line, RunLine) else None
