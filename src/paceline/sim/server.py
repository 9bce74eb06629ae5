"""The simulated provider over HTTP: for programs that know nothing of it.

    sim = start_in_thread(Scenario.load("openai-tier1"))
    OpenAI(base_url=f"{sim.url}/v1", api_key="any") ...
    sim.stats().answered
    sim.stop()

    async with SimServer(scenario) as sim: ...          the same within a running event loop

Beside the places of the two providers (`routes`) it answers `GET /stats`, `POST /stats/reset`,
`GET /scenario` and `GET /healthz`. It listens on the loopback interface unless it is told otherwise: whoever
reaches it may use it.

Knows places and threads. What becomes of a request is `serving`'s.
"""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from paceline.errors import UsageError
from paceline.sim.answers import Prompt
from paceline.sim.era import Clock, Era
from paceline.sim.http import Answer, HttpServer
from paceline.sim.requests import Bounds, Request
from paceline.sim.routes import (
    COUNT_TOKENS,
    ENDPOINTS,
    dialect_of,
    ending_in,
    model_asked_for,
)
from paceline.sim.scenario import Scenario
from paceline.sim.serving import JSON, Visit
from paceline.sim.tally import Seen, name_of
from paceline.sim.wire import MARK

FoundT = TypeVar("FoundT")
LOOPBACK: Final = "127.0.0.1"
DESCRIPTORS: Final = 65_536
"""Of the system, one for each connection, where it lets us have so many."""


class SimServer:
    """A simulated provider that listens."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        host: str = LOOPBACK,
        port: int = 0,
        bounds: Bounds | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        self.scenario = scenario
        self._clock = clock
        self._http = HttpServer(self._handle, host=host, port=port, bounds=bounds)
        self._era = Era(scenario, clock)
        self._facts: dict[str, tuple[str, Callable[[], Any]]] = {
            "stats": ("GET", self.stats),
            "stats/reset": ("POST", self.reset),
            "scenario": ("GET", self._played),
            "healthz": ("GET", lambda: {"status": "ok"}),
        }

    async def __aenter__(self) -> Self:
        with _reasons_not_to_listen(self._http.host, self._http.port):
            await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)

    @property
    def url(self) -> str:
        """The base of its addresses; OpenAI's SDK wants `/v1` behind it."""
        return url_of(self._http.host, self._http.port)

    def stats(self) -> Seen:
        """What it has seen since its first call, or since the last reset."""
        return self._era.seen(len(self._http.connections))

    def times_answered(self, prompt: Prompt) -> int:
        """How often a prompt was answered well, by its model and its messages."""
        return self._era.tally.times_answered(name_of(prompt))

    def reset(self) -> Seen:
        """Begin anew: full buckets, no memory, the clock at 0. Calls under way end as they would have.

        Gives what was seen until now, so that nothing falls between a look and a reset.
        """
        seen = self.stats()
        self._era = Era(self.scenario, self._clock)
        return seen

    def _played(self) -> dict[str, Any]:
        """The scenario, without the keys that it accepts."""
        return {name: value for name, value in self.scenario.as_mapping().items() if name != "keys"}

    async def _handle(self, request: Request, answer: Answer) -> None:
        if (place := ending_in(request.path, ENDPOINTS)) is not None:
            endpoint = ENDPOINTS[place]
            visit = Visit(self._era, request, answer, endpoint.dialect)
            await (visit.call(endpoint) if request.method == "POST" else visit.wrong_method("POST"))
            return
        visit = Visit(self._era, request, answer, dialect_of(request))
        if (model := model_asked_for(request.path)) is not None:
            await visit.models(model)
        elif request.path.endswith(COUNT_TOKENS):
            await visit.count_tokens()
        elif (fact := ending_in(request.path, self._facts)) is not None:
            await self._tell(fact, visit)
        else:
            await visit.unknown_place()

    async def _tell(self, fact: str, visit: Visit) -> None:
        method, find = self._facts[fact]
        if visit.request.method != method:
            await visit.wrong_method(method)
        else:
            await visit.answer.whole(200, [JSON, MARK], msgspec.json.encode(find()))


def url_of(host: str, port: int) -> str:
    """Where a server is reached that listens there; everywhere includes the loopback interface."""
    host = {"0.0.0.0": LOOPBACK, "": LOOPBACK, "::": "::1"}.get(host, host)  # compared only
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextmanager
def _reasons_not_to_listen(host: str, port: int) -> Iterator[None]:
    """What keeps a server from listening, in words and with the remedy."""
    try:
        yield
    except OverflowError:
        raise UsageError(
            f"there is no port {port}", hint="ports are 1 to 65535; 0 takes a free one"
        ) from None
    except OSError as error:
        raise _in_words(error, host, port) from None


def _in_words(error: OSError, host: str, port: int) -> UsageError:
    match error.errno:
        case errno.EADDRINUSE:
            return UsageError(
                f"port {port} on {host} is in use",
                hint="another one may be running: stop it, or choose another port; 0 takes a free one",
            )
        case errno.EACCES:
            return UsageError(
                f"port {port} on {host} may not be used by you", hint="choose one from 1024 up, or 0"
            )
        case _:
            return UsageError(
                f"nobody can listen on {host}: {error.strerror or error}",
                hint=f"{LOOPBACK} is this machine alone; another host has to be an address of this machine",
            )


# In a thread of its own ---------------------------------------------------------------------------


class RunningSim:
    """A simulated provider in a thread of its own; from any other thread."""

    def __init__(self, server: SimServer, loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
        self.url = server.url
        self._server = server
        self._loop = loop
        self._thread = thread
        self._stop = asyncio.Event()
        self._stopping = threading.Lock()

    def stats(self) -> Seen:
        """What it has seen; after its end too."""
        return self._in_the_loop(self._server.stats)

    def times_answered(self, prompt: Prompt) -> int:
        """How often a prompt was answered well, by its model and its messages."""
        return self._in_the_loop(lambda: self._server.times_answered(prompt))

    def reset(self) -> Seen:
        """Begin anew; what was seen until now."""
        return self._in_the_loop(self._server.reset)

    def stop(self) -> None:
        """End it, and every connection with it. A second time, nothing happens."""
        with self._stopping:
            if self._thread.is_alive():
                self._loop.call_soon_threadsafe(self._stop.set)
                self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _in_the_loop(self, find: Callable[[], FoundT]) -> FoundT:
        with self._stopping:
            if not self._thread.is_alive():
                return find()

            async def found() -> FoundT:
                return find()

            return asyncio.run_coroutine_threadsafe(found(), self._loop).result()

    async def until_stopped(self) -> None:
        """In its own loop: until somebody stops it."""
        await self._stop.wait()


def start_in_thread(scenario: Scenario, *, host: str = LOOPBACK, port: int = 0) -> RunningSim:
    """A simulated provider that listens when this returns. UsageError where it cannot."""
    raise_descriptor_limit()
    running: Future[RunningSim] = Future()

    async def serve() -> None:
        async with SimServer(scenario, host=host, port=port) as server:
            sim = RunningSim(server, asyncio.get_running_loop(), threading.current_thread())
            running.set_result(sim)
            await sim.until_stopped()

    def body() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            if running.done():
                raise
            running.set_exception(error)

    threading.Thread(target=body, name="paceline-sim", daemon=True).start()
    return running.result()


def raise_descriptor_limit() -> None:
    """Ask for as many connections as the system lets this process have.

    The usual 1,024 are fewer than a ramp wants, and where callers are in this process each call takes two.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
