"""A gateway in a thread of its own, with the pace around it: for whoever has no run.

    with start_in_thread(upstreams_in(os.environ), Opening(), listener) as gateway:
        subprocess environment | gateway.environment

Knows threads. What passes is the server's business.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass

from paceline.gateway.server import Gateway
from paceline.gateway.tickets import UNBOUNDED, Allowance, Ticket
from paceline.gateway.upstreams import Upstream
from paceline.pace.calls import Listener
from paceline.pace.opening import OnClosed, Opening


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that listens, and the one ticket there is."""

    url: str
    ticket: Ticket
    environment: Mapping[str, str]


@contextmanager
def start_in_thread(
    upstreams: Mapping[str, Upstream],
    opening: Opening,
    listener: Listener | None = None,
    *,
    allowance: Allowance = UNBOUNDED,
    port: int = 0,
    on_closed: OnClosed | None = None,
) -> Iterator[Running]:
    """A gateway that listens when this is entered, and is gone when it is left."""
    begun: Future[Running] = Future()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def serve() -> None:
        with opening(on_closed):
            async with Gateway(upstreams, port=port) as gateway:
                with gateway.ticket(listener, allowance) as ticket:
                    begun.set_result(Running(gateway.url, ticket, gateway.environment(ticket)))
                    await over.wait()

    def body() -> None:
        try:
            loop.run_until_complete(serve())
        except BaseException as error:
            if begun.done():
                raise
            begun.set_exception(error)
        finally:
            loop.close()

    thread = threading.Thread(target=body, name="paceline-gateway", daemon=True)
    thread.start()
    running = begun.result()
    try:
        yield running
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
