"""The report as CSV: one line for each key, for spreadsheets and data frames.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and a formula can send what
stands in other cells elsewhere. Text that begins so is given an apostrophe in front; numbers stay numbers.
What a terminal or a reader would act on is written as an escape, and cells end where spreadsheets' do.

Every key of the run that was begun has a line, those without an outcome too; what is not known is empty.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from paceline import values
from paceline.printable import harmless
from paceline.report.rows import ReportCaseFailure, Row

if TYPE_CHECKING:
    from paceline.report.report import Report

LONGEST_CELL: Final = 32_000
"""Characters; spreadsheets take 32,767."""
HEAD: Final = (
    *("case", "repeat", "variant", "outcome", "passed", "seconds", "waited_s", "attempts"),
    *("error_type", "error", "inputs", "expected_output", "output"),
)
_FORMULA: Final = re.compile(r"\s*[=+\-@|%＝＋－＠]|['\t\r\n]")


def cell(value: object) -> object:
    """What may stand in a cell: text that no spreadsheet calculates, and numbers as they are."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = str(value)
    if len(text) > LONGEST_CELL:
        text = f"{text[: LONGEST_CELL - 1]}…"
    text = harmless(text)
    if len(text) > LONGEST_CELL:  # escapes are longer than what they stand for
        text = f"{text[: LONGEST_CELL - 1]}…"
    return f"'{text}" if _FORMULA.match(text) else text


def spreadsheet(report: Report[Any, Any, Any]) -> str:
    """The report."""
    told = report.figures.evaluators
    named = [
        *(("assertion", each.name) for each in told.assertions),
        *(("score", each.name) for each in told.scores),
        *(("label", each.name) for each in told.labels),
    ]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow([*HEAD, *(cell(f"{kind}: {name}") for kind, name in named)])
    for line in _lines(report, named):
        writer.writerow([cell(each) for each in line])
    return file.getvalue()


def _lines(report: Report[Any, Any, Any], named: Sequence[tuple[str, str]]) -> Iterator[list[object]]:
    for row in report.rows:
        yield _line(row, named)
    for key in report.open_keys:
        yield [key.case, key.repeat, key.variant, "open"]


def _line(row: Row, named: Sequence[tuple[str, str]]) -> list[object]:
    key = row.key
    common: list[object] = [key.case, key.repeat, key.variant, row.outcome, row.passed]
    error: list[object]
    asked = [_text(row.inputs), _text(row.expected_output), _text(row.output)]
    if isinstance(row, ReportCaseFailure):
        error = [row.error_type, row.error_message]
        return [*common, row.duration, row.waited, row.attempts, *error, *asked]
    broken = row.evaluator_failures
    failed = broken[0] if broken else None
    error = [failed.error_type, f"{failed.name}: {failed.error_message}"] if failed else ["", ""]
    results = {"assertion": row.assertions, "score": row.scores, "label": row.labels}
    found = (results[kind].get(name) for kind, name in named)
    said = [None if each is None else each.value for each in found]
    return [*common, row.task_duration, row.waited, row.attempts, *error, *asked, *said]


def _text(value: object) -> str | None:
    """A text as it is, and anything else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return values.encode(value).decode("utf-8", "backslashreplace")


__all__ = ["HEAD", "LONGEST_CELL", "cell", "spreadsheet"]
