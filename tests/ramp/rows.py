"""Rows and reports as a sweep leaves them, made by hand."""

from __future__ import annotations

from typing import Any

from paceline.ramp.report import RampReport
from paceline.ramp.rows import Row
from paceline.ramp.seen import Machine
from paceline.ramp.verdict import Verdict


def row(level: int, rate: float | None = None, **more: Any) -> Row:
    """A level at which nothing went wrong: a place answers once in two seconds."""
    rate = level / 2 if rate is None else rate
    usual: dict[str, Any] = {
        "unit": "call",
        "cases": 30,
        "tries": 30,
        "seconds": 20.0,
        "sent_rate": rate,
        "token_rate": 500 * rate,
        "busy": float(level),
        "latency": level / rate,
        "p50": level / rate,
        "p95": 1.5 * level / rate,
        "errors": 0,
        "error_share": 0.0,
        "rejected": 0,
        "rejected_share": 0.0,
        "causes": {},
        "pressed": None,
        "machine": Machine(),
        "answers": 30,
        "answers_all": 30,
        "cost": 0.03,
        "pool": "openai:m",
    }
    return Row(level=level, ok_rate=rate, **{**usual, **more})


def report(*rows: Row, verdict: Verdict | None = None, **more: Any) -> RampReport:
    """A sweep that came to its end."""
    rows = rows or (row(1), row(2), row(4))
    usual: dict[str, Any] = {"suite": "sums", "how": "complete", "levels": tuple(each.level for each in rows)}
    return RampReport(rows=rows, verdict=verdict or Verdict(kind="none", window=4), **{**usual, **more})
