"""Error rates of transcripts and translations: against jiwer, sacreBLEU and the papers."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.templates.findings import Undefined
from paceline.evaluators.templates.shifting import edits_with_shifts
from paceline.evaluators.templates.transcripts import edits
from tests.evaluators.templates.asked import found, value

RATES = (
    "word_error_rate",
    "match_error_rate",
    "word_info_lost",
    "word_info_preserved",
    "character_error_rate",
)
few_words = st.lists(st.sampled_from("abcd"), max_size=7)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "wer", "mer", "wil", "cer"),
    [  # as jiwer has them
        ("the cat sat on the mat", "the cat sit on mat", 1 / 3, 1 / 3, 7 / 15, 5 / 22),
        ("hello world", "hello duck world", 1 / 2, 1 / 3, 1 / 3, 5 / 11),
        ("a b c d", "d c b a", 1, 4 / 5, 15 / 16, 4 / 7),
        ("one two three", "four five six seven", 4 / 3, 1, 1, 14 / 13),
        ("The CAT", "the cat", 0, 0, 0, 0),
        ("a b", "", 1, 1, 1, 1),
    ],
)
def test_known_values(
    reference: str, hypothesis: str, wer: float, mer: float, wil: float, cer: float
) -> None:
    expected = dict(zip(RATES, (wer, mer, wil, 1 - wil, cer), strict=True))
    for name, rate in expected.items():
        assert value(name, reference=reference, hypothesis=hypothesis) == pytest.approx(rate), name


def test_the_score_is_what_is_left_and_never_below_0() -> None:
    given = {"reference": "one two three", "hypothesis": "four five six seven"}
    assert (found("word_error_rate", **given).value, found("word_error_rate", **given).score) == (4 / 3, 0)
    assert found("word_error_rate", reference="a b c d", hypothesis="a b c").score == pytest.approx(0.75)
    assert found("word_error_rate", reference="a b", hypothesis="a c d").reason == (
        "1 substitutions, 0 deletions, 1 insertions in 2 words"
    )


def fewest(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    """By definition, slowly."""

    @cache
    def between(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        same = one[i - 1] == other[j - 1]
        return min(between(i - 1, j) + 1, between(i, j - 1) + 1, between(i - 1, j - 1) + (not same))

    return between(len(one), len(other))


@given(few_words, few_words)
def test_edits_are_the_fewest_there_are_and_add_up(reference: list[str], hypothesis: list[str]) -> None:
    counted = edits(reference, hypothesis)
    assert counted.errors == fewest(tuple(reference), tuple(hypothesis))
    assert min(counted) >= 0
    assert counted.hits + counted.substitutions + counted.deletions == len(reference)
    assert counted.hits + counted.substitutions + counted.insertions == len(hypothesis)


@pytest.mark.parametrize("name", [*RATES, "translation_edit_rate"])
def test_a_rate_of_errors_in_nothing_does_not_exist(name: str) -> None:
    with pytest.raises(Undefined):
        value(name, reference="  ", hypothesis="a b")


@pytest.mark.parametrize("name", [*RATES, "translation_edit_rate"])
def test_texts_that_would_take_minutes_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="too long"):
        value(name, reference="a b " * 2000, hypothesis="c")


# Moves --------------------------------------------------------------------------------------------


def test_the_example_of_the_paper_on_ter_has_its_value() -> None:
    said = found(
        "translation_edit_rate",
        reference="SAUDI ARABIA denied THIS WEEK information published in the AMERICAN new york times",
        hypothesis="THIS WEEK THE SAUDIS denied information published in the new york times",
    )
    assert said.value == pytest.approx(4 / 13), "one move, two substitutions and one insertion"
    assert said.reason.startswith("1 moves and 3 other edits")


@pytest.mark.parametrize(
    ("reference", "hypothesis", "moves", "errors"),
    [
        ("a b c d e", "a b c d e", 0, 0),
        ("a b c d e", "d e a b c", 1, 0),
        ("a b c d e", "b a c d e", 1, 0),
        ("a b", "c d", 0, 2),
        ("a b c", "", 0, 3),
    ],
)
def test_a_stretch_of_words_is_moved_at_the_price_of_one(
    reference: str, hypothesis: str, moves: int, errors: int
) -> None:
    assert edits_with_shifts(reference.split(), hypothesis.split()) == (moves, errors)


@given(few_words, few_words)
def test_moves_never_cost_more_than_doing_without_them(reference: list[str], hypothesis: list[str]) -> None:
    moves, errors = edits_with_shifts(reference, hypothesis)
    assert moves + errors <= fewest(tuple(reference), tuple(hypothesis))
