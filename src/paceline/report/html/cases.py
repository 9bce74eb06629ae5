"""Cases: the rows of a journal as a page has them: a place in the sheet, and a body.

Each row is read once, in the order in which keys were begun; a run that goes on has the rows read again
that have changed. Memory is that of the sheet: bodies are handed on and not kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from paceline.journal.reading import JournalSource
from paceline.journal.records import BeginLine, CallLine, Key
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
        self._enter(row, told.key, told.begin, calls)
        return self._body(row, told, calls)

    def enter(self, row: int) -> None:
        """Put a row into the sheet."""
        line = self.table.line_at(self.table.begin_at[row])
        self._enter(
            row, self._reader.key(row), line if isinstance(line, BeginLine) else None, self._calls(row)
        )

    def _enter(self, row: int, key: Key, begin: BeginLine | None, calls: list[CallLine]) -> None:
        self.sheet.name(row, key, _metadata(begin))
        self.sheet.spend(row, calls)

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
