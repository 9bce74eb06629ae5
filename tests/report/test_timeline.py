"""The timeline: what was going on when, over all processes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.journal.records import Line
from paceline.report.figures import TimelineFigures
from paceline.report.table import fold
from paceline.report.timeline import STEPS, timeline_of
from tests.journal.lines import lines as any_lines
from tests.report.journals import Lines, begin, ended, failed, manifest, resumed, run, scored, yes


def lasting(case: str, start: float, end: float, *, ok: bool = True, **fields: Any) -> list[Line]:
    """A case that was in progress from one moment to the other, seconds after the run began."""
    times = {"at": 1000 + end, "total": end - start, "seconds": 0.0, **fields}
    return [begin(case, at=1000 + start), scored(case, yes(), **times) if ok else failed(case, **times)]


def timeline(*lines: Line, length: float = STEPS) -> TimelineFigures:
    found = timeline_of(fold(Lines(run(), *lines, ended(at=1000 + length, wall=length))))
    assert found is not None
    return found


def test_cases_are_in_progress_from_their_begin_to_their_end() -> None:
    found = timeline(*lasting("a", 0, 10), *lasting("b", 5, 20), *lasting("c", 10.5, 11))
    assert found.step_s == 1.0
    assert found.in_progress[:5] == [1.0] * 5
    assert found.in_progress[5:10] == [2.0] * 5
    assert found.in_progress[10] == pytest.approx(1.5)
    assert found.in_progress[11:20] == [1.0] * 9
    assert found.in_progress[20:] == [0.0] * (STEPS - 20)


def test_ends_and_errors_are_counted_in_their_step() -> None:
    found = timeline(*lasting("a", 0, 3.5), *lasting("b", 0, 3.9, ok=False), *lasting("c", 0, STEPS))
    assert (found.ended[3], found.errors[3]) == (2, 1)
    assert (found.ended[-1], sum(found.ended), sum(found.errors)) == (1, 3, 1)


def test_waiting_is_spread_over_the_time_of_a_case() -> None:
    found = timeline(*lasting("a", 0, 10, waited=4.0), *lasting("b", 0, 10))
    assert found.waiting[:10] == pytest.approx([0.4] * 10)
    assert found.waiting[10:] == [0.0] * (STEPS - 10)


def test_what_lay_between_two_processes_is_cut_out() -> None:
    first = [*lasting("a", 0, 20), ended("interrupted", at=1024, wall=24)]
    second = [resumed(at=90_000.0), begin("b", at=90_000.0)]
    second += [scored("b", yes(), at=90_024.0, total=24.0, seconds=0.0)]
    found = timeline_of(fold(Lines(run(), *first, *second, ended(at=90_024.0, wall=24))))
    assert found is not None
    assert found.step_s == 1.0
    assert found.starts == [0.0, 24.0]
    assert found.in_progress[:20] == [1.0] * 20
    assert found.in_progress[20:24] == [0.0] * 4
    assert found.in_progress[24:] == [1.0] * 24


def test_a_case_that_was_cut_off_was_in_progress_until_its_process_left() -> None:
    lines = [
        *lasting("a", 0, 12),
        begin("b", at=1006.0),
        begin("c", at=1000.0),
        scored("c", yes(), at=1048.0),
    ]
    found = timeline_of(fold(Lines(run(), *lines)))
    assert found is not None
    assert found.in_progress[40] == 1.0
    assert found.in_progress[7] == 2.0


def test_a_rescored_run_and_one_in_which_nothing_ended_have_none() -> None:
    assert timeline_of(fold(Lines())) is None
    assert timeline_of(fold(Lines(run(), begin("a", at=1001.0)))) is None
    rescored = Lines(run(rescored_from="r0"), *lasting("a", 0, 5), manifest(1), ended())
    assert timeline_of(fold(rescored)) is None


@given(st.lists(any_lines, max_size=30))
def test_whatever_a_journal_says_nothing_is_negative_and_every_end_is_counted(lines: list[Line]) -> None:
    table = fold(Lines(*lines))
    found = timeline_of(table)
    if found is None:
        return
    assert len(found.in_progress) == len(found.waiting) == len(found.ended) == STEPS
    assert min(*found.in_progress, *found.waiting) >= 0
    assert sum(found.ended) == sum(outcome != 0 for outcome in table.outcome)
