"""Fields: what cases say in their metadata, a column for each path to a value.

`{"topic": "logic", "origin": {"year": 2024}}` has the fields `topic` and `origin.year`. Values are words;
of a field of numbers alone it is said that they are. What is too much to choose from (very many fields, or
words) is counted or put together, never silently left out.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from paceline.pages.packing import Packed
from paceline.report.columns import Column
from paceline.report.findings import MAX_LABELS, NO_NUMBER, Labels
from paceline.values import MARK

UNKNOWN: Final = math.nan
"""What stands in a column of numbers for a row that has none."""
MAX_FIELDS: Final = 100
MAX_DEPTH: Final = 3
MAX_WORD: Final = 200
"""Characters of a value that is told apart by more than these is shortened."""
_ALONE: Final = "metadata"
"""What metadata is called that is no mapping."""

_json = msgspec.json.Encoder().encode


class Fields:
    """The fields of all cases seen so far."""

    def __init__(self) -> None:
        self._words: dict[str, Labels] = {}
        self._numbers: dict[str, Column[float]] = {}
        """Of fields whose values are all numbers, so far."""
        self.left_out = 0
        """Values in no field: there were too many fields."""
        self.turned = 0
        """How often a field has become one of another kind: what was packed of it before is wrong then."""

    def put(self, row: int, metadata: Any) -> None:
        """Keep what the case of a row says."""
        for path, value in _flat(metadata):
            if path not in self._words:
                if len(self._words) >= MAX_FIELDS:
                    self.left_out += 1
                    continue
                self._words[path] = Labels(by="")
                self._numbers[path] = Column("d", NO_NUMBER)
            before = self._kind(path)
            self._words[path].put(row, _word(value))
            if type(value) not in (int, float):
                self._numbers.pop(path, None)
            elif path in self._numbers:
                self._numbers[path][row] = float(value)
            self.turned += self._kind(path) != before

    def packed(self, rows: Sequence[int]) -> Iterator[Packed]:
        """The columns, for these rows."""
        for path, labels in self._words.items():
            numbers, codes = self._numbers.get(path), labels.codes
            if self._kind(path) == "numbers" and numbers is not None:
                values = (numbers[row] for row in rows)
                shown = (UNKNOWN if value == NO_NUMBER else value for value in values)
                yield Packed("metadata", path, "f64", array("d", shown))
            else:
                said = {"words": labels.words, "numeric": numbers is not None}
                yield Packed("metadata", path, "u16", array("H", (codes[row] for row in rows)), said=said)

    def _kind(self, path: str) -> str:
        """Numbers that are too many to choose from are a column of numbers; all else are words."""
        many = len(self._words[path].words) > MAX_LABELS
        return "numbers" if many and path in self._numbers else "words"


def _flat(metadata: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    if type(metadata) is dict and MARK in metadata:
        metadata = metadata.get("value")
    if metadata is None:
        return
    if type(metadata) is dict and metadata and depth < MAX_DEPTH:
        for name, value in islice(metadata.items(), MAX_FIELDS):
            yield from _flat(value, f"{path}.{name}" if path else name, depth + 1)
    else:
        yield path or _ALONE, metadata


def _word(value: Any) -> str:
    """A value as a word."""
    text = value if isinstance(value, str) else _json(value).decode()
    return text if len(text) <= MAX_WORD else f"{text[:MAX_WORD]}…"


__all__ = ["UNKNOWN", "Fields"]
