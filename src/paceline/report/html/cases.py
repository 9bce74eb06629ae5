"""Cases: the rows of a journal as a page has them: a place in the sheet, and a body.

Each row is read once, in the order in which keys were begun; a run that goes on has the rows read again
that have changed. Memory is that of the sheet: bodies are handed on and not kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from paceline.journal.reading import JournalSource
from paceline.journal.records import BeginLine, CallLine, key_of
from paceline.report.html.bodies import Bodies
from paceline.report.html.sheet import Sheet
from paceline.report.reading import Reader, Told
from paceline.report.table import Table

_METADATA_READ = 64 * 1024
"""Bytes; metadata beyond is no set of fields to choose from."""


class Cases:
    """The cases of one journal."""

    def __init__(self, source: JournalSource, table: Table, *, path: Path | None) -> None:
        self.table = table
        self.sheet = Sheet(table)
        self.bodies = Bodies(source, files=path if path is not None and path.is_dir() else None)
        self._reader = Reader(source, table)

    def put(self, row: int) -> bytes:
        """Put a row into the sheet, and answer its body."""
        told, calls = self._reader.told(row), self._calls(row)
        self.sheet.name(row, told.key, _metadata(told.begin))
        self.sheet.spend(row, calls)
        return self._body(row, told, calls)

    def name(self, row: int, begin: BeginLine | None = None) -> None:
        """Put what a row is about into the sheet; `begin` is the line that says so, where it is at hand."""
        if begin is None:
            line = self.table.line_at(self.table.begin_at[row])
            begin = line if isinstance(line, BeginLine) else None
        key = self._reader.key(row) if begin is None else key_of(begin)
        self.sheet.name(row, key, _metadata(begin))

    def spend(self, row: int) -> None:
        """Put what a row has called into the sheet."""
        if len(self.table.calls):
            self.sheet.spend(row, self._calls(row))

    def body(self, row: int) -> bytes:
        """The body of a row."""
        return self._body(row, self._reader.told(row), self._calls(row))

    def _body(self, row: int, told: Told, calls: list[CallLine]) -> bytes:
        tries = (self.table.line_at(offset) for offset in self.table.tries.of(row))
        return self.bodies.body(told, tries, calls)

    def _calls(self, row: int) -> list[CallLine]:
        if not len(self.table.calls):
            return []
        lines = map(self.table.line_at, self.table.calls.of(self._reader.key(row)))
        return [line for line in lines if isinstance(line, CallLine)]


def _metadata(begin: BeginLine | None) -> Any:
    if begin is None or not 0 < len(begin.metadata) <= _METADATA_READ:
        return None
    try:
        return msgspec.json.decode(begin.metadata)
    except (msgspec.DecodeError, RecursionError):
        return None


__all__ = ["Cases"]
