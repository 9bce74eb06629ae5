"""Stability: do the repeats of a case come out the same, and if not, is it the case's doing?

    stable_pass      every try passed
    flaky            some tries passed and some did not: the same question, another verdict
    stable_fail      no try passed
    infrastructure   the tries that count agree, and others ended for a reason that is not the case's
    unknown          fewer than two tries count

A try counts when the run got to its end and something was asserted, or the task failed or ran out of time.
One that ended because the infrastructure or an evaluator broke says nothing of the case: such a try fails the
run and makes no case flaky.

Knows tables. Knows nothing of rendering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import fsum
from typing import Final, Literal, NamedTuple, get_args

from paceline.journal.records import Key
from paceline.report.figures import FlakyFigures, RepeatFigures
from paceline.report.passing import CODES_NOT_RUN
from paceline.report.table import CODES, PASSED, UNASSERTED, Table
from paceline.statistics.repeats import flip_rate

Stability = Literal["stable_pass", "flaky", "stable_fail", "infrastructure", "unknown"]

MAX_LISTED: Final = 50
_NOT_THE_CASE: Final = frozenset({CODES["infra_error"], CODES["evaluator_error"]})


class Tries(NamedTuple):
    """The tries of one case under one variant."""

    row: int
    """The first of them."""
    passed: int = 0
    counted: int = 0
    infrastructure: int = 0

    @property
    def stability(self) -> Stability:
        """What they say of the case."""
        if 0 < self.passed < self.counted:
            return "flaky"
        if self.infrastructure:
            return "infrastructure"
        if self.counted < 2:
            return "unknown"
        return "stable_pass" if self.passed else "stable_fail"


def tries_among(table: Table, rows: Iterable[int]) -> Tries:
    """The tries in these rows, which are of one case and one variant."""
    found = Tries(-1)
    for row in rows:
        found = _with(found if found.row >= 0 else Tries(row), table, row)
    return found


def _with(tries: Tries, table: Table, row: int) -> Tries:
    outcome, verdict = table.outcome[row], table.verdict[row]
    if outcome in _NOT_THE_CASE:
        return tries._replace(infrastructure=tries.infrastructure + 1)
    if outcome in CODES_NOT_RUN or verdict == UNASSERTED:
        return tries
    return tries._replace(passed=tries.passed + (verdict == PASSED), counted=tries.counted + 1)


def repeats_of(table: Table, key_of: Callable[[int], Key]) -> RepeatFigures | None:
    """What all repeats say; None where no case repeats under one variant."""
    if table.groups is None:
        return None
    cases: dict[tuple[int, int], Tries] = {}
    for row in range(len(table)):
        at = (table.groups[row], table.variant[row])
        cases[at] = _with(cases.get(at) or Tries(row), table, row)
    if len(cases) == len(table):
        return None
    classes: dict[str, int] = dict.fromkeys(get_args(Stability), 0)
    for tries in cases.values():
        classes[tries.stability] += 1
    rates = [rate for tries in cases.values() if (rate := flip_rate(tries.counted, tries.passed)) is not None]
    flaky = sorted((each for each in cases.values() if each.stability == "flaky"), key=_evenness)
    return RepeatFigures(
        n_cases=len(cases),
        classes=classes,
        flip_rate=fsum(rates) / len(rates) if rates else None,
        n_flip=len(rates),
        flaky=[_flaky(each, key_of(each.row)) for each in flaky[:MAX_LISTED]],
        n_left_out=max(0, len(flaky) - MAX_LISTED),
    )


def _evenness(tries: Tries) -> tuple[float, int]:
    """The more evenly they are split, the sooner; else in the order of the run."""
    return abs(tries.passed / tries.counted - 0.5), tries.row


def _flaky(tries: Tries, key: Key) -> FlakyFigures:
    return FlakyFigures(
        case=key.case,
        variant=key.variant,
        passed=tries.passed,
        tries=tries.counted,
        infrastructure=tries.infrastructure,
    )


__all__ = ["Stability", "Tries", "repeats_of", "tries_among"]
