"""Columns: what a million rows cost is decided here.

A row is one key. Values that nearly every row has stand in dense arrays that grow by blocks; what few rows
have (results of one evaluator, waiting, causes) stands in a `Column`, which costs nothing until it is used
and turns dense only when that is smaller. `RowIndex` finds the row of a key with 4 to 8 bytes a row instead
of the 120 of a dict.

Knows numbers and places. Knows nothing of what they mean.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Generic, TypeVar

Number = TypeVar("Number", int, float)

BLOCK = 4096
"""Rows that dense arrays grow by."""

_FREE = 0xFFFFFFFF
_DENSE_FROM = 64
"""Values below which a column stays a dict: a rare name must not cost an array as long as the run."""
_DENSE_SHARE = 8
"""A column turns dense when at least one row in this many has a value."""


class Column(Generic[Number]):
    """A number for some rows, and `missing` for the others."""

    __slots__ = ("_cells", "_code", "_few", "by", "missing")

    def __init__(self, code: str, missing: Number, *, by: str = "") -> None:
        self._code = code
        self._few: dict[int, Number] = {}
        self._cells: array[Number] | None = None
        self.missing: Number = missing
        self.by = by
        """The evaluator whose results these are, where there is one."""

    def __setitem__(self, row: int, value: Number) -> None:
        cells = self._cells
        if cells is None:
            self._few[row] = value
            if len(self._few) >= _DENSE_FROM and len(self._few) * _DENSE_SHARE >= row:
                self._turn_dense()
            return
        try:
            cells[row] = value
        except IndexError:
            cells.extend(array(self._code, [self.missing]) * (row + BLOCK - len(cells)))
            cells[row] = value

    def __getitem__(self, row: int) -> Number:
        if self._cells is not None and row < len(self._cells):
            return self._cells[row]
        return self._few.get(row, self.missing)

    def discard(self, row: int) -> None:
        """Take the value of a row away."""
        if self[row] != self.missing:
            self[row] = self.missing

    def present(self) -> Iterator[tuple[int, Number]]:
        """Rows that have a value, with it, in the order of rows."""
        missing = self.missing
        pairs = sorted(self._few.items()) if self._cells is None else enumerate(self._cells)
        return ((row, value) for row, value in pairs if value != missing)

    def values(self) -> Iterator[Number]:
        """The values there are, in the order of rows."""
        return (value for _, value in self.present())

    def _turn_dense(self) -> None:
        cells = array(self._code, [self.missing]) * (max(self._few) + BLOCK)
        for row, value in self._few.items():
            cells[row] = value
        self._cells, self._few = cells, {}


class Chain:
    """Places for some rows, many for one: each knows the one before it of its row."""

    __slots__ = ("_at", "_before", "_last")

    def __init__(self) -> None:
        self._last: Column[int] = Column("I", 0)
        """By row: its last one, counted from 1."""
        self._at = array("Q")
        self._before = array("I")

    def add(self, row: int, at: int) -> None:
        """One more place of a row."""
        self._at.append(at)
        self._before.append(self._last[row])
        self._last[row] = len(self._at)

    def of(self, row: int) -> list[int]:
        """The places of a row, in the order in which they were added."""
        places: list[int] = []
        link = self._last[row]
        while link:
            places.append(self._at[link - 1])
            link = self._before[link - 1]
        return places[::-1]

    def discard(self, row: int) -> None:
        """Take the places of a row away."""
        self._last.discard(row)


class RowIndex:
    """From the 64-bit hash of a key to its row: open addressing in one array of row numbers."""

    __slots__ = ("_mask", "_slots", "hashes")

    def __init__(self) -> None:
        self._mask = 1023
        self._slots = array("I", [_FREE]) * 1024
        self.hashes = array("q")
        """Hash by row."""

    def __len__(self) -> int:
        return len(self.hashes)

    def find(self, hashed: int) -> int | None:
        """The row, if the key has one."""
        slots, hashes, mask = self._slots, self.hashes, self._mask
        slot = hashed & mask
        while (row := slots[slot]) != _FREE:
            if hashes[row] == hashed:
                return row
            slot = (slot + 1) & mask
        return None

    def find_or_add(self, hashed: int) -> int:
        """The row of the key; a key that is not known gets the next one."""
        slots, hashes, mask = self._slots, self.hashes, self._mask
        slot = hashed & mask
        while (row := slots[slot]) != _FREE:
            if hashes[row] == hashed:
                return row
            slot = (slot + 1) & mask
        new = len(hashes)
        slots[slot] = new
        hashes.append(hashed)
        if new * 2 >= mask:
            self._grow()
        return new

    def _grow(self) -> None:
        size = (self._mask + 1) * (4 if self._mask < 1 << 18 else 2)
        mask = size - 1
        slots = array("I", [_FREE]) * size
        for row, hashed in enumerate(self.hashes):
            slot = hashed & mask
            while slots[slot] != _FREE:
                slot = (slot + 1) & mask
            slots[slot] = row
        self._mask, self._slots = mask, slots


__all__ = ["BLOCK", "Chain", "Column", "RowIndex"]
