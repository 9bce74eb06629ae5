"""Moves of whole stretches of words, for the translation edit rate (Snover et al. 2006, section 2).

A move takes a stretch of the hypothesis that the reference has too to where the reference has it. It has to
mend something: one of its words was wrong, and one of those at its new place was missing. The one that saves
most edits is made, and so on until none saves any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

LONGEST_MOVE: Final = 10
FARTHEST_MOVE: Final = 50
"""As in the authors' own program."""


class _Path(NamedTuple):
    """How the fewest edits line two texts up."""

    errors: int
    is_wrong: list[bool]
    """Of each word of the hypothesis: whether it is not where the reference has it."""
    is_missed: list[bool]
    """Of each word of the reference: whether it has no equal in the hypothesis at its place."""
    stands_at: list[int]
    """Of each word of the reference: after how many words of the hypothesis it stands, itself included."""


def edits_with_shifts(reference: Sequence[str], hypothesis: Sequence[str]) -> tuple[int, int]:
    """How many moves, and how many edits after them."""
    words, moves = list(hypothesis), 0
    path = _path(reference, words)
    while path.errors:
        best = min(_moved(reference, words, path), default=None)
        if best is None or best.saved >= 0:
            break
        words, moves = best.words, moves + 1
        path = _path(reference, words)
    return moves, path.errors


class _Move(NamedTuple):
    """A move, ordered so that the least is the best: it saves most, is longest, comes from the first place
    and goes to the first."""

    saved: int
    longest: int
    start: int
    at: int
    words: list[str]


def _moved(reference: Sequence[str], words: list[str], path: _Path) -> Iterator[_Move]:
    for start, at, length in _stretches(reference, words):
        if not any(path.is_wrong[start : start + length]) or not any(path.is_missed[at : at + length]):
            continue
        if start <= path.stands_at[at] < start + length:
            continue  # it stands there already
        stretch, left = words[start : start + length], words[:start] + words[start + length :]
        places = set()
        for offset in range(-1, length):
            near = at + offset
            to = 0 if near < 0 else path.stands_at[near]
            to -= length if to > start else 0
            if 0 <= to <= len(left) and to not in places:
                places.add(to)
                changed = [*left[:to], *stretch, *left[to:]]
                saved = path.errors - _path(reference, changed).errors
                yield _Move(-saved, -length, start, at, changed)


def _stretches(reference: Sequence[str], words: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Stretches that both have: where each begins in the hypothesis and in the reference, and its length."""
    for start in range(len(words)):
        for at in range(len(reference)):
            if abs(start - at) > FARTHEST_MOVE:
                continue
            length = 0
            while (
                length < LONGEST_MOVE
                and start + length < len(words)
                and at + length < len(reference)
                and words[start + length] == reference[at + length]
            ):
                length += 1
                yield start, at, length


def _path(reference: Sequence[str], words: Sequence[str]) -> _Path:
    table = [list(range(len(words) + 1))]
    for wanted in reference:
        above, row = table[-1], [table[-1][0] + 1]
        for at, found in enumerate(words, start=1):
            row.append(min(above[at - 1] + (wanted != found), above[at] + 1, row[-1] + 1))
        table.append(row)
    is_wrong, is_missed = [True] * len(words), [True] * len(reference)
    stands_at = [0] * len(reference)
    place, at = len(reference), len(words)
    while place or at:
        same = bool(place and at) and reference[place - 1] == words[at - 1]
        if place and at and table[place][at] == table[place - 1][at - 1] + (not same):
            place, at = place - 1, at - 1
            is_wrong[at] = is_missed[place] = not same
            stands_at[place] = at + 1
        elif at and table[place][at] == table[place][at - 1] + 1:
            at -= 1
        else:
            place -= 1
            stands_at[place] = at
    return _Path(table[-1][-1], is_wrong, is_missed, stands_at)
