"""Templates about how much two texts have in common, letter by letter or word by word."""

from __future__ import annotations

import difflib
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final, Literal

from paceline.errors import UsageError
from paceline.evaluators.normalizing import words_of
from paceline.evaluators.numeric import number_of
from paceline.evaluators.similarity import LONGEST, levenshtein, token_f1
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, scored
from paceline.evaluators.templates.kinds import NumberOrText
from paceline.evaluators.wording import brief

LONGEST_BY_PAIRS: Final = 5_000
"""Characters of a text where each is held against each of the other: a second or so."""

Comparator = Literal[
    "CosineSimilarity",
    "NormalisedLevenshteinSimilarity",
    "JaroWincklerSimilarity",
    "JaccardSimilarity",
    "SorensenDiceSimilarity",
    "PhoneticSimilarity",
]


def _bounded(one: str, other: str, longest: int) -> None:
    if one != other and max(len(one), len(other)) > longest:
        raise UsageError(
            f"texts of {len(one):,} and {len(other):,} characters are too long to be compared so",
            hint=f"{longest:,} characters are the most; jaccard_similarity and f1_score take any",
        )


def plain_words(text: str) -> list[str]:
    """Words in lower case as they stand between spaces."""
    return text.casefold().split()


def levenshtein_similarity(output: str, expected: str) -> Finding:
    """1 less the edits (insertions, deletions, substitutions) by the length of the longer text."""
    _bounded(output, expected, LONGEST)
    value = levenshtein(output, expected)
    return scored(value, f"{value:.1%} of the longer text needs no edit")


def fuzzy_match(output: str, expected: str) -> Finding:
    """Twice the letters in matching blocks by the length of both texts, as `difflib` finds them."""
    _bounded(output, expected, LONGEST_BY_PAIRS)
    value = difflib.SequenceMatcher(None, output, expected, autojunk=False).ratio()
    return scored(value, f"{value:.1%} of both texts is in matching blocks")


def hamming_similarity(output: str, expected: str) -> Finding:
    """The share of places with the same letter, by the length of the longer text."""
    longer = max(len(output), len(expected))
    same = sum(one == other for one, other in zip(output, expected, strict=False))
    return scored(same / longer if longer else 1.0, f"{same} of {longer} places have the same letter")


def jaccard_similarity(output: str, expected: str) -> Finding:
    """The words that both texts have, by the words that either has, each word counted once."""
    value = jaccard(set(plain_words(output)), set(plain_words(expected)))
    return scored(value, f"{value:.1%} of the different words are in both")


def jaccard(one: set[str], other: set[str]) -> float:
    """What two sets have in common, by what they have together."""
    together = one | other
    return len(one & other) / len(together) if together else 1.0


def jaro_winkler_similarity(output: str, expected: str) -> Finding:
    """Jaro's similarity, raised for a common beginning where it is above 0.7 (Winkler 1990)."""
    _bounded(output, expected, LONGEST_BY_PAIRS)
    value = jaro_winkler(output, expected)
    return scored(value, f"Jaro-Winkler {value:.3f}")


def jaro_winkler(one: str, other: str) -> float:
    """Jaro and Winkler's similarity: a tenth of what is missing for each of up to four first letters."""
    jaro = _jaro(one, other)
    if jaro <= 0.7:
        return jaro
    pairs = zip(one[:4], other[:4], strict=False)
    prefix = next((place for place, (left, right) in enumerate(pairs) if left != right), None)
    prefix = min(4, len(one), len(other)) if prefix is None else prefix
    return jaro + prefix * 0.1 * (1 - jaro)


def _jaro(one: str, other: str) -> float:
    if not one and not other:
        return 1.0
    reach = max(max(len(one), len(other)) // 2 - 1, 0)
    taken = [False] * len(other)
    ours: list[str] = []
    for place, letter in enumerate(one):
        for near in range(max(0, place - reach), min(len(other), place + reach + 1)):
            if not taken[near] and other[near] == letter:
                taken[near] = True
                ours.append(letter)
                break
    if not ours:
        return 0.0
    theirs = [letter for letter, is_taken in zip(other, taken, strict=True) if is_taken]
    swapped = sum(left != right for left, right in zip(ours, theirs, strict=True)) // 2
    met = len(ours)
    return (met / len(one) + met / len(other) + (met - swapped) / met) / 3


def numeric_similarity(output: NumberOrText, expected: NumberOrText) -> Finding:
    """1 less the difference of two numbers by the larger of them. They are found in text as NumericClose
    finds them.
    """
    wanted = number_of(expected)
    if wanted is None or not math.isfinite(wanted.value):
        raise UsageError(
            f"there is no number in {brief(expected)}", hint="expected=42, or text with a number"
        )
    found = number_of(output)
    if found is None or not math.isfinite(found.value):
        return scored(0.0, f"there is no number in {brief(output)}")
    larger = max(abs(found.value), abs(wanted.value))
    distance = abs(found.value - wanted.value) / larger if larger else 0.0
    return scored(max(0.0, 1 - distance), f"{found} and {wanted} differ by {distance:.1%} of the larger")


def f1_score(output: str, expected: str) -> Finding:
    """The harmonic mean of precision and recall over words, in lower case, as they stand between spaces."""
    ours, theirs = Counter(plain_words(output)), Counter(plain_words(expected))
    if not ours or not theirs:
        return scored(float(ours == theirs), "there are no words to compare")
    common = (ours & theirs).total()
    precision, recall = common / ours.total(), common / theirs.total()
    value = 2 * common / (ours.total() + theirs.total())
    return scored(value, f"precision {precision:.1%}, recall {recall:.1%}")


def squad_score(output: str, expected: str) -> Finding:
    """F1 over words as SQuAD counts it: without case, punctuation and articles. The reason says whether it
    is an exact match.
    """
    exact = words_of(output) == words_of(expected)
    value = token_f1(output, expected)
    return scored(value, f"{'an exact match' if exact else 'no exact match'}, F1 {value:.3f}")


# Answers ------------------------------------------------------------------------------------------


def answer_similarity(
    expected_response: str, response: str, *, comparator: Comparator = "CosineSimilarity"
) -> Finding:
    """How similar an answer is to the expected one: by the angle between their counts of words, or as
    `comparator` says.
    """
    value = _COMPARATORS[comparator](expected_response, response)
    return scored(value, f"{comparator} {value:.3f}")


def _cosine(one: str, other: str) -> float:
    ours, theirs = Counter(words_of(one)), Counter(words_of(other))
    if not ours or not theirs:
        return float(ours == theirs)
    product = sum(count * theirs[word] for word, count in ours.items())
    lengths = (math.sqrt(sum(count**2 for count in each.values())) for each in (ours, theirs))
    return min(1.0, product / math.prod(lengths))


def _dice(one: str, other: str) -> float:
    ours, theirs = set(plain_words(one)), set(plain_words(other))
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours or theirs else 1.0


def _phonetic(one: str, other: str) -> float:
    return jaccard({soundex(word) for word in words_of(one)}, {soundex(word) for word in words_of(other)})


def _by_letters(measure: Callable[[str, str], float], longest: int) -> Callable[[str, str], float]:
    def bounded(one: str, other: str) -> float:
        _bounded(one, other, longest)
        return measure(one, other)

    return bounded


_COMPARATORS: Final[Mapping[Comparator, Callable[[str, str], float]]] = {
    "CosineSimilarity": _cosine,
    "NormalisedLevenshteinSimilarity": _by_letters(levenshtein, LONGEST),
    "JaroWincklerSimilarity": _by_letters(jaro_winkler, LONGEST_BY_PAIRS),
    "JaccardSimilarity": lambda one, other: jaccard(set(plain_words(one)), set(plain_words(other))),
    "SorensenDiceSimilarity": _dice,
    "PhoneticSimilarity": _phonetic,
}

_SOUNDS: Final = {
    letter: code
    for code, letters in {"1": "bfpv", "2": "cgjkqsxz", "3": "dt", "4": "l", "5": "mn", "6": "r"}.items()
    for letter in letters
}


def soundex(word: str) -> str:
    """How an English word sounds, roughly: a letter and three digits (Russell 1918). Other words stay."""
    letters = word.lower()
    if not re.fullmatch("[a-z]+", letters):
        return word
    digits, before = "", _SOUNDS.get(letters[0], "")
    for letter in letters[1:]:
        code = _SOUNDS.get(letter, "")
        if code and code != before:
            digits += code
        if letter not in "hw":  # they do not part what sounds the same
            before = code
    return f"{letters[0].upper()}{digits[:3]:0<3}"


TEMPLATES: Final = (
    computed(levenshtein_similarity, "Score"),
    computed(fuzzy_match, "Score"),
    computed(hamming_similarity, "Score"),
    computed(jaccard_similarity, "Score"),
    computed(jaro_winkler_similarity, "Score"),
    computed(numeric_similarity, "Score"),
    computed(f1_score, "Score"),
    computed(squad_score, "Score"),
    computed(answer_similarity, "Score"),
)
