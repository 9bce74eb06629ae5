"""The result of a benchmark: rows, what the bars ask and what was found, on the terminal and as JSON.

Keys of bench/results/NAME.json:

    name, title     of the program, and the table's heading
    command         what makes it again
    quick           whether sizes were cut down to a smoke test; bars are not judged then
    taken           the day
    machine         cores, processor, kernel, Python (see `machine`)
    settings        sizes, rounds
    rows            the table: mappings with the same keys, in order
    more            a second table, where there is one
    bars            what, bar (in words), found, met (null where it was not judged)
    notes           what a reader should know to read the rows right
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.contest import ROOT
from bench.machine import machine

RESULTS = ROOT / "bench" / "results"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Something that has to be reached."""

    what: str
    bar: str
    found: float | None
    """None where it could not be measured: never green."""
    met: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one program found."""

    title: str
    settings: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    more: Sequence[Mapping[str, Any]] = ()
    bars: Sequence[Bar] = ()
    notes: Sequence[str] = ()


def at_least(what: str, limit: float, found: float | None) -> Bar:
    """A ratio that has to be reached."""
    return Bar(what=what, bar=f"≥ {limit:g} ×", found=found, met=found is not None and found >= limit)


def at_most(what: str, limit: float, found: float | None, unit: str) -> Bar:
    """Something that must not be exceeded."""
    return Bar(what=what, bar=f"≤ {limit:g} {unit}", found=found, met=found is not None and found <= limit)


def program(name: str, measure: Callable[[bool], Result]) -> Result:
    """The main function of a benchmark: arguments, measurement, table, file."""
    parser = argparse.ArgumentParser(prog=f"python -m bench.{name}")
    parser.add_argument("--quick", action="store_true", help="small sizes: does it work?")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="where the JSON goes")
    given = parser.parse_args()
    return carry_out(name, measure, quick=given.quick, results=given.results)


def carry_out(name: str, measure: Callable[[bool], Result], *, quick: bool, results: Path) -> Result:
    """Measure, print the table, write the file."""
    result = measure(quick)
    if quick:
        result = replace(result, bars=[replace(bar, met=None) for bar in result.bars])
    document = {
        "name": name,
        "title": result.title,
        "command": f"python -m bench.{name}",
        "quick": quick,
        "taken": datetime.now(tz=UTC).date().isoformat(),
        "machine": machine(),
        **asdict(result),
    }
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{name}.json").write_text(
        json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    print(f"\n{body(document)}")
    return result


# As text ------------------------------------------------------------------------------------------


def body(document: Mapping[str, Any]) -> str:
    """A result as Markdown: its title, its tables, its bars, its notes."""
    bars = table([bar_row(bar) for bar in document["bars"]])
    parts = [
        f"**{document['title']}**",
        table(document["rows"]),
        table(document["more"]),
        bars,
        *document["notes"],
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def bar_row(bar: Mapping[str, Any]) -> dict[str, Any]:
    """A bar as a row of a table."""
    verdict = {True: "yes", False: "NO", None: "not judged"}[bar["met"]]
    return {"what has to be reached": bar["what"], "bar": bar["bar"], "found": bar["found"], "met": verdict}


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a Markdown table, which is readable on a terminal too."""
    if not rows:
        return ""
    keys = list(rows[0])
    cells = [[heading(key) for key in keys], *([shown(key, row.get(key)) for key in keys] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(keys))]
    numeric = [all(_is_number(row.get(key)) for row in rows) for key in keys]

    def line(texts: Sequence[str]) -> str:
        padded = [
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(texts, widths, numeric, strict=True)
        ]
        return f"| {' | '.join(padded)} |"

    rule = "|".join(
        "-" * (width + 1) + (":" if right else "-") for width, right in zip(widths, numeric, strict=True)
    )
    head, *body = map(line, cells)
    return "\n".join([head, f"|{rule}|", *body])


UNITS = {"_s": " s", "_ms": " ms", "_us": " µs", "_mb": " MB"}


def heading(key: str) -> str:
    """`wall_s` as `wall s`, `per_case_us` as `per case µs`."""
    for ending, unit in UNITS.items():
        key = key.removesuffix(ending) + unit if key.endswith(ending) else key
    return key.replace("_", " ")


def shown(key: str, value: Any) -> str:
    """A value as text: three digits that count, thousands apart."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value).replace("|", r"\|")
    text = f"{value:,}" if isinstance(value, int) else _three_digits(value)
    return f"{text} ×" if key.startswith("times") else text


def _three_digits(value: float) -> str:
    size = abs(value)
    return (
        f"{value:,.0f}"
        if size >= 100
        else f"{value:.1f}"
        if size >= 10
        else f"{value:.2f}"
        if size >= 0.1
        else f"{value:.3f}"
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
