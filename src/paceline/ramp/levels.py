"""Which levels a sweep climbs, and with how many cases each.

A level is so many cases at a time. To hold one takes more cases than that: the first fill its places, the
others keep them filled while it is measured. So a level gets `per_level` cases, or as many as it takes to
hold it where those are more; and where the dataset has too few of them, the highest levels are left out,
before anything has begun.

Knows numbers. Knows nothing of what a case is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from paceline.errors import UsageError

HIGHEST: Final = 128
"""Level at which the levels that nobody has named end."""
TURNS: Final = 3
"""How often each place of a level is filled, where there are cases enough."""
LEAST_TURNS: Final = 2
"""With fewer it would never be held: its places would be filled once and then get empty."""
LEAST: Final = 5
"""Cases with which a level of one or two tells something."""


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One level to hold, and the cases for it."""

    level: int
    cases: int
    """0 where it was held before, and is on record."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """All levels of a sweep."""

    levels: tuple[Planned, ...]
    left_out: tuple[int, ...] = ()
    """Levels for which there are too few cases."""
    available: int
    per_level: int

    @property
    def cases(self) -> int:
        """Cases in all, refinement aside."""
        return sum(each.cases for each in self.levels)


def parse_levels(text: str) -> tuple[int, ...]:
    """`1,10,50,100`, checked."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts):
        raise UsageError(f"--levels {text!r} is not a list of numbers", hint="write it as 1,10,50,100")
    return checked_levels([int(part) for part in parts])


def checked_levels(levels: Sequence[int]) -> tuple[int, ...]:
    """Levels as they have to be: whole numbers from 1 up, each more than the one before."""
    shown = ",".join(map(str, levels))
    if not levels or any(type(level) is not int or level < 1 for level in levels):
        raise UsageError(f"levels {shown!r}: each is a whole number from 1 up", hint="such as 1,10,50,100")
    for before, level in pairwise(levels):
        if level <= before:
            raise UsageError(
                f"the levels do not rise: {level} comes after {before}",
                hint=f"write --levels {','.join(map(str, sorted(set(levels))))}",
            )
    return tuple(levels)


def geometric(step: int = 2, highest: int = HIGHEST) -> tuple[int, ...]:
    """1, 2, 4, ... up to the highest; or 1, 4, 16, ..."""
    levels = [1]
    while levels[-1] * step <= highest:
        levels.append(levels[-1] * step)
    return tuple(levels)


def plan_levels(
    levels: Sequence[int] | None,
    *,
    per_level: int,
    available: int,
    held: Collection[int] = (),
    highest: int = HIGHEST,
) -> Plan:
    """Share the cases out, from the lowest level up; UsageError where that is hopeless.

    First each level gets what it takes at least; then, from the lowest up, what makes its figures good. Those
    that were `held` before take none. `highest` bounds levels that nobody has named.
    """
    if per_level < 1:
        raise UsageError(f"--per-level {per_level} is no number of cases", hint="such as --per-level 20")
    if levels is not None:
        wanted = checked_levels(levels)
    else:
        wanted = _geometric_within(available, per_level, highest)
    given = _least(wanted, per_level, available, held)
    if not given:
        raise UsageError(
            f"{available} open cases are too few: level {wanted[0]} alone takes "
            f"{least_cases(wanted[0], per_level)}",
            hint="use a dataset with more cases, `--repeat`, or a new -o where these are done already",
        )
    left = available - sum(given.values())
    for level in [each for each in given if each not in held]:
        more = min(left, max(0, good_cases(level, per_level) - given[level]))
        given[level] += more
        left -= more
    return Plan(
        levels=tuple(Planned(level=level, cases=cases) for level, cases in given.items()),
        left_out=wanted[len(given) :],
        available=available,
        per_level=per_level,
    )


def _geometric_within(available: int, per_level: int, highest: int) -> tuple[int, ...]:
    """Doubling levels, as high as the cases reach; in steps of four where these reach higher.

    Where the ceiling is above the highest level, all that lies between lower ones is of no use.
    """
    doubling, fourfold = (
        tuple(_least(geometric(step, highest), per_level, available)) or (1,) for step in (2, 4)
    )
    return fourfold if fourfold[-1] > doubling[-1] else doubling


def _least(
    levels: Sequence[int], per_level: int, available: int, held: Collection[int] = ()
) -> dict[int, int]:
    """What each takes at least, up to the highest for which there are cases."""
    given = dict[int, int]()
    for level in levels:
        given[level] = 0 if level in held else least_cases(level, per_level)
        if sum(given.values()) > available:
            del given[level]
            break
    return given


def least_cases(level: int, per_level: int) -> int:
    """With fewer cases a level is not worth being begun."""
    return max(min(per_level, LEAST), LEAST_TURNS * level)


def good_cases(level: int, per_level: int) -> int:
    """With so many cases its figures are good."""
    return max(per_level, TURNS * level)


def level_between(low: int, high: int, guess: float | None) -> int | None:
    """A level to look at between two others; None where they are as near as they need to be.

    The guess, where there is one that lies well between them; else the middle of their ratio.
    """
    if high <= low * 1.3 or high - low < 2:
        return None
    middle = guess if guess is not None and low * 1.1 < guess < high / 1.1 else math.sqrt(low * high)
    return min(max(round(middle), low + 1), high - 1)


def in_words(plan: Plan) -> list[str]:
    """What will be done, one line each."""
    before = [each.level for each in plan.levels if not each.cases]
    levels = ", ".join(f"{each.level} ({each.cases})" for each in plan.levels if each.cases)
    lines = [f"held before, and on record: {_listed(before)}"] if before else []
    if levels:
        lines.append(f"levels, and cases at each: {levels}; {plan.cases:,} of {plan.available:,} open cases")
    held = [each.level for each in plan.levels if each.cases > plan.per_level]
    if held:
        lines.append(
            f"more than {plan.per_level} cases at {_listed(held)}: fewer cannot hold so many at a time"
        )
    if plan.left_out:
        need = least_cases(plan.left_out[0], plan.per_level)
        taken = [each.level for each in plan.levels if each.cases]
        left = plan.available - sum(least_cases(level, plan.per_level) for level in taken)
        first = plan.left_out[0]
        lines.append(f"left out: {_listed(plan.left_out)}; level {first} takes {need} cases, {left} are left")
    return lines


def _listed(levels: Sequence[int]) -> str:
    return f"level{'s' if len(levels) > 1 else ''} {', '.join(map(str, levels))}"
