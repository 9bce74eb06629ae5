"""Advice: one sentence on what would have made a run faster, from what limited it.

What the provider sets (requests, tokens, calls at once, times to wait, outages) is one matter: together these
may have limited the run most although each of them alone has not. The greatest matter is spoken of, and of it
the greatest part. Time that nobody knows anything of says nothing.

A pure function. Says only what the shares and the pools support.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from paceline.report.figures import PoolFigures
from paceline.report.text import counted, seconds

PROVIDER: Final = ("requests", "tokens", "window", "blocked", "outage")
"""Limits that stand behind a pool."""
_SLOT: Final = "slot:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What there is to judge by."""

    seconds: Mapping[str, float]
    """By limit."""
    wall: float
    pools: Sequence[PoolFigures] = ()
    places: int = 0
    blocker: str = ""
    slowest: Callable[[], tuple[str, float] | None] = lambda: None
    """The case that took longest, and its seconds."""


def advice(known: Known) -> str:
    """What would have made the run faster; empty where nothing can be said."""
    limit = leading(known.seconds)
    said = _SENTENCES.get(limit)
    return "" if said is None else said(known)


def leading(seconds: Mapping[str, float]) -> str:
    """The limit that advice is about; empty where none is known."""
    told = {limit: spent for limit, spent in seconds.items() if spent > 0 and limit in _SENTENCES}
    if not told:
        return ""
    provider = {limit: spent for limit, spent in told.items() if limit in PROVIDER}
    others = {limit: spent for limit, spent in told.items() if limit not in PROVIDER}
    chosen = provider if sum(provider.values()) >= max(others.values(), default=0.0) and provider else others
    return max(chosen, key=lambda limit: chosen[limit])


# One sentence for each limit


def _cases(known: Known) -> str:
    places = f"All {counted(known.places, 'place')} were" if known.places > 1 else "The only place was"
    return f"{places} taken, and no quota, scorer or disk held the cases up: raise -j."


def _requests(known: Known) -> str:
    pool = _pool(known, "requests")
    rate = _rate(known, pool)
    return (
        f"The provider's requests per minute set the pace ({_at(pool, rate)}); more concurrency will not "
        "help: ask for a higher limit (raise --rpm, if that is what bounds it) or use a second model."
    )


def _tokens(known: Known) -> str:
    pool = _pool(known, "tokens")
    rate = ""
    if pool is not None and pool.end is not None and pool.end.token_rate:
        rate = f"about {pool.end.token_rate * 60:,.0f} a minute"
    return (
        f"The provider's tokens per minute set the pace ({_at(pool, rate)}); more concurrency will not help: "
        "shorten prompts and answers, ask for a higher limit, or use a second model."
    )


def _window(known: Known) -> str:
    pool = _pool(known, "window")
    if pool is not None and pool.pool.startswith(_SLOT):
        return (
            f"The slot {pool.pool.removeprefix(_SLOT)} was taken all the time: raise its number, if what "
            "stands behind it bears more at once."
        )
    window = ""
    if pool is not None and pool.end is not None and pool.end.window is not None:
        window = f"about {pool.end.window:,.0f} at once"
    if pool is not None and pool.end is not None and pool.end.knee:
        way_on = "more at once was tried and brought nothing, so take another account or a second model"
    else:
        way_on = "raise --window if you have set it, else ask the provider for more or use a second model"
    return f"The calls that may be in flight set the pace ({_at(pool, window)}): {way_on}."


def _blocked(known: Known) -> str:
    pool = _pool(known, "blocked")
    rejected = ""
    if pool is not None and pool.end is not None and pool.end.rejected:
        rejected = f"{counted(pool.end.rejected, 'try', 'tries')} rejected"
    return (
        f"The provider told all callers to wait ({_at(pool, rejected)}): ask for a higher limit, use a "
        "second model, or keep below the limit with --rpm and --window."
    )


def _outage(known: Known) -> str:
    lasted = seconds(known.seconds["outage"])
    return (
        f"The provider was out of order for {lasted} ({_at(_pool(known, 'outage'), '')}): "
        "nothing on this side would have helped but another provider or another time."
    )


def _backoff(_known: Known) -> str:
    return (
        "Cases waited to be tried again after errors: look at the causes first, for neither more places nor "
        "a higher quota would have helped."
    )


def _stragglers(known: Known) -> str:
    slowest = known.slowest()
    which = "" if slowest is None else f" (the slowest: {slowest[0]}, {seconds(slowest[1])})"
    return (
        f"No case was left to start, and those in progress set the pace{which}: start the longest first "
        "(order = longest) or bound them with --timeout; more places will not help."
    )


def _scoring(_known: Known) -> str:
    return (
        "Evaluators set the pace while answers waited for them: raise evaluator_concurrency, or take fewer "
        "or faster ones."
    )


def _loop(known: Known) -> str:
    where = f" at {known.blocker}" if known.blocker else ""
    return (
        f"A coroutine blocked the event loop{where}, and everything else stood still: await there, make it a "
        "plain function, or run with --isolation process."
    )


def _machine(_known: Known) -> str:
    return (
        "This process had its processor busy all the time, so more concurrency will not help: make task and "
        "evaluators cheaper, or run with --isolation process."
    )


def _journal(_known: Known) -> str:
    return (
        'The disk could not keep up with the journal: put the run on a faster one, or set durability = "os".'
    )


def _idle(_known: Known) -> str:
    return (
        "Places stood empty with nothing to put in them: starting, closing and the source of the cases took "
        "the time, and neither -j nor quotas would have helped."
    )


_SENTENCES: Final[Mapping[str, Callable[[Known], str]]] = {
    "cases": _cases,
    "requests": _requests,
    "tokens": _tokens,
    "window": _window,
    "blocked": _blocked,
    "outage": _outage,
    "backoff": _backoff,
    "stragglers": _stragglers,
    "scoring": _scoring,
    "loop": _loop,
    "machine": _machine,
    "journal": _journal,
    "idle": _idle,
}


def _pool(known: Known, limit: str) -> PoolFigures | None:
    """The pool that held the run up longest in this way, or else the one that was waited for longest."""

    def held_up(pool: PoolFigures) -> tuple[float, float]:
        waited = 0.0 if pool.calls is None else pool.calls.spending.waited
        return 0.0 if pool.end is None else pool.end.limited.get(limit, 0.0), waited

    return max(known.pools, key=held_up, default=None)


def _at(pool: PoolFigures | None, figure: str) -> str:
    """A figure and the pool that it is of, as far as they are known."""
    name = "the pool is not on record" if pool is None else f"on {pool.pool}" if figure else pool.pool
    return f"{figure} {name}".strip() if pool is not None else name


def _rate(known: Known, pool: PoolFigures | None) -> str:
    """Requests per minute: what the pool has found out, or else what went through."""
    if pool is None:
        return ""
    if pool.end is not None and pool.end.rate:
        return f"about {pool.end.rate * 60:,.0f} a minute"
    if pool.calls is not None:
        return f"{pool.calls.spending.tries / known.wall * 60:,.0f} a minute"
    return ""


__all__ = ["PROVIDER", "Known", "advice", "leading"]
