"""How sure one can be of a figure: the interval that it is likely to lie in.

Quantiles of the normal distribution and of Student's are worked out here, because loading SciPy takes a
quarter of a second at the end of every run. The tests hold them against SciPy's.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import msgspec

CONFIDENCE = 0.95
_FEW: Final = 50
"""Degrees of freedom below which the expansion is not close enough, and is made so."""
_STEPS: Final = 8


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


@cache
def student_quantile(freedom: int, confidence: float) -> float:
    """The same where the error was estimated too, with so many degrees of freedom: 2.26 for 9 and 0.95."""
    if freedom == 1:
        return math.tan(math.pi * confidence / 2)
    t = _expanded(freedom, normal_quantile(confidence))
    if freedom < _FEW:
        for _ in range(_STEPS):  # Newton's
            t -= (_within(t, freedom) - confidence) / (2 * _density(t, freedom))
    return t


def _expanded(freedom: int, z: float) -> float:
    """Student's quantile by the expansion of Cornish and Fisher (Abramowitz and Stegun 26.7.5)."""
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + math.fsum(term / freedom**power for power, term in enumerate(terms, start=1))


def _within(t: float, freedom: int) -> float:
    """The chance of a value between -t and t (Abramowitz and Stegun 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for each in range(2 + odd, freedom - 1, 2):
        term *= cosine**2 * (each - 1) / each
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


def _density(t: float, freedom: int) -> float:
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    return scale / math.sqrt(freedom * math.pi) * math.pow(1 + t * t / freedom, -(freedom + 1) / 2)


__all__ = ["CONFIDENCE", "Interval", "normal_quantile", "student_quantile"]
