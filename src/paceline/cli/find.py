"""Which run is meant: a path, an id or the end of one, or the latest."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paceline.errors import UsageError
from paceline.journal.ledger import Ledger, Tally
from paceline.journal.lock import Owner, owner_of
from paceline.journal.places import locate
from paceline.journal.records import RunLine
from paceline.runs import find_runs, first_line, latest_run
from paceline.settings import effective

READ_UP_TO = 64 * 1024 * 1024
"""Bytes of a journal that are folded only to list it."""


def runs_folder() -> Path:
    """Where runs are kept here."""
    return Path(effective()["runs"])


def find_run(named: str | None) -> Path:
    """The run that was named; the latest if none was."""
    if named is None:
        return latest_run(runs_folder()).path
    path = Path(named)
    if first_line(path) is not None:
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
        keys=ledger.manifest.keys if ledger is not None and ledger.manifest is not None else None,
    )
