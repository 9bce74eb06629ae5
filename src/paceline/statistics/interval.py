"""How sure one can be of a figure: the interval that it is likely to lie in."""

from __future__ import annotations

from functools import cache

import msgspec

CONFIDENCE = 0.95


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """Where the true value is likely to lie."""

    low: float
    high: float
    confidence: float
    n: float
    """Independent observations behind it; fewer than were counted where observations depend on each other."""


@cache
def normal_quantile(confidence: float) -> float:
    """Standard errors on either side of an estimate that hold the truth this often: 1.96 for 0.95."""
    from statistics import NormalDist  # brings `fractions` and `decimal` along, which nothing else here needs

    return NormalDist().inv_cdf(0.5 + confidence / 2)


__all__ = ["CONFIDENCE", "Interval", "normal_quantile"]
