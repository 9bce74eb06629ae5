"""When a level has told enough, when it does harm, and when there is no point in the next one.

Shares are not taken at their word: one rejection in four tries is a quarter, and proves nothing. What ends a
level in its midst is the lower end of Wilson's interval.

Pure functions of what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from paceline.ramp.rows import FAILURES, Row, warm_from
from paceline.ramp.seen import Glimpse, Halt, Try
from paceline.report.text import clean, percent
from paceline.statistics.proportions import wilson


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Where the lines are drawn."""

    completions: int = 30
    """A level that has answered so often, for so many latencies and seconds, has told enough."""
    latencies: float = 3.0
    seconds: float = 20.0
    rejected: float = 0.05
    """Share of tries rejected for quota, from which on no higher level is tried."""
    errors: float = 0.05
    """Share of tries that fail, beyond what fails at the lowest level, likewise."""
    gain: float = 0.10
    """What twice the level must bring in throughput, at least."""
    failures: int = 3
    """Fewer prove nothing in the midst of a level."""
    accepted: int = 40
    """Answers between rejections that tell where the limit is."""
    pressed_seconds: float = 3.0
    storm: float = 10.0
    """Rejections for each answer, from which on the level is given up, whatever it has told."""
    broken: float = 0.5
    """Share of failures at the lowest level that has nothing to do with how many there are at a time."""


def heed(glimpse: Glimpse, rules: Rules, *, usual_errors: float = 0.0) -> Halt | None:
    """Whether a level should be given no further cases, judged in its midst."""
    tries = [each for each in glimpse.tries if each.outcome != "cancelled"]
    good = [each for each in tries if each.outcome == "ok"]
    failed = [each for each in tries if each.outcome in FAILURES]
    for fatal in failed:
        if fatal.outcome == "fatal":
            return Halt(kind="closed", reason=clean(fatal.message) or f"refused for good ({fatal.cause})")
    cases_failed = sum(not each.ok for each in glimpse.done)
    allowed = usual_errors + rules.errors
    for wrong, of, what in (
        (len(failed), len(tries), "calls"),
        (cases_failed, len(glimpse.done), "cases"),
    ):
        if wrong >= rules.failures and _at_least(wrong, of) > allowed:
            return Halt(kind="errors", reason=f"{wrong} of {of} {what} failed")
    if not good:
        return _storm(tries, 0, rules)
    return _limit(glimpse, tries, good, rules) or _enough(glimpse, good, rules)


def _limit(glimpse: Glimpse, tries: Sequence[Try], good: Sequence[Try], rules: Rules) -> Halt | None:
    """Rejections, once they have told where the limit is, or come without end."""
    since = _warm(glimpse, good)
    warm = [each for each in tries if each.start >= since]
    rejections = [each.start for each in warm if each.outcome == "rate_limited"]
    if len(rejections) >= rules.failures and _at_least(len(rejections), len(warm)) > rules.rejected:
        first = min(rejections)
        told = sum(each.start > first for each in good)
        if told >= rules.accepted and glimpse.now - first >= rules.pressed_seconds:
            return Halt(kind="limit", reason=f"{len(rejections)} of {len(warm)} calls were rejected")
    return _storm(tries, len(good), rules)


def _storm(tries: Sequence[Try], answers: int, rules: Rules) -> Halt | None:
    rejections = sum(each.outcome == "rate_limited" for each in tries)
    if rejections <= rules.accepted + rules.storm * answers:
        return None
    return Halt(kind="limit", reason=f"{rejections} rejections for {answers} answers")


def _enough(glimpse: Glimpse, good: Sequence[Try], rules: Rules) -> Halt | None:
    if len(good) < rules.completions:
        return None
    warm = _warm(glimpse, good)
    answers = sum(each.end > warm for each in good)
    held = glimpse.now - warm
    if answers < rules.completions or held < max(rules.seconds, rules.latencies * (warm - glimpse.started)):
        return None
    return Halt(kind="enough", reason=f"{answers} answers in {held:.0f} s")


def _warm(glimpse: Glimpse, good: Sequence[Try]) -> float:
    return warm_from(glimpse.level, glimpse.started, [each.end for each in good])


def _at_least(count: int, of: int) -> float:
    interval = wilson(count, of)
    return interval.low if interval is not None else 0.0


def stop_after(rows: Sequence[Row], rules: Rules) -> str | None:
    """Why no higher level is worth trying after these, lowest first; None where one is."""
    row = rows[-1]
    if row.halt is not None and row.halt.kind not in ("enough", "limit"):
        return row.halt.reason
    if row.rejected_share > rules.rejected and row.rejected >= rules.failures:
        return f"{percent(row.rejected_share)} of the calls were rejected at {row.level}"
    if row.error_share > usual_errors(rows) + rules.errors and row.errors >= rules.failures:
        return f"{percent(row.error_share)} failed at {row.level}"
    if len(rows) > 1 and gained(rows[-2], row) < rules.gain and not row.thin:
        return f"{row.level} at a time brought hardly more than {rows[-2].level}"
    return None


def usual_errors(rows: Sequence[Row]) -> float:
    """The share of failures that is there at the lowest level already."""
    return rows[0].error_share if len(rows) > 1 else 0.0


def is_broken(row: Row, rules: Rules) -> bool:
    """Whether the lowest level fails so often that levels have nothing to do with it."""
    return row.error_share >= rules.broken and row.cases > 0


def gained(before: Row, after: Row) -> float:
    """What a doubling of the level has brought in throughput: 1 is twice as much, 0 nothing."""
    if before.ok_rate <= 0:
        return math.inf if after.ok_rate > 0 else 0.0
    doublings = math.log2(after.level / before.level)
    return float((after.ok_rate / before.ok_rate) ** (1 / doublings) - 1)
