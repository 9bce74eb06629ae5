"""Failures with one reason are told as one."""

from __future__ import annotations

import pytest

from paceline.journal.records import ErrorFacts
from paceline.report.causes import MAX_CAUSES, OTHER, Causes, normalised


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("row 17 of 200", "row 4 of 1,200"),
        ('cannot read "a.csv"', 'cannot read "another.csv"'),
        ("no key 'x' in `y`", "no key 'zebra' in `q`"),
        ("object at 0x7f3a", "object at 0xdeadbeef"),
        ("request 550e8400-e29b-41d4-a716-446655440000", "request 123e4567-e89b-12d3-a456-426614174000"),
        ("took 1.5 s", "took 30 s"),
        ("two\n  lines", "two lines"),
    ],
)
def test_what_differs_from_one_failure_to_the_next_is_left_aside(one: str, another: str) -> None:
    assert normalised(one) == normalised(another)


@pytest.mark.parametrize(
    ("one", "another"),
    [("cannot read", "cannot write"), ("don't know Paris", "don't know Rome"), ("added", "faced")],
)
def test_words_are_kept(one: str, another: str) -> None:
    assert normalised(one) != normalised(another)


def test_a_cause_keeps_the_message_of_its_first_failure() -> None:
    causes = Causes()
    codes = {causes.code("task_error", ErrorFacts(type="ValueError", message=f"row {n}")) for n in range(9)}
    assert len(codes) == 1
    assert causes[codes.pop()].message == "row 0"


def test_outcome_stage_type_and_evaluator_tell_causes_apart() -> None:
    causes = Causes()
    error = ErrorFacts(type="ValueError", message="no")
    assert (
        len(
            {
                causes.code("task_error", error),
                causes.code("infra_error", error),
                causes.code("task_error", ErrorFacts(type="KeyError", message="no")),
                causes.code("task_error", ErrorFacts(type="ValueError", message="no", stage="teardown")),
                causes.code("evaluator_error", error, evaluator="Judge"),
                causes.code("evaluator_error", error, evaluator="Judge_2"),
            }
        )
        == 6
    )


def test_ten_thousand_different_causes_take_bounded_memory() -> None:
    causes = Causes()
    words = ["".join(chr(97 + (n // 26**place) % 26) for place in range(4)) for n in range(10_000)]
    codes = [causes.code("task_error", ErrorFacts(type="ValueError", message=word)) for word in words]
    assert len(causes.named) == MAX_CAUSES + 1
    assert causes[codes[0]].message == words[0]
    assert causes[codes[-1]] == OTHER
    # Known ones are still known when there is no room for more.
    assert causes.code("task_error", ErrorFacts(type="ValueError", message=words[0])) == codes[0]


def test_a_message_of_many_megabytes_is_cut() -> None:
    causes = Causes()
    code = causes.code("task_error", ErrorFacts(type="ValueError", message="'" + "x" * 10_000_000))
    assert len(causes[code].message) == 500
