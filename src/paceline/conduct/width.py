"""How many cases are in progress where nobody has said: as many as keep the pools busy, and no more.

Calls are bounded by their pools. Cases need only be so many that no pool runs dry; each one more costs
memory, and whatever its task holds on to while it waits. So a run starts with a number that suits most
suites, and grows while all of its places are taken and hardly anybody waits for a pool. It never shrinks: who
waits costs little.

A decision on values; `pulse` makes it every now and then.
"""

from __future__ import annotations

import math
from typing import Final

from paceline.engine.plan import AUTO_CONCURRENCY

MOST: Final = 512
"""Cases in progress at most: beyond it, no wait for a model is long enough to fill one machine better."""
WAITING_SHARE: Final = 0.1
"""Of the places: so many that wait for a pool are enough to fill it at once when it opens."""
GROWTH: Final = 1.5
BUSY: Final = 0.85
"""Of one core: a process that is this busy gets nothing done sooner by having more to do."""
LAG_S: Final = 0.1
"""A loop that comes round so late has too much to do."""


def next_width(places: int, *, full: bool, waiting: int, busy: float, lag: float, most: int = MOST) -> int:
    """How many cases may be in progress from now on.

    `full`: all places are taken, and there is more to do. `waiting`: calls that wait for a pool. `busy`:
    share of one core that the process uses; `lag`: seconds by which the loop came round too late.
    """
    if not full or waiting > places * WAITING_SHARE or busy > BUSY or lag > LAG_S:
        return places
    return max(places, min(most, math.ceil(places * GROWTH)))


def widest(*, isolated: bool, has_hooks: bool) -> int:
    """How far a run may grow by itself.

    Processes, and what hooks set up (containers, databases), cost far more than a waiting call.
    """
    return AUTO_CONCURRENCY if isolated or has_hooks else MOST
