"""The timeline: how many keys were in progress at a time, how many waited, and when errors came.

A key was in progress for as long as its outcome says, up to the moment that it was put on record; what
it waited is spread evenly over that time. A key that was begun and has no outcome was in progress until its
process left. What lay between two processes is cut out.

Knows tables. Knows nothing of rendering.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Final

from paceline.journal.records import KeyedLine
from paceline.report.figures import TimelineFigures
from paceline.report.table import OPEN, SCORED, Process, Table

STEPS: Final = 48
"""A character each, at 80 columns."""
SHORTEST: Final = 1e-6
"""Seconds below which there is nothing to divide into steps."""
MOST_OPEN: Final = 10_000
"""Open keys whose begin is looked up, one by one; more than that nobody has in flight."""


class _Axis:
    """From moments to seconds of work, with what lay between two processes cut out."""

    def __init__(self, processes: list[Process]) -> None:
        self.starts = [process.started for process in processes]
        self.ends = [max(process.started, _end(process)) for process in processes]
        lengths = [end - start for start, end in zip(self.starts, self.ends, strict=True)]
        self.before = [0.0, *accumulate(lengths)]
        self.length = self.before[-1]

    def span_of(self, at: float) -> tuple[float, float, float]:
        """The process that was at work: when it began and ended, and what is to be added to a moment."""
        place = max(0, bisect_right(self.starts, at) - 1)
        return self.starts[place], self.ends[place], self.before[place] - self.starts[place]


def _end(process: Process) -> float:
    return process.ended.at if process.ended else process.last_seen


class _Level:
    """How many there are at a time, from when each came and went, on average over each step."""

    def __init__(self, step: float) -> None:
        self._step = step
        self._change = [0.0] * (STEPS + 1)
        self._within = [0.0] * (STEPS + 1)

    def add(self, start: float, end: float, size: float = 1.0) -> None:
        for at, change in ((start, size), (end, -size)):
            place = min(int(at / self._step), STEPS)
            self._change[place] += change
            self._within[place] += change * (place + 1 - at / self._step)

    def averages(self) -> list[float]:
        before = [0.0, *accumulate(self._change)]
        # Sums of what came and went: what is left of them is rounding.
        return [max(0.0, round(before[place] + self._within[place], 6)) for place in range(STEPS)]


def timeline_of(table: Table) -> TimelineFigures | None:
    """The timeline; None where nothing has ended, and of a rescored run, whose times are another's."""
    axis = _Axis(table.processes)
    if table.rescored or axis.length < SHORTEST or not any(table.outcome):
        return None
    step = axis.length / STEPS
    in_progress, waiting = _Level(step), _Level(step)
    ended, errors = [0] * STEPS, [0] * STEPS
    low, high, shift = axis.span_of(axis.starts[0])
    opened = 0
    for row, since in enumerate(table.ended):
        if table.outcome[row] == OPEN:
            opened += 1
            if opened <= MOST_OPEN:
                _add_open(table, row, axis, in_progress)
            continue
        at = axis.starts[0] + since
        if not low <= at <= high:
            low, high, shift = axis.span_of(at)
        end = min(max(at, low), high)
        lasted = max(table.total[row], table.seconds[row] + table.waited[row])
        start = min(max(end - lasted, low), end)
        in_progress.add(start + shift, end + shift)
        if waited := table.waited[row]:
            taken = end - start
            waiting.add(start + shift, end + shift, min(1.0, waited / taken) if taken else 0.0)
        place = min(int((end + shift) / step), STEPS - 1)
        ended[place] += 1
        errors[place] += table.outcome[row] != SCORED
    return TimelineFigures(
        step_s=step,
        in_progress=in_progress.averages(),
        waiting=waiting.averages(),
        ended=ended,
        errors=errors,
        starts=axis.before[:-1],
    )


def _add_open(table: Table, row: int, axis: _Axis, in_progress: _Level) -> None:
    line = table.line_at(table.begin_at[row])
    if isinstance(line, KeyedLine):
        low, high, shift = axis.span_of(line.at)
        start = min(max(line.at, low), high)
        in_progress.add(start + shift, high + shift)


__all__ = ["timeline_of"]
