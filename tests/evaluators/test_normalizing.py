"""Two texts that say the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators import Normalized
from paceline.evaluators.normalizing import words_of
from tests.evaluators.cases import finished, passes, reason


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("paris", "Paris"),
        ("  Paris \n", "Paris"),
        ("New   York", "new\nyork"),
        ("Paris.", "Paris"),
        ("“Paris”", "Paris"),
        ("`Paris`", "**Paris**"),
        ("it's", "its"),
        ("well-known", "well known"),
        ("yes/no", "yes no"),
        ("STRASSE", "straße"),
        ("ﬁne", "fine"),
        ("cafe\u0301", "café"),
        ("ＡＢＣ", "abc"),
        ("42", 42),
        (3.5, "3.5"),
        ("1,000.50 dollars!", "1,000.50 dollars"),
    ],
)
def test_case_space_punctuation_and_encoding_do_not_matter(output: object, expected: object) -> None:
    assert passes(Normalized(), output, expected) is True


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Rome", "Paris"),
        ("-5", "5"),
        ("−5", "5"),
        ("1.5", "15"),
        (".5", "5"),
        ("1,5", "15"),
        ("5%", "5"),
        ("$5", "5"),
        ("the answer", "answer"),
        ("...", "?!"),
        ("-", "+"),
        ("", "x"),
        (None, "None"),
        (True, "True"),
        ([], "[]"),
    ],
)
def test_what_makes_another_answer_stays(output: object, expected: object) -> None:
    assert passes(Normalized(), output, expected) is False


@pytest.mark.parametrize(
    ("evaluator", "output", "expected", "answer"),
    [
        (Normalized(strip=True), " Paris\n", "Paris", True),
        (Normalized(strip=True), "paris", "Paris", False),
        (Normalized(strip=True), "New  York", "New York", False),
        (Normalized(case=False), "paris", "Paris", False),
        (Normalized(space=False), "New  York", "New York", False),
        (Normalized(space=False), " New York ", "New York", True),
        (Normalized(punctuation=False), "Paris.", "Paris", False),
        (Normalized(unicode=False), "ﬁt", "fit", True),  # folding the case does this one too
        (Normalized(unicode=False), "ＡＢＣ", "abc", False),
        (Normalized(articles=True), "The answer", "an answer", True),
        (Normalized(articles=True), "the", "a", False),
        (Normalized("Paris"), "paris!", "Rome", True),
        (Normalized(42), "42", None, True),
        (Normalized(), "x", None, None),
    ],
)
def test_each_step_can_be_chosen(
    evaluator: Normalized, output: object, expected: object, answer: bool | None
) -> None:
    assert passes(evaluator, output, expected) is answer


def test_an_expected_output_that_is_not_text_is_an_error() -> None:
    with pytest.raises(TypeError, match="a list"):
        Normalized().evaluate(finished("x", ["x"]))


def test_the_reason_shows_both_texts() -> None:
    assert reason(Normalized(), "Rome", "Paris") == "'Rome' does not say the same as 'Paris'"
    assert reason(Normalized(), None, "Paris") == "the output is None, not text"


@given(st.text())
def test_a_text_says_the_same_as_itself_however_it_is_spaced(text: str) -> None:
    assert passes(Normalized(text or "x"), f"  {text or 'x'}\n") is True


@given(st.text(), st.text())
def test_saying_the_same_is_mutual(one: str, other: str) -> None:
    said: Any = passes(Normalized(), one, other)
    # Where nothing is left of one side only, the other side decides.
    if Normalized().normalized(one) and Normalized().normalized(other):
        assert said is passes(Normalized(), other, one)


def test_words_are_those_that_squad_counts() -> None:
    assert words_of("The cat, and an old-ish hat!") == ["cat", "and", "old", "ish", "hat"]
