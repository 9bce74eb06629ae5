"""Following a run: its table grows with its journal, and what has changed since is told to whoever asks.

    followed = Followed(path)
    followed.advance()          reads what was written since
    followed.pack(since)        all rows, or those that have changed since a number that was told before
    followed.bodies(row)        some cases in full

Numbers only rise. A journal that is another one than before (a run was removed and one put in its place)
is begun anew, and told as a whole under a new `epoch`.

Knows journals, and what a page is told of a report. Knows nothing of HTTP.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from threading import RLock
from typing import Any, Final

from paceline.journal.lock import owner_of
from paceline.journal.places import locate
from paceline.journal.reading import FileSource, Recorded
from paceline.journal.records import (
    AttemptLine,
    BeginLine,
    CallLine,
    OutcomeLine,
    OutputLine,
    ScoresLine,
    key_of,
)
from paceline.pages.packing import pack
from paceline.report.html import Cases, facts_of
from paceline.report.report import Report
from paceline.report.table import Table

STEP: Final = 256
"""Bodies that are handed out together."""
_KEYED: Final = (BeginLine, OutcomeLine, OutputLine, ScoresLine, AttemptLine, CallLine)


class Followed:
    """One run that somebody looks at. May be asked from several threads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places = locate(path)
        self._lock = RLock()
        self._seen = 0
        """Rises with everything that is new."""
        self._epoch = 0
        self._begin()

    def _begin(self) -> None:
        source = FileSource(self._places)
        self._source, self._table, self._offset = source, Table(source), 0
        self._cases = Cases(source, self._table, path=self.path)
        self._changed_at = array("Q")
        self._seen += 1
        self._whole_at = self._seen
        """Who knows less has to be told everything."""
        self._inode: int | None = None
        self._facts: dict[str, Any] = {}
        self._facts_at = -1
        self._epoch += 1

    @property
    def running(self) -> bool:
        """Whether a process is at it."""
        return owner_of(self._places.lock) is not None

    def advance(self) -> None:
        """Read what was written since."""
        with self._lock:
            status = self._places.journal.stat()
            if self._inode not in (None, status.st_ino) or status.st_size < self._offset:
                self._begin()
            self._inode = status.st_ino
            if status.st_size > self._offset:
                self._read()

    def _read(self) -> None:
        table, cases = self._table, self._cases
        turned, rows, begun = cases.sheet.fields.turned, len(table), self._offset
        changed, named, called = set[int](), set[int](), set[int]()
        for entry in self._source.entries(self._offset):
            table.take(entry)
            self._offset = entry.offset + entry.length + 1
            line = entry.line if isinstance(entry, Recorded) else None
            if not isinstance(line, _KEYED) or (row := table.row_of(key_of(line))) is None:
                continue
            changed.add(row)
            if isinstance(line, CallLine):
                called.add(row)
            elif isinstance(line, BeginLine) and table.begin_at[row] == entry.offset:
                cases.name(row, line)  # while it is at hand: to read it again would take longer than all else
                named.add(row)
        if self._offset == begun:
            return
        fresh = {*range(rows, len(table))}
        for row in fresh - named:
            cases.name(row)
        for row in called | fresh:  # a call may be on record before its key is
            cases.spend(row)
        self._tell(changed, whole=cases.sheet.fields.turned != turned)

    def _tell(self, changed: set[int], *, whole: bool) -> None:
        """There is something new: these rows, or all of them."""
        self._seen += 1
        self._changed_at.extend([self._seen] * (len(self._table) - len(self._changed_at)))
        for row in changed:
            self._changed_at[row] = self._seen
        if whole:
            self._whole_at = self._seen

    def pack(self, since: int) -> bytes:
        """What is new since a number, as a page takes it; 0 is since the beginning."""
        with self._lock:
            told = {
                "seen": self._seen,
                "epoch": self._epoch,
                "running": self.running,
                "step": STEP,
                "rows": len(self._table),
            }
            if since == self._seen and since:
                return pack({**told, "fresh": False}, [])
            whole = since < self._whole_at or since == 0
            rows = None if whole else [row for row, at in enumerate(self._changed_at) if at > since]
            return self._cases.sheet.packed({**self._all_facts(), **told, "fresh": True}, rows)

    def report(self) -> dict[str, Any]:
        """The facts of the report, without its cases."""
        with self._lock:
            return {**self._all_facts(), "running": self.running}

    def _all_facts(self) -> dict[str, Any]:
        if self._facts_at != self._seen:
            self._table.trim()
            report = Report[Any, Any, Any](self._source, path=self.path, table=self._table)
            self._facts = facts_of(report.to_dict(), report.figures, self._table, path=self.path)
            self._facts_at = self._seen
        return self._facts

    def bodies(self, first: int) -> bytes:
        """The cases from this row on, in full, a line each."""
        with self._lock:
            rows = range(max(0, first), min(max(0, first) + STEP, len(self._table)))
            return b"\n".join(self._cases.body(row) for row in rows)
