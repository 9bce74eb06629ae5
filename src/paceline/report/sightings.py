"""Sightings: what is on record of each key, in plain values, for whoever holds one run against another.

A figure says what a run amounts to, a row is what a person looks at; a sighting is what a key has come to:
its outcome, what was asserted and scored of it, what it took and what it cost, and what it asked.

Knows journal and table. Knows nothing of other runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from paceline.errors import JournalError
from paceline.journal.reading import JournalSource, Recorded
from paceline.journal.records import OUTCOMES, BeginLine, CallLine, Key, KeyedLine, OutcomeKind, key_of
from paceline.report.findings import NO_NUMBER, NO_VERDICT
from paceline.report.spending import price_of
from paceline.report.table import CODES_WITH_OUTPUT, NOT_PASSED, OPEN, PASSED, UNASSERTED, Table

_PASSED_OF: Final = {PASSED: True, NOT_PASSED: False, UNASSERTED: None}


class Sighting(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What is known of a key. None is unknown, or not there."""

    key: Key
    outcome: OutcomeKind | None = None
    """None where it has not come to an end."""
    passed: bool | None = None
    """None where nothing was asserted; whatever was not scored has not passed."""
    assertions: dict[str, bool] = {}
    scores: dict[str, float] = {}
    seconds: float | None = None
    """Working time of the attempt that gave an output."""
    cost: float | None = None
    """US dollars that the task's calls of models have cost, over all attempts."""
    content: str = ""
    """Digest of what the case asks; empty where it is not known."""


def sightings(source: JournalSource, table: Table) -> Iterator[Sighting]:
    """Every key that was ever begun, in the order in which they were."""
    keys: dict[int, Key] = {}
    contents: dict[int, str] = {}
    costs: dict[int, float | None] = {}
    for entry in source.entries():
        if not isinstance(entry, Recorded):
            continue
        line = entry.line
        if isinstance(line, BeginLine):
            key = key_of(line)
            row = table.row_of(key)
            if row is not None:
                keys[row], contents[row] = key, line.hash
        elif isinstance(line, CallLine) and not line.by:
            _count(costs, table.row_of(key_of(line)), line)
    for row in range(len(table)):
        yield _sighting(
            table, row, keys.get(row) or _key_of(table, row), contents.get(row, ""), costs.get(row)
        )


def _key_of(table: Table, row: int) -> Key:
    """The key of a row whose beginning is damaged."""
    line = table.line_at(table.outcome_at[row] if table.outcome[row] else table.begin_at[row])
    if not isinstance(line, KeyedLine):
        raise JournalError("the journal was changed after its report was read", hint="read the report again")
    return key_of(line)


def _count(costs: dict[int, float | None], row: int | None, line: CallLine) -> None:
    if row is None:
        return
    price, before = price_of(line), costs.get(row, 0.0)
    costs[row] = None if price is None or before is None else before + price


def _sighting(table: Table, row: int, key: Key, content: str, cost: float | None) -> Sighting:
    code, findings = table.outcome[row], table.findings
    if code == OPEN:
        return Sighting(key=key, content=content)
    with_output = code in CODES_WITH_OUTPUT
    seconds = table.seconds[row]
    return Sighting(
        key=key,
        outcome=OUTCOMES[code - 1],
        passed=_PASSED_OF.get(table.verdict[row], False),
        assertions={
            name: bool(column[row])
            for name, column in findings.assertions.items()
            if with_output and column[row] != NO_VERDICT
        },
        scores={
            name: column[row]
            for name, column in findings.scores.items()
            if with_output and column[row] != NO_NUMBER
        },
        # A rescored source that knows no time says 0.
        seconds=seconds if with_output and (seconds or not table.rescored) else None,
        cost=cost,
        content=content,
    )


__all__ = ["Sighting", "sightings"]
