"""What limited the run: how its wall time divides, over all processes that worked on it.

A process that was killed took its account with it: its time is `unknown`. What a process worked beyond its
account (starting up, closing the record) is `idle`. So the seconds add up to the wall time of the run.

Pure functions; the sentence of advice is `advice`'s. How a process comes to its account is told in
`docs/design/limits-of-a-run.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from paceline.journal.records import EndedLine
from paceline.report.advice import Known, advice
from paceline.report.figures import LimitFigures, PoolFigures, ShareFigures

UNKNOWN = "unknown"


def limits_of(
    processes: Sequence[tuple[float, EndedLine | None]],
    pools: Sequence[PoolFigures],
    *,
    slowest: Callable[[], tuple[str, float] | None],
) -> LimitFigures | None:
    """What limited the run; None where no process has said, or none took any time.

    `processes` are wall times, each with the line that its process has left by; `slowest` finds the case
    that took longest.
    """
    ends = [end for _, end in processes if end is not None and end.limited]
    account = _account(processes)
    whole = math.fsum(account.values())
    if not ends or not whole:
        return None
    shares = [
        ShareFigures(limit=limit, seconds=seconds, share=seconds / whole)
        for limit, seconds in sorted(account.items(), key=lambda item: -item[1])
        if seconds
    ]
    known = Known(
        seconds=account,
        pools=pools,
        places=ends[-1].places,
        blocker=next((end.blocker for end in reversed(ends) if end.blocker), ""),
        slowest=slowest,
        wall=whole,
    )
    return LimitFigures(shares=shares, advice=advice(known))


def _account(processes: Iterable[tuple[float, EndedLine | None]]) -> dict[str, float]:
    parts: dict[str, list[float]] = {}
    for wall, end in processes:
        told = {limit: max(0.0, seconds) for limit, seconds in end.limited.items()} if end is not None else {}
        for limit, seconds in told.items():
            parts.setdefault(limit, []).append(seconds)
        rest = max(0.0, wall - math.fsum(told.values()))
        parts.setdefault("idle" if told else UNKNOWN, []).append(rest)
    return {limit: math.fsum(seconds) for limit, seconds in parts.items()}


__all__ = ["UNKNOWN", "limits_of"]
