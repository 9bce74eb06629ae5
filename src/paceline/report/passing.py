"""Passing: how many of some rows have passed, and how sure one can be of it.

Rows that hang together, such as repeats of one case, share a unit, and intervals go by the spread between
units. Without units each row stands for itself.

Knows tables. Knows nothing of files or rendering.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import fsum, isfinite
from typing import Final, TypeAlias

from paceline.journal.records import OUTCOMES
from paceline.report.columns import Column
from paceline.report.shapes import Mean, Proportion
from paceline.report.table import (
    CODES,
    CODES_WITH_OUTPUT,
    NOT_PASSED,
    OPEN,
    PASSED,
    UNASSERTED,
    UNSCORED,
    Table,
)
from paceline.statistics.means import fitting_interval
from paceline.statistics.proportions import clustered, wilson

Units: TypeAlias = Sequence[int] | None
"""By row, a number that rows which hang together share."""

NOT_RUN: Final = frozenset({"cancelled", "skipped_budget"})
"""Outcomes of keys that the run did not get to the end of: it is incomplete while there are any."""
CODES_NOT_RUN: Final = frozenset({OPEN, *(CODES[outcome] for outcome in OUTCOMES if outcome in NOT_RUN)})
COUNTING: Final = frozenset({PASSED, NOT_PASSED, UNSCORED})
"""Verdicts of rows that the headline is about; no outcome yet, or one that is not `scored`, is `UNSCORED`."""
ASSERTED: Final = frozenset({PASSED, NOT_PASSED})


def share(part: float, whole: float | None) -> float | None:
    """Unknown where there is nothing to divide by, or so little that the answer is no number."""
    found = part / whole if whole else None
    return found if found is not None and isfinite(found) else None


def with_verdicts(
    table: Table, verdicts: frozenset[int], among: Iterable[int] | None = None, *, run_only: bool = False
) -> Iterator[int]:
    """The rows with these verdicts; with `run_only`, none of those that are not run."""
    verdict, outcome = table.verdict, table.outcome
    for row in range(len(table)) if among is None else among:
        if verdict[row] in verdicts and not (run_only and outcome[row] in CODES_NOT_RUN):
            yield row


def latencies_of(table: Table, among: Iterable[int] | None = None) -> Iterator[tuple[int, float]]:
    """The rows whose task gave an output, with the seconds that it worked for it."""
    rescored, outcome, seconds = table.rescored, table.outcome, table.seconds
    for row in range(len(table)) if among is None else among:
        # A source that knows no time says 0, which no task takes.
        if outcome[row] in CODES_WITH_OUTPUT and (seconds[row] or not rescored):
            yield row, seconds[row]


def proportion(table: Table, rows: Iterable[int], units: Units) -> Proportion:
    """How many of these rows have passed."""
    if units is None:
        counts = Counter(table.verdict[row] for row in rows)
        passed, of = counts[PASSED], counts.total()
        return Proportion(count=passed, of=of, rate=share(passed, of), interval=wilson(passed, of))
    tries = tries_of(table, rows, units)
    passed, of = sum(passes for passes, _size in tries), sum(size for _passes, size in tries)
    return Proportion(count=passed, of=of, rate=share(passed, of), interval=clustered(tries))


def asserts_nothing(verdicts: Counter[int]) -> bool:
    """Whether rows with these verdicts were scored, and nothing is asserted of any of them."""
    return bool(verdicts[UNASSERTED]) and not verdicts[PASSED] + verdicts[NOT_PASSED]


def headline(table: Table, among: Sequence[int] | None, units: Units) -> Proportion:
    """How many of these rows, or of all, have passed: what failed, or has no outcome, counts as not passed.

    Where none of them asserts anything, what failed does not make a pass rate of it.
    """
    if asserts_nothing(Counter(table.verdict if among is None else (table.verdict[row] for row in among))):
        return Proportion(count=0, of=0, rate=None, interval=None)
    return proportion(table, with_verdicts(table, COUNTING, among), units)


def without_interval(found: Proportion, *, of: int) -> Proportion:
    """The same of so many, of which not all are run: nothing was observed of those."""
    return Proportion(count=found.count, of=of, rate=share(found.count, of), interval=None)


def tries_of(table: Table, rows: Iterable[int], units: Units) -> list[tuple[int, int]]:
    """Of each unit: how many of these rows have passed, and how many there are."""
    if units is None:
        return [(int(table.verdict[row] == PASSED), 1) for row in rows]
    sizes: Counter[int] = Counter()
    passes: Counter[int] = Counter()
    for row in rows:
        sizes[units[row]] += 1
        passes[units[row]] += table.verdict[row] == PASSED
    return [(passes[unit], size) for unit, size in sizes.items()]


def mean_of(column: Column[float], among: Sequence[int] | None, units: Units) -> Mean:
    """The mean of a column over these rows, or over all."""
    if among is None:
        pairs = column.present()
    else:
        pairs = ((row, value) for row in among if (value := column[row]) != column.missing)
    values, clusters = array("d"), array("q")
    for row, value in pairs:
        values.append(value)
        if units is not None:
            clusters.append(units[row])
    if not values:
        return Mean(n=0, mean=None, interval=None)
    told = None if units is None else clusters
    interval = fitting_interval(values, clusters=told)
    return Mean(n=len(values), mean=fsum(values) / len(values), interval=interval)


__all__ = [
    "ASSERTED",
    "CODES_NOT_RUN",
    "COUNTING",
    "NOT_RUN",
    "Units",
    "asserts_nothing",
    "headline",
    "latencies_of",
    "mean_of",
    "proportion",
    "share",
    "tries_of",
    "with_verdicts",
    "without_interval",
]
