"""What a regular expression costs at worst, told from its structure before it is tried on any text.

Python's engine backtracks: where two repeats can share the same characters it tries every way to divide
them, and repeats within repeats have exponentially many ways. It holds the interpreter's lock meanwhile, so
one pattern on one text can stop a whole process. Here the steps are bounded from above as
`factor * length**degree`, infinite where no such bound is seen. The bound may be far too high, never too low.

    yes|no            one start for each character, a few steps at each: degree 1
    total: \\d+        the same, for a search is over when its last repeat is: nothing after it could fail
    \\d+ items         every digit is a start, and every length is tried: degree 2
    (\\w+\\s*)+$        infinite
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

IN_PLACE_STEPS = 1_000_000
"""Steps that may be taken in place: a few milliseconds at worst."""


@dataclass(frozen=True, slots=True)
class Bound:
    """At most `factor * length**degree`."""

    factor: float = 1.0
    degree: float = 0.0

    def __add__(self, other: Bound) -> Bound:
        return Bound(self.factor + other.factor, max(self.degree, other.degree))

    def __mul__(self, other: Bound) -> Bound:
        return Bound(self.factor * other.factor, self.degree + other.degree)

    def power(self, times: int) -> Bound:
        try:
            return Bound(self.factor**times, self.degree * times)
        except OverflowError:
            return INFINITE

    @property
    def is_finite(self) -> bool:
        return math.isfinite(self.factor) and math.isfinite(self.degree)

    @property
    def is_linear(self) -> bool:
        """Whether the pattern is as harmless as looking through the text once."""
        return self.degree <= 1 and self.factor <= 128

    @property
    def longest_in_place(self) -> float:
        """The longest text on which the pattern may be tried in place."""
        if self.is_linear:
            return math.inf
        if not self.is_finite or self.factor > IN_PLACE_STEPS:
            return -1
        return (IN_PLACE_STEPS / self.factor) ** (1 / self.degree) if self.degree else math.inf


ONE = Bound()
LENGTH = Bound(1.0, 1.0)
INFINITE = Bound(math.inf, math.inf)
UNBOUNDED = 2**32 - 1
"""What the parser writes for a repeat without an upper end."""


@dataclass(frozen=True, slots=True)
class _Cost:
    """Of a part of a pattern, at one place: the ways it can match there, and the steps to try them all."""

    ways: Bound = ONE
    steps: Bound = ONE


SIMPLE = _Cost()
UNKNOWN = _Cost(INFINITE, INFINITE)


def bound(pattern: str, flags: int, *, whole: bool) -> Bound:
    """Steps that `re` takes at most, for a match of the whole text or a search in it; `pattern` compiles."""
    try:
        # Not a public module; without it, or with operations in it that are not known here, nothing is cheap.
        parsed: Any = importlib.import_module("re._parser").parse(pattern, flags)
        items = list(parsed)
        anchored = bool(items) and _name(items[0]) == "AT" and _starts(items[0][1], parsed.state.flags)
        steps = _sequence(items, last=not whole).steps
    except (ImportError, AttributeError, TypeError, ValueError):
        return INFINITE
    return steps if whole or anchored else steps * LENGTH


def _name(item: tuple[Any, Any]) -> str:
    return str(item[0])


def _starts(at: object, flags: int) -> bool:
    return str(at) == "AT_BEGINNING_STRING" or (str(at) == "AT_BEGINNING" and not flags & re.MULTILINE)


def _sequence(items: Iterable[tuple[Any, Any]], *, last: bool = False) -> _Cost:
    """Each item is tried once for every way in which those before it match. `last`: nothing comes after."""
    items = list(items)
    whole = SIMPLE
    for place, item in enumerate(items):
        cost = _item(_name(item), item[1], last=last and place == len(items) - 1)
        whole = _Cost(whole.ways * cost.ways, whole.steps + whole.ways * cost.steps)
    return whole


def _item(name: str, value: Any, *, last: bool) -> _Cost:
    match name:
        case "LITERAL" | "NOT_LITERAL" | "IN" | "ANY" | "CATEGORY" | "AT":
            return SIMPLE
        case "SUBPATTERN":
            return _sequence(value[-1], last=last)
        case "ATOMIC_GROUP":
            return _sequence(value)
        case "ASSERT" | "ASSERT_NOT":
            return _sequence(value[1])
        case "BRANCH":
            return _either(*(_sequence(branch, last=last) for branch in value[1]))
        case "GROUPREF":
            return _Cost(ONE, LENGTH)
        case "GROUPREF_EXISTS":
            return _either(_sequence(value[1]), _sequence(value[2] or ()))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            low, high, inner = value
            return _repeat(int(low), int(high), _sequence(inner), last=last)
        case _:
            return UNKNOWN


def _either(*branches: _Cost) -> _Cost:
    ways, steps = Bound(0.0), ONE
    for branch in branches:
        ways, steps = ways + branch.ways, steps + branch.steps
    return _Cost(ways, steps)


def _repeat(low: int, high: int, inner: _Cost, *, last: bool) -> _Cost:
    if inner.ways == ONE:
        if last:
            # Reached its least number, it cannot fail any more: how far it goes on from there costs one look.
            return _Cost(ONE, inner.steps * Bound(low + 1.0))
        if high >= UNBOUNDED:
            return _Cost(LENGTH, inner.steps * LENGTH)
        return _Cost(Bound(high - low + 1.0), inner.steps * Bound(high + 1.0))
    if high >= UNBOUNDED:
        return UNKNOWN
    ways = inner.ways.power(max(high, 1)) * Bound(high - low + 1.0)
    return _Cost(ways, inner.steps * ways)
