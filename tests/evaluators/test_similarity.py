"""How similar two texts are."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import EvaluationReason, TextSimilarity
from paceline.evaluators.prepare import prepare
from paceline.evaluators.similarity import LONGEST, levenshtein, ratio, token_f1
from tests.evaluators.cases import asked, finished

few_letters = st.text("abcdé", max_size=30)


def edit_distance(left: str, right: str) -> int:
    """By definition, slowly."""

    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        same = left[i - 1] == right[j - 1]
        return min(between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + (not same))

    return between(len(left), len(right))


def common(left: str, right: str) -> int:
    @cache
    def between(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return 0
        if left[i - 1] == right[j - 1]:
            return between(i - 1, j - 1) + 1
        return max(between(i - 1, j), between(i, j - 1))

    return between(len(left), len(right))


@given(few_letters, few_letters)
def test_levenshtein_is_one_less_the_share_of_edits(left: str, right: str) -> None:
    longer = max(len(left), len(right), 1)
    assert levenshtein(left, right) == pytest.approx(1 - edit_distance(left, right) / longer)


@given(few_letters, few_letters)
def test_ratio_is_the_share_of_the_longest_common_subsequence(left: str, right: str) -> None:
    both = len(left) + len(right)
    assert ratio(left, right) == pytest.approx(2 * common(left, right) / both if both else 1)


@pytest.mark.parametrize(
    ("measure", "left", "right", "value"),
    [
        (ratio, "lewenstein", "levenshtein", 0.857143),  # as RapidFuzz has it
        (levenshtein, "kitten", "sitting", 4 / 7),
        (levenshtein, "", "abc", 0),
        (token_f1, "the cat sat", "a cat sat down", 0.8),
        (token_f1, "cat cat", "cat", 2 / 3),
        (token_f1, "Paris!", "paris", 1),
        (token_f1, "x", "y", 0),
        (token_f1, "", "the", 1),
        (token_f1, "", "x", 0),
    ],
)
def test_known_values(measure: Any, left: str, right: str, value: float) -> None:
    assert measure(left, right) == pytest.approx(value, abs=1e-6)


@given(st.text(), st.text(), st.sampled_from([ratio, levenshtein, token_f1]))
def test_similarity_is_mutual_between_0_and_1_and_1_for_the_same(one: str, other: str, measure: Any) -> None:
    assert 0 <= measure(one, other) <= 1
    assert measure(one, other) == measure(other, one)
    assert measure(one, one) == 1


def test_without_a_threshold_there_is_a_score_and_with_one_an_assertion_too() -> None:
    case = finished("kitten", "sitting")
    assert asked(TextSimilarity(method="levenshtein"), case) == {"TextSimilarity": pytest.approx(4 / 7)}
    assert asked(TextSimilarity(0.5, "levenshtein", evaluation_name="near"), case) == {
        "near": pytest.approx(4 / 7),
        "near_pass": True,
    }
    said = TextSimilarity(0.6, "levenshtein").evaluate(case)
    assert said["TextSimilarity_pass"] == EvaluationReason(False, "a similarity of 0.571 is below 0.6")


def test_without_an_expected_output_nothing_is_said() -> None:
    assert TextSimilarity(0.5).evaluate(finished("x")) == {}


@pytest.mark.parametrize("output", [None, 3, ["x"]])
def test_an_output_that_is_not_text_has_nothing_in_common_with_text(output: object) -> None:
    assert asked(TextSimilarity(0.5), finished(output, "x")) == {
        "TextSimilarity": 0.0,
        "TextSimilarity_pass": False,
    }


def test_an_expected_output_that_is_not_text_is_an_error() -> None:
    with pytest.raises(TypeError, match="an int"):
        TextSimilarity().evaluate(finished("x", 3))


@pytest.mark.parametrize("method", ["ratio", "levenshtein"])
def test_texts_beyond_the_bound_are_an_error_that_names_it(method: Any) -> None:
    evaluator = TextSimilarity(method=method)
    with pytest.raises(ValueError, match=f"which takes {LONGEST} at most"):
        evaluator.evaluate(finished("a" * (LONGEST + 1), "b"))
    same = "a" * (LONGEST + 1)
    assert asked(evaluator, finished(same, same)) == {"TextSimilarity": 1.0}
    assert asked(TextSimilarity(method="token_f1"), finished(same, "b")) == {"TextSimilarity": 0.0}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ratio", "levenshtein"])
def test_the_longest_texts_take_seconds_at_most(method: Any) -> None:
    """Real time, generously: the naive table has 2.5 billion cells, which takes minutes."""
    started = time.monotonic()
    TextSimilarity(method=method).evaluate(finished("ab" * (LONGEST // 2), "ba" * (LONGEST // 2)))
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"threshold": 1.5}, {"method": "cosine"}])
def test_settings_that_mean_nothing_are_refused_at_construction(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        TextSimilarity(**wrong)


def test_comparing_texts_leaves_the_loop_free() -> None:
    assert [each.mode for each in prepare([TextSimilarity()])] == ["thread"]
