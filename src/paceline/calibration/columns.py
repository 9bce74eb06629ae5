"""Columns: how a field of a row is named, and what in it is a number.

A column is the name of a field, or a path into it with dots: `scores.overall`, `labels.0`. Numbers are
numbers; true and false, yes and no, pass and fail are 1 and 0; words of the user's own are the places that
they have in a list, lowest first. An empty cell is no label. Anything else is refused: a figure that rests on
a guess would be made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from paceline.dataset.fields import Refused, Row
from paceline.errors import UsageError
from paceline.settings import nearest

NOTHING: Final = object()
"""What a row has where it lacks a column."""
_TRUTH: Final = {
    **dict.fromkeys(("true", "yes", "pass", "passed"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed"), 0.0),
}
_SHOWN: Final = 12
"""Columns that a hint names."""


def reach(row: Row, column: str) -> Any:
    """What stands in a column of a row; NOTHING where the row lacks it. A field of that name prevails."""
    if column in row:
        return row[column]
    value: Any = row
    for step in column.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return NOTHING
    return value


def check_column(column: str, option: str, rows: Sequence[tuple[str, Row]], path: object) -> None:
    """Refuse a column that no row has."""
    if any(reach(row, column) is not NOTHING for _, row in rows):
        return
    known = columns_of(row for _, row in rows)
    there = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
    raise UsageError(
        f"{path}: no row has the column {column!r}{nearest(column, known)}",
        hint=f"{option} names one of: {there}",
    )


def columns_of(rows: Iterable[Row]) -> list[str]:
    """The columns that there are, those with numbers first."""
    numbers: dict[str, None] = {}
    others: dict[str, None] = {}
    for row in rows:
        for path, value in _leaves(row, ""):
            (numbers if isinstance(value, int | float) else others).setdefault(path)
    return [*numbers, *(path for path in others if path not in numbers)]


def _leaves(value: object, path: str) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}.{name}" if path else str(name))
    else:
        yield path, value


def read_levels(written: str | None) -> dict[str, float]:
    """`bad,fair,good` as numbers, lowest first."""
    words = [word.strip() for word in written.split(",")] if written is not None else []
    if written is not None and (len(set(words)) != len(words) or len(words) < 2 or not all(words)):
        raise UsageError(
            f"--levels {written!r} is no scale",
            hint="different words, lowest first: bad,fair,good",
        )
    return {word: float(place) for place, word in enumerate(words)}


def as_number(value: object, levels: Mapping[str, float]) -> float | None:
    """What stands in a cell, as a number; None where nothing does; Refused where it is neither."""
    match value:
        case None:
            return None
        case bool():
            return float(value)
        case int() | float():
            return _finite(value, str(value))
        case str():
            return _number_in(value.strip(), levels) if value.strip() else None
        case _:
            raise Refused(
                f"is {value!r:.60}, not a number", "name a column of numbers: a path such as scores.overall"
            )


def _number_in(text: str, levels: Mapping[str, float]) -> float:
    if text in levels:
        return levels[text]
    if not levels and text.lower() in _TRUTH:
        return _TRUTH[text.lower()]
    try:
        number = float(text)
    except ValueError:
        if levels:
            raise Refused(f"is {text!r:.60}, which is not among the levels", f"--levels: {', '.join(levels)}")
        raise Refused(
            f"is {text!r:.60}, not a number",
            "labels are numbers, true and false, or words in an order: --levels bad,fair,good",
        )
    return _finite(number, text)


def _finite(number: float, shown: str) -> float:
    try:
        if math.isfinite(number):
            return float(number)
    except OverflowError:
        pass
    raise Refused(f"is {shown:.60}, which is no label", "leave the cell empty where there is none")


def without(row: Row, columns: Iterable[str]) -> Row:
    """The row without what stands in some columns."""
    left = dict(row)
    for column in columns:
        if column in left:
            del left[column]
            continue
        first, *steps = column.split(".")
        if first in left:
            left[first] = _less(left[first], steps)
    return left


def _less(value: Any, steps: Sequence[str]) -> Any:
    """A copy of a nested value, without what a path leads to."""
    if not steps:
        return None
    step, *rest = steps
    if isinstance(value, Mapping) and step in value:
        inner = {name: each for name, each in value.items() if name != step}
        return {**inner, step: _less(value[step], rest)} if rest else inner
    if isinstance(value, list) and step.isdecimal() and int(step) < len(value):
        return [_less(each, rest) if place == int(step) else each for place, each in enumerate(value)]
    return value


__all__ = ["NOTHING", "as_number", "check_column", "columns_of", "reach", "read_levels", "without"]
