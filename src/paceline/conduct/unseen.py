"""Attempts whose calls cannot be seen, paced by how they end.

Some tasks reach their model where no door of ours stands: a command, a library with a transport of its own.
What can be known of such calls is what their attempts say: how long they take, and what they raise. So each
attempt counts as one call of a pool that is the variant's own. As soon as an attempt has made a call that
could be seen, its variant needs no such pool: the calls have pools of their own.

Wraps an executor. Knows nothing of what an attempt is.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from paceline.engine.executors.places import clock_held
from paceline.engine.ports import Attempted, Executor, Work
from paceline.pace.calls import Call
from paceline.pace.desk import Desk, Granting
from paceline.pace.learned import Learned, LearnedLimits
from paceline.pace.messages import Cause, Grant, Outcome, PoolId, Result
from paceline.pace.pool import PoolFacts

PROVIDER: Final = "task"
_GIVEN_BACK: Final = Result(outcome="cancelled")

OUTCOME: Final[dict[str, Outcome]] = {"rate_limited": "rate_limited", "transient": "transient"}
"""What the class of an attempt's error says of its pool. A bug in the task says nothing, so it is `ok`; a
spent quota that only a message tells of is not believed to end a run."""


class _Start(LearnedLimits):
    """Where such pools begin, in place of what was learned: they are this run's only."""

    def __init__(self, window: int) -> None:
        super().__init__(Path(), clock=time.time)
        self._window = window

    def load(self, pool: PoolId) -> Learned | None:  # noqa: ARG002  # all begin alike
        return Learned(window=self._window)

    def store(self, pool: PoolId, learned: Learned) -> None:
        """Another run is another task, as far as anybody knows."""


class UnseenCalls:
    """An executor that has attempts wait for a place in their variant's pool, while their calls are
    unseen."""

    def __init__(self, executor: Executor, *, window: int = 1, desk: Granting | None = None) -> None:
        """`window`: where such pools begin, unless they are kept at a desk that somebody else looks after."""
        self._executor = executor
        self._desk = desk or Desk(learned=_Start(window))
        self._is_own = desk is None
        self._seen: set[str] = set()
        """Variants whose calls are seen."""
        self._held: dict[str, list[Grant]] = {}
        """What attempts of the others hold."""

    @property
    def left_behind(self) -> int:
        """Of the executor within."""
        return self._executor.left_behind

    def facts(self) -> list[PoolFacts]:
        """Of the pools of variants whose calls are unseen."""
        return [
            each
            for each in self._desk.facts()
            if each.id.provider == PROVIDER and each.id.model not in self._seen
        ]

    async def start(self) -> None:
        """Make the executor within ready."""
        await self._executor.start()

    async def stop(self) -> None:
        """Let go of everything."""
        if self._is_own:
            self._desk.close()
        await self._executor.stop()

    async def attempt(self, work: Work) -> Attempted:
        """One attempt, in its turn."""
        variant = work.key.variant
        if variant in self._seen:
            return await self._executor.attempt(work)
        with clock_held(work, time.monotonic):
            grant = await self._desk.acquire(PoolId(PROVIDER, "", variant))
        if variant in self._seen:  # while this one waited
            self._desk.settle(grant, _GIVEN_BACK)
            return await self._executor.attempt(work)
        held = self._held.setdefault(variant, [])
        held.append(grant)
        self._look_out_for_calls(work)
        result = _GIVEN_BACK
        try:
            attempted = await self._executor.attempt(work)
            result = result_of(attempted)
        finally:
            if grant in held:
                held.remove(grant)
                self._desk.settle(grant, result)
        return attempted

    def _look_out_for_calls(self, work: Work) -> None:
        """With the first call that is seen, nobody of its variant is held back any more; an attempt may still
        take an hour.
        """
        record = work.record_call

        def seen(work: Work, call: Call) -> None:
            variant = work.key.variant
            self._seen.add(variant)
            held = self._held.get(variant, [])
            while held:
                self._desk.settle(held.pop(), _GIVEN_BACK)
            if record is not None:
                record(work, call)

        work.record_call = seen


def result_of(attempted: Attempted) -> Result:
    """What an attempt tells its pool."""
    if attempted.error is None:
        return Result(outcome="ok", seconds=attempted.seconds)
    outcome = OUTCOME.get(attempted.error_class, "ok")
    cause: Cause | None = "unknown" if outcome == "rate_limited" else None
    return Result(outcome=outcome, cause=cause, seconds=attempted.seconds, retry_after=attempted.retry_after)
