"""Reading rows: a case is read from the journal when someone looks at it, and not before.

A report of a million cases holds columns of numbers; inputs, outputs and reasons stay on disk. `Rows` looks
like a list and reads each element anew, so memory does not depend on how many are gone through.

Knows table and journal. A value that is lost (its blob is gone) is an `Opaque` that says so, not an end of
the reading.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

import msgspec

from paceline import values
from paceline.errors import JournalError, ValueLost
from paceline.journal.reading import JournalSource
from paceline.journal.records import (
    BeginLine,
    Key,
    KeyedLine,
    OutcomeLine,
    OutputLine,
    ScoresLine,
    key_of,
)
from paceline.report.results import WITH_OUTPUT, Results, merged
from paceline.report.rows import Judged, Row, RunFacts, make_row
from paceline.report.table import NOWHERE, OPEN, Table

Item = TypeVar("Item")


class Content(NamedTuple):
    """What a case asks; all None where it was never begun, or its record is damaged."""

    inputs: Any = None
    metadata: Any = None
    expected_output: Any = None


class Told(NamedTuple):
    """What the journal has on a row, as it stands there."""

    key: Key
    begin: BeginLine | None
    """With the content of the case; None where that line is damaged."""
    outcome: OutcomeLine | None
    """None while the key is open."""
    answer: OutcomeLine | OutputLine | None
    """The line with the output: the outcome itself, or one before it."""
    results: Results


class Reader:
    """Reads what the journal has on a row of its table."""

    def __init__(self, source: JournalSource, table: Table) -> None:
        self._source = source
        self._table = table
        run = table.run
        self.run = RunFacts(repeat=run.repeat, evaluators=run.evaluators) if run else RunFacts()

    def key(self, row: int) -> Key:
        """The key of a row."""
        line = self._table.line_at(self._table.begin_at[row])
        if not isinstance(line, KeyedLine):
            raise _changed()
        return key_of(line)

    def told(self, row: int) -> Told:
        """The lines of this row that count."""
        table = self._table
        begin = table.line_at(table.begin_at[row])
        if not isinstance(begin, KeyedLine):
            raise _changed()
        key, begin = key_of(begin), begin if isinstance(begin, BeginLine) else None
        if table.outcome[row] == OPEN:
            return Told(key, begin, None, None, Results())
        line = self._outcome(row)
        return Told(key, begin, line, self._answer(row, line), self._results(row, line))

    def row(self, row: int) -> Row:
        """The case in this row, which must have an outcome."""
        table = self._table
        line = self._outcome(row)
        content = self.content(row)
        answer = self._answer(row, line)
        results = self._results(row, line)
        return make_row(
            key_of(line),
            line.outcome,
            self.run,
            inputs=content.inputs,
            metadata=content.metadata,
            expected_output=content.expected_output,
            output=self._value(answer.output),
            error=line.error,
            judged=Judged(results.scores, results.failures, self.run),
            metrics={**answer.metrics, **line.metrics},
            attributes=self._value(answer.attributes) or {},
            trajectory=self._value(answer.trajectory),
            seconds=line.seconds,
            total=line.total,
            waited=line.waited,
            attempts=table.attempts[row],
        )

    def content(self, row: int) -> Content:
        """What the case of this row asks."""
        line = self._table.line_at(self._table.begin_at[row])
        if not isinstance(line, BeginLine):
            return Content()
        return Content(
            self._value(line.inputs), self._value(line.metadata), self._value(line.expected_output)
        )

    def _outcome(self, row: int) -> OutcomeLine:
        line = self._table.line_at(self._table.outcome_at[row])
        if not isinstance(line, OutcomeLine):
            raise _changed()
        return line

    def _answer(self, row: int, line: OutcomeLine) -> OutcomeLine | OutputLine:
        """The line that has the output: the outcome itself, or one before it."""
        offset = self._table.output_at[row]
        before = None if offset == NOWHERE else self._table.line_at(offset)
        return before if isinstance(before, OutcomeLine | OutputLine) else line

    def _results(self, row: int, line: OutcomeLine) -> Results:
        if line.outcome not in WITH_OUTPUT:
            return Results()
        before = (self._table.line_at(offset) for offset in self._table.tellings.of(row))
        told = [each for each in before if isinstance(each, ScoresLine | OutcomeLine)]
        return merged([*told, line], self.run.labels)

    def _value(self, raw: msgspec.Raw) -> Any:
        if not len(raw):
            return None
        try:
            return values.decode(self._source.value(raw))
        except (JournalError, ValueLost, msgspec.MsgspecError) as error:
            return values.Opaque("lost", str(error), lossy=True)


def _changed() -> JournalError:
    return JournalError("the journal was changed after its report was read", hint="read the report again")


class Rows(Sequence[Item], Generic[Item]):
    """A list that is read from the journal, element by element."""

    __slots__ = ("_read", "_rows")
    __hash__ = None  # type: ignore[assignment]  # compared by content, as lists are

    def __init__(self, read: Callable[[int], Item], rows: array[int]) -> None:
        self._read = read
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Item]:
        return map(self._read, self._rows)

    @overload
    def __getitem__(self, index: int) -> Item: ...

    @overload
    def __getitem__(self, index: slice) -> Rows[Item]: ...

    def __getitem__(self, index: int | slice) -> Item | Rows[Item]:
        if isinstance(index, slice):
            return Rows(self._read, self._rows[index])
        return self._read(self._rows[index])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str | bytes):
            return NotImplemented
        return len(self) == len(other) and all(
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    def __repr__(self) -> str:
        return f"<{len(self)} rows, read from the journal as they are asked for>"


__all__ = ["Content", "Reader", "Rows", "Told"]
