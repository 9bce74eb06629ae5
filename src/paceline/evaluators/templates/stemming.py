"""Porter's stemmer: `relational` and `relations` become `relat`, so that forms of one word are the same.

M. F. Porter, An algorithm for suffix stripping, Program 14 (1980). English only, lower case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final


def _letters(stem: str) -> str:
    """Each letter as `v` (a vowel, or y after a consonant) or `c`."""
    kinds = ""
    for letter in stem:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds.endswith("c"))
        kinds += "v" if is_vowel else "c"
    return kinds


def _measure(stem: str) -> int:
    """How often vowels are followed by consonants: Porter's m."""
    return len(re.findall("v+c+", _letters(stem)))


def _has_vowel(stem: str) -> bool:
    return "v" in _letters(stem)


def _ends_double(stem: str) -> bool:
    return len(stem) > 1 and stem[-1] == stem[-2] and _letters(stem).endswith("c")


def _ends_cvc(stem: str) -> bool:
    return _letters(stem).endswith("cvc") and stem[-1] not in "wxy"


_Condition = Callable[[str], bool]


def _m_above(least: int) -> _Condition:
    return lambda stem: _measure(stem) > least


def _replaced(word: str, rules: Iterable[tuple[str, str]], fits: _Condition) -> str:
    """The first rule whose ending is there decides, whether or not its condition holds."""
    for ending, replacement in rules:
        if word.endswith(ending):
            stem = word[: len(word) - len(ending)]
            return stem + replacement if fits(stem) else word
    return word


_PLURALS: Final = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
_STEP_2: Final = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize")),
    *(("abli", "able"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous")),
    *(("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive")),
    *(("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble")),
)
_STEP_3: Final = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", "")),
    ("ness", ""),
)
_STEP_4: Final = tuple(
    (ending, "")
    for ending in (
        *("ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous"),
        *("ive", "ize", "ion", "al", "er", "ic", "ou"),
    )
)


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if len(word) <= 2:
        return word
    word = _replaced(word, _PLURALS, lambda _: True)
    word = _past_and_present(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = f"{word[:-1]}i"
    word = _replaced(word, _STEP_2, _m_above(0))
    word = _replaced(word, _STEP_3, _m_above(0))
    word = _step_4(word)
    return _without_final_e(word)


def _past_and_present(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        shorter = word.removesuffix(ending)
        if shorter != word:
            return _mended(shorter) if _has_vowel(shorter) else word
    return word


def _mended(word: str) -> str:
    """What is left of `hopping`, `hoping` or `conflated` without its ending, as a word again."""
    if word.endswith(("at", "bl", "iz")):
        return f"{word}e"
    if _ends_double(word) and word[-1] not in "lsz":
        return word[:-1]
    return f"{word}e" if _measure(word) == 1 and _ends_cvc(word) else word


def _step_4(word: str) -> str:
    def fits(stem: str) -> bool:
        return _measure(stem) > 1 and (not word.endswith("ion") or stem.endswith(("s", "t")))

    return _replaced(word, _STEP_4, fits)


def _without_final_e(word: str) -> str:
    if word.endswith("e"):
        shorter = word[:-1]
        m = _measure(shorter)
        if m > 1 or (m == 1 and not _ends_cvc(shorter)):
            word = shorter
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word
