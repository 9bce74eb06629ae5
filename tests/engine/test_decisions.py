"""What follows from how an attempt went."""

from __future__ import annotations

from typing import get_args

import pytest

from paceline.engine.decisions import OUTCOME_OF_ERROR, cancelled, is_owed, outcome_of, skipped, timed_out
from paceline.engine.ports import Attempted, Work
from paceline.journal.records import FINAL, ErrorClass, ErrorFacts, Key


@pytest.mark.parametrize(
    ("error_class", "outcome"),
    [
        ("permanent", "task_error"),
        ("timeout", "timeout"),
        ("cancelled", "cancelled"),
        ("rate_limited", "infra_error"),
        ("transient", "infra_error"),
        ("infrastructure", "infra_error"),
    ],
)
def test_each_class_of_error_ends_a_key_its_way(error_class: ErrorClass, outcome: str) -> None:
    failed = Attempted(error=ErrorFacts(type="E"), error_class=error_class)
    assert outcome_of(failed) == outcome


def test_every_class_has_its_outcome() -> None:
    assert set(OUTCOME_OF_ERROR) == set(get_args(ErrorClass))


def test_what_was_nobodys_answer_is_open_to_a_resume() -> None:
    final = {name for name, outcome in OUTCOME_OF_ERROR.items() if outcome in FINAL}
    assert final == {"permanent", "timeout"}


@pytest.mark.parametrize(
    ("error_class", "live", "owed"),
    [
        ("infrastructure", 0, True),
        ("infrastructure", 1, False),  # what comes after that may depend on its answer
        ("permanent", 0, False),  # the same answers lead to the same failure
        ("timeout", 0, False),
    ],
)
def test_a_tape_is_still_owed_where_nobodys_answer_was_wrong_and_nothing_else_was_asked(
    error_class: ErrorClass, live: int, owed: bool
) -> None:
    failed = Attempted(error=ErrorFacts(type="E"), error_class=error_class)
    assert is_owed(failed, Work(Key("a"), 2, None, calls=3, live=live)) is owed


def test_an_answer_is_scored() -> None:
    assert outcome_of(Attempted(output=None)) == "scored"


@pytest.mark.parametrize(
    ("stage", "abandoned", "told", "recorded"),
    [
        ("task", False, "the attempt took longer than 5 s", "task"),
        ("case", False, "the case took longer than 5 s", "task"),
        ("setup", False, "the hook `setup` took longer than 5 s", "setup"),
        (
            "task",
            True,
            "the attempt took longer than 5 s, ignored its cancellation and was left behind",
            "task",
        ),
    ],
)
def test_a_timeout_says_what_was_late(stage: str, abandoned: bool, told: str, recorded: str) -> None:
    late = timed_out(6.0, stage=stage, limit=5.0, waited=1.0, abandoned=abandoned)
    assert late.error is not None
    assert (late.error.message, late.error.stage) == (told, recorded)
    assert (late.seconds, late.waited, late.abandoned) == (6.0, 1.0, int(abandoned))


def test_what_was_cut_off_keeps_what_it_has_counted() -> None:
    assert cancelled(1.0, metrics={"cost": 0.5}).metrics == {"cost": 0.5}
    assert outcome_of(cancelled(1.0)) == "cancelled"


def test_what_was_skipped_says_why() -> None:
    error = skipped("the money is gone").error
    assert error is not None
    assert (error.type, error.message, error.stage) == ("Budget", "the money is gone", "engine")
