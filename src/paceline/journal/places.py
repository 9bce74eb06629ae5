"""Where the parts of a journal lie: in a run directory, or beside a single `.jsonl` file."""

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

    @property
    def bodies(self) -> Path:
        """Bodies of model calls, see `bodies`."""
        return self.journal.with_name(
            "calls.jsonl" if self.path != self.journal else f"{self.path.name}.calls.jsonl"
        )

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
    if named.suffix == ".jsonl" and not named.is_dir():
        return Places(path=named, journal=named, blobs=named.with_name(f"{named.name}.blobs"))
    return Places(path=named, journal=named / "journal.jsonl", blobs=named / "blobs")
