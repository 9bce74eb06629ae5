"""The verdict: how much the provider bears, and what it is that stops it from bearing more.

    requests, tokens   rejections say so; the ceiling is what was accepted in between them
    concurrency        rejections come at the same number of calls under way, again and again: that number
    growth             the provider wants more time between levels
    errors             calls fail at a level where fewer did at lower ones
                       (or the provider's own headers say them, and calls wait for what these allow)
    latency            nobody is rejected, answers only take longer: the place where two lines meet,
                       throughput that grows with the level, and throughput that does not
    limits             the limits that somebody has set for the run hold the calls back
    task               the calls do not get as far as the provider: something of the caller's holds them back
    cpu, loop          this process has no more time, or a coroutine blocks the event loop
    none               throughput still grew at the highest level
    closed, broken     the provider refuses for good; cases fail at any level
    nothing            there is no level to judge by

A function of rows. Knows nothing of where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from paceline.ramp.rows import Row
from paceline.ramp.rules import Rules, is_broken, usual_errors

Kind = Literal[
    "requests",
    "tokens",
    "concurrency",
    "growth",
    "errors",
    "latency",
    "limits",
    "task",
    "cpu",
    "loop",
    "none",
    "closed",
    "broken",
    "nothing",
]
Measure = Literal["requests/s", "tokens/s", "at once"]

BUSY: Final = 0.85
"""Share of a core from which on Python has no time left."""
BLOCKED: Final = 0.3
"""Share of the time without a turn of the event loop that is no accident."""
HELD: Final = 0.75
"""Share of what a place did at low levels, below which something holds the calls up."""
STEADY: Final = 0.75
"""Share of rejections at the same number under way, from which on it is a cap, where nobody says so."""
WAITING: Final = 0.25
"""Share of the looks at which calls waited for leave, from which on that is what holds them up."""
AS_SAID: Final = 0.3
"""How far what is measured may be off what headers say, for these to be believed."""
WIDEST: Final = 1.3
"""Between the two bounds of a rate, as far as the upper one is believed."""
NEARER: Final = 0.25
"""Where between them it is taken to be: nearer to the lower one, which costs less where it is
wrong."""
NOTHING: Final = 1e-9
"""Answers per second that are none."""
NEAR_BEST: Final = 0.95
"""Of the best throughput: the smallest level that has so much is the one to use."""
CLEAN: Final = 0.01
"""Share of rejections at a level that can be used."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep has found."""

    kind: Kind
    ceiling: float | None = None
    measure: Measure | None = None
    """What the ceiling is a number of."""
    window: int | None = None
    """As many at a time as the provider bears: what to set `-j` or `--window` to."""
    level: int | None = None
    """The smallest level held that had nearly the best throughput, and hardly a rejection."""
    ok_rate: float | None = None
    """Answers per second at the ceiling."""
    rps: float | None = None
    """Requests per second, where these are limited, or tokens are."""
    rps_low: float | None = None
    """So many were accepted for certain."""
    rps_high: float | None = None
    """At so many, sent evenly, some were rejected."""
    tps: float | None = None
    evidence: str = ""
    pool: str = ""

    @property
    def found(self) -> bool:
        """Whether there is a ceiling."""
        return self.ceiling is not None


class Growth(NamedTuple):
    """Throughput over levels: `per_place` for each place up to `plateau`."""

    per_place: float
    plateau: float

    @property
    def knee(self) -> float:
        """The level at which one turns into the other."""
        return self.plateau / self.per_place


def judge(rows: Sequence[Row], rules: Rules | None = None) -> Verdict:
    """The verdict on levels, lowest first."""
    rules = rules or Rules()
    rows = [row for row in rows if row.tries or row.errors]
    climbed = [row for row in rows if row.paced is None]
    if not climbed:
        return Verdict(kind="nothing")
    level = usable_level(climbed)
    refused = [row for row in rows if row.halt is not None and row.halt.kind == "closed"]
    if refused:
        assert refused[0].halt is not None
        return Verdict(kind="closed", evidence=refused[0].halt.reason, pool=refused[0].pool, level=level)
    if is_broken(climbed[0], rules):
        return Verdict(kind="broken", evidence=climbed[0].example, pool=climbed[0].pool)
    pressed = [row for row in rows if row.pressed is not None and is_pressed(row, rules)]
    if pressed:
        return _by_rejections(rows, pressed, level)
    allowed = usual_errors(climbed) + rules.errors
    failing = [row for row in climbed if row.error_share > allowed and row.errors >= rules.failures]
    if failing:
        return _by_errors(climbed, failing, level)
    return _by_growth(climbed, level)


def is_pressed(row: Row, rules: Rules) -> bool:
    """Whether a level was held back by rejections, a few of which prove nothing."""
    return row.rejected >= rules.failures and row.rejected_share > CLEAN


def usable_level(rows: Sequence[Row]) -> int | None:
    """The smallest level with nearly the best throughput and hardly a rejection."""
    clean = [row for row in rows if row.rejected_share <= CLEAN and row.ok_rate > 0]
    best = max((row.ok_rate for row in clean), default=0.0)
    return min((row.level for row in clean if row.ok_rate >= NEAR_BEST * best), default=None)


# What rejections say ------------------------------------------------------------------------------


def _by_rejections(rows: Sequence[Row], pressed: Sequence[Row], level: int | None) -> Verdict:
    cause = _cause_of(pressed)
    told = [row for row in pressed if row.pressed is not None and cause in (cause_at(row), "")]
    rejected = sum(row.rejected for row in pressed)
    evidence = f"{rejected} rejections at {_listed([row.level for row in pressed])}"
    pool = max(pressed, key=lambda row: row.rejected).pool
    if cause == "growth":
        below = [row for row in rows if row.level < pressed[0].level]
        rate = below[-1].ok_rate if below else pressed[0].ok_rate
        window = below[-1].level if below else pressed[0].level
        return Verdict(
            kind="growth",
            ceiling=rate,
            measure="requests/s",
            window=window,
            level=level,
            ok_rate=rate,
            evidence=evidence,
            pool=pool,
        )
    if cause == "concurrency":
        cap = _weighted([(row.pressed.in_flight, row.pressed.rejected) for row in told if row.pressed])
        rate = _rate_at(cap, rows)
        return Verdict(
            kind="concurrency",
            ceiling=float(round(cap)),
            measure="at once",
            window=max(1, round(cap)),
            level=level,
            ok_rate=rate,
            evidence=evidence,
            pool=pool,
        )
    return _by_quota(rows, told, cause == "tokens", evidence, level, pool)


def _by_quota(
    rows: Sequence[Row], told: Sequence[Row], of_tokens: bool, evidence: str, level: int | None, pool: str
) -> Verdict:
    quota = _quota(rows, told)
    latencies = [(row.pressed.latency, row.answers or 1) for row in told if row.pressed is not None]
    latency = _weighted([(each, weight) for each, weight in latencies if each is not None])
    by_tokens = of_tokens and quota.tokens > 0
    return Verdict(
        kind="tokens" if of_tokens else "requests",
        ceiling=quota.tokens if by_tokens else quota.rate,
        measure="tokens/s" if by_tokens else "requests/s",
        window=max(1, math.ceil(quota.rate * latency - 1e-9)),
        level=level,
        ok_rate=quota.rate,
        rps=quota.rate,
        rps_low=quota.low,
        rps_high=quota.high,
        tps=quota.tokens if by_tokens else None,
        evidence=evidence,
        pool=pool,
    )


def cause_at(row: Row) -> str:
    """What the rejections of a level are about; where they do not say, by how they came."""
    assert row.pressed is not None
    match row.pressed.cause:
        case "unknown":
            return "concurrency" if row.pressed.steady >= STEADY else "requests"
        case "ramp":
            return "growth"
        case cause:
            return cause


def _cause_of(pressed: Sequence[Row]) -> str:
    votes: dict[str, int] = {}
    for row in pressed:
        votes[cause_at(row)] = votes.get(cause_at(row), 0) + row.rejected
    return max(votes, key=lambda cause: votes[cause])


class Quota(NamedTuple):
    """What comes in per second: a best guess, and between what it lies."""

    rate: float
    tokens: float
    low: float
    high: float | None
    """None: nobody knows."""


def _quota(rows: Sequence[Row], told: Sequence[Row]) -> Quota:
    """Requests and tokens per second, from rejections and from what went through at a certain rate."""
    pressures = [row.pressed for row in told if row.pressed is not None]
    known = max((each.rate for each in pressures if each.rate is not None), default=None)
    if known is None:  # all were rejected at once: what was answered is all there is to go by
        known = max(row.ok_rate for row in told)
    tokens = max((each.token_rate or 0.0 for each in pressures), default=0.0)
    pools = {row.pool for row in told}
    looks = [row for row in rows if row.paced is not None and row.pool in pools]
    saved = saved_up(rows)
    # What went through was paid for by what had been saved up before, or else by the rate.
    low = max([known, *(row.sent_rate * (1 - saved / row.sent) for row in looks if row.sent > saved)])
    high = min((row.paced for row in told if row.paced is not None), default=None)
    low = low if high is None else min(low, high)
    rate = low if high is None else low * min(high / low, WIDEST) ** NEARER
    return Quota(rate, tokens * rate / known if known else tokens, low, high)


def saved_up(rows: Sequence[Row]) -> int:
    """How many requests could be saved up and accepted at once, as far as was seen."""
    return max((row.pressed.burst for row in rows if row.pressed is not None), default=0)


# What throughput says -----------------------------------------------------------------------------


def _by_errors(rows: Sequence[Row], failing: Sequence[Row], level: int | None) -> Verdict:
    well = [row for row in rows if row.level < failing[0].level]
    worst = max(failing, key=lambda row: row.error_share)
    return Verdict(
        kind="errors",
        ceiling=float(well[-1].level) if well else None,
        measure="at once" if well else None,
        window=well[-1].level if well else None,
        level=level,
        ok_rate=well[-1].ok_rate if well else None,
        evidence=worst.example,
        pool=worst.pool,
    )


def _by_growth(rows: Sequence[Row], level: int | None) -> Verdict:
    growth = growth_of(rows)
    top = rows[-1]
    if growth is None or growth.plateau >= HELD * growth.per_place * top.level:
        best = max(rows, key=lambda row: row.ok_rate)
        return Verdict(kind="none", level=level, window=best.level, ok_rate=best.ok_rate, pool=top.pool)
    if (said := _by_headers(rows, growth, level)) is not None:
        return said
    kind, evidence = _what_holds(rows, growth)
    # What the task or the user allows is seen; what the provider or the machine bears is concluded.
    window = max(1, round(top.busy if kind in ("task", "limits") else growth.knee))
    return Verdict(
        kind=kind,
        ceiling=float(window),
        measure="at once",
        window=window,
        level=level,
        ok_rate=growth.plateau,
        evidence=evidence,
        pool=top.pool,
    )


def _by_headers(rows: Sequence[Row], growth: Growth, level: int | None) -> Verdict | None:
    """Limits that the provider says in its answers, where calls wait for them and none is rejected."""
    top = rows[-1]
    said = top.advertised
    if said is None or top.waits.get("blocked", 0.0) < WAITING:
        return None
    requests = (said.requests or math.inf) / 60
    tokens = (said.tokens or math.inf) / 60
    used = top.token_rate or 0.0
    of_tokens = used / tokens > growth.plateau / requests
    measured, limit = (used, tokens) if of_tokens else (growth.plateau, requests)
    if not math.isfinite(limit):
        return None
    ceiling = limit if abs(measured - limit) <= AS_SAID * limit else measured
    rate = growth.plateau * ceiling / measured
    return Verdict(
        kind="tokens" if of_tokens else "requests",
        ceiling=ceiling,
        measure="tokens/s" if of_tokens else "requests/s",
        window=max(1, math.ceil(rate * (top.latency or 0.0) - 1e-9)),
        level=level,
        ok_rate=growth.plateau,
        rps=rate,
        tps=ceiling if of_tokens else None,
        evidence=f"its answers say {limit * 60:,.0f} {'tokens' if of_tokens else 'requests'} a minute",
        pool=top.pool,
    )


def growth_of(rows: Sequence[Row]) -> Growth | None:
    """The two lines that fit best: one that rises with the level, and one that does not.

    Fitted to logarithms, each level with the weight of its answers; every place where the one may turn into
    the other is tried.
    """
    rows = [row for row in rows if row.ok_rate > NOTHING]
    fits = [_fit(rows, split) for split in range(1, len(rows))]
    return min(fits, key=lambda fit: _misfit(rows, fit), default=None)


def _fit(rows: Sequence[Row], split: int) -> Growth:
    rising, flat = rows[:split], rows[split:]
    slope = _weighted([(math.log(row.ok_rate / row.level), row.answers or 1) for row in rising])
    height = _weighted([(math.log(row.ok_rate), row.answers or 1) for row in flat])
    return Growth(math.exp(slope), math.exp(height))


def _misfit(rows: Sequence[Row], fit: Growth) -> float:
    return sum(
        (row.answers or 1)
        * (math.log(row.ok_rate) - math.log(min(fit.per_place * row.level, fit.plateau))) ** 2
        for row in rows
    )


def _what_holds(rows: Sequence[Row], growth: Growth) -> tuple[Kind, str]:
    """Why throughput does not grow, where nobody is rejected."""
    flat = [row for row in rows if row.level >= growth.knee] or [rows[-1]]
    first, last = rows[0], flat[-1]
    machine = max((row.machine for row in flat), key=lambda each: each.busy)
    if machine.busy >= BUSY:
        waits = (
            f", and waiting for one for {machine.starved:.0%} of the time" if machine.starved > 0.05 else ""
        )
        return "cpu", f"{machine.cpu:.0%} of a core{waits}"
    stuck = max((row.machine for row in flat), key=lambda each: each.late)
    if stuck.late >= BLOCKED:
        return "loop", stuck.where or f"late for {stuck.late:.0%} of the time"
    idle = last.busy / last.level < HELD * min(1.0, first.busy / first.level)
    if idle and sum(last.waits.get(each, 0.0) for each in ("window", "requests", "tokens")) >= WAITING:
        return "limits", f"{last.busy:.3g} calls under way at level {last.level}"
    if last.unit == "call" and idle:
        return "task", f"{last.busy:.3g} calls under way at level {last.level}"
    slower = f"{first.latency:.3g} s at {first.level}, {last.latency:.3g} s at {last.level}"
    return "latency", slower


def _rate_at(level: float, rows: Sequence[Row]) -> float:
    """Answers per second with so many under way, from what a place does."""
    latency = _weighted([(row.latency, row.answers or 1) for row in rows if row.latency])
    return level / latency if latency else max(row.ok_rate for row in rows)


def _weighted(pairs: Sequence[tuple[float, float]]) -> float:
    weight = sum(each for _, each in pairs)
    return sum(value * each for value, each in pairs) / weight if weight else 0.0


def _listed(levels: Sequence[int]) -> str:
    return f"level{'s' if len(levels) > 1 else ''} {', '.join(map(str, levels))}"
