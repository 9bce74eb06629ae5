"""The comparison as text: it reads well at 80 columns and without colour.

Names of cases and whatever a harness has written are foreign, and made harmless.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from paceline.comparison import words
from paceline.comparison.metrics import PASS_RATE, Metric
from paceline.comparison.pairing import CHANGES, Changed
from paceline.report.text import clean, counted
from paceline.statistics.paired import PairedDifference

if TYPE_CHECKING:
    from paceline.comparison.comparing import Comparison, Pair

SHOWN_KEYS: Final = 10
"""Of each kind of change; `--json` has all."""
LEAST_WIDTH: Final = 40
_CELL: Final = 14


def render(compared: Comparison, *, width: int) -> str:
    """All of it."""
    width = max(LEAST_WIDTH, width)
    lines = [line for part in _parts(compared, width) for line in part]
    return "\n".join(line.rstrip() for line in lines)


def _parts(compared: Comparison, width: int) -> Iterator[Iterator[str]]:
    yield _sides(compared, width)
    if len(compared.pairs) > 1:
        yield _matrix(compared, width)
        yield from (_short(pair, width) for pair in compared.pairs)
        return
    for pair in compared.pairs:
        for metric in pair.metrics:
            yield _metric(metric, pair, width)
        yield _changes(pair, width)
        yield _differing(pair, width)


def _sides(compared: Comparison, width: int) -> Iterator[str]:
    for letter, side in compared.sides.items():
        told = f"{clean(side.name, limit=width)} ({clean(side.suite)}, {counted(len(side.seen), 'key')})"
        yield from _wrapped(told, width, first=f"{letter}  ", rest="   ")


def _metric(metric: Metric, pair: Pair, width: int) -> Iterator[str]:
    yield ""
    name = clean(words.title(metric), limit=width)
    yield name if "." in metric.name else name.capitalize()
    found = metric.found
    if found is not None:
        yield from _wrapped(_figures(metric, found, pair), width)
        if found.only_first is not None:
            only = f"{found.only_first:,} only in {pair.first}, {found.only_second:,} only in {pair.second}"
            yield from _wrapped(f"{only}, of {counted(found.n, 'key')}", width)
    if out := words.left_out(metric, pair.first, pair.second):
        yield from _wrapped(out, width)
    yield from _wrapped(words.sentence(metric, pair.first, pair.second), width)


def _figures(metric: Metric, found: PairedDifference, pair: Pair) -> str:
    unit, adjusted = metric.unit, words.adjusted(metric)
    first, second = words.value(unit, found.first), words.value(unit, found.second)
    sure = f"{100 * found.interval.confidence:.4g}% interval " if found.interval else "interval "
    return (
        f"{first} in {pair.first}, {second} in {pair.second}: {words.difference(unit, found.difference)} "
        f"({sure}{words.interval(unit, found)}), {words.chance(found.p)}"
        f"{f' ({adjusted})' if adjusted else ''}, {words.TESTS[found.test]}"
    )


def _changes(pair: Pair, width: int) -> Iterator[str]:
    for change in CHANGES:
        if keys := pair.changes[change]:
            yield ""
            yield words.become(change, len(keys))
            yield from (_changed(each, width) for each in keys[:SHOWN_KEYS])
            if len(keys) > SHOWN_KEYS:
                yield f"  and {len(keys) - SHOWN_KEYS:,} more; --json names all"


def _changed(changed: Changed, width: int) -> str:
    how = f"{changed.first or 'not there'} -> {changed.second or 'not there'}"
    return f"  {clean(str(changed.key), limit=max(10, width - len(how) - 5))}  {how}"


def _differing(pair: Pair, width: int) -> Iterator[str]:
    if pair.differing:
        yield ""
        yield "What else differs, or is not known"
        for each in pair.differing:
            yield from _wrapped(clean(each.text, limit=600), width, first="  - ", rest="    ")


# More than two -------------------------------------------------------------------------------------


def _matrix(compared: Comparison, width: int) -> Iterator[str]:
    """Pass rates: how the run of a column stands against that of a row."""
    letters = list(compared.sides)
    if 4 + _CELL * (len(letters) - 1) > width:
        return
    yield ""
    yield "Pass rate: the column against the row, p by Holm over all pairs"
    yield "    " + "".join(f"{letter:<{_CELL}}" for letter in letters[1:])
    by_pair = {(pair.first, pair.second): pair.metric(PASS_RATE) for pair in compared.pairs}
    for row in letters[:-1]:
        cells = (_cell(by_pair.get((row, column))) for column in letters[1:])
        yield f"{row}   " + "".join(f"{cell:<{_CELL}}" for cell in cells)


def _cell(metric: Metric | None) -> str:
    if metric is None:
        return ""
    if metric.found is None:
        return "unknown"
    points = words.difference("share", metric.found.difference).removesuffix(" points")
    return f"{points} {metric.verdict if metric.verdict != 'cannot tell' else '?'}"


def _short(pair: Pair, width: int) -> Iterator[str]:
    metric = pair.metric(PASS_RATE)
    found = metric.found
    yield ""
    yield f"{pair.first} and {pair.second}"
    if found is not None:
        yield from _wrapped(
            f"pass rate {words.value('share', found.first)} and {words.value('share', found.second)}: "
            f"{words.difference('share', found.difference)} (interval {words.interval('share', found)}), "
            f"{words.chance(found.p)}, {metric.p_adjusted or 0:.3g} by Holm, of {counted(found.n, 'key')}",
            width,
        )
    yield from _wrapped(words.sentence(metric, pair.first, pair.second), width)
    told = [words.become(change, len(keys)) for change, keys in pair.changes.items() if keys]
    if told:
        yield from _wrapped(", ".join(told), width)
    others = [each for each in pair.metrics if each.name != PASS_RATE and each.verdict != "cannot tell"]
    for each in others:
        yield from _wrapped(
            f"{clean(words.title(each))}: {words.sentence(each, pair.first, pair.second)}", width
        )
    for difference in pair.differing:
        yield from _wrapped(clean(difference.text, limit=600), width, first="  - ", rest="    ")


def _wrapped(text: str, width: int, *, first: str = "  ", rest: str = "  ") -> list[str]:
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest)


__all__ = ["SHOWN_KEYS", "render"]
