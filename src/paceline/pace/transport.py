"""The door under `httpx2` and `httpx`: unchanged code that calls a model is paced, sent again, counted, priced.

    with install(Door(desk)):
        ...                        # `openai.OpenAI()`, `anthropic.AsyncAnthropic()`, any client of theirs

While a door stands, the transports of both libraries ask it about each request, whoever made the client and
whenever. What is no model call passes untouched. A library that is imported later is met at its import, and
with the last door gone its transports are again what they were.

Carries out the steps of a `Trip`, for threads and for coroutines. Decides nothing about calls.
"""

from __future__ import annotations

import contextlib
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Final, NamedTuple

from paceline.pace.calls import current_listener
from paceline.pace.desk import Granting
from paceline.pace.estimates import Estimates
from paceline.pace.imports import after_import
from paceline.pace.messages import PoolId
from paceline.pace.passing import close_iterator, stream_classes
from paceline.pace.prices import Price
from paceline.pace.redirecting import redirected
from paceline.pace.refused import Refusal
from paceline.pace.requests import Seen, key_in, read_request
from paceline.pace.retrying import Patience
from paceline.pace.trip import Acquire, Close, Handed, Pause, Pull, Send, Step, Trip

LIBRARIES: Final = ("httpx2", "httpx")
REMEMBERED_S: Final = 120.0
"""How long a failure is told again to an SDK that asks again by itself: none of them waits for longer."""
REMEMBERED: Final = 1_000
RESENT: Final = "x-stainless-retry-count"
"""The header in which the official SDKs say how often they have asked this before."""
DOOR: Final = "paceline.door"
"""The extension of a request that names the door it goes through."""


class Door:
    """What all calls that go through have in common."""

    def __init__(
        self,
        desk: Granting,
        *,
        redirect: str | None = None,
        prices: Mapping[str, Price] | None = None,
        patience: Patience | None = None,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        dice: random.Random | None = None,
    ) -> None:
        """`redirect`: the base URL of a simulated provider that answers in place of any other."""
        self.desk = desk
        self.redirect = redirect
        self.prices = prices or {}
        self.patience = patience or Patience()
        self.now = now
        self.wall = wall
        self.dice = dice or random.Random()
        self.estimates = Estimates()
        self.succeeded: dict[PoolId, float] = {}
        """When a call of the pool was last answered."""
        self.refusals: dict[PoolId, Refusal] = {}
        """What has closed a pool."""
        self._failures: dict[tuple[PoolId, str], tuple[float, Exception]] = {}

    def remember_failure(self, seen: Seen, error: Exception) -> None:
        """All tries were in vain. SDKs ask again after an exception and cannot be told not to; see below."""
        # The oldest goes first: dicts keep the order of insertion.
        while len(self._failures) >= REMEMBERED:
            with contextlib.suppress(StopIteration, KeyError):  # another thread was quicker
                del self._failures[next(iter(self._failures))]
        self._failures[seen.pool, seen.request] = (self.now(), error)

    def failed_before(self, seen: Seen, resent: bool) -> Exception | None:
        """The failure of a call that the SDK now asks for again: it gets the same, at once and for free."""
        if not resent:
            return None
        at, error = self._failures.get((seen.pool, seen.request), (-REMEMBERED_S, None))
        return error if self.now() - at < REMEMBERED_S else None

    def trip(self, request: Any, library: ModuleType) -> Trip | None:
        """The call that a request is; None where it is none."""
        if request.method != "POST":
            return None
        url = request.url
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in request.headers.raw
        }
        query = url.query.decode("latin-1")
        seen = read_request(
            request.method,
            f"{url.scheme}://{url.netloc.decode('latin-1')}",
            url.host,
            url.path,
            headers,
            _body_of(request, library),
            query=query,
        )
        if seen is None:
            return None
        if self.redirect is not None:
            request = redirected(request, seen, self.redirect)
        return Trip(
            self,
            seen,
            request,
            library,
            secret=key_in(headers, query),
            listener=current_listener.get(),
            resent=headers.get(RESENT, "0") != "0",
        )


def _body_of(request: Any, library: ModuleType) -> bytes | None:
    try:
        body: bytes = request.content
        return body
    except library.RequestNotRead:
        return None


# Carrying out a trip -------------------------------------------------------------------------------


def carry_out(trip: Trip, door: Door, send: Callable[[Any], Any], library: ModuleType) -> Any:
    """For a thread."""
    response: Any = None
    rest: Iterator[bytes] | None = None

    def take(step: Step) -> Any:
        nonlocal response, rest
        match step:
            case Acquire(pool, tokens, priority):
                return door.desk.acquire_sync(pool, tokens=tokens, priority=priority)
            case Send(request):
                response, rest = send(request), None
                return response
            case Pull():
                if rest is None:
                    rest = iter(response.stream)
                return next(rest, None)
            case Close():
                if response is not None:
                    response.close()
            case Pause(seconds):
                time.sleep(seconds)
        return None

    steps = trip.steps()
    try:
        step = next(steps)
        while True:
            try:
                came = take(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(came)
    except StopIteration as over:
        return _handed(over.value, rest, library, kind=0)
    except BaseException:
        if response is not None:
            response.close()
        raise


async def carry_out_async(trip: Trip, door: Door, send: Callable[[Any], Any], library: ModuleType) -> Any:
    """For a coroutine: the same with `await`."""
    import asyncio

    response: Any = None
    rest: Any = None

    async def take(step: Step) -> Any:
        nonlocal response, rest
        match step:
            case Acquire(pool, tokens, priority):
                return await door.desk.acquire(pool, tokens=tokens, priority=priority)
            case Send(request):
                response, rest = await send(request), None
                return response
            case Pull():
                if rest is None:
                    rest = response.stream.__aiter__()
                return await anext(rest, None)
            case Close():
                if response is not None:
                    await _close(response, rest)
            case Pause(seconds):
                await asyncio.sleep(seconds)
        return None

    steps = trip.steps()
    try:
        step = next(steps)
        while True:
            try:
                came = await take(step)
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(came)
    except StopIteration as over:
        return _handed(over.value, rest, library, kind=1)
    except BaseException:
        if response is not None:
            await _close(response, rest)
        raise


async def _close(response: Any, rest: Any) -> None:
    # An iterator that is left in its midst is closed before what it reads from.
    if rest is not None:
        await close_iterator(rest)
    await response.aclose()


def _handed(handed: Handed, rest: Any, library: ModuleType, *, kind: int) -> Any:
    """The answer as the caller gets it, what passes by wrapped in something that looks."""
    response = handed.response
    if handed.passage is not None:
        wrapped = stream_classes(library)[kind]
        response.stream = wrapped(handed.held, rest, response.stream, handed.passage)
    return response


# Standing under the libraries ----------------------------------------------------------------------

_standing: Final[list[Door]] = []
_lock: Final = threading.Lock()


class _Was(NamedTuple):
    """A method of a transport before a door stood in it."""

    owner: type[Any]
    name: str
    method: Any


_were: Final[list[_Was]] = []


def current_door() -> Door | None:
    """The door of the run that began last and goes on."""
    return _standing[-1] if _standing else None


@contextmanager
def install(door: Door) -> Iterator[None]:
    """Let all model calls of this process go through a door. Doors may overlap and go in any order."""
    stand()
    _standing.append(door)
    try:
        yield
    finally:
        _standing[:] = [other for other in _standing if other is not door]
        stand_down()


_stands = 0


def stand() -> None:
    """Have transports ask for doors from now on; each `stand` wants its `stand_down`."""
    global _stands
    with _lock:
        _stands += 1
        if _stands > 1:
            return
        for name in LIBRARIES:
            if name in sys.modules:
                _enter(sys.modules[name])
        after_import(LIBRARIES, _met)


def stand_down() -> None:
    """With the last one gone, transports are what they were."""
    global _stands
    with _lock:
        _stands -= 1
        if _stands:
            return
        after_import((), None)
        while _were:
            was = _were.pop()
            setattr(was.owner, was.name, was.method)


def _met(library: ModuleType) -> None:
    with _lock:
        if _stands:
            _enter(library)


def _enter(library: ModuleType) -> None:
    if any(was.owner is library.HTTPTransport for was in _were):
        return
    plain = library.HTTPTransport.handle_request
    waiting = library.AsyncHTTPTransport.handle_async_request

    def handle_request(transport: Any, request: Any) -> Any:
        door = request.extensions.get(DOOR) or current_door()
        trip = door.trip(request, library) if door is not None else None
        if door is None or trip is None:
            return plain(transport, request)
        return carry_out(trip, door, lambda asked: plain(transport, asked), library)

    async def handle_async_request(transport: Any, request: Any) -> Any:
        door = request.extensions.get(DOOR) or current_door()
        trip = door.trip(request, library) if door is not None else None
        if door is None or trip is None:
            return await waiting(transport, request)
        return await carry_out_async(trip, door, lambda asked: waiting(transport, asked), library)

    for owner, name, was, now in (
        (library.HTTPTransport, "handle_request", plain, handle_request),
        (library.AsyncHTTPTransport, "handle_async_request", waiting, handle_async_request),
    ):
        _were.append(_Was(owner, name, was))
        setattr(owner, name, now)
