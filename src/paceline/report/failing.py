"""Why a case has not passed: what was against it, in a line."""

from __future__ import annotations

from typing import Final

from paceline.report.rows import ReportCaseFailure, Row

_MOST: Final = 200
"""Characters of each thing that was against a case."""


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


__all__ = ["why_not"]
