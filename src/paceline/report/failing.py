"""What has not passed: the rows, and what was against each of them, in a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from paceline.report.rows import ReportCaseFailure, Row

if TYPE_CHECKING:
    from paceline.report.report import Report

_MOST: int = 200
"""Characters of each thing that was against a case."""


def failing_rows(report: Report[Any, Any, Any]) -> Iterator[Row]:
    """Every key that came to an end and has not passed: first those with an output, then those without."""
    rows: Iterable[Row] = chain(report.cases, report.failures)
    return (row for row in rows if row.passed is False)


def why_not(row: Row) -> str:
    """What was against a case, on a line."""
    if isinstance(row, ReportCaseFailure):
        return _line(f"{row.error_type}: {row.error_message}")
    broken = [f"{failure.name}: {failure.error_message}" for failure in row.evaluator_failures]
    untrue = [
        f"{name}: {result.reason}" if result.reason else name
        for name, result in row.assertions.items()
        if not result.value
    ]
    return "; ".join(_line(text) for text in (*untrue, *broken))


def _line(text: str) -> str:
    # Cut before it is folded, too: an answer of ten megabytes is not gone through for the first of them.
    return " ".join(text[: 20 * _MOST].split())[:_MOST]


__all__ = ["failing_rows", "why_not"]
