"""One request, paced like the call of a model: it waits for its pool, is sent again, and goes on record.

An endpoint has a pool of its own, by its host and path: what it refuses holds back all cases that ask it.
Where the address is one at which models answer, the door sees a call of a model, and nothing is done twice.

Knows doors and trips. Knows nothing of templates and answers.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from paceline.models.clients import IDLE_CONNECTIONS, IDLE_SECONDS, Connection, client_for
from paceline.pace.calls import current_listener, request_hash
from paceline.pace.door import Door
from paceline.pace.hands import LoopHands
from paceline.pace.messages import PoolId
from paceline.pace.providers import Endpoint, Provider
from paceline.pace.requests import Seen, fingerprint, key_in
from paceline.pace.transport import current_door
from paceline.pace.trip import Trip

HTTP: Final = Provider(name="http", wire="openai")
"""Errors are read as those of most providers are: by status, headers, and a document with an `error`."""


class Told(NamedTuple):
    """What came back."""

    status: int
    content_type: str
    body: bytes


class _Client:
    """Connections to endpoints, kept for the next request."""

    def __init__(self, library: ModuleType) -> None:
        limits = library.Limits(
            max_connections=None,
            max_keepalive_connections=IDLE_CONNECTIONS,
            keepalive_expiry=IDLE_SECONDS,
        )
        self.transport = library.AsyncHTTPTransport(limits=limits)

    async def close(self) -> None:
        """Let go of all of them."""
        await self.transport.aclose()


async def ask(method: str, url: str, headers: dict[str, str], body: bytes) -> Told:
    """Send a request, and what comes back; raises what the library does where nothing does."""
    import httpx2

    client: _Client = await client_for(Connection("http", None, None), lambda _: _Client(httpx2))
    headers = {"accept": "*/*", "user-agent": "paceline", **headers}
    request = httpx2.Request(method, url, headers=headers, content=body)
    send = client.transport.handle_async_request
    door = current_door()
    if door is None or door.trip(request, httpx2) is not None:
        response = await send(request)
    else:
        response = await _trip(door, request, body, httpx2).go(LoopHands(door.desk, send, httpx2))
    try:
        content = await response.aread()
    finally:
        await response.aclose()
    return Told(response.status_code, response.headers.get("content-type", ""), content)


def _trip(door: Door, request: Any, body: bytes, library: ModuleType) -> Trip:
    url = urlsplit(str(request.url))
    headers = {name.lower(): value for name, value in request.headers.items()}
    secret = key_in(headers, url.query)
    seen = Seen(
        provider=HTTP,
        endpoint=Endpoint("openai", "/http"),
        pool=PoolId(
            "http",
            f"{url.scheme}://{url.netloc}",
            f"{request.method} {url.path or '/'}",
            fingerprint(secret, headers),
        ),
        path=url.path,
        request=request_hash(request.method, f"{url.path}?{url.query}", body),
        streamed="text/event-stream" in headers.get("accept", ""),
    )
    return Trip(door, seen, request, library, secret=secret, listener=current_listener.get(), body=body)
