"""The gateway of a run: there for as long as the run works, where a task starts programs that may want it.

Knows which tasks want one. What passes is the gateway's business.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any


@asynccontextmanager
async def gateway_for(tasks: Iterable[Any], *, listens: bool) -> AsyncIterator[None]:
    """Have a gateway where a task `wants_gateway`, and calls are paced at all."""
    if not listens or not any(getattr(task.call, "wants_gateway", False) for task in tasks):
        yield
        return
    from paceline.gateway.server import Gateway, current_gateway
    from paceline.gateway.upstreams import upstreams_in

    async with Gateway(upstreams_in(os.environ)) as gateway:
        before = current_gateway.set(gateway)
        try:
            yield
        finally:
            current_gateway.reset(before)
