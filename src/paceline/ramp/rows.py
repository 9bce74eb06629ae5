"""What a level came to: from all its tries to one row of the table.

The window that is measured begins when half as many answers have come as the level has places, which leaves
the warm-up out: all calls have begun at once there. It ends when no case was left to fill a free place with.
Throughput is calls under way over seconds per call (Little's law). To count the answers in the window would
be off by up to a whole level, because they come in waves.

A quota is used up whenever it rejects. So no more can have been accepted between two rejections than came
in meanwhile, and the two between which most was accepted tell nearest how much that is.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import fmean
from typing import Final

import msgspec

from paceline.pace.messages import Advertised, Cause
from paceline.pace.pool import Binding
from paceline.ramp.seen import Done, Halt, LevelRun, Machine, Try, Unit

FAILURES: Final = ("overloaded", "transient", "fatal")
"""Outcomes of a try that went wrong, rejections for quota aside."""
NOT_ACCEPTED: Final = ("rate_limited", "overloaded")
"""Outcomes of a try that the provider has not worked on."""
FEW: Final = 8
"""Answers; with fewer begun in its window, those of the whole level are looked at."""
ENOUGH_BETWEEN: Final = 10
"""Accepted tries between two rejections, from which on they tell a rate."""
LONG_BETWEEN: Final = 0.5
"""Seconds, likewise: calls that are sent in one wave arrive in another order, for moments."""
MOST_EDGES: Final = 300
AT_ONCE: Final = 0.05
"""Seconds."""
INSTANT: Final = 1e-6


class Pressed(msgspec.Struct, frozen=True, kw_only=True):
    """What the rejections of one level tell of the limit behind them."""

    cause: Cause
    rejected: int
    accepted: int
    """Tries that were accepted between the first and the last of them."""
    rate: float | None
    """The most requests per second that were accepted between two of them; None: too few to tell."""
    token_rate: float | None
    """Tokens, likewise."""
    in_flight: float
    """Accepted tries under way when one was rejected, typically."""
    burst: int
    """Accepted at once at most: what can be saved up, at least."""
    peak: int
    """Accepted tries under way at most."""
    steady: float
    """Share of the rejections at which nearly so many were under way: near 1 where it is a cap."""
    latency: float | None = None
    """Seconds of an answer of the pool that rejected, on average."""


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One level."""

    level: int
    unit: Unit
    paced: float | None = None
    """Requests per second that this one was held to; None: as fast as it would go."""
    cases: int
    tries: int
    seconds: float
    """The window that was measured."""
    ok_rate: float
    """Answers per second."""
    sent_rate: float
    """Accepted requests per second to `pool`, from the first to the last."""
    sent: int = 0
    """How many these were."""
    token_rate: float | None
    """Tokens per second; None: unknown."""
    busy: float
    """Accepted tries under way, on average."""
    latency: float | None
    """Seconds of an answer, on average."""
    p50: float | None
    p95: float | None
    errors: int
    """Tries that failed and were not rejections, or cases without an output, whichever is more."""
    error_share: float
    """The share of those, likewise."""
    rejected: int
    """Of those sent after the warm-up."""
    rejected_share: float
    causes: dict[str, int]
    """Rejections and failures by cause."""
    pressed: Pressed | None
    machine: Machine
    answers: int
    """That the figures rest on."""
    answers_all: int
    """Of the whole level."""
    cost: float | None
    """US dollars of the cases of this level; None: unknown."""
    case_seconds: float | None = None
    """Of a whole case, on average; None: none has come to its end."""
    unpriced: int = 0
    """Cases of which nobody knows what they cost."""
    pool: str = ""
    """That had most of the rejections, or of the tries."""
    halt: Halt | None = None
    example: str = ""
    """What one of the failures said."""
    waits: Mapping[Binding, float] = {}
    """Shares of the looks at which calls waited for leave, by what held them back."""
    advertised: Advertised | None = None
    """What the provider's answers say of its limits."""

    @property
    def thin(self) -> bool:
        """Whether its figures rest on next to nothing."""
        return self.answers < FEW

    @property
    def failed_share(self) -> float:
        """What the chart draws: tries that came to nothing, for whatever reason."""
        return min(1.0, self.rejected_share + self.error_share)


def row_of(run: LevelRun) -> Row:
    """The row of a level."""
    tries = [each for each in run.tries if each.outcome != "cancelled"]
    good = [each for each in tries if each.outcome == "ok"]
    failed = [each for each in tries if each.outcome in FAILURES]
    begin, end = window_of(run, good)
    over = math.inf if run.halted is None else run.halted
    warm = [each for each in tries if begin <= each.start <= over]
    rejected = [each for each in warm if each.outcome == "rate_limited"]
    pool = _pool(rejected or tries)
    figures = [each for each in good if begin <= each.start < end]
    figures = figures if len(figures) >= FEW else good
    latencies = sorted(each.seconds for each in figures)
    latency = fmean(latencies) if latencies else None
    under_way = sum(_overlap(each, begin, end) for each in good) / (end - begin)
    ok_rate = under_way / latency if latency else 0.0
    tokens = [each.tokens for each in figures if each.tokens is not None]
    return Row(
        level=run.level,
        unit=run.unit,
        paced=run.paced,
        cases=run.begun,
        tries=len(tries),
        seconds=end - begin,
        ok_rate=ok_rate,
        sent_rate=_sent_rate(_of(pool, good)),
        sent=len(_of(pool, good)),
        token_rate=ok_rate * fmean(tokens) if tokens else None,
        busy=under_way + sum(_overlap(each, begin, end) for each in failed) / (end - begin),
        latency=latency,
        p50=quantile(latencies, 0.5),
        p95=quantile(latencies, 0.95),
        errors=max(len(failed), sum(not each.ok for each in run.done)),
        error_share=_error_share(failed, tries, run.done),
        rejected=len(rejected),
        rejected_share=len(rejected) / len(warm) if warm else 0.0,
        causes=dict(Counter(str(each.cause or each.outcome) for each in rejected + failed)),
        pressed=pressed_by(_of(pool, tries), begin) if rejected else None,
        machine=run.machine,
        answers=len(figures),
        answers_all=len(good),
        cost=_cost(run.done),
        case_seconds=fmean(each.end - each.start for each in run.done) if run.done else None,
        unpriced=sum(each.cost is None for each in run.done),
        pool=pool,
        halt=run.halt,
        example=_example(failed, run.done),
        waits=run.waits,
        advertised=run.advertised,
    )


def window_of(run: LevelRun, good: Sequence[Try]) -> tuple[float, float]:
    """From when to when a level is measured."""
    warm = warm_from(run.level, run.started, [each.end for each in good])
    if run.held_until - warm > INSTANT:
        return warm, run.held_until
    # Too few cases to be held at all: what there is.
    return run.started, max(run.held_until, warm, run.started + INSTANT)


def warm_from(level: int, started: float, ends: Sequence[float]) -> float:
    """When the warm-up of a level is over; its start, where nothing has been answered."""
    if not ends:
        return started
    return sorted(ends)[min(math.ceil(level / 2), len(ends)) - 1]


def pressed_by(tries: Sequence[Try], since: float) -> Pressed:
    """What the rejections of a level tell; there is one `since` at least."""
    rejected = [each for each in tries if each.outcome == "rate_limited"]
    accepted = sorted(
        (each for each in tries if each.outcome not in NOT_ACCEPTED), key=lambda each: each.start
    )
    late = Counter(each.cause or "unknown" for each in rejected if each.start >= since)
    cause, _ = late.most_common(1)[0]
    at = sorted(each.start for each in rejected if (each.cause or "unknown") == cause)
    starts, ends = [each.start for each in accepted], sorted(each.end for each in accepted)

    def under_way(now: float) -> int:
        return bisect_right(starts, now) - bisect_right(ends, now)

    # Calls that are sent in the same instant arrive in any order: what counts is how many were under way at
    # the beginning or the end of a rejection, whichever is more.
    crowds = sorted(
        float(max(under_way(each.start), under_way(each.end)))
        for each in rejected
        if (each.cause or "unknown") == cause
    )
    peak = max((under_way(start) for start in starts), default=0)
    rate, token_rate = _most_between(at, starts, [each.tokens or 0.0 for each in accepted])
    return Pressed(
        cause=cause,
        rejected=len(at),
        accepted=bisect_right(starts, at[-1]) - bisect_right(starts, at[0]),
        rate=rate,
        token_rate=token_rate,
        in_flight=quantile(crowds, 0.5) or 0.0,
        burst=max((bisect_right(starts, start + AT_ONCE) - i for i, start in enumerate(starts)), default=0),
        peak=peak,
        steady=sum(each >= peak - max(1.0, 0.05 * peak) for each in crowds) / len(crowds),
        latency=fmean(each.seconds for each in accepted) if accepted else None,
    )


def _most_between(
    at: Sequence[float], starts: Sequence[float], tokens: Sequence[float]
) -> tuple[float | None, float | None]:
    """The most requests and tokens per second that were accepted between two rejections.

    One request less is counted, for the fraction of one that may have been there at the first rejection. Of
    rejections that lie close together the last is enough: a quota is as empty then as at the others.
    """
    edges = _thinned(at)
    places = [bisect_right(starts, edge) for edge in edges]
    sums = [0.0, *accumulate(tokens)]
    best, best_tokens = 0.0, 0.0
    for first, (begin, place) in enumerate(zip(edges, places, strict=True)):
        for end, last in zip(edges[first + 1 :], places[first + 1 :], strict=True):
            if last - place >= ENOUGH_BETWEEN and end - begin >= LONG_BETWEEN:
                best = max(best, (last - place - 1) / (end - begin))
                share = (last - place - 1) / (last - place)
                best_tokens = max(best_tokens, (sums[last] - sums[place]) * share / (end - begin))
    return best or None, best_tokens or None


def _thinned(at: Sequence[float]) -> list[float]:
    """A few hundred of them at most, over the whole time."""
    step = max((at[-1] - at[0]) / MOST_EDGES, 1e-3)
    last_of: dict[int, float] = {}
    for each in at:
        last_of[int((each - at[0]) / step)] = each
    return list(last_of.values())


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """Of values in order, by linear interpolation."""
    if not ordered:
        return None
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _overlap(each: Try, begin: float, end: float) -> float:
    return max(0.0, min(each.end, end) - max(each.start, begin))


def _sent_rate(good: Sequence[Try]) -> float:
    starts = [each.start for each in good]
    return (len(starts) - 1) / (max(starts) - min(starts)) if len(set(starts)) > 1 else 0.0


def _error_share(failed: Sequence[Try], tries: Sequence[Try], done: Sequence[Done]) -> float:
    of_tries = len(failed) / len(tries) if tries else 0.0
    of_cases = sum(not each.ok for each in done) / len(done) if done else 0.0
    return max(of_tries, of_cases)


def _cost(done: Sequence[Done]) -> float | None:
    known = [each.cost for each in done if each.cost is not None]
    return sum(known) if known else None


def _pool(tries: Sequence[Try]) -> str:
    counted = Counter(each.pool for each in tries)
    return counted.most_common(1)[0][0] if counted else ""


def _of(pool: str, tries: Sequence[Try]) -> list[Try]:
    """Those of one pool: a judge's calls say nothing of the limits of the model that is tested."""
    return [each for each in tries if each.pool == pool]


def _example(failed: Sequence[Try], done: Sequence[Done]) -> str:
    said = [each.message for each in failed if each.message] + [each.error for each in done if each.error]
    return said[0] if said else ""
