"""Templates about generated text and its references: BLEU and its kin, as the papers define them.

Words are what stands between spaces; case counts where the papers let it count. Each measure is that of one
text. Averages over many are not what the papers report for a corpus.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, scored
from paceline.evaluators.templates.kinds import Texts
from paceline.evaluators.templates.stemming import stem

Words = Sequence[str]
RougeType = Literal["rouge1", "rouge2", "rougeL"]


def ngrams(items: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    """All stretches of so many items, with how often each is there."""
    return Counter(tuple(items[at : at + size]) for at in range(len(items) - size + 1))


def _some(references: Iterable[str]) -> list[str]:
    given = [each for each in references if each.strip()]
    if not given:
        raise Undefined("the reference is empty, so nothing can be held against it")
    return given


# BLEU and GLEU ------------------------------------------------------------------------------------


def bleu_score(reference: Texts, hypothesis: str, *, max_n: int = 4, smooth: bool = True) -> Finding:
    """BLEU (Papineni et al. 2002) with n-grams of up to `max_n` words; of several references, the best for
    each n-gram. With `smooth`, an n-gram length without a match counts as a tenth of one (Chen and Cherry
    2014, method 1).
    """
    value = bleu([each.split() for each in _some(reference)], hypothesis.split(), max_n, smooth=smooth)
    return scored(value, f"BLEU {value:.3f}")


def bleu(references: Sequence[Words], words: Words, longest: int = 4, *, smooth: bool = True) -> float:
    """BLEU of one text."""
    precisions = []
    for size in range(1, longest + 1):
        ours = ngrams(words, size)
        best: Counter[tuple[str, ...]] = Counter()
        for each in references:
            best |= ngrams(each, size)
        met = (ours & best).total()
        if size == 1 and not met:
            return 0.0
        precisions.append((met or (0.1 if smooth else 0.0)) / max(1, ours.total()))
    if not all(precisions):
        return 0.0
    nearest = min((abs(len(each) - len(words)), len(each)) for each in references)[1]
    brevity = 1.0 if len(words) >= nearest else math.exp(1 - nearest / len(words))
    return brevity * math.exp(math.fsum(map(math.log, precisions)) / longest)


def gleu_score(reference: Texts, hypothesis: str, *, max_n: int = 4) -> Finding:
    """GLEU (Wu et al. 2016): n-grams in common by those of the longer text; of several, the best."""
    words = hypothesis.split()
    value = max(_gleu(each.split(), words, max_n) for each in _some(reference))
    return scored(value, f"GLEU {value:.3f}")


def _gleu(reference: Words, words: Words, longest: int) -> float:
    sizes = range(1, longest + 1)
    met = sum((ngrams(reference, size) & ngrams(words, size)).total() for size in sizes)
    most = max(
        sum(max(0, len(each) - size + 1) for size in sizes)  # how many n-grams it has
        for each in (reference, words)
    )
    return met / most


# ROUGE --------------------------------------------------------------------------------------------


def rouge_score(
    reference: Texts, hypothesis: str, *, rouge_type: RougeType = "rouge1", use_stemmer: bool = False
) -> Finding:
    """ROUGE (Lin 2004) as F1: words in common (`rouge1`), pairs of words (`rouge2`) or the longest common
    subsequence (`rougeL`), without case and punctuation; of several references, the best.
    """
    words = _rouge_words(hypothesis, use_stemmer)
    found = max(
        (_rouge(_rouge_words(each, use_stemmer), words, rouge_type) for each in _some(reference)),
        key=lambda each: each.f1,
    )
    return scored(found.f1, f"{rouge_type}: precision {found.precision:.1%}, recall {found.recall:.1%}")


class _Overlap(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0


def _rouge_words(text: str, stemmed: bool) -> list[str]:
    words = re.findall(r"[^\W_]+", text.lower())
    return [stem(word) if len(word) > 3 else word for word in words] if stemmed else words


def _rouge(reference: Words, words: Words, kind: RougeType) -> _Overlap:
    if kind == "rougeL":
        met, ours, theirs = common_subsequence(reference, words), len(words), len(reference)
    else:
        size = int(kind[-1])
        one, other = ngrams(words, size), ngrams(reference, size)
        met, ours, theirs = (one & other).total(), one.total(), other.total()
    return _Overlap(met / ours if ours else 0.0, met / theirs if theirs else 0.0)


def common_subsequence(one: Words, other: Words) -> int:
    """Length of the longest common subsequence, one row of the table at a time."""
    row = [0] * (len(other) + 1)
    for word in one:
        above_left = 0
        for place, also in enumerate(other, start=1):
            above = row[place]
            row[place] = above_left + 1 if word == also else max(above, row[place - 1])
            above_left = above
    return row[-1]


# chrF ---------------------------------------------------------------------------------------------


def chrf_score(reference: Texts, hypothesis: str, *, max_n: int = 6, beta: float = 2.0) -> Finding:
    """chrF (Popović 2015): F over n-grams of up to `max_n` letters, spaces left out, with recall `beta` times
    as important as precision; of several references, the best.
    """
    letters = "".join(hypothesis.split())
    value = max(_chrf("".join(each.split()), letters, max_n, beta) for each in _some(reference))
    return scored(value, f"chrF {value:.3f}")


def _chrf(reference: str, letters: str, longest: int, beta: float) -> float:
    precisions, recalls = [], []
    for size in range(1, longest + 1):
        ours, theirs = ngrams(letters, size), ngrams(reference, size)
        if ours and theirs:  # a text shorter than that says nothing about this length
            met = (ours & theirs).total()
            precisions.append(met / ours.total())
            recalls.append(met / theirs.total())
    if not precisions:
        return 0.0
    precision, recall = (sum(each) / len(each) for each in (precisions, recalls))
    weighted = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / weighted if weighted else 0.0


# METEOR -------------------------------------------------------------------------------------------


def meteor_score(
    reference: Texts, hypothesis: str, *, alpha: float = 0.9, beta: float = 3.0, gamma: float = 0.5
) -> Finding:
    """METEOR (Lavie and Agarwal 2007) with words matched exactly, then by their stems, and not by synonyms,
    which would take a dictionary; of several references, the best.
    """
    words = hypothesis.lower().split()
    value = max(_meteor(each.lower().split(), words, alpha, beta, gamma) for each in _some(reference))
    return scored(value, f"METEOR {value:.3f}, without synonyms")


def _meteor(reference: Words, words: Words, alpha: float, beta: float, gamma: float) -> float:
    met = _aligned(reference, words)
    if not met:
        return 0.0
    precision, recall = len(met) / len(words), len(met) / len(reference)
    mean = precision * recall / (alpha * precision + (1 - alpha) * recall)
    broken = sum(after != (before[0] + 1, before[1] + 1) for before, after in pairwise(met))
    penalty: float = gamma * ((broken + 1) / len(met)) ** beta
    return mean * (1 - penalty)


def _aligned(reference: Words, words: Words) -> list[tuple[int, int]]:
    """Pairs of places, each used once: equal words first, from the end, then words of one stem."""
    ours, theirs = dict(enumerate(words)), dict(enumerate(reference))
    pairs: list[tuple[int, int]] = []
    for form in (str, stem):
        for at in sorted(ours, reverse=True):
            wanted = form(ours[at])
            for place in sorted(theirs, reverse=True):
                if form(theirs[place]) == wanted:
                    pairs.append((at, place))
                    del ours[at], theirs[place]
                    break
    return sorted(pairs)


TEMPLATES: Final = (
    computed(bleu_score, "Score"),
    computed(gleu_score, "Score"),
    computed(rouge_score, "Score"),
    computed(chrf_score, "Score"),
    computed(meteor_score, "Score"),
)
