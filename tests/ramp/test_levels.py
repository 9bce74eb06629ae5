"""Which levels are climbed, with how many cases each, and what is said of levels that cannot be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.ramp.levels import (
    checked_levels,
    geometric,
    in_words,
    least_cases,
    level_between,
    parse_levels,
    plan_levels,
)

RISING = st.lists(st.integers(1, 500), min_size=1, max_size=8, unique=True).map(sorted)


def test_levels_are_read_as_they_are_written() -> None:
    assert parse_levels("1, 10,50,100") == (1, 10, 50, 100)


@pytest.mark.parametrize("text", ["", "1,,2", "1;2", "one", "-1", "1.5", "1,2,", "9999999999"])
def test_what_is_no_list_of_numbers_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_levels(text)
    assert "1,10,50,100" in refused.value.hint


def test_levels_that_do_not_rise_are_refused_with_the_list_that_was_meant() -> None:
    with pytest.raises(UsageError, match="the levels do not rise: 10 comes after 50") as refused:
        parse_levels("1,50,10,50")
    assert refused.value.hint == "write --levels 1,10,50"


@pytest.mark.parametrize("levels", [(), (0, 1), (True,), (1, 2.5)])
def test_a_level_is_a_whole_number_from_one_up(levels: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="whole number"):
        checked_levels(levels)


def test_levels_that_nobody_names_double() -> None:
    assert geometric() == (1, 2, 4, 8, 16, 32, 64, 128)
    plan = plan_levels(None, per_level=20, available=5000)
    assert [each.level for each in plan.levels] == list(geometric())


def test_a_level_has_the_cases_it_takes_to_hold_it() -> None:
    plan = plan_levels((1, 10, 50, 100), per_level=20, available=5000)
    assert {each.level: each.cases for each in plan.levels} == {1: 20, 10: 30, 50: 150, 100: 300}
    assert plan.left_out == ()


def test_levels_for_which_there_are_too_few_cases_are_left_out_and_named() -> None:
    plan = plan_levels((1, 10, 50, 100), per_level=20, available=150)
    assert [each.level for each in plan.levels] == [1, 10, 50]
    assert plan.left_out == (100,)
    assert any(line.startswith("left out: level 100; level 100 takes 200 cases") for line in in_words(plan))


def test_too_few_cases_for_any_level_is_an_error_with_a_remedy() -> None:
    with pytest.raises(UsageError, match="3 open cases are too few") as refused:
        plan_levels((1, 2), per_level=20, available=3)
    assert "--repeat" in refused.value.hint


@given(levels=RISING, per_level=st.integers(1, 60), available=st.integers(0, 3000))
def test_a_plan_never_takes_more_cases_than_there_are(
    levels: list[int], per_level: int, available: int
) -> None:
    try:
        plan = plan_levels(levels, per_level=per_level, available=available)
    except UsageError:
        assert available < least_cases(levels[0], per_level)
        return
    assert plan.cases <= available
    assert [each.level for each in plan.levels] + list(plan.left_out) == levels
    assert all(each.cases >= least_cases(each.level, per_level) for each in plan.levels)


@given(low=st.integers(1, 400), more=st.integers(1, 400), guess=st.none() | st.floats(0, 1000))
def test_a_level_between_two_lies_between_them(low: int, more: int, guess: float | None) -> None:
    level = level_between(low, low + more, guess)
    assert level is None or low < level < low + more
