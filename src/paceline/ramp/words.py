"""What a sweep has found, in words: the ceiling, why, and what to do about it.

Knows rows and verdicts. Whatever others have written (messages of providers, names) comes out harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from paceline.ramp.bounds import bounds_of
from paceline.ramp.rows import Row
from paceline.ramp.verdict import Verdict
from paceline.report.text import UNKNOWN, clean, number, percent, seconds, short

HEAD: Final = ("level", "ok/s", "tokens/s", "p50", "p95", "errors", "429", "bound by")

REASONS: Final = {
    "requests": "the provider's limit of requests",
    "tokens": "the provider's limit of tokens",
    "concurrency": "the provider's limit of calls at a time",
    "growth": "the provider wants slower growth",
    "errors": "calls fail above it",
    "latency": "latency: above it answers only take longer",
    "limits": "the limits that you have set",
    "task": "the task itself",
    "cpu": "this machine",
    "loop": "a blocked event loop",
}
"""What it is that stops a sweep, by the kind of the verdict."""


class Said(NamedTuple):
    """A verdict in words."""

    ceiling: str
    why: str
    advice: str
    """Empty where there is none."""


def say(verdict: Verdict, rows: Sequence[Row]) -> Said:
    """The verdict in three sentences."""
    evidence = clean(verdict.evidence, limit=200)
    at = f"{verdict.window:,} at a time" if verdict.window else "no level"
    rate = f"{number(verdict.ok_rate)} answers a second"
    seen = not rows or rows[0].unit == "call"
    # Calls that are not seen are bounded by the number of cases, and by nothing else.
    window = f"--window {verdict.window}" if seen else f"-j {verdict.window}"
    match verdict.kind:
        case "requests":
            rpm = (verdict.ceiling or 0.0) * 60
            return Said(
                f"{_round(rpm)} requests a minute ({number(verdict.ceiling)} a second), with {at}",
                f"the provider's limit of requests: {evidence}",
                "`-j auto` starts there from now on; to set it by hand: "
                + (f"--rpm {rpm:.0f} {window}" if seen else window),
            )
        case "tokens":
            tpm = (verdict.tps or 0.0) * 60
            if not tpm:
                return Said(f"{rate}, with {at}", f"the provider's limit of tokens: {evidence}", "")
            return Said(
                f"{_round(tpm)} tokens a minute ({number(verdict.tps)} a second), with {at}",
                f"the provider's limit of tokens: {evidence}",
                "`-j auto` starts there from now on; to set it by hand: "
                + (f"--tpm {tpm:.0f} {window}" if seen else window),
            )
        case "concurrency":
            return Said(
                f"{at}, {rate}",
                f"the provider takes no more calls at a time: {evidence}",
                f"`-j auto` starts there from now on; to set it by hand: {window}",
            )
        case "growth":
            return Said(
                f"{at} so far, {rate}",
                f"the provider wants slower growth: {evidence}",
                "hold each level longer (--per-level), or climb in smaller steps (--levels)",
            )
        case "latency":
            return Said(
                f"{at}, {rate}",
                f"above it answers only take longer: {evidence}",
                f"`-j auto` starts there from now on; to set it by hand: {window}",
            )
        case _:
            return _say_ours(verdict, rows, at, rate, evidence)


def _say_ours(verdict: Verdict, rows: Sequence[Row], at: str, rate: str, evidence: str) -> Said:
    """Verdicts that are not about what a provider bears."""
    match verdict.kind:
        case "errors":
            found = f"{at}, {rate}" if verdict.found else "no level was free of failures"
            return Said(found, f"calls fail above it: {evidence}", "see the report of the run for the errors")
        case "limits":
            return Said(
                f"{at}, {rate}",
                f"the limits that you have set hold the calls back: {evidence}",
                "raise or remove `window`, `rps`, `rpm`, `tpm` or `limits` to find what the provider bears",
            )
        case "task":
            return Said(
                f"{at}, {rate}",
                f"the task does not make more calls at a time: {evidence}",
                "look for a lock, a semaphore or a pool of connections of its own",
            )
        case "cpu":
            return Said(
                f"{at}, {rate}",
                f"this machine has no time left ({evidence}); the provider may bear more",
                "let the task do less between its calls, or run on more machines",
            )
        case "loop":
            return Said(
                f"{at}, {rate}",
                f"the event loop is blocked ({evidence}); the provider may bear more",
                "await there, or make the task a plain function: those run on threads",
            )
        case "none" if sum(row.paced is None for row in rows) < 2:
            return Said(
                f"none up to {verdict.level or rows[0].level:,} at a time, {rate}",
                "one level alone says nothing of how it goes on",
                "more cases reach higher: a larger dataset, or `--repeat`",
            )
        case "none":
            return Said(
                f"none up to {max(row.level for row in rows if row.paced is None):,} at a time, {rate}",
                "throughput still grew at the highest level",
                "higher --levels, and a dataset with more cases, reach further",
            )
        case "closed":
            return Said("not found", f"the provider refuses for good: {evidence}", "")
        case "broken":
            why = f"cases fail at level {rows[0].level} already" + (f": {evidence}" if evidence else "")
            return Said("not found", why, "see the report of the run for the errors")
        case _:
            return Said("not found", "no level could be held", "")


def _round(per_minute: float) -> str:
    return f"{float(f'{per_minute:.3g}'):,.0f}"


def cells_of(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """The table, a row for each level, in the order of HEAD."""
    return [_cells(row, bound) for row, bound in zip(rows, bounds_of(rows), strict=True)]


def _cells(row: Row, bound: str) -> tuple[str, ...]:
    return (
        level_of(row),
        rate_of(row.ok_rate),
        UNKNOWN if row.token_rate is None else short(row.token_rate),
        seconds(row.p50),
        seconds(row.p95),
        percent(row.error_share),
        percent(row.rejected_share),
        bound,
    )


def rate_of(per_second: float) -> str:
    """Answers per second, with digits enough to tell levels apart."""
    return f"{per_second:,.0f}" if per_second >= 999.5 else f"{per_second:.3g}"


def level_of(row: Row) -> str:
    """`32`, or `32 at 11.5/s` where it was held to a rate."""
    return f"{row.level:,}" if row.paced is None else f"{row.level:,} at {row.paced:.3g}/s"


def line_of(row: Row, rows: Sequence[Row]) -> str:
    """A level that has just been held, in one line."""
    unit = "calls" if row.unit == "call" else "cases, whose calls are not seen"
    bound = bounds_of(rows)[rows.index(row)]
    parts = [
        f"level {level_of(row)}: {rate_of(row.ok_rate)} ok/s",
        f"p50 {seconds(row.p50)}, p95 {seconds(row.p95)}",
        f"{row.tries:,} {unit}",
        f"429 {percent(row.rejected_share)}" if row.rejected else "",
        f"errors {percent(row.error_share)}" if row.errors else "",
        f"bound by {bound}" if bound != "level" else "",
    ]
    return "; ".join(part for part in parts if part)
