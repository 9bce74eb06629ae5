"""Yes or no against yes or no: how often a judge says yes where people do, and no where they do.

Knows four counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from paceline.statistics.interval import Interval
from paceline.statistics.proportions import wilson


class Confusion(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge's yes and no meet those of people."""

    both_yes: int = 0
    both_no: int = 0
    judge_yes: int = 0
    """Where people said no."""
    judge_no: int = 0
    """Where people said yes."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[bool, bool]]) -> Confusion:
        """From what people and the judge said of each."""
        counts = {(human, judge): 0 for human in (True, False) for judge in (True, False)}
        for pair in pairs:
            counts[pair] += 1
        return cls(
            both_yes=counts[True, True],
            both_no=counts[False, False],
            judge_yes=counts[False, True],
            judge_no=counts[True, False],
        )

    @property
    def n(self) -> int:
        """All of them."""
        return self.both_yes + self.both_no + self.judge_yes + self.judge_no

    @property
    def yes(self) -> int:
        """Those that people said yes to."""
        return self.both_yes + self.judge_no

    @property
    def no(self) -> int:
        """Those that people said no to."""
        return self.both_no + self.judge_yes

    @property
    def sensitivity(self) -> float | None:
        """The share of people's yes that the judge says yes to."""
        return self.both_yes / self.yes if self.yes else None

    @property
    def specificity(self) -> float | None:
        """The share of people's no that the judge says no to."""
        return self.both_no / self.no if self.no else None

    @property
    def mcc(self) -> float | None:
        """Matthews' correlation coefficient; None where one side has said the same of all."""
        sides = self.yes * self.no * (self.both_yes + self.judge_yes) * (self.both_no + self.judge_no)
        if not sides:
            return None
        return (self.both_yes * self.both_no - self.judge_yes * self.judge_no) / math.sqrt(sides)

    def sensitivity_interval(self) -> Interval | None:
        """Wilson's."""
        return wilson(self.both_yes, self.yes)

    def specificity_interval(self) -> Interval | None:
        """Wilson's."""
        return wilson(self.both_no, self.no)


__all__ = ["Confusion"]
