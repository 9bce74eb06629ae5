"""The gateway over HTTP: takes calls of children, and passes them on through the door of this process.

    async with Gateway(upstreams_in(os.environ)) as gateway:
        with gateway.ticket(listener) as ticket:
            subprocess environment | gateway.environment(ticket)

Every byte of a streamed answer is passed on at once, but for the last: the end of an answer is passed on when
the call is on record. So what a child has been answered is never asked again, whenever we are killed. A child
that goes away takes its call with it. Who is refused is told so before anything is sent anywhere.

Knows how requests become answers. What may pass is `requests`', how it is paced the door's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self

from paceline.errors import PacelineError
from paceline.gateway.hearing import Hearing
from paceline.gateway.refusals import HEADERS, Refusal
from paceline.gateway.requests import Passing, checked, shown
from paceline.gateway.tickets import UNBOUNDED, Allowance, Ticket, Tickets
from paceline.gateway.upstreams import Upstream, environment
from paceline.pace.calls import Listener, current_listener
from paceline.sim.http import Answer, Header, HttpServer
from paceline.sim.requests import Bounds, Request

LOOPBACK: Final = "127.0.0.1"
BOUNDS: Final = Bounds(body_bytes=64 * 1024 * 1024, connections=4_096, idle_s=600.0)
UNKNOWN_BYTES: Final = 64 * 1024
"""Of the body of a request whose ticket is none: it is read to be refused, and anybody on this machine may
send it."""
RETURNED: Final = frozenset(
    {
        "content-type",
        "openai-processing-ms",
        "openai-version",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-request-id",
        "x-should-retry",
    }
)
_RETURNED_PREFIXES: Final = ("x-ratelimit-", "anthropic-")


class Gateway:
    """A proxy on this machine for the model calls of children."""

    def __init__(
        self,
        upstreams: Mapping[str, Upstream],
        *,
        port: int = 0,
        bounds: Bounds = BOUNDS,
        on_record: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`on_record` waits until what was told of calls so far is safe, where there is a record."""
        self.upstreams = dict(upstreams)
        self.tickets = Tickets()
        self._http = HttpServer(self._handle, host=LOOPBACK, port=port, bounds=bounds, room=self._room)
        self._on_record = on_record
        self._client: Any = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{LOOPBACK}:{self._http.port}"

    def ticket(
        self, listener: Listener | None = None, allowance: Allowance = UNBOUNDED
    ) -> AbstractContextManager[Ticket]:
        """Leave to ask, for one attempt and as long as it lasts."""
        return self.tickets.issued(listener, allowance)

    def environment(self, ticket: Ticket) -> dict[str, str]:
        """What a child is told, in the variables that SDKs look at."""
        return environment(self.url, ticket.token, self.upstreams.values())

    async def __aenter__(self) -> Self:
        import httpx2

        # Nobody here knows better than the child how long to wait, nor how many calls are worth making.
        self._client = httpx2.AsyncClient(
            timeout=httpx2.Timeout(None, connect=30.0),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=512),
            follow_redirects=False,
            trust_env=False,
        )
        await self._http.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.__aexit__(kind, error, trace)
        await self._client.aclose()

    def _room(self, head: Request) -> int:
        """How many bytes of body a request may have."""
        return UNKNOWN_BYTES if shown(head, self.tickets) is None else BOUNDS.body_bytes

    async def _handle(self, request: Request, answer: Answer) -> None:
        passing = checked(request, self.tickets, self.upstreams)
        if isinstance(passing, Refusal):
            await _refuse(passing, answer)
            return
        hearing = Hearing(passing.ticket)
        current_listener.set(hearing if passing.is_call else None)
        await self._pass_on(passing, hearing, request.body, answer)

    async def _pass_on(self, passing: Passing, hearing: Hearing, body: bytes, answer: Answer) -> None:
        import httpx2

        asked = self._client.build_request(passing.method, passing.url, headers=passing.headers, content=body)
        try:
            response = await self._client.send(asked, stream=True)
        except httpx2.HTTPError as error:
            said = f"{passing.upstream.name} could not be reached: {type(error).__name__}"
            await _refuse(Refusal(502, said, passing.wire), answer)
            return
        except PacelineError as error:
            await _refuse(Refusal(400, f"{error}; {error.hint}", passing.wire), answer)
            return
        try:
            await self._return(response, hearing, answer)
        except httpx2.HTTPError:
            answer.reset()  # the child is to see that something is missing
        finally:
            with suppress(httpx2.HTTPError):
                await response.aclose()

    async def _return(self, response: Any, hearing: Hearing, answer: Answer) -> None:
        headers = list(_returned(response.headers))
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            body = await response.aread()
            await self._recorded(hearing)
            await answer.whole(response.status_code, headers, body)
            return
        await answer.begin(response.status_code, headers)
        async for piece in response.aiter_raw():
            await self._recorded(hearing)  # it has ended where this is its last piece
            await answer.send(piece)
        await self._recorded(hearing)
        await answer.end()

    async def _recorded(self, hearing: Hearing) -> None:
        """Wait until a call that has ended is on record, where it goes there."""
        if hearing.is_kept and self._on_record is not None:
            hearing.is_kept = False
            await self._on_record()


async def _refuse(refusal: Refusal, answer: Answer) -> None:
    await answer.whole(refusal.status, HEADERS, refusal.body)


def _returned(headers: Any) -> Iterator[Header]:
    for name, value in headers.items():
        lower = name.lower()
        if lower in RETURNED or lower.startswith(_RETURNED_PREFIXES):
            yield lower, value


current_gateway: ContextVar[Gateway | None] = ContextVar("paceline_gateway", default=None)
"""The gateway of the run that goes on, for tasks that start children; set by whoever conducts it."""
