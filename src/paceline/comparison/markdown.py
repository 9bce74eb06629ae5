"""The comparison as Markdown, for a pull request or the summary of a CI job.

Whatever is foreign is escaped: it is text on the page, and neither markup nor a link.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from paceline.comparison import words
from paceline.comparison.metrics import Metric
from paceline.comparison.pairing import CHANGES, Changed
from paceline.report.text import clean

if TYPE_CHECKING:
    from paceline.comparison.comparing import Comparison, Pair

SHOWN_KEYS: Final = 50
"""Of each kind of change: a summary of a job has to stay below 1 MiB."""
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+!|~$@:-])")


def markdown(compared: Comparison) -> str:
    """All of it."""
    return "\n".join(line for part in _parts(compared) for line in part) + "\n"


def text(foreign: str, *, limit: int = 300) -> str:
    """Foreign text, as text."""
    return html.escape(_MARKUP.sub(r"\\\1", clean(foreign, limit=limit)), quote=False)


def _parts(compared: Comparison) -> Iterator[Iterator[str]]:
    yield _sides(compared)
    for pair in compared.pairs:
        yield _pair(pair)


def _sides(compared: Comparison) -> Iterator[str]:
    yield "| | run | suite | keys |"
    yield "|---|---|---|---:|"
    for letter, side in compared.sides.items():
        yield f"| {letter} | {text(side.name)} | {text(side.suite)} | {len(side.seen):,} |"


def _pair(pair: Pair) -> Iterator[str]:
    first, second = pair.first, pair.second
    yield ""
    yield f"### {second} against {first}: {words.sentence(pair.metrics[0], first, second)}"
    yield ""
    yield f"| metric | {first} | {second} | difference | interval | p | p (Holm) | keys | verdict |"
    yield "|---|---:|---:|---:|---|---:|---:|---:|---|"
    for metric in pair.metrics:
        yield _row(metric, pair)
    yield from _changes(pair)
    if pair.differing:
        yield ""
        yield "**What else differs, or is not known**"
        yield ""
        for each in pair.differing:
            yield f"- {text(each.text, limit=600)}"


def _row(metric: Metric, pair: Pair) -> str:
    found, unit = metric.found, metric.unit
    said = words.sentence(metric, pair.first, pair.second)
    if out := words.left_out(metric, pair.first, pair.second):
        said = f"{said}; {out}"
    name = text(words.title(metric))
    if found is None:
        return f"| {name} | | | | | | | 0 | {said} |"
    cells = (
        name,
        words.value(unit, found.first),
        words.value(unit, found.second),
        words.difference(unit, found.difference),
        words.interval(unit, found),
        f"{found.p:.3g}",
        "" if metric.p_adjusted is None else f"{metric.p_adjusted:.3g}",
        f"{found.n:,}",
        said,
    )
    return f"| {' | '.join(cell.replace('<', '&lt;') for cell in cells)} |"


def _changes(pair: Pair) -> Iterator[str]:
    for change in CHANGES:
        if keys := pair.changes[change]:
            yield ""
            yield f"<details><summary>{words.become(change, len(keys))}</summary>"
            yield ""
            yield from (_changed(each) for each in keys[:SHOWN_KEYS])
            if len(keys) > SHOWN_KEYS:
                yield f"- and {len(keys) - SHOWN_KEYS:,} more"
            yield ""
            yield "</details>"


def _changed(changed: Changed) -> str:
    return f"- {text(str(changed.key))}: {changed.first or 'not there'} → {changed.second or 'not there'}"


__all__ = ["markdown", "text"]
