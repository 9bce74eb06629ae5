"""The meters of a run on a terminal: what calls each pool has seen, and what limited the run.

Knows figures and a pen. rich is loaded when something is drawn, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from paceline.report.figures import Figures, LimitFigures, PoolFigures, ShareFigures
from paceline.report.overview import said_amount
from paceline.report.pen import Pen
from paceline.report.shapes import Spread
from paceline.report.text import dollars, percent, seconds

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

SHOWN_SHARE: Final = 0.005
"""Shares below are left out of the bars: they are as good as nothing."""
_VALUES_FOR_P95: Final = 20
_BAR: Final = 30
"""Characters of a bar that stands for all of the time."""

_MEANINGS: Final = {
    "cases": "all places taken",
    "window": "calls in flight",
    "requests": "requests a minute",
    "tokens": "tokens a minute",
    "blocked": "told to wait (429)",
    "outage": "provider out of order",
    "backoff": "waiting to try again",
    "stragglers": "last cases",
    "scoring": "evaluators",
    "loop": "event loop blocked",
    "machine": "this machine",
    "journal": "disk",
    "idle": "nothing to do",
    "unknown": "not on record",
}


def pools(figures: Figures, pen: Pen) -> RenderableType:
    """A table of the pools. Columns that would be empty are left out: names of models want the room."""
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), expand=False)
    rows = [_cells(pool, pen) for pool in figures.pools]
    told = [place for place in range(len(_COLUMNS)) if any(row[place] not in ("", "0") for row in rows)]
    table.add_column("Pool", overflow="fold", ratio=1)
    for place in told:
        table.add_column(_COLUMNS[place], justify="right", overflow="fold", no_wrap=True)
    for pool, row in zip(figures.pools, rows, strict=True):
        table.add_row(_name(pool, pen), *(pen.say(row[place]) for place in told))
    return table


_COLUMNS: Final = (
    *("Calls", "Rejected", "Tokens in", "cached", "out", "Cost"),
    *("1st token", "p95", "Latency", "p95"),
)


def _name(pool: PoolFigures, pen: Pen) -> Text:
    name = pen.say(pool.pool, limit=100)
    return pen.join(name, "\n(simulated)") if pool.simulated else name


def _cells(pool: PoolFigures, pen: Pen) -> list[str]:
    at_least = "≥ " if pen.unicode else ">= "
    end, calls = pool.end, pool.calls
    rejected = "" if end is None else f"{end.rejected:,}"
    if calls is None:
        return [f"{end.accepted:,}" if end else "", rejected, *[""] * (len(_COLUMNS) - 2)]
    spending = calls.spending
    cost = said_amount(spending.cost, dollars, at_least=at_least)
    return [
        f"{spending.calls:,}",
        rejected,
        said_amount(spending.input_tokens, at_least=at_least),
        said_amount(spending.cached_tokens, at_least=at_least) if spending.cached_tokens.known else "",
        said_amount(spending.output_tokens, at_least=at_least),
        f"({cost})" if pool.simulated else cost,
        *_middle(calls.first_token),
        *_middle(calls.latency),
    ]


def _middle(spread: Spread) -> tuple[str, str]:
    """Median and 95th percentile, where there are enough values for one."""
    if not spread.n:
        return "", ""
    return seconds(spread.p50), seconds(spread.p95) if spread.n >= _VALUES_FOR_P95 else ""


def limits(limited: LimitFigures, pen: Pen) -> Iterator[RenderableType]:
    """Bars of what limited the run, and the advice."""
    from rich.padding import Padding
    from rich.table import Table

    yield pen.say("What limited this run", "bold")
    grid = Table.grid(padding=(0, 2))
    for justify in ("left", "right", "right", "left"):
        grid.add_column(justify=justify, no_wrap=True)
    for share in limited.shares:
        if share.share >= SHOWN_SHARE:
            grid.add_row(*(pen.say(cell) for cell in _bar(share, pen)))
    yield Padding(grid, (0, 0, 0, 2))
    if limited.advice:
        yield Padding(pen.say(limited.advice, limit=500), (0, 0, 0, 2))
    yield ""


def _bar(share: ShareFigures, pen: Pen) -> Iterator[str]:
    yield _MEANINGS.get(share.limit, share.limit)
    yield percent(share.share)
    yield seconds(share.seconds)
    yield pen.bar * max(1, round(share.share * _BAR))


__all__ = ["limits", "pools"]
