"""Findings: what a template has found about its inputs, whoever judged them.

`value` is what the name of the template says: yes or no, a word error rate, a label. `score` says the same
from 0 to 1, where more is better, so that one threshold can be held against any of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

OutputType = Literal["Pass/Fail", "Score", "Choices", "Numeric"]
"""Yes or no; a number from 0 to 1, which is the score; a label; a number in a unit of its own."""

PASSES_FROM: Final = 0.5
"""The score from which on something passes, where nobody has said otherwise."""


class Undefined(ValueError):
    """A figure that does not exist for these inputs: a correlation of constants, an error rate of nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was found."""

    value: bool | float | str
    score: float | None
    """None where neither end of a scale is the better one."""
    reason: str

    def passes(self, threshold: float | None) -> bool | None:
        """Whether that is enough; None where there is nothing to hold against a threshold."""
        if isinstance(self.value, bool):
            return self.value
        return None if self.score is None or threshold is None else self.score >= threshold


def holds(whether: bool, reason: str) -> Finding:
    """Yes or no."""
    return Finding(value=whether, score=float(whether), reason=reason)


def scored(value: float, reason: str) -> Finding:
    """A number that is its own score. Beyond 0 and 1 there is nothing better or worse: a correlation below
    0 is no better than none.
    """
    return measured(value, reason, score=min(max(value, 0.0), 1.0))


def measured(value: float, reason: str, *, score: float) -> Finding:
    """A number in a unit of its own, and what it comes to as a score."""
    if not math.isfinite(value):
        raise Undefined(f"{reason}: {value} is no finite number")
    return Finding(value=value, score=score, reason=reason)
