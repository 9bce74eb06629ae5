"""The server as clients meet it that are slow, rude, in a hurry, or no clients at all."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from paceline.sim import Scenario, SimServer
from paceline.sim.http import Answer, HttpServer
from paceline.sim.requests import Bounds, Request

LIMIT = 10
"""Seconds that a test waits for what should come at once."""


class Peer:
    """The other end of a connection, by bytes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer."""
        head = (await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), LIMIT)).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines)
        body = await self.reader.readexactly(int(headers.get("content-length", 0)))
        return int(first.split()[1]), headers, body

    async def rest(self) -> bytes:
        """All that still comes, until the connection is closed."""
        return await asyncio.wait_for(self.reader.read(), LIMIT)


@asynccontextmanager
async def connected(port: int) -> AsyncIterator[Peer]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Peer(reader, writer)
    finally:
        writer.close()


async def echo(request: Request, answer: Answer) -> None:
    await answer.whole(200, [("content-type", "text/plain")], request.path.encode() + request.body)


def served(
    work: Callable[[HttpServer], Coroutine[Any, Any, None]], handle: Any = echo, **bounds: Any
) -> None:
    """Do some work at a server; afterwards nothing is left of it."""

    async def main() -> None:
        async with HttpServer(handle, bounds=Bounds(**bounds)) as server:
            await work(server)
        assert not server.connections

    asyncio.run(main())


def get(path: str, *headers: str) -> bytes:
    return "\r\n".join([f"GET {path} HTTP/1.1", *headers, "", ""]).encode()


def test_requests_that_are_sent_at_once_are_answered_one_by_one_in_their_order() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(b"".join(get(f"/{number}") for number in range(20)))
            for number in range(20):
                assert (await peer.answer())[2] == b"/%d" % number

    served(work)


def test_a_connection_is_closed_where_the_client_wishes_it() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(get("/a", "Connection: close") + get("/b"))
            status, headers, _ = await peer.answer()
            assert (status, headers["connection"]) == (200, "close")
            assert await peer.rest() == b""

    served(work)


def test_to_head_only_a_head_is_sent() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(b"HEAD /abc HTTP/1.1\r\n\r\n" + get("/next", "Connection: close"))
            head, _, rest = (await peer.rest()).partition(b"\r\n\r\n")
            assert b"content-length: 4" in head
            assert rest.startswith(b"HTTP/1.1 200")

    served(work)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\n", 400),
        (b"GET / HTTP/1.1\r\nx: " + b"y" * 40_000, 431),
        (b"POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n", 400),
    ],
)
def test_who_sends_no_request_is_told_so_and_let_go(sent: bytes, status: int) -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(sent)
            told, headers, _ = await peer.answer()
            assert (told, headers["connection"]) == (status, "close")
            assert await peer.rest() == b""
        async with connected(server.port) as other:
            other.send(get("/fine"))
            assert (await other.answer())[0] == 200

    served(work)


def test_a_client_that_waits_for_a_word_gets_it() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(b"POST / HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            assert (await peer.answer())[0] == 100
            peer.send(b"abc")
            assert (await peer.answer())[2] == b"/abc"

    served(work)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nabc"])
def test_who_takes_too_long_with_a_request_is_let_go(sent: bytes) -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(sent)
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await peer.answer()

    served(work, reading_s=0.1, idle_s=0.1)


def test_a_connection_that_is_idle_after_an_answer_is_let_go() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(get("/"))
            await peer.answer()
            with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
                await peer.answer()

    served(work, idle_s=0.1)


def test_who_does_not_take_the_answer_is_let_go_and_the_handler_ends() -> None:
    ended = []

    async def much(request: Request, answer: Answer) -> None:  # a handler's signature
        try:
            await answer.begin(200, [], length=1 << 30)
            while True:
                await answer.send(b"x" * 65_536)
        finally:
            ended.append(True)

    async def work(server: HttpServer) -> None:
        with socket.create_connection(("127.0.0.1", server.port)) as rude:
            rude.sendall(get("/"))
            while not ended:
                await asyncio.sleep(0.01)

    served(work, much, writing_s=0.1)


def test_a_handler_is_cancelled_when_its_client_goes() -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def slow(request: Request, answer: Answer) -> None:  # a handler's signature
        begun.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(get("/"))
            await asyncio.wait_for(begun.wait(), LIMIT)
        await asyncio.wait_for(cancelled.wait(), LIMIT)

    served(work, slow)


def test_a_server_that_ends_ends_its_handlers() -> None:
    async def slow(request: Request, answer: Answer) -> None:  # a handler's signature
        await asyncio.sleep(3600)

    async def main() -> None:
        async with HttpServer(slow) as server, connected(server.port) as peer:
            peer.send(get("/"))
            while not server.connections:
                await asyncio.sleep(0.001)
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_more_connections_than_are_put_up_with_are_told_so() -> None:
    async def work(server: HttpServer) -> None:
        async with connected(server.port) as first:
            first.send(get("/a"))
            await first.answer()
            async with connected(server.port) as second:
                assert (await second.answer())[0] == 503
            first.send(get("/b"))
            assert (await first.answer())[2] == b"/b"

    served(work, connections=1)


def test_more_bytes_than_all_together_may_send_are_told_so() -> None:
    async def work(server: HttpServer) -> None:
        big = b"POST /a HTTP/1.1\r\ncontent-length: 60000\r\n\r\n" + b"x" * 50_000
        async with connected(server.port) as first, connected(server.port) as second:
            first.send(big)
            while server.held < 50_000:
                await asyncio.sleep(0.001)
            second.send(big)
            assert (await second.answer())[0] == 503
            first.send(b"x" * 10_000)
            assert (await first.answer())[0] == 200  # whoever was first is not harmed
            async with connected(server.port) as third:
                third.send(big + b"x" * 10_000)
                assert (await third.answer())[0] == 200
        while server.connections:
            await asyncio.sleep(0.001)
        assert server.held == 0

    served(work, held_bytes=80_000)


def test_a_flood_of_requests_waits_outside_while_one_is_carried_out() -> None:
    go = asyncio.Event()

    async def patient(request: Request, answer: Answer) -> None:
        await go.wait()
        await echo(request, answer)

    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            flood = get("/x", f"pad: {'y' * 1000}")
            sent = 0
            while sent < 20_000_000:
                peer.send(flood)
                sent += len(flood)
                if sent % (1 << 20) < len(flood):
                    try:
                        await asyncio.wait_for(peer.writer.drain(), 0.05)
                    except TimeoutError:
                        break  # as it should be: nobody takes it any more
            (connection,) = server.connections
            assert connection._parser.pending < 1_000_000
            go.set()
            for _ in range(100):
                assert (await peer.answer())[0] == 200

    served(work, patient)


def test_a_handler_with_a_defect_is_a_500_and_not_the_end() -> None:
    async def defect(request: Request, answer: Answer) -> None:
        if request.path == "/defect":
            raise ZeroDivisionError
        await echo(request, answer)

    async def work(server: HttpServer) -> None:
        told: list[dict[str, Any]] = []
        server.loop.set_exception_handler(lambda _, context: told.append(context))
        async with connected(server.port) as peer:
            peer.send(get("/defect") + get("/fine"))
            assert (await peer.answer())[0] == 500
            assert (await peer.answer())[2] == b"/fine"
        assert isinstance(told[0]["exception"], ZeroDivisionError)

    served(work, defect)


def test_http_1_0_gets_a_stream_that_ends_where_it_is_closed() -> None:
    async def pieces(request: Request, answer: Answer) -> None:  # a handler's signature
        await answer.begin(200, [])
        await answer.send(b"one")
        await answer.send(b"two")
        await answer.end()

    async def work(server: HttpServer) -> None:
        async with connected(server.port) as peer:
            peer.send(b"GET / HTTP/1.0\r\n\r\n")
            head, _, body = (await peer.rest()).partition(b"\r\n\r\n")
            assert b"chunked" not in head
            assert body == b"onetwo"
        async with connected(server.port) as peer:
            peer.send(get("/", "Connection: close"))
            assert (await peer.rest()).endswith(b"3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")

    served(work, pieces)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_reset_is_an_error_and_a_cut_an_end_on_either_loop(loop: str) -> None:
    uvloop = pytest.importorskip("uvloop") if loop == "uvloop" else None

    async def broken(request: Request, answer: Answer) -> None:
        await answer.begin(200, [], length=100)
        await answer.send(b"some")
        await asyncio.sleep(0.05)
        (answer.reset if request.path == "/reset" else answer.cut)()

    async def main() -> None:
        async with HttpServer(broken) as server:
            async with connected(server.port) as peer:
                peer.send(get("/cut"))
                assert (await peer.rest()).endswith(b"some")
            async with connected(server.port) as peer:
                peer.send(get("/reset"))
                with pytest.raises(ConnectionResetError):
                    await peer.rest()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop if uvloop else None) as runner:
        runner.run(main())


# ---- the places of the simulated provider ----


def to(server: SimServer) -> AbstractAsyncContextManager[Peer]:
    return connected(int(server.url.rpartition(":")[2]))


def sim(work: Callable[[SimServer, Peer], Coroutine[Any, Any, None]], **fields: Any) -> None:
    async def main() -> None:
        async with SimServer(Scenario.of({"latency": 0, **fields})) as server, to(server) as peer:
            await work(server, peer)

    asyncio.run(main())


def post(path: str, body: bytes, *headers: str) -> bytes:
    return (
        "\r\n".join([f"POST {path} HTTP/1.1", *headers, f"content-length: {len(body)}", "", ""]).encode()
        + body
    )


KEY = "authorization: Bearer k"
ASK = b'{"model": "m", "messages": [{"role": "user", "content": "What is 1 + 1?"}]}'


def test_a_place_is_found_whatever_its_base_begins_with() -> None:
    async def work(server: SimServer, peer: Peer) -> None:
        for path in (
            "/v1/chat/completions",
            "/chat/completions",
            "/openai/deployments/m/chat/completions?v=1",
        ):
            peer.send(post(path, ASK, KEY))
            status, _, body = await peer.answer()
            assert (status, json.loads(body)["choices"][0]["message"]["content"]) == (200, "2")
        for key in ("x-api-key: k", "api-key: k"):
            peer.send(post("/v1/chat/completions", ASK, key))
            assert (await peer.answer())[0] == 200
        assert server.stats().answered == 5

    sim(work)


@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [
        (post("/v1/chat/completions", ASK), 401, "You didn't provide an API key"),
        (post("/v1/messages", ASK), 401, "x-api-key header is required"),
        (post("/v1/chat/completions", ASK, "authorization: Basic k"), 401, "You didn't provide"),
        (post("/v1/chat/completions", b"{not json", KEY), 400, "could not parse the JSON"),
        (post("/v1/chat/completions", b'"text"', KEY), 400, "is an object"),
        (post("/v1/chat/completions", b"\xff\xfe", KEY), 400, "could not parse the JSON"),
        (post("/v1/chat/completions", b"[" * 100_000, KEY), 400, "could not parse the JSON"),
        (post("/v1/chat/completions", b"{}", KEY), 400, "'model'"),
        (post("/v1/chat/completions", b'{"model": 1}', KEY), 400, "'model'"),
        (post("/v1/chat/completions", b'{"model": "m", "messages": {}}', KEY), 400, "'messages'"),
        (post("/v1/responses", b'{"model": "m", "input": {}}', KEY), 400, "'input'"),
        (
            post("/v1/responses", b'{"model": "m", "input": "a", "previous_response_id": "r"}', KEY),
            400,
            "stores",
        ),
        (post("/v1/embeddings", b'{"model": "m", "input": [{}]}', KEY), 400, "'input'"),
        (
            post("/v1/embeddings", b'{"model": "m", "input": "a", "dimensions": 1000000000}', KEY),
            400,
            "at most",
        ),
        (post("/v1/messages", b'{"model": "m", "messages": [1], "max_tokens": 1}', KEY), 400, "messages.0"),
        (post("/v1/messages", b'{"model": "m", "messages": [1]}', KEY), 400, "max_tokens"),
        (get("/v1/chat/completions", KEY), 405, "use POST"),
        (post("/v1/models", b"", KEY), 405, "use GET"),
        (get("/v1/messages/count_tokens", KEY), 405, "use POST"),
        (post("/stats", b""), 405, "use GET"),
        (get("/stats/reset"), 405, "use POST"),
        (get("/v1/files", KEY), 404, "/v1/chat/completions"),
        (get("/"), 404, "There is nothing at /"),
        (b"DELETE /v1/responses HTTP/1.1\r\n\r\n", 405, "use POST"),
    ],
)
def test_what_cannot_be_answered_is_said_and_the_connection_goes_on(
    sent: bytes, status: int, said: str
) -> None:
    async def work(server: SimServer, peer: Peer) -> None:
        peer.send(sent)
        told, headers, body = await peer.answer()
        assert (told, headers["content-type"]) == (status, "application/json")
        assert said in json.loads(body)["error"]["message"]
        peer.send(post("/v1/chat/completions", ASK, KEY))
        assert (await peer.answer())[0] == 200
        assert server.stats().answered == 1

    sim(work)


def test_a_surrogate_that_stands_alone_is_no_defect() -> None:
    async def work(server: SimServer, peer: Peer) -> None:  # as others have it
        for text in (b"\\ud800", b"\\u0000", "é".encode()):
            peer.send(post("/v1/chat/completions", ASK.replace(b"What", text), KEY))
            assert (await peer.answer())[0] in {200, 400}

    sim(work)


def test_facts_are_told_to_whoever_asks() -> None:
    async def work(server: SimServer, peer: Peer) -> None:  # as others have it
        peer.send(get("/healthz") + get("/scenario") + get("/stats"))
        assert json.loads((await peer.answer())[2]) == {"status": "ok"}
        assert json.loads((await peer.answer())[2]) == {"name": "mine", "rpm": 3, "latency": {"mean": 0}}
        told = json.loads((await peer.answer())[2])
        assert (told["arrived"], told["connections"]) == (0, 1)

    sim(work, name="mine", rpm=3, keys=["nobody is told"])
