"""Traffic: from the calls of a run to their figures, for each pool and in all.

What a simulated provider has answered is never added to what a real one has. Knows the fold of calls, and how
processes have left their pools. Knows nothing of cases.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable

import msgspec

from paceline.journal.records import PoolEnd
from paceline.report.calls import Calls, PoolCalls, PoolKey
from paceline.report.figures import CallFigures, PoolFigures
from paceline.report.quantiles import spread
from paceline.report.spending import Bill


def calls_in_all(calls: Calls, *, simulated: bool) -> CallFigures | None:
    """The figures of all calls to real providers, or of all to simulated ones; None where there were none."""
    chosen = [pool for key, pool in calls.pools.items() if key.simulated == simulated]
    return _figures(chosen) if chosen else None


def pools_of(calls: Calls, ends: Iterable[PoolEnd]) -> list[PoolFigures]:
    """The figures of each pool; `ends` are in the order of the processes."""
    left = _merged(ends)
    found = [_pool(key, pool, left.pop(key[:3], None)) for key, pool in calls.pools.items()]
    found += [_pool(PoolKey(*key, simulated=False), None, end) for key, end in left.items()]
    return sorted(found, key=lambda pool: (-_calls_of(pool), pool.pool, pool.host, pool.account))


def _merged(ends: Iterable[PoolEnd]) -> dict[tuple[str, str, str], PoolEnd]:
    """Each pool over all processes: counts are added up, and of the rest the last word counts."""
    left: dict[tuple[str, str, str], PoolEnd] = {}
    for end in ends:
        key = (end.pool, end.host, end.account)
        before = left.get(key)
        left[key] = end if before is None else _later(before, end)
    return left


def _later(before: PoolEnd, end: PoolEnd) -> PoolEnd:
    return msgspec.structs.replace(
        end,
        accepted=before.accepted + end.accepted,
        rejected=before.rejected + end.rejected,
        by_cause=dict(Counter(before.by_cause) + Counter(end.by_cause)),
        limited={
            limit: before.limited.get(limit, 0.0) + end.limited.get(limit, 0.0)
            for limit in {**before.limited, **end.limited}
        },
        peak=max(before.peak, end.peak),
    )


def _pool(key: PoolKey, pool: PoolCalls | None, end: PoolEnd | None) -> PoolFigures:
    return PoolFigures(
        pool=key.pool,
        host=key.host,
        account=key.account,
        simulated=key.simulated,
        calls=None if pool is None else _figures([pool]),
        end=end,
    )


def _calls_of(pool: PoolFigures) -> int:
    return 0 if pool.calls is None else pool.calls.spending.calls


def _figures(pools: list[PoolCalls]) -> CallFigures:
    whole, bills = Bill(), dict[str, Bill]()
    seconds, first_token = array("d"), array("d")
    for pool in pools:
        for by, bill in pool.bills.items():
            whole.include(bill)
            bills.setdefault(by, Bill()).include(bill)
        seconds.extend(pool.seconds)
        first_token.extend(pool.first_token)
    of_task = bills.pop("", Bill())
    return CallFigures(
        spending=whole.total(),
        of_task=of_task.total(),
        judging={by: bill.total() for by, bill in bills.items()},
        latency=spread(seconds),
        first_token=spread(first_token),
    )


__all__ = ["calls_in_all", "pools_of"]
