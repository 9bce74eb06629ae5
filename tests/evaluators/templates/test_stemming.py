"""Porter's stemmer, by the examples of his paper and the published vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.templates.stemming import stem


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("caress", "caress"), ("cats", "cat")),
        *(("feed", "feed"), ("agreed", "agre"), ("plastered", "plaster"), ("bled", "bled"), ("sing", "sing")),
        *(("motoring", "motor"), ("conflated", "conflat"), ("troubled", "troubl"), ("sized", "size")),
        *(
            ("hopping", "hop"),
            ("tanned", "tan"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("fizzed", "fizz"),
        ),
        *(("failing", "fail"), ("filing", "file"), ("happy", "happi"), ("sky", "sky")),
        *(("relational", "relat"), ("conditional", "condit"), ("rational", "ration"), ("digitizer", "digit")),
        *(("operator", "oper"), ("feudalism", "feudal"), ("decisiveness", "decis"), ("hopefulness", "hope")),
        *(
            ("formaliti", "formal"),
            ("sensibiliti", "sensibl"),
            ("triplicate", "triplic"),
            ("formative", "form"),
        ),
        *(("formalize", "formal"), ("electrical", "electr"), ("goodness", "good"), ("revival", "reviv")),
        *(
            ("allowance", "allow"),
            ("inference", "infer"),
            ("adjustable", "adjust"),
            ("replacement", "replac"),
        ),
        *(("adoption", "adopt"), ("communism", "commun"), ("activate", "activ"), ("probate", "probat")),
        *(
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controll", "control"),
            ("roll", "roll"),
            ("is", "is"),
            ("", ""),
        ),
        *(("generalizations", "gener"), ("oscillators", "oscil"), ("yesterday", "yesterdai")),
    ],
)
def test_forms_of_a_word_have_one_stem(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@given(st.text("abcdefghilmnorstuvwyz", max_size=15))
def test_a_stem_is_never_longer_than_its_word_and_never_gone(word: str) -> None:
    assert len(stem(word)) <= max(len(word), 1)
    assert bool(stem(word)) is bool(word)
