"""Templates about transcripts and translations: error rates, and what is left of the words.

    WER = (S + D + I) / (H + S + D)        substitutions, deletions, insertions; hits
    MER = (S + D + I) / (H + S + D + I)
    WIP = H / (H + S + D) * H / (H + S + I)        WIL = 1 - WIP

Case does not count. The score is 1 less the rate, and never below 0: a rate may be above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from paceline.errors import UsageError
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, measured, scored
from paceline.evaluators.templates.shifting import edits_with_shifts

LONGEST: Final = 3_000
"""Words, or characters, of either text: each is held against each of the other."""


class Edits(NamedTuple):
    """What turns one text into another, by the fewest steps."""

    hits: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        return self.substitutions + self.deletions + self.insertions


def edits(reference: Sequence[str], hypothesis: Sequence[str]) -> Edits:
    """The fewest edits from reference to hypothesis; of several ways, the one with most hits."""
    # Of each prefix: errors, and hits with a minus, so that the least is the best.
    row = [(place, 0) for place in range(len(hypothesis) + 1)]
    for place, wanted in enumerate(reference, start=1):
        diagonal, row[0] = row[0], (place, 0)
        for at, found in enumerate(hypothesis, start=1):
            same = wanted == found
            best = min(
                (diagonal[0] + (not same), diagonal[1] - same),
                (row[at][0] + 1, row[at][1]),
                (row[at - 1][0] + 1, row[at - 1][1]),
            )
            diagonal, row[at] = row[at], best
    errors, less_hits = row[-1]
    hits = -less_hits
    # H + S + D is the length of the reference, H + S + I that of the hypothesis.
    substitutions = len(reference) + len(hypothesis) - 2 * hits - errors
    return Edits(
        hits,
        substitutions,
        len(reference) - hits - substitutions,
        len(hypothesis) - hits - substitutions,
    )


def _words(text: str) -> list[str]:
    return text.lower().split()


def _compared(reference: str, hypothesis: str, *, by_letters: bool = False) -> tuple[Edits, int]:
    """The edits, and the length of the reference."""
    wanted, found = (
        (list(" ".join(_words(each))) if by_letters else _words(each)) for each in (reference, hypothesis)
    )
    if not wanted:
        raise Undefined("the reference has no words, so there is no rate of errors in them")
    if max(len(wanted), len(found)) > LONGEST:
        what = "characters" if by_letters else "words"
        raise UsageError(
            f"texts of {len(wanted):,} and {len(found):,} {what} are too long to be compared so",
            hint=f"{LONGEST:,} {what} are the most; compare them part by part",
        )
    return edits(wanted, found), len(wanted)


def _rate(rate: float, told: str) -> Finding:
    return measured(rate, told, score=max(0.0, 1 - rate))


def _told(found: Edits) -> str:
    return f"{found.substitutions} substitutions, {found.deletions} deletions, {found.insertions} insertions"


def word_error_rate(reference: str, hypothesis: str) -> Finding:
    """Word error rate: substitutions, deletions and insertions by the words of the reference."""
    found, length = _compared(reference, hypothesis)
    return _rate(found.errors / length, f"{_told(found)} in {length} words")


def character_error_rate(reference: str, hypothesis: str) -> Finding:
    """Character error rate: substitutions, deletions and insertions by the letters of the reference, spaces
    included.
    """
    found, length = _compared(reference, hypothesis, by_letters=True)
    return _rate(found.errors / length, f"{_told(found)} in {length} characters")


def match_error_rate(reference: str, hypothesis: str) -> Finding:
    """Match error rate: the share of all matches, hits and errors together, that are errors. Of alignments
    with the fewest errors, the one with most hits counts.
    """
    found, _ = _compared(reference, hypothesis)
    return _rate(found.errors / (found.hits + found.errors), f"{found.hits} hits, {_told(found)}")


def _preserved(reference: str, hypothesis: str) -> tuple[float, str]:
    found, length = _compared(reference, hypothesis)
    words = found.hits + found.substitutions + found.insertions
    value = found.hits / length * found.hits / words if words else 0.0
    return value, f"{found.hits} hits in {length} words of the reference and {words} of the hypothesis"


def word_info_preserved(reference: str, hypothesis: str) -> Finding:
    """Word information preserved: hits by the reference's words, times hits by the hypothesis's words."""
    return scored(*_preserved(reference, hypothesis))


def word_info_lost(reference: str, hypothesis: str) -> Finding:
    """Word information lost: 1 less what is preserved."""
    value, told = _preserved(reference, hypothesis)
    return _rate(1 - value, told)


def translation_edit_rate(reference: str, hypothesis: str) -> Finding:
    """Translation edit rate (Snover et al. 2006): edits by the words of the reference, where moving a stretch
    of words is one edit. Which moves are made is found greedily, as there.
    """
    found, length = _compared(reference, hypothesis)
    if max(length, len(_words(hypothesis))) > LONGEST_SHIFTED:
        raise UsageError(
            "the texts are too long to look for moves in them",
            hint=f"{LONGEST_SHIFTED} words are the most; compare them part by part",
        )
    moves, errors = edits_with_shifts(_words(reference), _words(hypothesis))
    told = f"{moves} moves and {errors} other edits in {length} words"
    return _rate((moves + errors) / length, f"{told}; {found.errors} edits without moves")


LONGEST_SHIFTED: Final = 300

TEMPLATES: Final = (
    computed(word_error_rate, "Numeric"),
    computed(character_error_rate, "Numeric"),
    computed(match_error_rate, "Numeric"),
    computed(word_info_preserved, "Score"),
    computed(word_info_lost, "Numeric"),
    computed(translation_edit_rate, "Numeric"),
)
