"""The sheet: what the table of a page shows and sorts by, a column each, a row for every key that was begun.

Most columns are those of the folded table. What stands in lines only (names, metadata, what calls
cost) is put in row by row, by whoever has the lines in hand. `packed` writes all rows, or
those that have changed while a run goes on.

Knows tables and columns. Knows nothing of files or pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from paceline.journal.records import OUTCOMES, CallLine, Key
from paceline.pages.packing import Packed, pack
from paceline.report.columns import Column
from paceline.report.findings import NO_NUMBER
from paceline.report.html.fields import UNKNOWN, Fields
from paceline.report.table import Table

_SPARSE: Final = 4
"""A column is written with the numbers of its rows where fewer than one in so many has a value."""


class Sheet:
    """The columns of a page."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._names: list[str] = []
        self._repeats: Column[int] = Column("I", 0)
        self._calls: Column[int] = Column("I", 0)
        self._cost: Column[float] = Column("d", NO_NUMBER)
        """Dollars; unknown is written as such, no call at all as nothing."""
        self._unpriced: Column[int] = Column("B", 0)
        self.fields = Fields()

    def __len__(self) -> int:
        return len(self._names)

    def name(self, row: int, key: Key, metadata: Any) -> None:
        """Put in what a row is about."""
        if row >= len(self._names):
            self._names.extend([""] * (row + 1 - len(self._names)))
        self._names[row] = key.case
        if key.repeat:
            self._repeats[row] = key.repeat
        if metadata is not None:
            self.fields.put(row, metadata)

    def spend(self, row: int, calls: Iterable[CallLine]) -> None:
        """Put in what it called, and what that has cost."""
        paid, known, n = 0.0, True, 0
        for call in calls:
            n += 1
            if call.replayed:
                continue
            if call.price is None:
                known = False
            else:
                paid += call.price
        if n:
            self._calls[row] = n
            self._cost[row] = paid
            self._unpriced[row] = not known

    def packed(self, head: Mapping[str, Any], rows: Sequence[int] | None = None) -> bytes:
        """All rows, or these, as the page reads them."""
        causes = self._table.causes.named
        told = {
            **head,
            "rows": len(self),
            "outcomes": OUTCOMES,
            "causes": [cause._asdict() for cause in causes],
        }
        return pack(told, self._columns(range(len(self)) if rows is None else rows, whole=rows is None))

    def _columns(self, rows: Sequence[int], *, whole: bool) -> Iterator[Packed]:
        table = self._table
        if not whole:
            yield Packed("", "row", "u32", rows)
        yield Packed("", "case", "text", _of(self._names, rows))
        yield Packed("", "outcome", "u8", _of(table.outcome, rows))
        yield Packed("", "verdict", "i8", _of(table.verdict, rows))
        yield Packed("", "seconds", "f32", _of(table.seconds, rows))
        yield Packed("", "total", "f32", _of(table.total, rows))
        yield Packed("", "ended", "f32", _of(table.ended, rows))
        yield Packed("", "attempts", "u16", _of(table.attempts, rows))
        yield from _few("", "waited", "f32", table.waited, rows, whole=whole)
        yield from _few("", "cause", "u16", table.cause, rows, whole=whole)
        yield from _few("", "repeat", "u32", self._repeats, rows, whole=whole)
        yield from _few("", "calls", "u32", self._calls, rows, whole=whole)
        yield from _few("", "cost", "f64", self._cost, rows, whole=whole)
        yield from _few("", "unpriced", "u8", self._unpriced, rows, whole=whole)
        if len(table.variants) > 1:
            codes = [table.variant[row] for row in rows]
            yield Packed("", "variant", "u16", codes, said={"words": table.variants})
        yield from self._findings(rows, whole=whole)
        yield from self.fields.packed(rows)

    def _findings(self, rows: Sequence[int], *, whole: bool) -> Iterator[Packed]:
        findings = self._table.findings
        for name, verdicts in findings.assertions.items():
            yield from _few("assertion", name, "i8", verdicts, rows, whole=whole)
        for name, scores in findings.scores.items():
            yield from _few("score", name, "f64", scores, rows, whole=whole)
        for name, labels in findings.labels.items():
            yield from _few("label", name, "u16", labels.codes, rows, whole=whole, words=labels.words)
        for name, metrics in findings.metrics.items():
            yield from _few("metric", name, "f64", metrics, rows, whole=whole)
        for name, failures in findings.failures.items():
            yield from _few("failure", name, "u8", failures, rows, whole=whole)


def _of(values: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    if isinstance(rows, range):
        return values[rows.start : rows.stop]
    return [values[row] for row in rows]


def _few(
    group: str,
    name: str,
    kind: Any,
    column: Column[Any],
    rows: Sequence[int],
    *,
    whole: bool,
    words: Sequence[str] | None = None,
) -> Iterator[Packed]:
    """A column that not all rows have a value in; none at all where the whole run has none."""
    said = {"by": column.by} if words is None else {"by": column.by, "words": words}
    missing = column.missing
    if not whole:
        values = [_shown(column[row], missing) for row in rows]
        yield Packed(group, name, kind, values, said=said)
        return
    present = [(row, value) for row, value in column.present() if row < len(rows)]
    if not present:
        return
    if len(present) * _SPARSE < len(rows):
        found, numbers = zip(*present, strict=True)
        yield Packed(group, name, kind, numbers, rows=found, said=said)
    else:
        yield Packed(group, name, kind, [_shown(column[row], missing) for row in rows], said=said)


def _shown(value: Any, missing: Any) -> Any:
    return UNKNOWN if value == missing == NO_NUMBER else value


__all__ = ["Sheet"]
