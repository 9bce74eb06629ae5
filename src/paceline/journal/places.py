"""Where the parts of a journal lie: in a run directory, or beside a single `.jsonl` file.

Once located they stay where they are, wherever the process goes: code under test changes its directory as it
likes, and what a run has left to write still belongs where the run was begun.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """The paths of one journal."""

    path: Path
    """What the user names: the run directory, or the single file."""
    journal: Path
    blobs: Path
    """Directory of values too big for a line."""
    bodies: Path
    """Bodies of model calls, see `bodies`."""

    @property
    def files(self) -> Path:
        """Directory of what tasks keep in files: what commands have printed, and the patches they made."""
        single = self.journal.name != "journal.jsonl"
        return self.journal.with_name(f"{self.journal.name}.files" if single else "files")

    @property
    def lock(self) -> Path:
        return self.journal.with_name(f"{self.journal.name}.lock")

    @property
    def damaged(self) -> Path:
        """Copies of damaged lines."""
        return self.journal.with_name(f"{self.journal.name}.damaged")

    def next_torn(self) -> Path:
        """A free name for a tail that is cut off."""
        number = 1
        while (free := self.journal.with_name(f"{self.journal.name}.torn-{number}")).exists():
            number += 1
        return free


def locate(path: str | os.PathLike[str]) -> Places:
    """Where the journal of a run lies: `path` is a run directory, or a file ending in `.jsonl`."""
    named = Path(path)
    here = named.absolute()
    if named.suffix == ".jsonl" and not named.is_dir():
        return Places(
            path=named,
            journal=here,
            blobs=here.with_name(f"{here.name}.blobs"),
            bodies=here.with_name(f"{here.name}.calls.jsonl"),
        )
    return Places(
        path=named,
        journal=here / "journal.jsonl",
        blobs=here / "blobs",
        bodies=here / "calls.jsonl",
    )


def shown(path: Path) -> str:
    """A path as people like to read it: from the current directory, where it lies below that."""
    try:
        here = Path.cwd()
    except OSError:  # it is gone
        return str(path)
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
