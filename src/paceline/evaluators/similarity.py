"""TextSimilarity: how much two texts have in common, from 0 to 1.

    ratio         twice the longest common subsequence by both lengths together (1 - indel distance / length)
    levenshtein   1 - edit distance / length of the longer text
    token_f1      harmonic mean of precision and recall over words, as SQuAD scores answers

The first two go through one text bit-parallel to the other: quadratic all the same, hence a bound on length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.normalizing import words_of
from paceline.evaluators.wording import brief, kind_of

Method = Literal["ratio", "levenshtein", "token_f1"]

LONGEST = 50_000
"""Characters that either text may have: about a second of work for two such texts."""


def ratio(left: str, right: str) -> float:
    """Twice the longest common subsequence by the length of both."""
    return 2 * _common_subsequence(left, right) / (len(left) + len(right)) if left or right else 1.0


def levenshtein(left: str, right: str) -> float:
    """The part of the longer text that needs no edit."""
    return 1 - _edit_distance(left, right) / max(len(left), len(right)) if left or right else 1.0


def token_f1(left: str, right: str) -> float:
    """Words in common, each as often as it is in both."""
    ours, theirs = Counter(words_of(left)), Counter(words_of(right))
    if not ours or not theirs:
        return float(ours == theirs)
    return 2 * (ours & theirs).total() / (ours.total() + theirs.total())


def _by_length(left: str, right: str) -> tuple[str, str]:
    # A step is taken for each character of the shorter, over all bits of the longer.
    return (left, right) if len(left) >= len(right) else (right, left)


def _places(text: str) -> dict[str, int]:
    """For each character of a text the places where it stands, as bits."""
    masks: dict[str, list[int]] = {}
    for place, character in enumerate(text):
        masks.setdefault(character, []).append(place)
    size = len(text) // 8 + 1
    return {character: _bits(places, size) for character, places in masks.items()}


def _bits(places: list[int], size: int) -> int:
    octets = bytearray(size)
    for place in places:
        octets[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(octets, "little")


def _common_subsequence(left: str, right: str) -> int:
    """Length of the longest common subsequence (Hyyrö 2004: one row of the table is one integer)."""
    longer, shorter = _by_length(left, right)
    places = _places(longer)
    every = row = (1 << len(longer)) - 1
    for character in shorter:
        met = row & places.get(character, 0)
        row = ((row + met) | (row - met)) & every
    return len(longer) - row.bit_count()


def _edit_distance(left: str, right: str) -> int:
    """Levenshtein's distance (Myers 1999, Hyyrö 2003: a column is two integers, of its rises and falls)."""
    longer, shorter = _by_length(left, right)
    if not shorter:
        return len(longer)
    places = _places(longer)
    every, last = (1 << len(longer)) - 1, 1 << (len(longer) - 1)
    rises, falls, distance = every, 0, len(longer)
    for character in shorter:
        same = places.get(character, 0)
        vertical = same | falls
        horizontal = (((same & rises) + rises) ^ rises) | same
        up = falls | (every & ~(horizontal | rises))
        down = rises & horizontal
        distance += bool(up & last) - bool(down & last)
        up = (up << 1) | 1
        down <<= 1
        rises = (down | ~(vertical | up)) & every
        falls = up & vertical & every
    return distance


_MEASURES: dict[Method, Callable[[str, str], float]] = {
    "ratio": ratio,
    "levenshtein": levenshtein,
    "token_f1": token_f1,
}


@dataclass
class TextSimilarity(Evaluator[object, object, object]):
    """How similar the output is to `value`, or to the expected output, as a score from 0 to 1.

    With a threshold there is an assertion besides, under the name of the evaluator with `_pass`.
    """

    threshold: float | None = None
    method: Method = "ratio"
    value: str | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        if self.method not in _MEASURES:
            raise UsageError(
                f"TextSimilarity has no method {brief(self.method)}",
                hint=f"one of: {', '.join(get_args(Method))}",
            )
        if self.threshold is not None and not 0 < self.threshold <= 1:
            raise UsageError(
                f"{self.threshold} is no threshold for a similarity",
                hint="it is above 0 and at most 1, such as 0.8",
            )

    def evaluate(self, ctx: AnyContext) -> dict[str, EvaluationReason]:
        wanted: object = ctx.expected_output if self.value is None else self.value
        if wanted is None:
            return {}
        if not isinstance(wanted, str):
            raise TypeError(f"the expected output is {kind_of(wanted)}, and TextSimilarity compares text")
        found = ctx.output
        if not isinstance(found, str):
            return self._said(0.0, f"the output is {kind_of(found)}, not text")
        return self._said(self._similarity(found, wanted), None)

    def _similarity(self, found: str, wanted: str) -> float:
        if self.method != "token_f1" and max(len(found), len(wanted)) > LONGEST and found != wanted:
            raise ValueError(
                f"texts of {len(found)} and {len(wanted)} characters are too long for {self.method}, "
                f"which takes {LONGEST} at most; token_f1 takes any"
            )
        return 1.0 if found == wanted else _MEASURES[self.method](found, wanted)

    def _said(self, similarity: float, reason: str | None) -> dict[str, EvaluationReason]:
        name = self.get_default_evaluation_name()
        said = {name: EvaluationReason(similarity, reason)}
        if self.threshold is not None:
            passed = similarity >= self.threshold
            below = f"a similarity of {similarity:.3g} is below {self.threshold:g}"
            said[f"{name}_pass"] = EvaluationReason(passed, None if passed else reason or below)
        return said
