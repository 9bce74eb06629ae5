"""The meters of a run on a terminal: what calls each pool has seen, and what limited the run.

Knows figures and a pen. rich is loaded when something is drawn, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from paceline.report.figures import Figures, LimitFigures, PoolFigures, ShareFigures, Spread
from paceline.report.overview import said_amount
from paceline.report.pen import Pen
from paceline.report.text import dollars, percent, seconds

if TYPE_CHECKING:
    from rich.console import RenderableType

SHOWN_SHARE: Final = 0.005
"""Shares below are left out of the bars: they are as good as nothing."""
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
    """A table of the pools."""
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), expand=False)
    table.add_column("Pool", overflow="fold")
    for title in ("Calls", "Rejected", "Tokens in", "out", "Cost", "First token", "Latency"):
        table.add_column(title, justify="right", overflow="fold")
    for pool in figures.pools:
        name = f"{pool.pool} (simulated)" if pool.simulated else pool.pool
        table.add_row(pen.say(name, limit=100), *(pen.say(cell) for cell in _cells(pool, pen)))
    return table


def _cells(pool: PoolFigures, pen: Pen) -> Iterator[str]:
    at_least = "≥ " if pen.unicode else ">= "
    end, calls = pool.end, pool.calls
    rejected = "" if end is None else f"{end.rejected:,}"
    if calls is None:
        yield from (f"{end.accepted:,}" if end else "", rejected, "", "", "", "", "")
        return
    spending = calls.spending
    yield f"{spending.calls:,}"
    yield rejected
    yield said_amount(spending.input_tokens, at_least=at_least)
    yield said_amount(spending.output_tokens, at_least=at_least)
    cost = said_amount(spending.cost, dollars, at_least=at_least)
    yield f"({cost})" if pool.simulated else cost
    yield _middle(calls.first_token)
    yield _middle(calls.latency)


def _middle(spread: Spread) -> str:
    """Median and 95th percentile, where there are enough values for one."""
    if not spread.n:
        return ""
    return f"{seconds(spread.p50)}" + (f", p95 {seconds(spread.p95)}" if spread.n >= 20 else "")


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
