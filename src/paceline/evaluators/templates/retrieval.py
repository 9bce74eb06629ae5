"""Templates about retrieval: what was found, in its order (`hypothesis`), and what is relevant (`reference`).

An item is relevant or not, and counts once however often it was found. For several queries give a list of
lists on both sides; the value is the mean over queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from paceline.errors import UsageError
from paceline.evaluators.similarity import levenshtein
from paceline.evaluators.templates.entries import computed
from paceline.evaluators.templates.findings import Finding, Undefined, scored
from paceline.evaluators.templates.kinds import Rankings, Texts

Hits = list[bool]
"""For each place of a ranking whether an item stands there that is relevant and was not found before."""


def _over_queries(
    reference: Rankings, hypothesis: Rankings, measure: Callable[[Hits, int], float], *, k: int | None = None
) -> Finding:
    """The mean of `measure(hits, number of relevant items)` over queries."""
    if k is not None and k < 1:
        raise UsageError(f"there are no first {k} items", hint="k=5")
    if len(reference) != len(hypothesis):
        raise UsageError(
            f"there are {len(hypothesis)} rankings, and relevant items for {len(reference)} queries",
            hint="for several queries give a list of lists on both sides",
        )
    values, met, relevant = [], 0, 0
    for wanted, found in zip(reference, hypothesis, strict=True):
        if not wanted:
            raise Undefined("no item is relevant, so there is nothing to find")
        hits = _hits(set(wanted), found[:k])
        values.append(measure(hits, len(set(wanted))))
        met, relevant = met + sum(hits), relevant + len(set(wanted))
    first = "" if k is None else f" in the first {k}"
    return scored(math.fsum(values) / len(values), f"{met} of {relevant} relevant items found{first}")


def _hits(relevant: set[str], found: tuple[str, ...]) -> Hits:
    seen: set[str] = set()
    hits = []
    for item in found:
        hits.append(item in relevant and item not in seen)
        seen.add(item)
    return hits


def hit_rate(reference: Rankings, hypothesis: Rankings, *, k: int | None = None) -> Finding:
    """Whether any relevant item was found, or is among the first `k`."""
    return _over_queries(reference, hypothesis, lambda hits, _: float(any(hits)), k=k)


def mrr(reference: Rankings, hypothesis: Rankings) -> Finding:
    """Mean reciprocal rank: 1 by the place of the first relevant item."""
    return _over_queries(reference, hypothesis, _reciprocal_rank)


def _reciprocal_rank(hits: Hits, _: int) -> float:
    return 1 / (hits.index(True) + 1) if True in hits else 0.0


def precision_at_k(reference: Rankings, hypothesis: Rankings, *, k: int | None = None) -> Finding:
    """Relevant items among the first `k`, by `k`; without `k`, by the number of items found."""
    return _over_queries(
        reference, hypothesis, lambda hits, _: sum(hits) / (k or len(hits)) if hits else 0.0, k=k
    )


def recall_at_k(reference: Rankings, hypothesis: Rankings, *, k: int | None = None) -> Finding:
    """Relevant items among the first `k`, or all that were found, by all that are relevant."""
    return _over_queries(reference, hypothesis, lambda hits, relevant: sum(hits) / relevant, k=k)


def recall_score(reference: Rankings, hypothesis: Rankings) -> Finding:
    """Relevant items that were found, by all that are relevant, whatever their order."""
    return _over_queries(reference, hypothesis, lambda hits, relevant: sum(hits) / relevant)


def ndcg_at_k(reference: Rankings, hypothesis: Rankings, *, k: int | None = None) -> Finding:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen 2002): a relevant item at place i counts
    1 / log2(i + 1), by what the best ranking of all relevant items would have.
    """

    def measure(hits: Hits, relevant: int) -> float:
        best = min(relevant, k or relevant)
        return _gain(hits) / _gain([True] * best)

    return _over_queries(reference, hypothesis, measure, k=k)


def _gain(hits: Hits) -> float:
    return math.fsum(1 / math.log2(place + 1) for place, hit in enumerate(hits, start=1) if hit)


def mean_average_precision(reference: Rankings, hypothesis: Rankings) -> Finding:
    """The precision at the place of each relevant item, by all relevant items; those not found count 0."""
    return _over_queries(reference, hypothesis, lambda hits, relevant: _precisions(hits) / relevant)


def _precisions(hits: Hits) -> float:
    """The sum of the precisions at each hit."""
    return math.fsum(sum(hits[:place]) / place for place, hit in enumerate(hits, start=1) if hit)


# Passages -----------------------------------------------------------------------------------------


def non_llm_context_recall(output: Texts, expected: Texts, *, similarity_threshold: float = 0.5) -> Finding:
    """The share of expected passages that a retrieved one is close to, by the letters they have in common."""
    if not expected:
        raise Undefined("no passage is expected, so there is nothing to find")
    met = sum(_is_close(each, output, similarity_threshold) for each in expected)
    return scored(met / len(expected), f"{met} of {len(expected)} expected passages were retrieved")


def non_llm_context_precision(
    output: Texts, expected: Texts, *, similarity_threshold: float = 0.5
) -> Finding:
    """How early the useful passages stand among the retrieved ones: the mean precision at each that is close
    to an expected one.
    """
    if not output:
        raise Undefined("nothing was retrieved, so there is no precision of it")
    hits = [_is_close(each, expected, similarity_threshold) for each in output]
    value = _precisions(hits) / sum(hits) if any(hits) else 0.0
    return scored(value, f"{sum(hits)} of {len(hits)} retrieved passages are close to an expected one")


def _is_close(passage: str, others: Texts, threshold: float) -> bool:
    return any(levenshtein(passage, other) >= threshold for other in others)


TEMPLATES: Final = (
    computed(hit_rate, "Score"),
    computed(mrr, "Score"),
    computed(precision_at_k, "Score"),
    computed(recall_at_k, "Score"),
    computed(recall_score, "Score"),
    computed(ndcg_at_k, "Score"),
    computed(mean_average_precision, "Score"),
    computed(non_llm_context_recall, "Score"),
    computed(non_llm_context_precision, "Score"),
)
