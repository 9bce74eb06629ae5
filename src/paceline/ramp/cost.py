"""What a sweep will cost, as far as that can be known before: said first, and kept to.

A case costs what cases of this suite have cost, in an earlier run or at the levels so far. Where nobody knows
a price, nobody makes one up: a ceiling on what is unknown ends the sweep after its first level.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from paceline.errors import JournalError
from paceline.journal.places import locate
from paceline.ramp.levels import Plan
from paceline.ramp.rows import Row
from paceline.report import Report
from paceline.report.text import counted, dollars
from paceline.runs import find_runs

READ_UP_TO: Final = 64 * 1024 * 1024
"""Bytes of a journal that are worth reading for an estimate."""


class PerCase(NamedTuple):
    """US dollars of a case, and where that is from."""

    usd: float
    of: str


def cost_before(root: Path, suite: str) -> PerCase | None:
    """What a case of this suite has cost in the latest run that tells."""
    for found in find_runs(root, suite):
        journal = locate(found.path).journal
        if journal.stat().st_size > READ_UP_TO:
            continue
        try:
            figures = Report.read(found.path).figures
        except JournalError:  # of a newer version, say: an estimate is but an estimate
            continue
        spending = figures.calls.spending if figures.calls is not None else None
        done = figures.n_expected - figures.n_not_run
        if spending is not None and spending.cost.total is not None and done:
            return PerCase(spending.cost.total / done, str(found.path))
    return None


def cost_so_far(rows: Sequence[Row]) -> PerCase | None:
    """What a case has cost at these levels; None where that is unknown, if only of one."""
    cases = sum(row.cases for row in rows)
    if not cases or any(row.unpriced or row.cost is None for row in rows):
        return None
    return PerCase(sum(row.cost or 0.0 for row in rows) / cases, "the levels so far")


def said_first(
    plan: Plan, per_case: PerCase | None, *, ceiling: float | None, spent: float, rehearsal: bool
) -> str:
    """What all levels will probably cost, in one line."""
    if rehearsal:
        return "cost: none, this is a rehearsal"
    bound = "no ceiling is set (--budget-usd)" if ceiling is None else f"at most {dollars(ceiling)}"
    if spent:
        bound += f", of which {dollars(spent)} are spent"
    if per_case is None:
        return f"cost: unknown until the first level is held; {bound}"
    about = dollars(per_case.usd * plan.cases)
    cases = counted(plan.cases, "case")
    return f"cost: about {about} for {cases}, at {dollars(per_case.usd)} each as in {per_case.of}; {bound}"


def said_after(plan: Plan, rows: Sequence[Row]) -> str:
    """The same once a level has been held."""
    per_case = cost_so_far(rows)
    if per_case is None:
        return "cost: still unknown; `prices` in paceline.toml says what a model costs"
    about = dollars(per_case.usd * plan.cases)
    return f"cost: {dollars(per_case.usd)} a case, so all levels come to about {about}"


def unaffordable(rows: Sequence[Row], cases: int, *, ceiling: float | None, spent: float) -> str | None:
    """Why so many more cases cannot be paid for; None where they can, or where there is no ceiling."""
    if ceiling is None or not rows:
        return None
    per_case = cost_so_far(rows)
    if per_case is None:
        return f"what a case costs is unknown, so {dollars(ceiling)} cannot be kept to"
    wanted = per_case.usd * cases
    if spent + wanted <= ceiling:
        return None
    return (
        f"{counted(cases, 'case')} more would cost about {dollars(wanted)}, "
        f"and {dollars(max(ceiling - spent, 0.0))} of {dollars(ceiling)} are left"
    )
