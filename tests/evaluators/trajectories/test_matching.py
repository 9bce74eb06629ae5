"""How far the tools that were called are the expected ones, in order or in any."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import TrajectoryMatch
from paceline.evaluators.trajectories.matching import f1, in_common
from tests.evaluators.trajectories.told import Call, after, said

names = st.lists(st.sampled_from("abcd"), max_size=12)


def longest_common_subsequence(left: list[str], right: list[str]) -> int:
    """By definition, slowly."""

    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        if left[i - 1] == right[j - 1]:
            return between(i - 1, j - 1) + 1
        return max(between(i - 1, j), between(i, j - 1))

    return between(len(left), len(right))


@given(names, names)
def test_in_order_it_is_the_longest_common_subsequence(actual: list[str], expected: list[str]) -> None:
    assert in_common(actual, expected, "in_order") == longest_common_subsequence(actual, expected)


@given(names, names)
def test_in_any_order_it_is_what_both_have_as_often_as_both_have_it(
    actual: list[str], expected: list[str]
) -> None:
    assert in_common(actual, expected, "any_order") == (Counter(actual) & Counter(expected)).total()


@given(names, names)
def test_the_score_is_f1_of_precision_and_recall(actual: list[str], expected: list[str]) -> None:
    common = in_common(actual, expected, "in_order")
    score = f1(common, len(actual), len(expected))
    if common:
        precision, recall = common / len(actual), common / len(expected)
        assert score == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert score == (not actual and not expected)


@given(names, names)
def test_a_stricter_order_never_scores_higher(actual: list[str], expected: list[str]) -> None:
    scores = [
        said(TrajectoryMatch(expected, order=order), after(*actual))[0]
        for order in ("exact", "in_order", "any_order")
    ]
    assert scores == sorted(scores)
    assert all(isinstance(score, float) and 0 <= score <= 1 for score in scores)
    assert (scores[0] == 1.0) is (actual == expected)


@given(names)
def test_order_is_all_that_tells_a_sequence_from_its_reverse(actual: list[str]) -> None:
    backwards = TrajectoryMatch(actual[::-1], order="any_order")
    assert said(backwards, after(*actual))[0] == 1.0


@pytest.mark.parametrize("order", ["exact", "in_order", "any_order"])
def test_nothing_expected_and_nothing_called_is_a_match(order: Any) -> None:
    assert said(TrajectoryMatch([], order=order), after())[0] == 1.0
    assert said(TrajectoryMatch([], order=order), after("a"))[0] == 0.0
    assert said(TrajectoryMatch(["a"], order=order), after())[0] == 0.0


def test_the_reason_tells_how_the_score_came_about() -> None:
    value, why = said(TrajectoryMatch(["a", "b", "c"]), after("a", "c", "d"))
    assert value == pytest.approx(2 / 3)
    assert why == "2 in common, of 3 called and 3 expected (F1 0.667): [a, c, d], expected [a, b, c]"


def test_calls_that_failed_count_only_if_they_are_to() -> None:
    calls = (Call("a", failed=True), Call("a"))
    assert said(TrajectoryMatch(["a"], order="exact"), after(*calls))[0] == 1.0
    assert said(TrajectoryMatch(["a", "a"], order="exact", include_failed=True), after(*calls))[0] == 1.0


def test_with_a_threshold_there_is_an_assertion_besides() -> None:
    found = TrajectoryMatch(["a", "b"], threshold=0.8, evaluation_name="path").evaluate(after("a"))
    assert isinstance(found, dict)
    assert {name: one.value for name, one in found.items()} == {
        "path": pytest.approx(2 / 3),
        "path_pass": False,
    }


def test_a_long_trajectory_is_compared_in_no_time_and_one_without_end_is_refused() -> None:
    long = ["a", "b"] * 2_000
    assert said(TrajectoryMatch(long), after(*long))[0] == 1.0
    with pytest.raises(ValueError, match="any_order"):
        TrajectoryMatch(long).evaluate(after(*["a"] * 6_000))


@pytest.mark.parametrize("bad", [{"order": "sorted"}, {"threshold": 2}, {"threshold": True}])
def test_what_cannot_be_meant_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TrajectoryMatch(["a"], **bad)
