"""What happens becomes lines, and, once they are safe, events and counts."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.engine.bookkeeping import Bookkeeper, countable
from paceline.engine.events import AnyEvent, CaseFinished, Gauge
from paceline.engine.ports import Attempted
from paceline.journal.encoding import encode_line, parse
from paceline.journal.records import ErrorFacts, EvaluatorFailure, OutcomeLine, Score, verdict
from tests.engine.stage import LoopClock, SlowDisk, cases, turn_of


class StoppedClock(LoopClock):
    def now(self) -> float:
        return 5.0

    def epoch(self) -> float:
        return 1_800_000_000.0


def books(disk: SlowDisk, *listeners: Any) -> Bookkeeper:
    return Bookkeeper(disk, Gauge(), listeners, StoppedClock())


def score(value: bool | int | str) -> Score:
    return Score(name="s", value=value, by="s")


@pytest.mark.parametrize(
    ("values", "passed"),
    [
        ([], None),
        ([3, "label"], None),
        ([True], True),
        ([True, 0, ""], True),
        ([True, False, True], False),
        ([0, 0.0], None),
        ([1], None),
    ],
)
def test_a_case_passes_with_at_least_one_assertion_and_all_of_them_true(
    values: list[Any], passed: bool | None
) -> None:
    assert verdict(map(score, values)) is passed


Numbers = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.fractions(),
    st.decimals(allow_nan=True),
    st.text(max_size=3),
    st.none(),
    st.binary(max_size=2),
)


@given(metrics=st.dictionaries(st.text(max_size=5), Numbers, max_size=6))
def test_whatever_metrics_there_are_the_line_can_be_read_back(metrics: dict[str, Any]) -> None:
    kept = countable(metrics)
    assert all(type(number) in (int, float) for number in kept.values())
    line = parse(encode_line(OutcomeLine(case="c", at=0.0, outcome="scored", metrics=kept)))
    assert isinstance(line, OutcomeLine)
    assert list(line.metrics.values()) == list(kept.values())


def test_numbers_of_other_kinds_count_by_their_value() -> None:
    class Odd:
        def __float__(self) -> float:
            raise SystemExit

    metrics: Mapping[str, Any] = {"d": Decimal("0.5"), "f": Fraction(1, 4), "b": True, "s": "7", "o": Odd()}
    assert countable(metrics) == {"d": 0.5, "f": 0.25, "b": 1}


def test_an_outcome_is_told_and_counted_once_its_line_is_safe_and_in_order() -> None:
    disk, told = SlowDisk(), list[AnyEvent]()
    kept = books(disk, told.append)
    turns = [turn_of(case, f"case-{case.inputs}") for case in cases(3)]
    for turn in turns:
        kept.begin(turn)
        kept.outcome(turn, "scored", Attempted(output=1), total=1.0, scores=[score(True)])
    disk.committed = 3
    kept.on_commit()
    assert kept.gauge.done == 1
    disk.committed = 6
    kept.on_commit()
    kept.on_commit()
    assert [event.key.case for event in told if isinstance(event, CaseFinished)] == [
        "case-0",
        "case-1",
        "case-2",
    ]
    assert (kept.gauge.done, kept.gauge.passed) == (3, 3)


def test_scores_that_were_told_before_count_for_the_verdict() -> None:
    disk, told = SlowDisk(), list[AnyEvent]()
    kept = books(disk, told.append)
    (turn,) = [turn_of(case, "case") for case in cases(1)]
    kept.outcome(turn, "scored", Attempted(output=1), total=1.0, told=[score(False)], scores=[score(True)])
    disk.commit()
    kept.on_commit()
    (event,) = told
    assert isinstance(event, CaseFinished)
    assert event.passed is False
    assert len(event.scores) == 2
    assert kept.gauge.failed == 1


def test_what_ended_without_being_scored_never_passes() -> None:
    disk, told = SlowDisk(), list[AnyEvent]()
    kept = books(disk, told.append)
    failures = [EvaluatorFailure(by="judge", error=ErrorFacts(type="E"))]
    (turn,) = [turn_of(case, "case") for case in cases(1)]
    kept.outcome(
        turn, "evaluator_error", Attempted(output=1), total=1.0, scores=[score(True)], failures=failures
    )
    disk.commit()
    kept.on_commit()
    (event,) = told
    assert isinstance(event, CaseFinished)
    assert event.passed is False
    assert kept.gauge.errors == 1


def test_events_of_single_cases_are_made_only_where_somebody_wants_them() -> None:
    class Reader:
        wants_cases = False

        def __init__(self) -> None:
            self.told: list[AnyEvent] = []

        def __call__(self, event: AnyEvent) -> None:
            self.told.append(event)

    reader, disk = Reader(), SlowDisk()
    kept = books(disk, reader)
    (turn,) = [turn_of(case, "case") for case in cases(1)]
    kept.begin(turn)
    kept.outcome(turn, "scored", Attempted(output=1), total=1.0)
    disk.commit()
    kept.on_commit()
    assert reader.told == []
    assert kept.gauge.done == 1
