"""A small HTTP/1.1 server for answers that go wrong on purpose: late, cut, reset, never ending.

    async with HttpServer(handle, host="127.0.0.1", port=0) as server: ...server.port

    async def handle(request: Request, answer: Answer) -> None:
        await answer.whole(200, [("content-type", "text/plain")], b"hello")

Written here because no server one can install hands over the connection itself, which is what a fault is
made of. One request at a time per connection; others wait in it. A handler is cancelled when its client goes.
Clients that send garbage are told so, slow ones are let go, floods are bounded.

Knows connections. Knows nothing of models.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Final, Self, cast

from paceline.sim.requests import Bounds, Malformed, Request, RequestParser

Header = tuple[str, str]
Handler = Callable[[Request, "Answer"], Awaitable[None]]

NEVER: Final = float("inf")
REASONS: Final = {status.value: status.phrase for status in HTTPStatus} | {529: "Overloaded"}


class Answer:
    """The answer to one request, as far as it has got."""

    __slots__ = ("_chunked", "_connection", "_request", "begun", "ended")

    def __init__(self, connection: Connection, request: Request) -> None:
        self._connection = connection
        self._request = request
        self._chunked = False
        self.begun = False
        self.ended = False

    async def whole(self, status: int, headers: Iterable[Header], body: bytes) -> None:
        """An answer in one piece."""
        self.begun = self.ended = True
        length = [*headers, ("content-length", str(len(body)))]
        head = head_of(status, length, keep_alive=self._request.keep_alive)
        # To HEAD, a body would be taken for the beginning of the next answer.
        self._connection.write(head if self._request.method == "HEAD" else head + body)
        await self._connection.drained()

    async def begin(self, status: int, headers: Iterable[Header], *, length: int | None = None) -> None:
        """The head of an answer whose body follows: of that length, or in chunks."""
        self.begun = True
        self._chunked = length is None and self._request.chunks
        framing = ("transfer-encoding", "chunked") if self._chunked else ("content-length", str(length))
        if length is None and not self._chunked:  # HTTP/1.0 knows no chunks: the end is where it is closed
            self._request = self._request._replace(keep_alive=False)
            framing = ("cache-control", "no-store")
        self._connection.write(head_of(status, [*headers, framing], keep_alive=self._request.keep_alive))
        await self._connection.drained()

    async def send(self, data: bytes) -> None:
        """Some of the body."""
        if data:
            self._connection.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
            await self._connection.drained()

    async def end(self) -> None:
        """All of the body was sent."""
        self.ended = True
        if self._chunked:
            self._connection.write(b"0\r\n\r\n")
            await self._connection.drained()

    def cut(self) -> None:
        """Close the connection, whatever is still owed."""
        self._connection.close()

    def reset(self) -> None:
        """Tear the connection down, so that the client sees an error and not an end."""
        self._connection.reset()

    @property
    def keep_alive(self) -> bool:
        """Whether another request may follow."""
        return self.ended and self._request.keep_alive


def head_of(status: int, headers: Iterable[Header], *, keep_alive: bool) -> bytes:
    """The bytes of a head."""
    lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers]
    if not keep_alive:
        lines.append("connection: close")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", errors="replace")


class Connection(asyncio.Protocol):
    """One client."""

    __slots__ = ("_closing", "_held", "_parser", "_server", "_task", "_transport", "_writable", "deadline")

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._parser = RequestParser(server.bounds, server.room)
        self._held = 0
        self._task: asyncio.Task[None] | None = None
        self._writable: asyncio.Future[None] | None = None
        self._closing = False
        self._transport: asyncio.Transport
        self.deadline = NEVER

    # What the loop tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's are like it, and no subclass
        self._server.connections.add(self)
        if len(self._server.connections) > self._server.bounds.connections:
            self._refuse(Malformed(503, "there are too many connections"))
            return
        self.deadline = self._server.now() + self._server.bounds.idle_s

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if self._task is None and not self._parser.begun:
            self.deadline = self._server.now() + self._server.bounds.reading_s
        self._parser.feed(data)
        self._hold(self._held + len(data))
        if self._server.held > self._server.bounds.held_bytes:
            self._refuse(Malformed(503, "there is too much to be read at once"))
        elif self._task is None:
            self._advance()
        elif self._parser.pending > self._server.bounds.head_bytes:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the loop's signature
        self._closing = True
        self._hold(0)
        self._server.connections.discard(self)
        self.resume_writing()
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable = self._server.loop.create_future()
        self.deadline = self._server.now() + self._server.bounds.writing_s

    def resume_writing(self) -> None:
        if not self._closing:  # then what is left has to be taken in time, too
            self.deadline = NEVER
        writable, self._writable = self._writable, None
        if writable is not None and not writable.done():
            writable.set_result(None)

    # Requests

    def _hold(self, size: int) -> None:
        """So many bytes of requests are kept for this client now."""
        self._server.held += size - self._held
        self._held = size

    def _advance(self) -> None:
        """Carry out the next request, if all of it is there."""
        try:
            request = self._parser.next()
        except Malformed as problem:
            self._refuse(problem)
            return
        if request is not None:
            self.deadline = NEVER
            self._task = self._server.loop.create_task(self._carry_out(request))
        elif self._parser.wants_to_be_told:
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def _carry_out(self, request: Request) -> None:
        answer = Answer(self, request)
        try:
            await self._server.handle(request, answer)
        except Exception as error:
            context = {"message": "a request could not be answered", "exception": error}
            self._server.loop.call_exception_handler(context)
            if not answer.begun:
                await answer.whole(500, [("content-type", "text/plain")], b"this server has a defect\n")
        finally:
            self._task = None
            self._hold(0 if self._closing else self._parser.pending)
        if not answer.keep_alive or self._closing:
            self.close()
            return
        bounds = self._server.bounds
        self.deadline = self._server.now() + (bounds.reading_s if self._parser.begun else bounds.idle_s)
        self._transport.resume_reading()
        self._advance()

    def _refuse(self, problem: Malformed) -> None:
        body = f"{problem.message}\n".encode()
        headers = [("content-type", "text/plain"), ("content-length", str(len(body)))]
        self.write(head_of(problem.status, headers, keep_alive=False) + body)
        self.close()

    # What answers do

    def write(self, data: bytes) -> None:
        """Send, unless the client has gone."""
        if not self._transport.is_closing():
            self._transport.write(data)

    async def drained(self) -> None:
        """Until the client has taken enough of what was sent."""
        if self._writable is not None:
            await self._writable

    def close(self) -> None:
        """End the connection when all is sent."""
        self._closing = True
        self._transport.close()
        self.deadline = self._server.now() + self._server.bounds.writing_s

    def abort(self) -> None:
        """End it now."""
        self._closing = True
        self._transport.abort()

    def reset(self) -> None:
        """End it now, with an error for the client."""
        end = self._transport.get_extra_info("socket")
        with suppress(OSError, AttributeError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.abort()

    async def over(self) -> None:
        """Until the handler has ended after an abort."""
        if (task := self._task) is not None:
            task.cancel()
            await asyncio.wait([task])


class HttpServer:
    """Listens, and hands requests to a handler."""

    def __init__(
        self,
        handle: Handler,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        bounds: Bounds | None = None,
        room: Callable[[Request], int] | None = None,
    ) -> None:
        """`room`: how many bytes of body a request may have, by its head, within the bounds."""
        self.handle = handle
        self.room = room
        self.held = 0
        """Bytes of requests that are under way."""
        self.host = host
        self.port = port
        self.bounds = bounds or Bounds()
        self.connections: set[Connection] = set()
        self.loop: asyncio.AbstractEventLoop
        self._listening: asyncio.Server | None = None
        self._sweeping: asyncio.TimerHandle | None = None

    def now(self) -> float:
        """The loop's time."""
        return self.loop.time()

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self._listening = await self.loop.create_server(
            lambda: Connection(self), self.host, self.port, backlog=1024, reuse_address=True
        )
        self.port = self._listening.sockets[0].getsockname()[1]
        self._sweep()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._listening is not None
        self._listening.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        remaining = list(self.connections)
        for connection in remaining:
            connection.abort()
        for connection in remaining:
            await connection.over()
        await asyncio.sleep(0)  # so that transports get to say that they are closed
        await self._listening.wait_closed()

    def _sweep(self) -> None:
        """Let those go who have taken too long. One timer for all: most never need theirs."""
        now = self.now()
        for connection in [each for each in self.connections if each.deadline < now]:
            connection.abort()
        bounds = self.bounds
        pause = min(1.0, bounds.reading_s / 4, bounds.idle_s / 4, bounds.writing_s / 4)
        self._sweeping = self.loop.call_later(pause, self._sweep)
