"""Shapes of figures: so many of so many, a mean, a distribution.

Each says how many stand behind it. What is not known is None; nothing here is ever NaN.
"""

from __future__ import annotations

import msgspec

from paceline.statistics.interval import Interval


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all figures."""


class Proportion(Facts, frozen=True, kw_only=True):
    """So many of so many."""

    count: int
    of: int
    rate: float | None
    """None where `of` is 0."""
    interval: Interval | None


class Mean(Facts, frozen=True, kw_only=True):
    """A mean, and how sure one can be of it."""

    n: int
    mean: float | None
    """None where `n` is 0."""
    interval: Interval | None
    """None where there are too few, or all are the same: nothing tells how far others may differ."""


class Spread(Facts, frozen=True, kw_only=True):
    """How values are distributed; all None where there are none."""

    n: int
    mean: float | None
    min: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    max: float | None


class Bin(Facts, frozen=True, kw_only=True):
    """Values between two bounds, of which the upper one is in; of the first bin, the lower one too."""

    above: float
    to: float
    count: int


__all__ = ["Bin", "Facts", "Mean", "Proportion", "Spread"]
