"""Variety, repetition, readability, and how tangled code is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.templates.findings import Undefined
from paceline.evaluators.templates.style import syllables_in
from tests.evaluators.templates.asked import found, value

NAMES = ("type_token_ratio", "distinct_n", "repetition_rate", "readability_score")


@pytest.mark.parametrize(
    ("text", "ratio"), [("a rose is a rose", 3 / 5), ("One, two; three!", 1), ("The the THE", 1 / 3)]
)
def test_different_words_by_all_words(text: str, ratio: float) -> None:
    assert value("type_token_ratio", text=text) == pytest.approx(ratio)


def test_different_stretches_by_all_stretches() -> None:
    text = "a rose is a rose is a rose"
    assert value("distinct_n", text=text, n=1) == pytest.approx(3 / 8)
    assert value("distinct_n", text=text) == pytest.approx(3 / 7)
    assert value("distinct_n", text=text, n=3) == pytest.approx(3 / 6)
    said = found("repetition_rate", text=text)
    assert said.value == pytest.approx(1 / 2)
    assert said.score == pytest.approx(1 / 2)
    assert found("repetition_rate", text="all of these words differ here").score == 1


@given(st.lists(st.sampled_from(["red", "green", "blue"]), min_size=3, max_size=30).map(" ".join))
def test_repetition_is_what_distinctness_lacks(text: str) -> None:
    assert value("repetition_rate", text=text, n=2) == pytest.approx(1 - value("distinct_n", text=text, n=2))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["", " ... ", "!?"])
def test_a_text_without_words_has_no_figure(name: str, text: str) -> None:
    with pytest.raises(Undefined):
        value(name, text=text)


def test_stretches_that_the_text_is_too_short_for_have_no_figure_and_impossible_ones_are_refused() -> None:
    with pytest.raises(Undefined, match="fewer than 3"):
        value("repetition_rate", text="two words")
    with pytest.raises(UsageError):
        value("distinct_n", text="two words", n=0)


# Reading ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ease"),
    [  # published with the formula: 116 for the first, 37.5 for the second
        ("The cat sat on the mat.", 206.835 - 1.015 * 6 - 84.6 * 1),
        (
            "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature.",
            206.835 - 1.015 * 13 - 84.6 * 24 / 13,
        ),
    ],
)
def test_reading_ease_is_that_of_the_formula(text: str, ease: float) -> None:
    said = found("readability_score", text=text)
    assert said.value == pytest.approx(ease)
    assert said.score == pytest.approx(min(max(ease / 100, 0), 1))


@pytest.mark.parametrize(
    ("word", "number"),
    [
        *(("cat", 1), ("table", 2), ("make", 1), ("the", 1), ("queue", 1), ("reading", 2), ("walked", 1)),
        *(("wanted", 2), ("boxes", 2), ("likes", 1), ("Australian", 3), ("platypus", 3), ("creature", 2)),
        *(("seemingly", 3), ("reptilian", 3), ("hybrid", 2), ("beautiful", 3), ("rhythm", 1), ("idea", 3)),
        *(("nation", 2), ("radio", 3), ("video", 3), ("question", 2), ("I", 1), ("Ann's", 1)),
    ],
)
def test_syllables_are_counted_by_the_letters(word: str, number: int) -> None:
    assert syllables_in(word) == number


# Code ---------------------------------------------------------------------------------------------

TANGLED = """
def f(a, b):
    if a and b:
        return [x for x in a if x]
    for i in b:
        while i:
            i -= 1
    try:
        return 1 if a else 2
    except ValueError:
        assert b
"""


def test_complexity_is_one_more_than_the_branches_of_the_worst_function() -> None:
    said = found("code_complexity", text=TANGLED)
    assert (said.value, said.score) == (10, 1), "as radon counts it"
    assert said.reason == "10, in f"
    assert value("code_complexity", text="x = 1") == 1
    assert value("code_complexity", text="if x:\n    y = 1\n\ndef g():\n    return 2") == 2


def test_a_function_within_another_counts_by_itself() -> None:
    nested = "def outer():\n    def inner(x):\n        return 1 if x else 2\n    return inner\n"
    assert found("code_complexity", text=nested).reason == "2, in inner"


def test_each_case_of_a_match_is_a_way_but_for_the_one_that_catches_all() -> None:
    text = "match x:\n    case 1:\n        y = 1\n    case 2:\n        y = 2\n    case _:\n        y = 3\n"
    assert value("code_complexity", text=text) == 3


def test_beyond_ten_the_score_falls() -> None:
    text = "def f(x):\n" + "".join(f"    if x == {n}:\n        return {n}\n" for n in range(24))
    assert found("code_complexity", text=text).score == pytest.approx(10 / 25)


@pytest.mark.parametrize("text", ["def f(:", "(" * 10_000])
def test_what_is_no_python_has_no_complexity(text: str) -> None:
    with pytest.raises(Undefined, match="not Python"):
        value("code_complexity", text=text)
