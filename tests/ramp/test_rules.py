"""When a level has told enough, when it does harm, and what a level comes to."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from paceline.ramp.rows import row_of, warm_from
from paceline.ramp.rules import Rules, gained, heed, stop_after
from paceline.ramp.seen import Done, Glimpse, LevelRun, Try

RULES = Rules()


def answers(count: int, *, each: float = 1.0, start: float = 0.0, level: int = 1) -> list[Try]:
    """So many answers, `level` at a time."""
    return [
        Try(
            start=start + each * (number // level),
            end=start + each * (number // level + 1),
            tokens=100.0,
            pool="p:m",
        )
        for number in range(count)
    ]


def failures(count: int, outcome: str = "transient", at: float = 0.0) -> list[Try]:
    return [
        Try(start=at, end=at + 0.1, outcome=outcome, message="broken", pool="p:m")  # type: ignore[arg-type]
        for _ in range(count)
    ]


def glimpse(tries: Sequence[Try], *, level: int = 1, done: Sequence[Done] = ()) -> Glimpse:
    now = max((each.end for each in tries), default=0.0)
    return Glimpse(level=level, now=now, started=0.0, tries=tries, done=done)


def run_of(tries: Sequence[Try], *, level: int = 1, done: Sequence[Done] = ()) -> LevelRun:
    last = max(tries, key=lambda each: each.start)
    ended = max(each.end for each in tries)
    return LevelRun(
        level=level,
        begun=len(tries),
        started=0.0,
        held_until=last.start,
        ended=ended,
        tries=tries,
        done=done,
    )


# In the midst of a level


def test_one_failure_among_a_few_calls_proves_nothing() -> None:
    assert heed(glimpse([*answers(3), *failures(1)]), RULES) is None


def test_a_few_failures_among_a_few_calls_end_a_level() -> None:
    halt = heed(glimpse([*answers(3), *failures(3)]), RULES)
    assert halt is not None
    assert halt.kind == "errors"
    assert halt.reason == "3 of 6 calls failed"


def test_failures_that_are_usual_end_no_level() -> None:
    seen = glimpse([*answers(12), *failures(4)])
    assert heed(seen, RULES) is not None
    assert heed(seen, RULES, usual_errors=0.25) is None


def test_cases_that_fail_without_a_call_end_a_level_too() -> None:
    halt = heed(glimpse([], done=[Done(start=0, end=1, ok=False) for _ in range(4)]), RULES)
    assert halt is not None
    assert halt.reason == "4 of 4 cases failed"


def test_one_refusal_for_good_ends_a_level() -> None:
    halt = heed(glimpse([*answers(200), *failures(1, "fatal")]), RULES)
    assert halt is not None
    assert halt.kind == "closed"
    assert halt.reason == "broken"


def test_a_level_has_told_enough_after_thirty_answers_and_twenty_seconds() -> None:
    assert heed(glimpse(answers(29)), RULES) is None
    halt = heed(glimpse(answers(40)), RULES)
    assert halt is not None
    assert halt.kind == "enough"


def test_many_quick_answers_are_not_enough_before_some_time_has_passed() -> None:
    assert heed(glimpse(answers(300, each=0.01)), RULES) is None


def test_rejections_without_any_answer_end_a_level_soon() -> None:
    halt = heed(glimpse(failures(41, "rate_limited")), RULES)
    assert halt is not None
    assert halt.kind == "limit"


# After a level


def test_a_row_measures_what_comes_after_the_warm_up() -> None:
    cold = [Try(start=0.0, end=5.0, pool="p:m") for _ in range(4)]
    row = row_of(run_of([*cold, *answers(40, start=5.0, level=4)], level=4))
    assert row.p50 == 1.0
    assert row.ok_rate == pytest.approx(4.0, rel=0.05)
    assert row.answers == 36, "those begun while all places were filled"


def test_throughput_does_not_depend_on_the_wave_that_a_level_ends_in() -> None:
    rates = [row_of(run_of(answers(count, level=8), level=8)).ok_rate for count in range(32, 41)]
    assert max(rates) == pytest.approx(min(rates), rel=0.2)


def test_a_cancelled_call_counts_for_nothing() -> None:
    tries = answers(10)
    row = row_of(run_of([*tries, *failures(5, "cancelled")]))
    assert (row.tries, row.errors, row.ok_rate) == (10, 0, row_of(run_of(tries)).ok_rate)


def test_the_warm_up_ends_with_half_as_many_answers_as_there_are_places() -> None:
    assert warm_from(4, 0.0, [3.0, 1.0, 2.0, 9.0]) == 2.0
    assert warm_from(4, 7.0, []) == 7.0


def test_a_doubling_that_brings_hardly_anything_is_the_last_one() -> None:
    rows = [
        row_of(run_of(answers(60, each=each, level=level), level=level))
        for level, each in ((4, 1.0), (8, 1.9))
    ]
    assert gained(rows[0], rows[1]) < 0.1
    reason = stop_after(rows, RULES)
    assert reason == "8 at a time brought hardly more than 4"


def test_a_doubling_that_brings_something_is_followed_by_another() -> None:
    rows = [
        row_of(run_of(answers(60, each=each, level=level), level=level))
        for level, each in ((4, 1.0), (8, 1.2))
    ]
    assert stop_after(rows, RULES) is None
