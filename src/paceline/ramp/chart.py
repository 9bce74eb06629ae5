"""The curve on a terminal: what share of the calls failed at which throughput, level by level.

Where no call failed at all, that would be a flat line; then it is how long the slowest answers took.

Plain characters where the stream cannot show others. Knows rows and characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from paceline.ramp.rows import Row
from paceline.ramp.words import rate_of
from paceline.report.text import seconds

WIDE: Final = 56
HIGH: Final = 9
LEAST_SHARE: Final = 0.1
"""At the top of the axis: a chart whose top is one percent would make much of one call."""
MARGIN: Final = 9
"""Characters before the axis."""


class Axis(NamedTuple):
    """The upright one: what is drawn on it, up to where."""

    name: str
    value: Callable[[Row], float]
    top: float
    tick: Callable[[float], str]


class Marks(NamedTuple):
    """The characters that a chart is made of."""

    point: str
    up: str
    along: str
    corner: str
    notch: str


FINE: Final = Marks("●", "│", "─", "┼", "┤")
PLAIN: Final = Marks("o", "|", "-", "+", "+")


def axis_of(rows: Sequence[Row]) -> Axis:
    """Failures, or where there are none how long answers took."""
    worst = max((row.failed_share for row in rows), default=0.0)
    if worst > 0:
        return Axis(
            "share of calls that failed or were rejected",
            lambda row: row.failed_share,
            nice(max(worst, LEAST_SHARE), most=1.0),
            lambda value: f"{value:.0%}",
        )
    slowest = max((row.p95 or 0.0 for row in rows), default=0.0)
    return Axis("p95 of an answer; no call failed", lambda row: row.p95 or 0.0, nice(slowest or 1.0), seconds)


def nice(value: float, *, most: float = float("inf")) -> float:
    """The next number that people like to see at the end of an axis."""
    power = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 1.0
    while power > value:
        power /= 10
    for step in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10):
        if step * power >= value * 0.999:
            return min(step * power, most)
    return min(10 * power, most)


def chart(rows: Sequence[Row], *, fine: bool = True) -> list[str]:
    """The lines of the chart; none where there is nothing to draw."""
    rows = [row for row in rows if row.paced is None and row.tries]
    if len(rows) < 2:
        return []
    axis = axis_of(rows)
    right = nice(max(row.ok_rate for row in rows) or 1.0)
    marks = FINE if fine else PLAIN
    grid = [[" "] * (WIDE + 8) for _ in range(HIGH)]
    for row in rows:
        across = round(row.ok_rate / right * (WIDE - 1))
        down = HIGH - 1 - round(min(axis.value(row) / axis.top, 1.0) * (HIGH - 1))
        _put(grid[down], across, marks.point, f"{row.level}")
    lines = [f"{axis.name}, by level"]
    for place, cells in enumerate(grid):
        tick = axis.tick(axis.top * (HIGH - 1 - place) / (HIGH - 1)) if place % 4 == 0 else ""
        bar = marks.notch if tick else marks.up
        lines.append(f"{tick:>{MARGIN - 2}} {bar}{''.join(cells).rstrip()}")
    lines.append(" " * (MARGIN - 1) + marks.corner + marks.along * WIDE)
    middle, end = rate_of(right / 2), rate_of(right)
    below = " " * MARGIN + "0" + middle.rjust(WIDE // 2 - 1) + end.rjust(WIDE - WIDE // 2)
    lines.append(f"{below} ok/s")
    return lines


def _put(cells: list[str], across: int, point: str, name: str) -> None:
    """A point, and its name where there is room: of levels in the same place, the first one's."""
    cells[across] = point
    label = list(f" {name} ")
    place = across + 1
    room = cells[place : place + len(label)]
    if all(cell == " " for cell in room):
        cells[place : place + len(label) - 1] = label[:-1]
