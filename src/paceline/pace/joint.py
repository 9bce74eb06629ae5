"""A pool that outlives its holder: calls granted elsewhere count here, and its limits may change.

Where processes share a pool, whoever holds it may go. The next one starts with what is in flight already; and
the limits are those of all who share, who come and go.
"""

from __future__ import annotations

import random

from paceline.pace.buckets import Bucket
from paceline.pace.controller import Controller, Flight
from paceline.pace.learned import Learned
from paceline.pace.messages import Grant, Limits, PoolId
from paceline.pace.pool import TIME_TO_LIVE_S, Pool


class JointPool(Pool):
    """A pool with three words more."""

    def __init__(
        self,
        id: PoolId,  # noqa: A002  # the word of messages
        *,
        limits: Limits,
        start: Learned | None,
        dice: random.Random,
        now: float,
        adaptive: bool = True,
        time_to_live_s: float = TIME_TO_LIVE_S,
    ) -> None:
        super().__init__(
            id,
            limits=limits,
            start=start,
            dice=dice,
            now=now,
            adaptive=adaptive,
            time_to_live_s=time_to_live_s,
        )
        self._adaptive = adaptive
        self._dice = dice
        self.limits = limits

    def adopt(self, grant: Grant, now: float) -> None:
        """Count a call that another holder has granted, whether or not it would be granted here.

        Its lease begins anew, and nothing is drawn for it: when it was sent nobody here knows. Nor among how
        many it went; at least among those that are known so far.
        """
        self._flights[grant.id] = Flight(
            grant.id, now, grant.tokens, among=len(self._flights) + 1, probe=False
        )

    def drained(self, now: float) -> None:
        """Others may just have drawn all that the quota had."""
        self._control.requests.at_most(0.0, now)
        self._control.tokens.at_most(0.0, now)

    def limit(
        self, limits: Limits, now: float, *, adaptive: bool | None = None, start: Learned | None = None
    ) -> None:
        """Keep to other limits from now on, with what was learned under those before; or, where nothing was
        adapted so far, from a start that somebody else knows of.
        """
        adaptive = self._adaptive if adaptive is None else adaptive
        if limits == self.limits and adaptive == self._adaptive:
            return
        before, stays = self._control, adaptive == self._adaptive
        self.limits, self._adaptive = limits, adaptive
        if adaptive and stays:
            before.limit(limits, now)
            return
        self._control = Controller(limits=limits, start=start, adaptive=adaptive, dice=self._dice, now=now)
        self._control.blocked_until = before.blocked_until
        # Another limit is no reason for another burst.
        self._control.requests.at_most(_left(before.requests, now), now)
        self._control.tokens.at_most(_left(before.tokens, now), now)


def _left(bucket: Bucket, now: float) -> float:
    """What may still be drawn at once; one call's worth where nothing was counted so far."""
    return bucket.unit if bucket.rate is None else bucket.level(now)
