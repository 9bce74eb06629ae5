"""The report as Markdown, as GitHub shows it: a summary, what evaluators said, why cases failed, which did.

It fits a step summary, which takes a megabyte: tables stop before that and say what they leave out. Foreign
text is never Markdown: whatever could mark something up stands as an entity, which shows the character and
does nothing else.

Knows figures and rows. `table` and `shown` are for whoever puts more below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from paceline.report.failing import why_not
from paceline.report.figures import Figures
from paceline.report.overview import lines_of, said_interval
from paceline.report.text import clean, counted, number, percent

if TYPE_CHECKING:
    from paceline.report.report import Report

MOST_ROWS: Final = 200
"""Of a table."""
MOST_BYTES: Final = 180_000
"""Of a table: five of them, with that of a gate, are less than a megabyte."""
_ACTIVE: Final = re.compile(
    r"[^\w .,;:%'\"+?/=()-]"
    r"|:(?![\s(]|$)"  # of addresses and emoji
    r"|(?<![a-z0-9])_|_(?![a-z0-9])"  # within a word it marks nothing up
    r"|(?<=www)\.",
    re.ASCII | re.IGNORECASE,
)


def shown(text: str, *, limit: int = 120) -> str:
    """Foreign text on one line, as it would read, and without any effect."""
    return _ACTIVE.sub(_entity, clean(text, limit=limit))


def _entity(found: re.Match[str]) -> str:
    one = found[0]
    return one if ord(one) > 0x7F else f"&#{ord(one)};"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, of: int, things: str) -> Iterator[str]:
    """A table of lines that are Markdown already; says how many of the things it leaves out."""
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    count = size = 0
    for row in rows:
        line = f"| {' | '.join(row)} |"
        size += len(line.encode()) + 1
        if count >= MOST_ROWS or size > MOST_BYTES:
            break
        count += 1
        yield line
    if count < of:
        yield ""
        yield f"The first {count:,} of {of:,} {things}; `paceline report` has them all."


def markdown(report: Report[Any, Any, Any]) -> str:
    """The report."""
    figures = report.figures
    parts = (_summary(report, figures), _evaluators(figures), _causes(figures), _not_passed(report, figures))
    return "".join(f"{line}\n" for part in parts for line in part)


def _summary(report: Report[Any, Any, Any], figures: Figures) -> Iterator[str]:
    yield f"## {shown(report.name)}: {figures.verdict}"
    yield ""
    lines = list(lines_of(figures))
    rows = ([shown(label.strip()), shown(said, limit=500)] for label, said in lines)
    yield from table(("Figure", "Value"), rows, of=len(lines), things="figures")
    yield ""


def _evaluators(figures: Figures) -> Iterator[str]:
    told = figures.evaluators
    rows = [
        [
            shown(each.name),
            f"{percent(each.true.rate)} true ({said_interval(each.true.interval, each.true.of)})",
            f"{each.true.of:,} of {each.n_expected:,}",
        ]
        for each in told.assertions
    ]
    rows += [
        [
            shown(each.name),
            f"mean {number(each.values.mean)}, {number(each.values.min)} to {number(each.values.max)}",
            f"{each.values.n:,} of {each.n_expected:,}",
        ]
        for each in told.scores
    ]
    rows += [
        [
            shown(each.name),
            ", ".join(f"{shown(word, limit=40)} {n:,}" for word, n in list(each.counts.items())[:5]),
            f"{each.n:,} of {each.n_expected:,}",
        ]
        for each in told.labels
    ]
    rows += [[shown(label), f"failed on {n:,}", ""] for label, n in told.failures.items()]
    rows += [[shown(label), "nothing said", f"0 of {n:,}"] for label, n in told.silent.items()]
    if rows:
        yield "### Evaluators"
        yield ""
        yield from table(("Evaluator", "Result", "Cases"), rows, of=len(rows), things="results")
        yield ""


def _causes(figures: Figures) -> Iterator[str]:
    causes = figures.causes
    if not causes:
        return
    yield "### Failures by cause"
    yield ""
    rows = (
        [
            f"{each.count:,}",
            shown(each.outcome),
            shown(f"{each.type}: {each.message}", limit=200),
            shown(", ".join(each.examples)),
        ]
        for each in causes
    )
    head = ("Cases", "Outcome", "Error", "Such as")
    yield from table(head, rows, of=len(causes), things="causes")
    if figures.causes_left_out:
        yield ""
        yield f"Other causes: {counted(figures.causes_left_out, 'case')}."
    yield ""


def _not_passed(report: Report[Any, Any, Any], figures: Figures) -> Iterator[str]:
    count = figures.n - figures.n_passed - figures.n_unasserted
    if not count:
        return
    yield "### Not passed"
    yield ""
    rows = ([shown(str(row.key)), row.outcome, shown(why_not(row), limit=200)] for row in report.not_passed)
    yield from table(("Case", "Outcome", "Why"), rows, of=count, things="cases that have not passed")


__all__ = ["MOST_BYTES", "MOST_ROWS", "markdown", "shown", "table"]
