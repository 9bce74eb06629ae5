"""The gateway of a run: there for as long as the run works, where a task starts programs that may want it.

What it answers is on record first. Knows which tasks want one. What passes is the gateway's business.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

from paceline.conduct.record import Record


@asynccontextmanager
async def gateway_for(tasks: Iterable[Any], recorder: Record, *, listens: bool) -> AsyncIterator[None]:
    """Have a gateway where a task `wants_gateway`, and calls are paced at all."""
    if not listens or not any(getattr(task.call, "wants_gateway", False) for task in tasks):
        yield
        return
    from paceline.gateway.server import Gateway, current_gateway
    from paceline.gateway.upstreams import upstreams_in

    async with Gateway(upstreams_in(os.environ), on_record=partial(safe, recorder)) as gateway:
        before = current_gateway.set(gateway)
        try:
            yield
        finally:
            current_gateway.reset(before)


async def safe(recorder: Record) -> None:
    """Wait until all that was appended so far is safe, or never will be."""
    loop = asyncio.get_running_loop()
    waiting = loop.create_future()

    def told() -> None:
        with suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(_end, waiting)

    recorder.when_safe(told)
    await waiting


def _end(waiting: asyncio.Future[None]) -> None:
    if not waiting.done():
        waiting.set_result(None)
