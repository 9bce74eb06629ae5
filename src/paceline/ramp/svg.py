"""The curve as a picture: what share of the calls failed, and how long answers took, at which throughput.

One file that stands by itself: SVG with its own light and dark colours, no script, nothing from elsewhere.
Whatever text comes from others is escaped. Knows rows, verdicts and XML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from paceline.ramp.chart import LEAST_SHARE, nice
from paceline.ramp.rows import Row
from paceline.ramp.verdict import Verdict
from paceline.ramp.words import rate_of, say
from paceline.report.text import clean, seconds

WIDTH: Final = 760
HEIGHT: Final = 476
LEFT, RIGHT, TOP, BOTTOM = 74, 686, 122, 406
"""The field within the axes."""
LETTER: Final = 7.0
"""Width of a letter of a label, about."""
TICKS: Final = 4

STYLE: Final = """
    text { font: 13px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2430; }
    .title { font-size: 17px; font-weight: 600; }
    .quiet { fill: #5b6472; }
    .level { stroke: #ffffff; stroke-width: 4px; paint-order: stroke; }
    .paper { fill: #ffffff; }
    .grid { stroke: #dfe3e8; }
    .axis { stroke: #5b6472; }
    .failed { stroke: #c0392b; fill: none; stroke-width: 2.5; }
    .failed-dot { fill: #c0392b; stroke: #ffffff; stroke-width: 1.5; }
    .failed-text { fill: #a93226; }
    .slow { stroke: #2468b4; fill: none; stroke-width: 2; stroke-dasharray: 6 4; }
    .slow-dot { fill: #2468b4; }
    .slow-text { fill: #1f5a9c; }
    .ceiling { stroke: #1e8449; stroke-width: 1.5; stroke-dasharray: 3 3; }
    .ceiling-text { fill: #186a3b; }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e9ef; }
      .quiet { fill: #a4adbb; }
      .level { stroke: #161a22; }
      .paper { fill: #161a22; }
      .grid { stroke: #2c333f; }
      .axis { stroke: #a4adbb; }
      .failed { stroke: #ff7b6b; }
      .failed-dot { fill: #ff7b6b; stroke: #161a22; }
      .failed-text { fill: #ff9a8d; }
      .slow { stroke: #6cb2ff; }
      .slow-dot { fill: #6cb2ff; }
      .slow-text { fill: #8cc3ff; }
      .ceiling { stroke: #58d68d; }
      .ceiling-text { fill: #7ee2a8; }
    }
  """


class Box(NamedTuple):
    """A place that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether they overlap."""
        apart = self.right <= other.left or other.right <= self.left
        return not (apart or self.bottom <= other.top or other.bottom <= self.top)


def picture(rows: Sequence[Row], verdict: Verdict, *, suite: str) -> str:
    """The whole file."""
    climbed = [row for row in rows if row.paced is None and row.tries]
    said = say(verdict, rows) if rows else None
    title = f"Ramp of {clean(suite, limit=60)}"
    ceiling = f"Ceiling: {said.ceiling}" if said is not None else "No level was held"
    why = f"Why: {said.why}" if said is not None else ""
    parts = [
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>',
        _text(24, 32, title, "title"),
        _text(24, 54, _cut(ceiling, 100)),
        _text(24, 74, _cut(why, 104), "quiet"),
    ]
    if climbed:
        parts += _Plot(climbed, verdict).parts()
    body = "\n  ".join(parts)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" role="img" aria-label="{_attribute(title)}">\n'
        f"  <title>{escape(title)}</title>\n  <desc>{escape(ceiling)}. {escape(why)}</desc>\n"
        f"  <style>{STYLE}</style>\n  {body}\n</svg>\n"
    )


class _Plot:
    """The field, its axes and its lines."""

    def __init__(self, rows: Sequence[Row], verdict: Verdict) -> None:
        self._rows = rows
        self._ceiling = verdict.ok_rate if verdict.found else None
        most = max(*(row.ok_rate for row in rows), self._ceiling or 0.0, 1e-9)
        self._most = nice(most)
        self._worst = nice(max(LEAST_SHARE, *(row.failed_share for row in rows)), most=1.0)
        self._slowest = nice(max((row.p95 or 0.0 for row in rows), default=0.0) or 1.0)
        self._taken: list[Box] = []

    def parts(self) -> list[str]:
        """All elements, from the back to the front."""
        failed = [(self._x(row), self._y(row.failed_share / self._worst)) for row in self._rows]
        slow = [(self._x(row), self._y((row.p95 or 0.0) / self._slowest)) for row in self._rows]
        # Dots are in nobody's way only if every label knows of all of them.
        self._taken += [Box(x - 6, y - 6, x + 6, y + 6) for x, y in failed]
        return [
            *self._grid(),
            *self._names_of_axes(),
            *self._mark_of_ceiling(),
            _line(slow, "slow"),
            *(f'<circle class="slow-dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in slow),
            _line(failed, "failed"),
            *(f'<circle class="failed-dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>' for x, y in failed),
            *self._labels(failed),
        ]

    def _x(self, row: Row) -> float:
        return LEFT + (RIGHT - LEFT) * row.ok_rate / self._most

    def _y(self, share: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * min(share, 1.0)

    def _grid(self) -> Iterator[str]:
        for number in range(TICKS + 1):
            part = number / TICKS
            y, x = self._y(part), LEFT + (RIGHT - LEFT) * part
            kind = "axis" if number == 0 else "grid"
            yield f'<line class="{kind}" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>'
            yield _text(LEFT - 8, y + 4, _percent(self._worst * part), "failed-text", anchor="end")
            yield _text(RIGHT + 8, y + 4, seconds(self._slowest * part), "slow-text")
            yield _text(x, BOTTOM + 20, rate_of(self._most * part), "quiet", anchor="middle")

    def _names_of_axes(self) -> Iterator[str]:
        yield _text(24, TOP - 16, "failed or rejected", "failed-text")
        yield _text(WIDTH - 24, TOP - 16, "p95 of an answer", "slow-text", anchor="end")
        middle = (LEFT + RIGHT) / 2
        yield _text(middle, BOTTOM + 44, "answers a second; each point is a level", "quiet", anchor="middle")

    def _mark_of_ceiling(self) -> Iterator[str]:
        if self._ceiling is None:
            return
        x = LEFT + (RIGHT - LEFT) * self._ceiling / self._most
        yield f'<line class="ceiling" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{BOTTOM}"/>'
        anchor = "end" if x > (LEFT + RIGHT) / 2 else "start"
        name = f"ceiling {rate_of(self._ceiling)}/s"
        at = x - 6 if anchor == "end" else x + 6
        wide = len(name) * LETTER
        left = at - wide if anchor == "end" else at
        self._taken.append(Box(left, TOP, left + wide, TOP + 18))
        yield _text(at, TOP + 13, name, "ceiling-text", anchor=anchor)

    def _labels(self, points: Iterable[tuple[float, float]]) -> Iterator[str]:
        """The level at each point, wherever there is room near it."""
        for row, (x, y) in zip(self._rows, points, strict=True):
            name = f"{row.level}"
            half = len(name) * LETTER / 2
            for dx, dy in ((0, -10), (half + 10, -8), (-half - 10, -8), (0, -25), (0, -40), (0, -55)):
                box = Box(x + dx - half, y + dy - 11, x + dx + half, y + dy + 2)
                if not any(box.meets(other) for other in self._taken):
                    self._taken.append(box)
                    yield _text(x + dx, y + dy, name, "level", anchor="middle")
                    break


def _text(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start") -> str:
    style = f' class="{kind}"' if kind else ""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text{style} x="{x:.1f}" y="{y:.1f}"{place}>{escape(text)}</text>'


def _line(points: Sequence[tuple[float, float]], kind: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{path}"/>'


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def _attribute(text: str) -> str:
    return escape(text, {'"': "&quot;"})
