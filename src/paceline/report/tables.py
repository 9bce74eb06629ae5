"""Tables of a report on a terminal: variants, slices, flaky cases, what cases have used, the timeline.

Columns that would be empty are left out, for names want the room. Nothing is told by colour alone.

Knows figures and a pen. rich is loaded when something is drawn, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from paceline.report.figures import (
    CostFigures,
    FieldFigures,
    PartFigures,
    PerCaseFigures,
    RepeatFigures,
    SliceFigures,
    TimelineFigures,
    VariantFigures,
)
from paceline.report.overview import said_amount
from paceline.report.pen import Pen
from paceline.report.shapes import Mean, Proportion, Spread
from paceline.report.slices import FEW, NOTABLE
from paceline.report.text import counted, dollars, number, percent, seconds, short
from paceline.statistics.interval import Interval

if TYPE_CHECKING:
    from rich.console import RenderableType

_FLAKY_SHOWN: Final = 10
_SCORES_SHOWN: Final = 3
_LEAST_NAME: Final = 10
"""Columns that a name has, whatever else there is."""
_BESIDE: Final = 32
"""Columns that the words of a timeline take."""
_VALUES_FOR_P95: Final = 20


def variants(figures: Sequence[VariantFigures], pen: Pen) -> Iterator[RenderableType]:
    """The variants, side by side; nothing where there is only one."""
    if not figures:
        return
    titles = ["Variant", *_TITLES, "p50", "p95", *_scores_of(figures), "Cost per case"]
    rows = [
        [
            each.name or "default",
            *_cells(each),
            *_middle(each.latency),
            *_means(each, figures),
            _cost_per_case(each.cost, pen),
        ]
        for each in figures
    ]
    yield _table(titles, rows, pen)


def slices(found: FieldFigures, pen: Pen) -> Iterator[RenderableType]:
    """The slices by one field."""
    several = len({each.variant for each in found.slices}) > 1
    titles = [found.field, *(["Variant"] if several else []), *_TITLES, *_scores_of(found.slices), "p"]
    rows = []
    for each in found.slices:
        value = "(says nothing)" if each.value is None else each.value or '""'
        variant = [each.variant or "default"] if several else []
        rows.append([value, *variant, *_cells(each), *_means(each, found.slices), _p(each)])
    yield _table(titles, rows, pen)
    for said in _notes(found):
        yield pen.say(said, limit=400)
    yield ""


def _p(figures: SliceFigures) -> str:
    if figures.few:
        return "few"
    p = figures.p_adjusted
    return "" if p is None else f"* {_short_p(p)}" if p <= NOTABLE else _short_p(p)


def _short_p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "<0.001"


def _notes(found: FieldFigures) -> Iterator[str]:
    if found.n_left_out:
        left = counted(found.n_left_out, "case")
        yield f"{left} in further values, of {found.n_values:,} in all, are not listed."
    if any(each.few for each in found.slices):
        yield f"few: fewer than {FEW} different cases, of which not much can be said."
    ps = [each.p_adjusted for each in found.slices if each.p_adjusted is not None]
    if not ps:
        return
    how = f"p for the {counted(len(ps), 'slice')} tested, adjusted (Benjamini-Hochberg)"
    if min(ps) <= NOTABLE:
        yield f"* differs from the other cases; {how}, up to {NOTABLE:.0%}. A hint to look at, no proof."
    else:
        yield f"No slice differs from the other cases by more than chance may do; {how}."


_TITLES: Final = ("Pass rate", "95% interval", "Passed", "Errors", "Not run")


def _cells(figures: PartFigures) -> list[str]:
    errors = figures.n_failed + figures.n_open - figures.n_not_run
    return [
        "" if figures.passed.rate is None else percent(figures.passed.rate),
        _said(figures.passed.interval, percent),
        _of(figures.passed),
        f"{errors:,}",
        f"{figures.n_not_run:,}",
    ]


def _of(proportion: Proportion) -> str:
    return f"{proportion.count:,}/{proportion.of:,}" if proportion.of else ""


def _said(interval: Interval | None, form: Callable[[float], str]) -> str:
    return "" if interval is None else f"{form(interval.low)} to {form(interval.high)}"


def _middle(spread: Spread) -> tuple[str, str]:
    if not spread.n:
        return "", ""
    return seconds(spread.p50), seconds(spread.p95) if spread.n >= _VALUES_FOR_P95 else ""


def _cost_per_case(cost: CostFigures | None, pen: Pen) -> str:
    at_least = "≥ " if pen.unicode else ">= "
    return "" if cost is None else said_amount(cost.per_case, dollars, at_least=at_least)


def _scores_of(parts: Sequence[PartFigures]) -> list[str]:
    """Scores that there is room for: those of parts in which nothing is asserted."""
    if any(each.passed.of for each in parts):
        return []
    return list(islice(dict.fromkeys(name for each in parts for name in each.scores), _SCORES_SHOWN))


def _means(part: PartFigures, parts: Sequence[PartFigures]) -> list[str]:
    return [_mean(part.scores.get(name)) for name in _scores_of(parts)]


def _mean(mean: Mean | None) -> str:
    if mean is None:
        return ""
    interval = _said(mean.interval, number)
    return (
        f"{number(mean.mean)} ({interval}), n {mean.n:,}"
        if interval
        else f"{number(mean.mean)}, n {mean.n:,}"
    )


def flaky(figures: RepeatFigures, pen: Pen) -> Iterator[RenderableType]:
    """The cases whose tries do not come out the same, most evenly split first."""
    if not figures.flaky:
        return
    rows = [
        [
            f"{each.variant}: {each.case}" if each.variant else each.case,
            f"{each.passed:,} of {each.tries:,} tries",
            f"{each.infrastructure:,} broken" if each.infrastructure else "",
        ]
        for each in figures.flaky[:_FLAKY_SHOWN]
    ]
    yield _table(["Flaky case", "Passed", "Infrastructure"], rows, pen)
    left = len(figures.flaky) - len(rows) + figures.n_left_out
    if left:
        yield pen.say(f"and {left:,} more")
        yield ""


def per_case(figures: PerCaseFigures, pen: Pen) -> Iterator[RenderableType]:
    """What single cases have used."""
    rows = [
        _distribution("calls", figures.calls, short),
        _distribution("tokens in", figures.input_tokens, short),
        _distribution("tokens out", figures.output_tokens, short),
        _distribution("cost", figures.cost, dollars),
    ]
    yield _table(["Per case", "Mean", "p50", "p95", "Max", "Cases"], [row for row in rows if row[1]], pen)


def _distribution(name: str, spread: Spread, form: Callable[[float], str]) -> list[str]:
    values = [spread.mean, spread.p50, spread.p95 if spread.n >= _VALUES_FOR_P95 else None, spread.max]
    return [name, *("" if value is None else form(value) for value in values), f"{spread.n:,}"]


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], pen: Pen) -> RenderableType:
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), collapse_padding=True, pad_edge=False, expand=False)
    told = [place for place in range(len(titles)) if any(row[place] not in ("", "0") for row in rows)]
    for place in told:
        justify: Literal["left", "right"] = "right" if place else "left"
        table.add_column(
            pen.say(titles[place]),
            overflow="fold",
            justify=justify,
            no_wrap=place > 0,
            min_width=None if place else _LEAST_NAME,
        )
    for row in rows:
        table.add_row(*(pen.say(row[place]) for place in told))
    return table


# The timeline


def timeline(figures: TimelineFigures, pen: Pen, width: int) -> Iterator[RenderableType]:
    """How the run went, a line for each of what there was, a character for each step, or for several."""
    from rich.padding import Padding
    from rich.table import Table

    length = figures.step_s * len(figures.ended)
    yield pen.say(f"Timeline, {seconds(length)}", "bold")
    grid = Table.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(no_wrap=True)
    lines = (
        ("in progress", figures.in_progress, f"at most {_level(figures.in_progress)}"),
        ("waiting", figures.waiting, f"at most {_level(figures.waiting)}"),
        ("errors", figures.errors, f"{sum(figures.errors):,} in all"),
    )
    for name, values, said in lines:
        if any(values):
            grid.add_row(name, sparkline(_joined(values, width - _BESIDE), pen), said)
    yield Padding(grid, (0, 0, 0, 2))
    yield ""


def _joined(values: Sequence[float], room: int) -> list[float]:
    """As many means of as many values as there is room for."""
    by = next(by for by in range(1, len(values) + 1) if len(values) // by <= max(room, 1))
    return [sum(values[at : at + by]) / by for at in range(0, len(values), by)]


def _level(values: Sequence[float]) -> str:
    most = max(values)
    return f"{most:.0f}" if most >= 9.95 else f"{most:.1f}"


def sparkline(values: Sequence[float], pen: Pen) -> str:
    """A character for each value, the higher the larger; nothing for nothing."""
    marks = "▁▂▃▄▅▆▇█" if pen.unicode else ".:-=+*#@"
    most = max(values, default=0.0)
    return "".join(
        marks[min(int(value / most * len(marks)), len(marks) - 1)] if value > 0 else " " for value in values
    )


__all__ = ["flaky", "per_case", "slices", "sparkline", "timeline", "variants"]
