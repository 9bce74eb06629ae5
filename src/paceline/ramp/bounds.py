"""What bound each level: one word for the last column of the table.

A row alone tells of rejections, of a busy machine, of waiting. That answers only took longer is seen next to
the other rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from paceline.ramp.rows import Row
from paceline.ramp.rules import Rules, usual_errors
from paceline.ramp.verdict import BLOCKED, BUSY, HELD, WAITING, cause_at, growth_of, is_pressed

Bound = Literal[
    "level",
    "rate",
    "requests",
    "tokens",
    "at once",
    "growth",
    "refused",
    "errors",
    "limits",
    "headers",
    "task",
    "latency",
    "cpu",
    "loop",
    "unclear",
]

OF_CAUSE: Final[dict[str, Bound]] = {
    "requests": "requests",
    "tokens": "tokens",
    "concurrency": "at once",
    "growth": "growth",
}


def bounds_of(rows: Sequence[Row], rules: Rules | None = None) -> list[Bound]:
    """What bound each of these: `level` where it was the level itself, as it should be."""
    rules = rules or Rules()
    climbed = [row for row in rows if row.paced is None]
    growth = growth_of(climbed) if len(climbed) > 1 else None
    per_place = growth.per_place if growth is not None else None
    return [_bound_of(row, climbed, per_place, rules) for row in rows]


def _bound_of(row: Row, rows: Sequence[Row], per_place: float | None, rules: Rules) -> Bound:
    if row.halt is not None and row.halt.kind == "closed":
        return "refused"
    if row.pressed is not None and is_pressed(row, rules):
        return OF_CAUSE.get(cause_at(row), "requests")
    usual = usual_errors(rows) if row is not rows[0] else 0.0
    if row.errors >= rules.failures and row.error_share > usual + rules.errors:
        return "errors"
    if row.paced is not None:
        return "rate"
    if per_place is None or row.ok_rate >= HELD * per_place * row.level:
        return "level"
    return _held_by(row, rows[0])


def _held_by(row: Row, first: Row) -> Bound:
    """What keeps a level from bringing what it should."""
    if row.waits.get("blocked", 0.0) >= WAITING:
        return "headers"
    if row.machine.busy >= BUSY:
        return "cpu"
    if row.machine.late >= BLOCKED:
        return "loop"
    if row.busy / row.level < HELD * min(1.0, first.busy / first.level):
        waits = sum(row.waits.get(each, 0.0) for each in ("window", "requests", "tokens"))
        return "limits" if waits >= WAITING else "task"
    return "latency" if (row.latency or 0.0) > (first.latency or 0.0) else "unclear"
