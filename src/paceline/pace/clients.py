"""Clients whose calls are paced wherever they are made: within a run, and in any other script.

    client = OpenAI(http_client=paced_client())
    client = AsyncAnthropic(http_client=paced_client(httpx2.AsyncClient, limits={"rpm": 600}))

    with paced_here():          # for code of ours whose clients are made elsewhere
        await model.ask(...)

Within a run their calls go through the door of the run, and are counted and recorded like those of any other
client. Where there is none, they go through one of their own: what they learn is kept for the next run, and
their pools are shared with whoever runs now on this machine.

Knows how clients are made. What is a call, and what happens to it, is the door's business.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

import msgspec

from paceline.errors import UsageError
from paceline.pace.door import Door
from paceline.pace.opening import Opening, stated
from paceline.pace.transport import LIBRARIES, OWN, own_here, stand, stand_down

if TYPE_CHECKING:
    import httpx2

ClientT = TypeVar("ClientT")

CONNECTIONS: Final = 4_096
"""More than any window that a pool opens: what bounds calls is the pace."""
IDLE_CONNECTIONS: Final = 1_024
LONGEST_ANSWER_S: Final = 600.0
"""As the official SDKs have it. The five seconds of `httpx2` would cut off most answers of a model."""
CONNECT_S: Final = 5.0


@overload
def paced_client(
    kind: None = None, *, limits: Mapping[str, Any] | None = None, **options: Any
) -> httpx2.Client: ...
@overload
def paced_client(
    kind: type[ClientT], *, limits: Mapping[str, Any] | None = None, **options: Any
) -> ClientT: ...
def paced_client(
    kind: type[Any] | None = None, *, limits: Mapping[str, Any] | None = None, **options: Any
) -> Any:
    """A client of `httpx2` or `httpx` whose calls of models are paced, and sent again where that can help.

    `kind` is the class of the client, `httpx2.Client` if it is left out. `limits` hold where there is no run;
    a run has its own. `options` are the client's own. Its timeouts, if they are left out, are those of the
    model SDKs.
    """
    if kind is None:
        import httpx2

        kind = httpx2.Client
    library, is_async = _library_of(kind)
    _refuse_other_transports(options, library)
    own = partial(_own_doors.get, *stated(limits))
    defaults = {
        "limits": library.Limits(max_connections=CONNECTIONS, max_keepalive_connections=IDLE_CONNECTIONS),
        "timeout": library.Timeout(LONGEST_ANSWER_S, connect=CONNECT_S),
    }
    client = kind(**(defaults | options))
    hooks = client.event_hooks
    client.event_hooks = {**hooks, "request": [*hooks["request"], _mark(own, is_async=is_async)]}
    stand()
    weakref.finalize(client, stand_down).atexit = False
    return client


@contextmanager
def paced_here(limits: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Within, calls of models that this code makes and awaits are paced, whatever client makes them."""
    token = own_here.set(partial(_own_doors.get, *stated(limits)))
    stand()
    try:
        yield
    finally:
        stand_down()
        own_here.reset(token)


def _mark(own: partial[Door], *, is_async: bool) -> Any:
    """What is called with each request before it is sent: it takes the door along."""

    def mark(request: Any) -> None:
        request.extensions[OWN] = own

    async def mark_too(request: Any) -> None:
        mark(request)

    return mark_too if is_async else mark


def _library_of(kind: object) -> tuple[ModuleType, bool]:
    for base in kind.__mro__ if isinstance(kind, type) else ():
        package = base.__module__.partition(".")[0]
        if package in LIBRARIES and base.__name__ in ("Client", "AsyncClient"):
            return sys.modules[package], base.__name__ == "AsyncClient"
    raise UsageError(
        f"paced_client cannot make a {kind!r}",
        hint="it makes clients of httpx2 and httpx: paced_client(httpx2.AsyncClient)",
    )


def _refuse_other_transports(options: Mapping[str, Any], library: ModuleType) -> None:
    paced = (library.HTTPTransport, library.AsyncHTTPTransport)
    mounts = options.get("mounts")
    given = [options.get("transport"), *(mounts.values() if isinstance(mounts, Mapping) else ())]
    for transport in given:
        if transport is not None and not isinstance(transport, paced):
            raise UsageError(
                f"calls over a {type(transport).__name__} cannot be paced",
                hint=f"leave it out, or give a transport of {library.__name__} itself, such as HTTPTransport",
            )


class _OwnDoors:
    """Doors for calls that no run makes: one for all clients with the same limits."""

    def __init__(self) -> None:
        self.renew()
        atexit.register(self.close)

    def renew(self) -> None:
        """Start anew, as a forked child has to: it has neither the threads nor the socket of its parent."""
        self._lock = threading.Lock()
        self._doors: dict[bytes, Door] = {}

    def get(self, general: Any, single: Any) -> Door:
        name = msgspec.json.encode((general, single), order="sorted")
        if name not in self._doors:  # without the lock: what is there stays
            with self._lock:
                if name not in self._doors:
                    opening = Opening(limits=general, per_pool=single)
                    self._doors[name] = opening.door(opening.desk())
        return self._doors[name]

    def close(self) -> None:
        """Keep what was learned."""
        with self._lock:
            doors, self._doors = self._doors, {}
        for door in doors.values():
            door.desk.close()


_own_doors: Final = _OwnDoors()
os.register_at_fork(after_in_child=_own_doors.renew)
