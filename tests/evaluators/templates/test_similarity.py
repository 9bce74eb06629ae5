"""How much two texts have in common: against published values, and by what has to hold for all texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators.templates.similarity import LONGEST_BY_PAIRS, jaro_winkler, soundex
from tests.evaluators.templates.asked import found, value

MUTUAL = ("levenshtein_similarity", "hamming_similarity", "jaccard_similarity", "f1_score", "squad_score")
OF_TEXTS = (*MUTUAL, "jaro_winkler_similarity", "fuzzy_match")


@pytest.mark.parametrize(
    ("name", "output", "expected", "similarity"),
    [
        ("levenshtein_similarity", "kitten", "sitting", 4 / 7),
        ("levenshtein_similarity", "", "abc", 0),
        ("hamming_similarity", "karolin", "kathrin", 4 / 7),
        ("hamming_similarity", "abc", "abcd", 3 / 4),
        ("jaccard_similarity", "The cat sat", "the cat ran away", 2 / 5),
        ("jaro_winkler_similarity", "MARTHA", "MARHTA", 0.9611),  # Winkler 1990 and his later reports
        ("jaro_winkler_similarity", "DIXON", "DICKSONX", 0.8133),
        ("jaro_winkler_similarity", "DWAYNE", "DUANE", 0.84),
        ("jaro_winkler_similarity", "JELLYFISH", "SMELLYFISH", 0.8963),
        ("fuzzy_match", "abcd", "bcde", 0.75),  # the example of difflib's manual
        ("f1_score", "the cat sat", "the cat ran away", 4 / 7),
        ("squad_score", "the Eiffel Tower!", "Eiffel tower", 1),
        ("squad_score", "a cat sat down", "the cat sat", 0.8),
        ("numeric_similarity", "about 90 km", "100", 0.9),
        ("numeric_similarity", -5, 5, 0),
        ("numeric_similarity", 0, "0", 1),
        ("numeric_similarity", "no idea", 42, 0),
        ("numeric_similarity", 0.1, 0.9, 1 / 9),
    ],
)
def test_known_values(name: str, output: Any, expected: Any, similarity: float) -> None:
    assert value(name, output=output, expected=expected) == pytest.approx(similarity, abs=5e-5)


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(OF_TEXTS))
def test_similarity_is_from_0_to_1_and_1_for_the_same(one: str, other: str, name: str) -> None:
    said = value(name, output=one, expected=other)
    assert 0 <= said <= 1
    assert found(name, output=one, expected=other).score == said
    assert value(name, output=one, expected=one) == 1


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(MUTUAL))
def test_similarity_is_mutual(one: str, other: str, name: str) -> None:
    assert value(name, output=one, expected=other) == pytest.approx(value(name, output=other, expected=one))


@given(st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_a_common_beginning_never_makes_texts_less_similar(one: str, other: str) -> None:
    assert jaro_winkler("ab" + one, "ab" + other) >= jaro_winkler(one, other) - 1e-9 or not (one and other)


def test_without_an_expected_number_there_is_nothing_to_compare_with() -> None:
    with pytest.raises(UsageError, match="no number"):
        value("numeric_similarity", output="5", expected="five")


@pytest.mark.parametrize("name", ["jaro_winkler_similarity", "fuzzy_match"])
def test_texts_that_would_take_minutes_are_refused_with_the_bound(name: str) -> None:
    with pytest.raises(UsageError, match="too long") as refused:
        value(name, output="a" * (LONGEST_BY_PAIRS + 1), expected="b")
    assert f"{LONGEST_BY_PAIRS:,}" in refused.value.hint


@pytest.mark.parametrize(
    ("comparator", "similarity"),
    [
        (
            "CosineSimilarity",
            3 / (2 * 3**0.5),
        ),  # (cat, sat, down) . (cat, sat, down, quietly), articles left out
        ("JaccardSimilarity", 4 / 5),
        ("SorensenDiceSimilarity", 8 / 9),
        ("NormalisedLevenshteinSimilarity", 16 / 24),
        ("PhoneticSimilarity", 3 / 4),
    ],
)
def test_answers_are_compared_as_the_comparator_says(comparator: str, similarity: float) -> None:
    given = {"expected_response": "the cat sat down", "response": "the cat sat down quietly"}
    assert value("answer_similarity", comparator=comparator, **given) == pytest.approx(similarity)


def test_an_answer_is_compared_by_its_words_if_nothing_is_said() -> None:
    given = {"expected_response": "Paris is the capital.", "response": "The capital is Paris!"}
    assert value("answer_similarity", **given) == pytest.approx(1)


@pytest.mark.parametrize(
    ("word", "code"),
    [
        *(("Robert", "R163"), ("Rupert", "R163"), ("Rubin", "R150"), ("Ashcraft", "A261")),
        *(("Tymczak", "T522"), ("Pfister", "P236"), ("Honeyman", "H555"), ("Lee", "L000")),
    ],
)
def test_soundex_is_that_of_the_national_archives(word: str, code: str) -> None:
    assert soundex(word) == code
