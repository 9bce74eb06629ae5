"""The result of a sweep: its rows, the ceiling and why, as a value, as text, as JSON, as a picture.

    found = dataset.ramp_sync(task, levels=[1, 10, 50, 100])
    found.verdict.kind, found.verdict.window
    found.print()

Kept beside the journal as `ramp.json` and `ramp.svg`. A sweep that is started again finds its rows there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import msgspec

from paceline.errors import JournalBroken
from paceline.journal.disk import OsDisk, write_whole
from paceline.journal.places import locate
from paceline.ramp.bounds import bounds_of
from paceline.ramp.chart import chart
from paceline.ramp.rows import Row
from paceline.ramp.svg import picture
from paceline.ramp.sweep import How
from paceline.ramp.verdict import Verdict
from paceline.ramp.words import HEAD, cells_of, say
from paceline.report.text import clean, dollars

FORMAT: Final = 1


class RampReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep has found."""

    suite: str
    rows: tuple[Row, ...]
    """Lowest level first, closer looks at a rate last."""
    verdict: Verdict
    how: How
    """`complete`, `interrupted` or `budget`."""
    stopped: str = ""
    """Why no higher level was tried; empty where the highest was held."""
    path: Path | None = None
    """Where the cases are on record."""
    at: float = 0.0
    """When it ended, in seconds since the epoch."""
    levels: tuple[int, ...] = ()
    """Those that were planned."""
    per_level: int = 0
    simulated: str = ""
    """The scenario of a rehearsal."""
    learned: bool = False
    """Whether what was found is kept for other runs."""
    left: int = 0
    """Cases of the suite that are still to be run."""
    interrupts: int = 0

    @property
    def ceiling(self) -> float | None:
        """What was found; `verdict.measure` says what it is a number of. None where nothing was."""
        return self.verdict.ceiling

    @property
    def cost(self) -> float | None:
        """US dollars of all levels; None where a part of it is unknown."""
        if not self.rows or any(row.unpriced or row.cost is None for row in self.rows):
            return None
        return sum(row.cost or 0.0 for row in self.rows)

    def exit_code(self) -> int:
        """0: the sweep came to its end; 1: it found out nothing, because cases fail or the provider refuses;
        4: incomplete; 130: cut off."""
        if self.interrupts >= 2:
            return 130
        if self.how != "complete":
            return 4
        return 1 if self.verdict.kind in ("broken", "closed", "nothing") else 0

    # Text

    def render(self, *, fine: bool = True) -> str:
        """Table, curve and verdict as plain text; `fine` where the reader's stream knows more than ASCII."""
        return "\n".join(self._lines(fine=fine)) + "\n"

    def print(self, file: IO[str] | None = None) -> None:
        """Print it."""
        file = sys.stdout if file is None else file
        encoding = (getattr(file, "encoding", None) or "utf-8").lower().replace("-", "")
        text = self.render(fine=encoding == "utf8")
        file.write(text if encoding == "utf8" else text.encode(encoding, "backslashreplace").decode(encoding))

    def _lines(self, *, fine: bool) -> Iterator[str]:
        yield f"{clean(self.suite)}  ramp" + ("  SIMULATED" if self.simulated else "")
        yield ""
        if self.rows:
            yield from _table(cells_of(self.rows))
            yield ""
        if drawn := chart(self.rows, fine=fine):
            yield from drawn
            yield ""
        said = say(self.verdict, self.rows)
        yield f"ceiling  {said.ceiling}"
        yield f"why      {said.why}"
        if self.stopped:
            yield f"stopped  {clean(self.stopped, limit=200)}"
        if said.advice:
            yield f"next     {said.advice if self.learned else said.advice.removeprefix(AUTO)}"
        if self.cost:
            note = "none; at its model's price it would have been " if self.simulated else ""
            yield f"cost     {note}{dollars(self.cost)}"

    # Elsewhere

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON knows it."""
        document: dict[str, Any] = msgspec.to_builtins(self, enc_hook=str)
        for row, bound in zip(document["rows"], bounds_of(self.rows), strict=True):
            row["bound"] = bound
        said = say(self.verdict, self.rows)
        document["said"] = {"ceiling": said.ceiling, "why": said.why, "next": said.advice}
        document["cost"] = self.cost
        return {"format": FORMAT, **document}

    def to_json(self) -> str:
        """The same as text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=2).decode()

    def to_svg(self) -> str:
        """The curve as a picture that stands by itself."""
        return picture(self.rows, self.verdict, suite=self.suite)


class RampInterrupted(KeyboardInterrupt):
    """A sweep was interrupted and has ended in order; `report` is of the levels that were held."""

    def __init__(self, report: RampReport) -> None:
        place = f"; the same call with journal={str(report.path)!r} goes on from there" if report.path else ""
        super().__init__(f"interrupted: what is on record is safe{place}")
        self.report = report


AUTO: Final = "`-j auto` starts there from now on; "
"""True only of what is kept for other runs."""


def _table(cells: Sequence[tuple[str, ...]]) -> Iterator[str]:
    last = len(HEAD) - 1
    widths = [max(len(row[column]) for row in (HEAD, *cells)) for column in range(len(HEAD))]
    for row in (HEAD, *cells):
        aligned = (
            cell.ljust(width) if column == last else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(aligned).rstrip()


# Beside the journal -------------------------------------------------------------------------------


class Files(NamedTuple):
    """Where a sweep is kept: in the run directory, or beside a journal that is a single file."""

    document: Path
    picture: Path

    @classmethod
    def of(cls, path: Path) -> Files:
        """Those of a run."""
        places = locate(path)
        if places.path == places.journal:
            return cls(path.with_suffix(".ramp.json"), path.with_suffix(".ramp.svg"))
        return cls(path / "ramp.json", path / "ramp.svg")


def keep(report: RampReport, place: Path) -> None:
    """Write it beside the journal at a place, each file whole or as it was before."""
    files, disk = Files.of(place), OsDisk()
    try:
        write_whole(disk, files.document, report.to_json().encode() + b"\n")
        write_whole(disk, files.picture, report.to_svg().encode())
        disk.sync_directory(files.document.parent)
    except OSError as error:
        raise JournalBroken(
            f"cannot write {files.document}: {error.strerror or error}",
            hint="the cases are on record; see to the disk and start the same command again",
        ) from error


def kept(path: Path) -> RampReport | None:
    """The sweep that is kept beside a journal; None where there is none that can be understood."""
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        document: Mapping[str, Any] = msgspec.json.decode(Files.of(path).document.read_bytes(), type=dict)
        if document.get("format") == FORMAT:
            report = msgspec.convert({**document, "path": None}, RampReport)
            return msgspec.structs.replace(report, path=path)
    return None
