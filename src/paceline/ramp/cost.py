"""What a sweep will cost, in money and in time, as far as that can be known before: said first, and kept to.

A case costs what cases of this suite have cost, in an earlier run or at the levels so far. Where nobody knows
a price, nobody makes one up: a ceiling on what is unknown ends the sweep after its first level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from paceline.errors import JournalError
from paceline.journal.places import locate
from paceline.ramp.levels import Plan
from paceline.ramp.rows import Row
from paceline.report import Report
from paceline.report.text import counted, dollars, seconds
from paceline.runs import find_runs

READ_UP_TO: Final = 64 * 1024 * 1024
"""Bytes of a journal that are worth reading for an estimate."""


class PerCase(NamedTuple):
    """What a case takes, and where that is from."""

    usd: float | None
    """None: unknown."""
    seconds: float | None
    of: str


def cost_before(root: Path, suite: str) -> PerCase | None:
    """What a case of this suite has taken in the latest run that tells."""
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
        if done and figures.latency.mean is not None:
            usd = spending.cost.total if spending is not None else None
            return PerCase(None if usd is None else usd / done, figures.latency.mean, str(found.path))
    return None


def cost_so_far(rows: Sequence[Row]) -> float | None:
    """What a case has cost at these levels; None where that is unknown, if only of one."""
    cases = sum(row.cases for row in rows)
    if not cases or any(row.unpriced or row.cost is None for row in rows):
        return None
    return sum(row.cost or 0.0 for row in rows) / cases


def seconds_so_far(rows: Sequence[Row]) -> float | None:
    """How long a case has taken at the lowest level, where nothing holds it up."""
    return rows[0].case_seconds if rows else None


def seconds_of(plan: Plan, case_s: float) -> float:
    """How long all levels will take, if a case takes so long at each."""
    return sum(math.ceil(each.cases / each.level) * case_s for each in plan.levels)


def said_first(
    plan: Plan, before: PerCase | None, *, ceiling: float | None, spent: float, rehearsal: bool
) -> list[str]:
    """What all levels will probably take, a line each."""
    if rehearsal:
        return ["cost: none, this is a rehearsal"]
    bound = "no ceiling is set (--budget-usd)" if ceiling is None else f"at most {dollars(ceiling)}"
    if spent:
        bound += f", of which {dollars(spent)} are spent"
    if before is None:
        return [f"cost: unknown until the first level is held; {bound}"]
    cases = counted(plan.cases, "case")
    lines = [f"cost: unknown until the first level is held; {bound}"]
    if before.usd is not None:
        about = f"about {dollars(before.usd * plan.cases)} for {cases}"
        lines = [f"cost: {about}, at {dollars(before.usd)} each as in {before.of}; {bound}"]
    if before.seconds is not None:
        lines.append(f"time: about {seconds(seconds_of(plan, before.seconds))}, if none is held up")
    return lines


def said_after(plan: Plan, rows: Sequence[Row], *, rehearsal: bool) -> list[str]:
    """The same once a level has been held."""
    lines, usd, took = [], cost_so_far(rows), seconds_so_far(rows)
    if usd is not None and not rehearsal:
        lines.append(f"cost: {dollars(usd)} a case, so all levels come to about {dollars(usd * plan.cases)}")
    elif not rehearsal:
        lines.append("cost: still unknown; `prices` in paceline.toml says what a model costs")
    if took is not None:
        lines.append(f"time: about {seconds(seconds_of(plan, took))} for all levels, if none is held up")
    return lines


def unaffordable(rows: Sequence[Row], cases: int, *, ceiling: float | None, spent: float) -> str | None:
    """Why so many more cases cannot be paid for; None where they can, or where there is no ceiling."""
    if ceiling is None or not rows:
        return None
    usd = cost_so_far(rows)
    if usd is None:
        return f"what a case costs is unknown, so {dollars(ceiling)} cannot be kept to"
    wanted = usd * cases
    if spent + wanted <= ceiling:
        return None
    return (
        f"{counted(cases, 'case')} more would cost about {dollars(wanted)}, "
        f"and {dollars(max(ceiling - spent, 0.0))} of {dollars(ceiling)} are left"
    )
