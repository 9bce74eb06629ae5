"""Whether a call that failed is sent again, and how long it waits before it asks its pool for leave to.

A rejection uses up no try: the pool knows when the next call may go, so the call just asks again, until
nothing of its pool has been answered for as long as patience lasts. Neither does a failure while lately no
call of its pool was answered: that is an outage, and says nothing of the call. All other faults and overload
use up tries. Waits are drawn from a range that doubles (full jitter), and are no shorter than the provider
asks for. Never sent again: what cannot be (its body is gone), what the caller has begun to read, and what the
provider says is useless.

Decisions are functions of values; nothing here waits.
"""

from __future__ import annotations

import random

import msgspec

from paceline.pace.answers import Reading


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long, and how often."""

    tries: int = 6
    """Of a call that meets faults and overload; rejections do not count."""
    base: float = 1.0
    """Seconds: the first wait is drawn from 0 to this, and the range doubles with each failure."""
    cap: float = 60.0
    """Seconds: no drawn wait is longer."""
    without_success: float = 3_600.0
    """Seconds for which a rejected call goes on asking while its pool answers nobody."""
    longest_asked: float = 300.0
    """Seconds: no asked wait of a single call is longer. A pool that is blocked may block for longer."""


def wait_before_resend(
    reading: Reading,
    *,
    failures: int,
    fruitless: float,
    dice: random.Random,
    patience: Patience,
    replayable: bool = True,
    outage: bool = False,
) -> float | None:
    """Seconds to wait before the call asks its pool again; None: what has come is what the caller gets.

    `failures`: how often it met a fault or overload, this time included. `fruitless`: seconds since anything
    of its pool was answered, or since it began. `outage`: whether lately none was; such a failure is none of
    `failures`.
    """
    if reading.final or not replayable:
        return None
    match reading.outcome:
        case "rate_limited":
            return 0.0 if fruitless < patience.without_success else None
        case "overloaded" | "transient":
            if fruitless >= patience.without_success if outage else failures >= patience.tries:
                return None
            drawn = dice.uniform(0.0, min(patience.cap, patience.base * 2.0 ** min(failures - 1, 30)))
            return max(drawn, min(reading.retry_after or 0.0, patience.longest_asked))
        case _:
            return None
