"""Observations: what was seen of each key, in plain columns, for whoever tests, compares or gates a run.

A figure says what a run amounts to; an observation is what it was made from. Proportions come as tries: so
many of so many for each case, its repeats together, since these hang together. Values come with a number for
the case that they are of.

    observations.verdicts()              every key that came to an end, and whether it passed
    observations.tries("error_rate")     [(0, 1), (1, 1), ...]
    observations.values("scores.tone")   [(4.0, 0), (3.5, 1), ...]

Knows the table. Knows nothing of intervals, rules or other runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from paceline.journal.records import OUTCOMES, Key, OutcomeKind
from paceline.report.columns import Column
from paceline.report.passing import CODES_NOT_RUN, latencies_of
from paceline.report.table import (
    CODES,
    NOT_PASSED,
    OPEN,
    PASSED,
    SCORED,
    UNASSERTED,
    Table,
)

_TIMEOUT: Final = CODES["timeout"]
_PASSED_OF: Final = {PASSED: True, NOT_PASSED: False, UNASSERTED: None}


class Seen(NamedTuple):
    """How a key has ended."""

    key: Key
    outcome: OutcomeKind
    passed: bool | None
    """None where it was scored and nothing is asserted; whatever was not scored has not passed."""


class Observations:
    """What was seen of each key of a run."""

    def __init__(self, table: Table, key_of: Callable[[int], Key]) -> None:
        self._table = table
        self._key_of = key_of

    def verdicts(self) -> Iterator[Seen]:
        """Every key that came to an end, in the order in which they were begun."""
        table = self._table
        for row, code in enumerate(table.outcome):
            if code != OPEN:
                yield Seen(self._key_of(row), OUTCOMES[code - 1], _PASSED_OF.get(table.verdict[row], False))

    def tries(self, figure: str) -> list[tuple[int, int]] | None:
        """Of each case, how often what a proportion counts was so, and of how many; None of no proportion."""
        table = self._table
        if figure.startswith("assertions."):
            name = figure.removeprefix("assertions.").removesuffix(".rate")
            column = table.findings.assertions.get(name)
            return None if column is None else self._together(column.present())
        if figure not in _COUNTED:
            return None
        return self._together(
            (row, found)
            for row in range(len(table))
            if (found := _COUNTED[figure](table.outcome[row], table.verdict[row])) is not None
        )

    def values(self, figure: str) -> list[tuple[float, int]] | None:
        """The values behind a mean, each with a number for its case; None of no mean."""
        table = self._table
        groups = table.groups
        pairs: Iterable[tuple[int, float]]
        if figure == "latency":
            pairs = latencies_of(table)
        else:
            column: Column[float] | None = table.findings.scores.get(
                figure.removeprefix("scores.").removesuffix(".mean")
            )
            if column is None:
                return None
            pairs = column.present()
        return [(value, row if groups is None else groups[row]) for row, value in pairs]

    def _together(self, found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        groups = self._table.groups
        if groups is None:
            return [(value, 1) for _, value in found]
        sizes: Counter[int] = Counter()
        sums: Counter[int] = Counter()
        for row, value in found:
            sizes[groups[row]] += 1
            sums[groups[row]] += value
        return [(sums[group], size) for group, size in sizes.items()]


def _passes(_code: int, verdict: int) -> int | None:
    return None if verdict == UNASSERTED else int(verdict == PASSED)


def _passes_of_scored(_code: int, verdict: int) -> int | None:
    return int(verdict == PASSED) if verdict in (PASSED, NOT_PASSED) else None


def _passes_of_run(code: int, verdict: int) -> int | None:
    return None if code in CODES_NOT_RUN else _passes(code, verdict)


def _errors(code: int, _verdict: int) -> int | None:
    return None if code in CODES_NOT_RUN else int(code != SCORED)


def _timeouts(code: int, _verdict: int) -> int | None:
    return None if code in CODES_NOT_RUN else int(code == _TIMEOUT)


_COUNTED: Final[dict[str, Callable[[int, int], int | None]]] = {
    "pass_rate": _passes,
    "pass_rate_completed": _passes_of_scored,
    "pass_rate_run": _passes_of_run,
    "error_rate": _errors,
    "timeout_rate": _timeouts,
}

__all__ = ["Observations", "Seen"]
