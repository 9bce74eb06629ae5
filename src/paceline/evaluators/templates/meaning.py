"""Templates about meaning as a model of embeddings has it: how close two texts lie to each other.

Each is a generator: it yields the texts that it wants vectors of, and gets them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Sequence
from typing import Final, TypeAlias

from paceline.evaluators.templates.entries import embedded
from paceline.evaluators.templates.findings import Finding, Undefined, scored
from paceline.evaluators.templates.kinds import Keywords
from paceline.evaluators.wording import brief

Places: TypeAlias = Sequence[Sequence[float]]
Asking: TypeAlias = Generator[list[str], Places, Finding]


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors."""
    lengths = math.hypot(*one) * math.hypot(*other)
    if not lengths:
        raise Undefined("a vector of length 0 has no direction")
    product = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return min(max(product / lengths, -1.0), 1.0)


def embedding_similarity(output: str, expected: str) -> Asking:
    """The cosine between the vectors of two texts, by a model of embeddings that `model` names."""
    one, other = yield [output, expected]
    value = cosine(one, other)
    return scored(value, f"cosine {value:.3f}")


def semantic_list_contains(
    output: str, expected: Keywords, *, similarity_threshold: float = 0.5, match_all: bool = False
) -> Asking:
    """The share of the expected phrases that are in the output, to the letter or by a sentence whose vector
    is close to theirs; with `match_all` 0 unless all are. `model` names a model of embeddings.
    """
    there = [phrase for phrase in expected if phrase.casefold() in output.casefold()]
    left = [phrase for phrase in expected if phrase not in there]
    sentences = [part.strip() for part in re.split(r"[.!?\n]+", output) if part.strip()]
    if left and sentences:
        places = yield [*left, *sentences]
        wanted, found = places[: len(left)], places[len(left) :]
        close = (max(cosine(place, each) for each in found) >= similarity_threshold for place in wanted)
        there += [phrase for phrase, is_close in zip(left, close, strict=True) if is_close]
    missing = [phrase for phrase in expected if phrase not in there]
    share = len(there) / len(expected)
    told = f"missing: {', '.join(map(brief, missing))}" if missing else "all phrases are there"
    return scored(float(not missing) if match_all else share, told)


TEMPLATES: Final = (embedded(embedding_similarity, "Score"), embedded(semantic_list_contains, "Score"))
