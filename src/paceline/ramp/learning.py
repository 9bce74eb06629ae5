"""What other runs may learn of a sweep: where their pools begin.

Only what is about the provider is kept. That this machine was busy, or the task held its calls back, says
nothing about the next run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from paceline.conduct.unseen import PROVIDER as TASK
from paceline.pace.learned import Learned, LearnedLimits
from paceline.pace.messages import PoolId
from paceline.ramp.rows import Row
from paceline.ramp.verdict import Kind, Verdict

OF_THE_PROVIDER: Final[frozenset[Kind]] = frozenset(
    {"requests", "tokens", "concurrency", "growth", "errors", "latency", "none"}
)
KNEES: Final[frozenset[Kind]] = frozenset({"concurrency", "errors", "latency"})
"""Where a wider window was tried, and found to be of no use."""
SLACK: Final = 1.25
"""Of the window that a rate fills on average: answers differ in length, and the rate is what should bind."""


def learned_from(verdict: Verdict, rows: Sequence[Row]) -> Learned | None:
    """Where a pool may begin; None where nothing was found that is the provider's."""
    if verdict.kind not in OF_THE_PROVIDER or not verdict.window:
        return None
    by_rate = verdict.rps is not None
    return Learned(
        window=round(verdict.window * (SLACK if by_rate else 1.0), 1),
        rps=verdict.rps if verdict.kind == "requests" else None,
        tps=verdict.tps,
        accepted=sum(row.answers_all for row in rows),
        rejected=sum(row.rejected for row in rows),
        knee=verdict.kind in KNEES,
    )


def learn(limits: LearnedLimits, pool: PoolId | None, verdict: Verdict, rows: Sequence[Row]) -> bool:
    """Keep it for other runs; whether there was anything to keep."""
    if pool is None or pool.provider == TASK:
        return False
    learned = learned_from(verdict, rows)
    if learned is not None:
        limits.store(pool, learned)
    return learned is not None
