"""Clients of the SDKs: one for each place and key on each event loop, made when first needed.

A client keeps connections open, so one per case would pay for a handshake each time, and one for all loops
would break: connections belong to the loop that opened them. They are closed in order when their loop shuts
down, which asyncio tells to asynchronous generators, so nobody has to remember it. `close_clients` does it
earlier, for loops that never end.

The pace below is what limits calls and what sends them again. So clients do not retry, and have more
connections than the widest window.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

CONNECTIONS: Final = 4_096
"""Per client. More than any window that a pool opens; the pace decides, not this."""
IDLE_CONNECTIONS: Final = 1_024
"""Kept open for the next call. The SDKs' 100 would mean a handshake for most calls of a wide run."""
IDLE_SECONDS: Final = 30.0


class Connection(NamedTuple):
    """Where calls go and in whose name. Calls of one connection share a client."""

    sdk: str
    base_url: str | None
    key: str | None
    headers: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return f"Connection({self.sdk!r})"  # the rest may hold secrets


class Client(Protocol):
    """What the clients of all SDKs have in common."""

    async def close(self) -> None:
        """Let go of all connections."""
        ...


class _Clients:
    """The clients of one loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.by_connection: dict[Connection, Client] = {}
        self.until_the_end: AsyncGenerator[None, None] = self._until_the_end()

    async def _until_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            if _of_loops.get(id(self.loop)) is self:
                del _of_loops[id(self.loop)]  # whoever asks again gets new clients
            for client in self.by_connection.values():
                with contextlib.suppress(Exception):  # the next one is to be closed all the same
                    await client.close()


_of_loops: dict[int, _Clients] = {}
"""By the identity of the loop. Each entry is written and read on its own loop only, so there is no lock."""


async def client_for(connection: Connection, make: Callable[[Connection], Client]) -> Any:
    """The client for a connection on the running loop."""
    loop = asyncio.get_running_loop()
    clients = _of_loops.get(id(loop))
    if clients is None or clients.loop is not loop:
        clients = _of_loops[id(loop)] = _Clients(loop)
        await anext(clients.until_the_end)  # from here on the loop knows it, and closes it when it ends
    if connection not in clients.by_connection:
        clients.by_connection[connection] = make(connection)
    return clients.by_connection[connection]


async def close_clients() -> None:
    """Close all clients of the running loop. The next call makes new ones."""
    clients = _of_loops.get(id(asyncio.get_running_loop()))
    if clients is not None:
        await clients.until_the_end.aclose()


def connection_limits() -> Mapping[str, float]:
    """How many connections a client may have, in the words of `httpx2.Limits`."""
    return {
        "max_connections": CONNECTIONS,
        "max_keepalive_connections": IDLE_CONNECTIONS,
        "keepalive_expiry": IDLE_SECONDS,
    }
