"""What repeats say of a case: would it have passed, given so many tries?

    pass@k    the chance that at least one of k tries passes

Estimated from the n tries that there were without bias (Chen et al. 2021): of all ways to choose k of them,
the share in which one that passed is among the chosen. Putting the share of passes into 1 - (1 - p)^k would
be off.

Knows counts. Knows nothing of cases or journals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

SHOWN: Final = (1, 2, 5, 10, 25, 50, 100)
"""The numbers of tries that a report tells of, as far as there were so many."""


class PassAt(msgspec.Struct, frozen=True, kw_only=True):
    """The chance of a pass in k tries, on average over cases."""

    k: int
    value: float
    n_cases: int
    """Cases behind it: those with at least k tries."""


def pass_at_k(n: int, passed: int, k: int) -> float:
    """The chance that at least one of k tries passes, from n tries of which some have."""
    if not 0 <= passed <= n or not 1 <= k <= n:
        raise ValueError(f"pass@{k} cannot be had from {n} tries of which {passed} passed")
    if n - passed < k:
        return 1.0
    # 1 - C(n - passed, k) / C(n, k), as a product: neither overflows, whatever n is.
    return 1.0 - math.prod(1.0 - k / tries for tries in range(n - passed + 1, n + 1))


def average_pass_at_k(cases: Iterable[tuple[int, int]], k: int) -> PassAt | None:
    """The mean over cases, each as (passed, tries); None where none has so many tries."""
    values = [pass_at_k(tries, passed, k) for passed, tries in cases if tries >= k]
    return PassAt(k=k, value=math.fsum(values) / len(values), n_cases=len(values)) if values else None


def all_pass_at_k(cases: Sequence[tuple[int, int]]) -> list[PassAt]:
    """pass@k for the numbers of tries that a report tells of; empty where no case was tried twice."""
    most = max((tries for _passed, tries in cases), default=0)
    if most < 2:
        return []
    found = (average_pass_at_k(cases, k) for k in SHOWN if k <= most)
    return [each for each in found if each is not None]
