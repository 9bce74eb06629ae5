"""Standing under `httpx2` and `httpx`, so that unchanged code that calls a model is paced and counted.

    with install(Door(desk)):
        ...                        # `openai.OpenAI()`, `anthropic.AsyncAnthropic()`, any client of theirs

While a door stands, the transports of both libraries ask it about each request, whoever made the client and
whenever. What is no model call passes untouched. A library that is imported later is met at its import, and
with the last door gone its transports are again what they were.

Knows where the libraries can be entered. What is a call is the door's business.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from paceline.pace.calls import current_listener
from paceline.pace.door import Door
from paceline.pace.hands import LoopHands, ThreadHands, at_once
from paceline.pace.imports import after_import
from paceline.pace.standins import StandIns
from paceline.pace.threads import Carrying

LIBRARIES: Final = ("httpx2", "httpx")

DoorOf = Callable[[], Door | None]
OWN: Final = "paceline.door"
"""The extension of a request that says through which door it goes where there is no run: a `DoorOf`."""


@contextmanager
def install(door: Door) -> Iterator[None]:
    """Let all model calls of this process go through a door. Doors may overlap and go in any order."""
    here = _here.set(door)
    _doors.append(door)
    stand()
    try:
        yield
    finally:
        _doors[:] = [other for other in _doors if other is not door]
        with contextlib.suppress(ValueError):  # it is left in another context than it was entered in
            _here.reset(here)
        stand_down()


_here: Final[ContextVar[Door | None]] = ContextVar("paceline_door", default=None)
"""The door of the run that this code is part of. Where several go on at once, each has its own limits."""
_doors: Final[list[Door]] = []
"""Those that stand, for code on a thread of its own: it goes through that of the run that began last."""
# A forked child has neither the thread nor the socket of its parent's desk: a call would wait for good.
os.register_at_fork(after_in_child=_doors.clear)


def current_door() -> Door | None:
    """The door for a call that is made here."""
    if not _doors:
        return None
    door = _here.get()
    return door if door in _doors else _doors[-1]


own_here: Final[ContextVar[DoorOf | None]] = ContextVar("paceline_own_door", default=None)
"""Through which door calls go that are made here, where there is no run."""


def _door_for(request: Any) -> Door | None:
    own: DoorOf | None = request.extensions.get(OWN) or own_here.get()
    return current_door() or (own() if own is not None else None)


def stand() -> None:
    """Have transports ask for doors from now on; each `stand` wants its `stand_down`."""
    _transports.stand()


def stand_down() -> None:
    """With the last one gone, transports are what they were."""
    _transports.stand_down()


class _Transports:
    """The transports of both libraries, as far as they are loaded."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._carrying = Carrying((current_listener, _here))
        self._stands = 0
        self._stand_ins = StandIns()

    def stand(self) -> None:
        with self._lock:
            self._stands += 1
            if self._stands == 1:
                self._carrying.stand()
                after_import(LIBRARIES, self._met)
                for name in LIBRARIES:
                    if name in sys.modules:
                        self._enter(sys.modules[name])

    def stand_down(self) -> None:
        with self._lock:
            self._stands -= 1
            if self._stands == 0:
                self._carrying.stand_down()
                after_import((), None)
                self._stand_ins.take_back()

    def _met(self, library: ModuleType) -> None:
        with self._lock:
            if self._stands:
                self._enter(library)

    def _enter(self, library: ModuleType) -> None:
        plain, waiting = library.HTTPTransport, library.AsyncHTTPTransport
        if self._stand_ins.stand_in(plain):
            return
        put = self._stand_ins.put
        put(plain, "handle_request", _for_threads(plain.handle_request, library))
        put(waiting, "handle_async_request", _for_coroutines(waiting.handle_async_request, library))


_transports: Final = _Transports()


def _for_threads(plain: Callable[..., Any], library: ModuleType) -> Callable[..., Any]:
    @wraps(plain)
    def handle_request(transport: Any, request: Any) -> Any:
        door = _door_for(request)
        trip = door.trip(request, library) if door is not None else None
        if door is None or trip is None:
            return plain(transport, request)
        way = _way(transport, library.HTTPTransport, library) if door.redirects else transport
        return at_once(trip.go(ThreadHands(door.desk, partial(plain, way), library)))

    return handle_request


def _for_coroutines(waiting: Callable[..., Any], library: ModuleType) -> Callable[..., Any]:
    @wraps(waiting)
    async def handle_async_request(transport: Any, request: Any) -> Any:
        door = _door_for(request)
        trip = door.trip(request, library) if door is not None else None
        if door is None or trip is None:
            return await waiting(transport, request)
        way = _way(transport, library.AsyncHTTPTransport, library) if door.redirects else transport
        return await trip.go(LoopHands(door.desk, partial(waiting, way), library))

    return handle_async_request


_ways: Final[WeakKeyDictionary[Any, Any]] = WeakKeyDictionary()
"""By the transport of a client: the one by which its calls reach a simulated provider."""


def _way(transport: Any, kind: type[Any], library: ModuleType) -> Any:
    """A transport to this machine. The client's own may lead through a proxy, which has no business here."""
    if (way := _ways.get(transport)) is None:
        # A connection for each call: nobody would close those that are kept, as the client knows of none.
        limits = library.Limits(max_connections=None, max_keepalive_connections=0)
        way = _ways[transport] = kind(limits=limits, trust_env=False, verify=False)
    return way
