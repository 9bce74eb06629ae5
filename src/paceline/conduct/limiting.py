"""What limits a run: asked several times a second, added up, and written when the process leaves the run.

    limiting = Limiting(now)
    limiting.tick(now, Moment(working=50, places=50, pools=desk.facts()))      from a timer, and at the end
    EndedLine(..., limited=limiting.seconds, pools=limiting.ends(desk.facts()))

`limited_by` is a function of one moment; `docs/design/limits-of-a-run.md` says why its questions stand in
this order. Between two ticks the run was limited by what the later one finds: so the seconds add up to the
time that has passed, whatever the timer did.

Knows counts and clocks that it is handed. Knows nothing of engines, desks or timers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from paceline.journal.records import LIMITS, Limit, PoolEnd
from paceline.pace.messages import PoolId
from paceline.pace.pool import PoolFacts

BUSY: Final = 0.9
"""Share of the time that the loop's thread computes, from which on it is what everything waits for."""
QUEUE: Final = 0.1
"""Share of the attempts under way that stands in a pool's queue, from which on the pool alone is the limit:
one that is not full to the brim has a shorter queue, now and then."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """How a run stands."""

    working: int = 0
    """Attempts under way, those whose calls wait included."""
    places: int | None = None
    """Cases that may be in progress at once; None is no bound."""
    places_follow: bool = False
    """Whether places are kept just ahead of what the pools take (`-j auto`): then every queue is short."""
    exhausted: bool = False
    """Whether no case is left to start."""
    retrying: int = 0
    """Cases that wait to be tried again."""
    backing_off: int = 0
    """Attempts under way that do nothing but wait to send a call again, in no pool."""
    scoring: int = 0
    """Cases whose evaluators are at work."""
    scoring_full: bool = False
    """Whether answers wait for a free scorer, and keep their places meanwhile."""
    lagging: bool = False
    """Whether the disk is so far behind that nothing is started."""
    blocked_s: float = 0.0
    """Seconds that the event loop was blocked, since the run began."""
    loop_cpu_s: float = 0.0
    """Seconds that the loop's thread computed (`time.thread_time()` on it); 0 where nobody looks."""
    pools: tuple[PoolFacts, ...] = ()


OF_POOLS: Final[tuple[Limit, ...]] = ("window", "requests", "tokens", "blocked", "outage")
Shares = Mapping[Limit, float]
"""Parts of 1."""


def limited_by(moment: Moment, *, busy: float = 0.0) -> Shares:
    """What limits the run now; `busy` is the share of the time that the loop's thread computes."""
    counts: dict[Limit, float] = {}
    for limit, calls in waiting_in(moment.pools).values():
        counts[limit] = counts.get(limit, 0) + calls
    if busy >= BUSY and not counts.keys() - {"window"}:
        return {"machine": 1.0}  # a window is full too where answers are taken in too slowly
    part = _part_of_pools(moment, counts)
    shares = {limit: share * part for limit, share in _shares(counts).items()}
    if part < 1:
        for limit, share in _without_pools(moment).items():
            shares[limit] = share * (1 - part)
    return shares


def waiting_in(pools: Iterable[PoolFacts]) -> dict[PoolId, tuple[Limit, int]]:
    """The pools that calls wait in, with what holds them back and how many they are."""
    return {
        facts.id: (facts.binding, facts.waiting) for facts in pools if facts.waiting > 0 and facts.binding
    }


def _part_of_pools(moment: Moment, counts: Mapping[Limit, float]) -> float:
    """How much of the blame is the pools': all, where a queue is long, or nothing may go at all."""
    if not counts:
        return 0.0
    if moment.places_follow or not moment.working or "blocked" in counts or "outage" in counts:
        return 1.0
    return min(1.0, sum(counts.values()) / (QUEUE * moment.working))


def _without_pools(moment: Moment) -> Shares:
    if moment.lagging:
        return {"journal": 1.0}
    if moment.scoring_full:
        return {"scoring": 1.0}
    return _of_the_end(moment) if moment.exhausted else _of_the_places(moment)


def _of_the_places(moment: Moment) -> Shares:
    """There are cases to start: what keeps them from being started?"""
    if moment.places is None:
        return {"idle": 1.0}  # all that there are have been started; the source is slower than the run
    taken = min(moment.working, moment.places)
    kept = min(moment.retrying, moment.places - taken)
    if taken + kept < moment.places:
        return {"idle": 1.0}
    asleep = min(moment.backing_off, taken)
    return _shares({"cases": taken - asleep, "backoff": kept + asleep})


def _of_the_end(moment: Moment) -> Shares:
    """No case is left to start: what is the end waiting for?"""
    asleep = min(moment.backing_off, moment.working)
    if moment.working or moment.retrying:
        return _shares({"stragglers": moment.working - asleep, "backoff": moment.retrying + asleep})
    return {"scoring": 1.0} if moment.scoring else {"idle": 1.0}


def _shares(counts: Mapping[Limit, float]) -> Shares:
    whole = sum(counts.values())
    return {limit: count / whole for limit, count in counts.items() if count}


class Limiting:
    """Adds up what has limited a run since `now`."""

    def __init__(self, now: float) -> None:
        self._at = now
        self._seconds: dict[Limit, float] = dict.fromkeys(LIMITS, 0.0)
        self._by_pool: dict[PoolId, dict[str, float]] = {}
        self._peaks: dict[PoolId, int] = {}
        self._blocked_s = self._loop_cpu_s = 0.0
        self.current: Limit = "idle"
        """What limits the run most, as of the last tick."""

    def tick(self, now: float, moment: Moment) -> None:
        """Give the time since the last tick to what limits the run now."""
        elapsed = max(0.0, now - self._at)
        stuck = min(elapsed, max(0.0, moment.blocked_s - self._blocked_s))
        computed = max(0.0, moment.loop_cpu_s - self._loop_cpu_s)
        rest = elapsed - stuck
        shares = limited_by(moment, busy=computed / elapsed if elapsed else 0.0)
        self._seconds["loop"] += stuck
        for limit, share in shares.items():
            self._seconds[limit] += rest * share
        self._note_pools(moment.pools, rest * sum(shares.get(limit, 0.0) for limit in OF_POOLS))
        self._at = max(now, self._at)
        self._blocked_s = max(self._blocked_s, moment.blocked_s)
        self._loop_cpu_s = max(self._loop_cpu_s, moment.loop_cpu_s)
        self.current = "loop" if stuck > rest else max(shares, key=lambda limit: shares[limit])

    @property
    def seconds(self) -> dict[str, float]:
        """How the time since the beginning divides; they add up to it."""
        return {limit: seconds for limit, seconds in self._seconds.items() if seconds}

    def ends(
        self, pools: Iterable[PoolFacts], *, closed: Mapping[PoolId, str] | None = None
    ) -> list[PoolEnd]:
        """The pools as they are left now; `closed` says why some let nothing through any more."""
        return [
            PoolEnd(
                pool=str(facts.id),
                host=facts.id.host,
                account=facts.id.account,
                window=_finite(facts.window),
                rate=_finite(facts.rate),
                token_rate=_finite(facts.token_rate),
                accepted=facts.accepted,
                rejected=facts.rejected,
                by_cause=dict(facts.by_cause),
                peak=max(self._peaks.get(facts.id, 0), facts.in_flight),
                knee=facts.knee,
                limited=self._by_pool.get(facts.id, {}),
                closed=(closed or {}).get(facts.id, ""),
            )
            for facts in pools
        ]

    def _note_pools(self, pools: Iterable[PoolFacts], seconds: float) -> None:
        for facts in pools:
            self._peaks[facts.id] = max(self._peaks.get(facts.id, 0), facts.in_flight)
        waiting = waiting_in(pools)
        calls = sum(count for _, count in waiting.values())
        for pool, (limit, count) in waiting.items():
            spent = self._by_pool.setdefault(pool, {})
            spent[limit] = spent.get(limit, 0.0) + seconds * count / calls


def _finite(bound: float | None) -> float | None:
    return bound if bound is not None and math.isfinite(bound) else None


__all__ = ["BUSY", "Limiting", "Moment", "limited_by", "waiting_in"]
