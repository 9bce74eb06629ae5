"""BLEU, GLEU, ROUGE, chrF, METEOR and CodeBLEU: against published values and those of the usual libraries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.templates.findings import Undefined
from tests.evaluators.templates.asked import found, value

# The example of the paper on BLEU (Papineni et al. 2002), which libraries use in their manuals.
GOOD = "It is a guide to action which ensures that the military always obeys the commands of the party"
POOR = "It is to insure the troops forever hearing the activity guidebook that party direct"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    " ".join(
        [
            "It is the guiding principle which guarantees the military forces always being under",
            "the command of the Party",
        ]
    ),
    "It is the practical guide for the army always to heed the directions of the party",
]
FOX = {
    "reference": "the quick brown fox jumps over the lazy dog",
    "hypothesis": "the quick brown dog jumps on the log.",
}
CAT = "The cat sat on the mat"
NAMES = ("bleu_score", "gleu_score", "rouge_score", "chrf_score", "meteor_score")


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("bleu_score", {"reference": REFERENCES, "hypothesis": GOOD}, 0.5045666840058485),  # NLTK's manual
        ("bleu_score", {"reference": REFERENCES[0], "hypothesis": GOOD}, 0.41180376356915777),
        ("bleu_score", {"reference": REFERENCES, "hypothesis": POOR}, 0.03703131191121491),  # NLTK, method 1
        ("bleu_score", {"reference": REFERENCES, "hypothesis": POOR, "smooth": False}, 0),
        (
            "bleu_score",
            {"reference": "the cat", "hypothesis": "the the the the the the the", "max_n": 1},
            1 / 7,
        ),
        ("gleu_score", {"reference": REFERENCES, "hypothesis": GOOD}, 0.4393939393939394),  # NLTK
        ("gleu_score", {"reference": REFERENCES, "hypothesis": POOR}, 0.1206896551724138),
        ("rouge_score", {**FOX}, 0.7058823529411765),  # Google's rouge-score
        ("rouge_score", {**FOX, "rouge_type": "rouge2"}, 0.26666666666666666),
        ("rouge_score", {**FOX, "rouge_type": "rougeL"}, 0.5882352941176471),
        ("rouge_score", {"reference": "he jumps", "hypothesis": "He jumping!"}, 1 / 2),
        ("rouge_score", {"reference": "he jumps", "hypothesis": "He jumping!", "use_stemmer": True}, 1),
        ("chrf_score", {"reference": REFERENCES[0], "hypothesis": GOOD}, 0.63050621049071886),  # sacreBLEU
        ("chrf_score", {"reference": REFERENCES[0], "hypothesis": POOR}, 0.33395915432470105),
        (
            "meteor_score",
            {"reference": REFERENCES[0], "hypothesis": GOOD},
            0.6944444444444445,
        ),  # NLTK's manual
        ("meteor_score", {"reference": CAT, "hypothesis": CAT}, 0.9977),  # Wikipedia's three examples
        ("meteor_score", {"reference": CAT, "hypothesis": "on the mat sat the cat"}, 0.5),
        ("meteor_score", {"reference": CAT, "hypothesis": "The cat was sat on the mat"}, 0.9654),
        (
            "meteor_score",
            {"reference": "relations", "hypothesis": "relational"},
            0.5,
        ),  # of one stem, in one chunk
    ],
)
def test_known_values(name: str, given: dict[str, Any], expected: float) -> None:
    assert value(name, **given) == pytest.approx(expected, abs=5e-5)


words = st.lists(st.sampled_from("abcde"), min_size=1, max_size=12).map(" ".join)


@given(words, words, st.sampled_from(NAMES))
def test_each_is_from_0_to_1_and_highest_for_the_same_text(one: str, other: str, name: str) -> None:
    said = value(name, reference=one, hypothesis=other)
    assert 0 <= said <= 1
    assert found(name, reference=one, hypothesis=other).score == said
    assert said <= value(name, reference=one, hypothesis=one) + 1e-9


@given(words, words, words, st.sampled_from(NAMES[1:]))
def test_another_reference_never_takes_anything_away(one: str, another: str, given: str, name: str) -> None:
    alone = value(name, reference=one, hypothesis=given)
    assert value(name, reference=[one, another], hypothesis=given) >= alone


@given(words, st.sampled_from(NAMES))
def test_words_that_nobody_used_have_nothing_in_common(one: str, name: str) -> None:
    assert value(name, reference=one, hypothesis="zz yy xx") == 0
    assert value(name, reference=one, hypothesis="") == 0


@pytest.mark.parametrize("name", [*NAMES, "code_bleu"])
def test_an_empty_reference_has_no_score(name: str) -> None:
    with pytest.raises(Undefined):
        value(name, reference=" ", hypothesis="something")


# Code ---------------------------------------------------------------------------------------------

SUM = "def total(xs):\n    result = 0\n    for x in xs:\n        result += x\n    return result\n"


def code_bleu(hypothesis: str, **more: Any) -> float:
    found = value("code_bleu", reference=SUM, hypothesis=hypothesis, **more)
    assert isinstance(found, float)
    return found


def test_the_same_code_is_as_close_as_can_be_and_other_code_is_not() -> None:
    renamed = SUM.replace("xs", "values").replace("result", "acc")
    other = "class Node:\n    def __init__(self, left):\n        self.left = left\n"
    assert code_bleu(SUM) == pytest.approx(1)
    assert 1 > code_bleu(renamed) > code_bleu(other) > 0
    assert code_bleu("") == 0


def test_code_of_the_same_form_is_closer_than_its_words_alone_tell() -> None:
    renamed = SUM.replace("xs", "values").replace("result", "acc")
    assert code_bleu(renamed) > code_bleu(renamed, language="other")


def test_its_parts_are_told_and_their_mean_is_the_value() -> None:
    said = found("code_bleu", reference="return a + b", hypothesis="return a - b", language="other")
    # Words in common: `return`, a and b, of four; without keywords all weigh the same.
    assert said.reason.endswith("with keywords 0.750")
    python = found("code_bleu", reference="return a + b", hypothesis="return a - b", language="javascript")
    assert python.reason.endswith("with keywords 0.875"), "`return` weighs five: 7 of 8"


def test_code_that_does_not_parse_has_no_syntax_in_common() -> None:
    assert "syntax 0.000" in found("code_bleu", reference=SUM, hypothesis="def total(xs:").reason
