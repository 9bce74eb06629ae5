"""Several tests at once: p-values put right for how many were made.

Of twenty tests without any difference, one is expected to come out at 5 %. Holm's keeps the chance of even
one such mistake at what a single test has, and is for a few metrics that are all looked at. Benjamini and
Hochberg's keeps down the share of mistakes among what is called different, and is for looking through many
slices, where some mistakes are borne.

Each gives adjusted p-values, in the order of those given: to be held against the level as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate


def holm(ps: Sequence[float]) -> list[float]:
    """Adjusted so that the chance of any false one among them stays at the level (Holm 1979)."""
    n, order = len(ps), _ascending(ps)
    raised = (min(1.0, (n - place) * ps[index]) for place, index in enumerate(order))
    return _put_back(order, list(accumulate(raised, max)))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Adjusted so that the expected share of false ones among those below the level stays at it (1995)."""
    n, order = len(ps), _ascending(ps)[::-1]
    lowered = (min(1.0, n / (n - place) * ps[index]) for place, index in enumerate(order))
    return _put_back(order, list(accumulate(lowered, min)))


def _ascending(ps: Sequence[float]) -> list[int]:
    if not all(0 <= p <= 1 for p in ps):
        raise ValueError("a p-value is not between 0 and 1")
    return sorted(range(len(ps)), key=ps.__getitem__)


def _put_back(order: Sequence[int], adjusted: Sequence[float]) -> list[float]:
    return [p for _, p in sorted(zip(order, adjusted, strict=True))]


__all__ = ["benjamini_hochberg", "holm"]
