"""Which run is meant: a path, an id or the end of one, or the latest."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paceline.errors import UsageError
from paceline.journal.journal import Journal
from paceline.journal.ledger import Ledger, Tally
from paceline.journal.lock import Owner, owner_of
from paceline.journal.places import locate
from paceline.journal.reading import Recorded, open_journal, understood
from paceline.journal.records import EndedLine, RunLine
from paceline.runs import FoundRun, find_runs, latest_run
from paceline.settings import effective

READ_UP_TO = 64 * 1024 * 1024
"""Bytes of a journal that are folded only to list it."""
TAIL = 64 * 1024
"""Bytes at the end of a journal that hold its last line, if that says how the run ended."""


def runs_folder() -> Path:
    """Where runs are kept here."""
    return Path(effective()["runs"])


def find_run(named: str | None) -> Path:
    """The run that was named; the latest if none was."""
    if named is None:
        return latest_run(runs_folder()).path
    path = Path(named)
    if Journal.exists(path):
        return path
    root = runs_folder()
    meant = [
        found.path
        for found in find_runs(root)
        if found.path.name.endswith(named) or found.line.run_id == named
    ]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise UsageError(
            f"{named!r} could be any of {len(meant)} runs", hint=", ".join(str(path) for path in meant[:5])
        )
    raise UsageError(f"there is no run {named!r}", hint=f"`paceline ls` lists the runs under {root}")


def find_resumable(named: str | None) -> tuple[Path, str]:
    """The run to go on with, and what to say of it: the latest unfinished one if none was named."""
    if named is not None:
        return find_run(named), ""
    root = runs_folder()
    found = next((run for run in find_runs(root) if is_unfinished(run.path)), None)
    if found is not None:
        return found.path, f"going on with the latest unfinished run: {found.path}"
    latest = latest_run(root).path
    return latest, f"no run is unfinished; going on with the latest: {latest}"


def unfinished_run(root: Path, suite: str) -> FoundRun | None:
    """The latest run of a suite, if it was killed or interrupted and nobody is at it."""
    latest = next((run for run in find_runs(root, suite) if not run.line.rescored_from), None)
    return latest if latest is not None and is_unfinished(latest.path) else None


def is_unfinished(path: Path) -> bool:
    """Whether a run was killed, interrupted or broken off, and no process is writing it.

    One that ran out of its budget has ended as it was asked to.
    """
    places = locate(path)
    if owner_of(places.lock) is not None:
        return False
    with open_journal(places.journal) as file:
        file.seek(max(0, places.journal.stat().st_size - TAIL))
        *whole, _torn = file.read().split(b"\n")
    last = next((raw for raw in reversed(whole) if raw.strip()), b"")
    entry = understood(last, 0, 0)
    # A process that was killed leaves no last line.
    ended = entry.line if isinstance(entry, Recorded) and isinstance(entry.line, EndedLine) else None
    return ended is None or ended.how in ("interrupted", "failed")


def find_stored(named: str | None) -> Path:
    """Outputs to score: a run, or a results file that some other harness has written."""
    if named is not None and Path(named).is_file():
        return Path(named)
    return find_run(named)


class Standing(NamedTuple):
    """How a run stands."""

    path: Path
    line: RunLine
    state: str
    """`running`, `complete`, `interrupted`, `budget` or `failed`."""
    owner: Owner | None
    tally: Tally | None
    """None where the journal is too big to be folded only to list it."""
    keys: int | None
    """How many the run has, where that is on record."""


def done_of(path: Path) -> str:
    """How far a run has come: `28 of 60 done`."""
    ledger = Ledger.read(path)
    keys = _keys_of(ledger)
    return f"{ledger.tally().done:,}{'' if keys is None else f' of {keys:,}'} done"


def _keys_of(ledger: Ledger) -> int | None:
    return ledger.manifest.keys if ledger.manifest is not None else ledger.expected


def standing_of(path: Path, line: RunLine) -> Standing:
    """How a run stands, from its lock and its journal."""
    places = locate(path)
    owner = owner_of(places.lock)
    small = places.journal.stat().st_size <= READ_UP_TO
    ledger = Ledger.read(path) if small else None
    if owner is not None:
        state = "running"
    elif ledger is None:
        state = "unknown"
    else:
        # A process that was killed leaves no last line.
        state = ledger.ended.how if ledger.ended is not None else "interrupted"
    return Standing(
        path=path,
        line=line,
        state=state,
        owner=owner,
        tally=ledger.tally() if ledger is not None else None,
        keys=_keys_of(ledger) if ledger is not None else None,
    )
