"""What repeats say of a case: would it pass, given so many tries, and would it pass every time?

    pass@k    the chance that at least one of k tries passes
    pass^k    the chance that all k of them do

Both are estimated from the n tries that there were without bias (Chen et al. 2021; Yao et al. 2024): of all
ways to choose k of them, the share in which one that passed is among the chosen, or in which all of them are.
Putting the share of passes into 1 - (1 - p)^k, or into p^k, would be off.

What holds for a whole run is the mean over its cases, with an interval that goes by the spread between cases:
more tries of the same cases say more of these cases, and nothing of others.

Knows counts. Knows nothing of cases or journals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from paceline.statistics.interval import CONFIDENCE, Interval
from paceline.statistics.proportions import clustered

SHOWN: Final = (1, 2, 3, 5, 8, 10, 25, 50, 100)
"""The numbers of tries that a report tells of, as far as there were so many."""

Chance = Callable[[int, int, int], float]
"""From the tries, those of them that passed, and k."""


class PassAt(msgspec.Struct, frozen=True, kw_only=True):
    """The chance of passing in k tries, once or every time, on average over cases."""

    k: int
    value: float
    interval: Interval | None
    n_cases: int
    """Cases behind it: those with at least k tries."""


def pass_at_k(n: int, passed: int, k: int) -> float:
    """The chance that at least one of k tries passes, from n tries of which some have."""
    return 1.0 - _none_of(n, n - passed, k)


def pass_hat_k(n: int, passed: int, k: int) -> float:
    """The chance that all of k tries pass, from n tries of which some have."""
    return _none_of(n, passed, k)


def _none_of(n: int, left: int, k: int) -> float:
    """Of all choices of k from n, the share that lies within `left` of them: C(left, k) / C(n, k)."""
    if not 0 <= left <= n or not 1 <= k <= n:
        raise ValueError(f"{k} tries cannot be chosen from {n}, with {left} of them")
    if left < k:
        return 0.0
    # As a product: neither overflows, whatever n is.
    return math.prod(1.0 - k / tries for tries in range(left + 1, n + 1))


def flip_rate(n: int, passed: int) -> float | None:
    """The chance that two tries of one case come out differently, without bias; None of a single try."""
    return 2 * passed * (n - passed) / (n * (n - 1)) if n > 1 else None


def average(
    cases: Iterable[tuple[int, int]], k: int, chance: Chance, confidence: float = CONFIDENCE
) -> PassAt | None:
    """The mean over cases, each as (passed, tries); None where none has so many tries."""
    enough = [(passed, tries) for passed, tries in cases if tries >= k]
    if not enough:
        return None
    values = [chance(tries, passed, k) for passed, tries in enough]
    return PassAt(
        k=k,
        value=math.fsum(values) / len(values),
        interval=clustered(
            ((value, 1) for value in values), confidence, most=sum(tries for _, tries in enough)
        ),
        n_cases=len(values),
    )


def by_tries(cases: Sequence[tuple[int, int]], chance: Chance) -> list[PassAt]:
    """For the numbers of tries that a report tells of; empty where no case was tried twice."""
    most = max((tries for _passed, tries in cases), default=0)
    if most < 2:
        return []
    found = (average(cases, k, chance) for k in SHOWN if k <= most)
    return [each for each in found if each is not None]


__all__ = ["PassAt", "average", "by_tries", "flip_rate", "pass_at_k", "pass_hat_k"]
