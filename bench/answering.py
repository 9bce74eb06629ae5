"""A provider that answers at once, with as little work as can be, for measuring clients.

`python -m bench.answering` prints its port. It knows where a request ends, and whether it asks for a stream;
nothing else.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

MODEL = "gpt-5.4-mini"
PIECES = 50
"""Of a streamed answer, beside its first event and its usage."""
USAGE = {
    "prompt_tokens": 250,
    "completion_tokens": 60,
    "total_tokens": 310,
    "prompt_tokens_details": {"cached_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0},
}
WHOLE: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_795_000_000,
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "word " * 60, "refusal": None},
        }
    ],
    "usage": USAGE,
}
HEADERS = (
    b"HTTP/1.1 200 OK\r\nserver: none\r\nx-request-id: req_1\r\nopenai-processing-ms: 12\r\n"
    b"x-ratelimit-limit-requests: 100000000\r\nx-ratelimit-remaining-requests: 99999999\r\n"
    b"x-ratelimit-reset-requests: 1ms\r\nx-ratelimit-limit-tokens: 1000000000\r\n"
    b"x-ratelimit-remaining-tokens: 999999999\r\nx-ratelimit-reset-tokens: 1ms\r\n"
)


def whole() -> bytes:
    """An answer in one piece."""
    body = json.dumps(WHOLE, separators=(",", ":")).encode()
    return HEADERS + b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def streamed() -> bytes:
    """An answer as server-sent events, one chunk each, which arrive together."""

    def event(**changes: Any) -> bytes:
        told = {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "model": MODEL,
            "usage": None,
            **changes,
        }
        return b"data: %b\n\n" % json.dumps(told, separators=(",", ":")).encode()

    def delta(**said: Any) -> bytes:
        return event(choices=[{"index": 0, "delta": said, "finish_reason": None}])

    events = [
        delta(role="assistant", content=""),
        *(delta(content="word ") for _ in range(PIECES)),
        event(choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}]),
        event(choices=[], usage=USAGE),
        b"data: [DONE]\n\n",
    ]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in events)
    head = b"content-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"
    return HEADERS + head + chunks + b"0\r\n\r\n"


class Answering(asyncio.Protocol):
    """One connection."""

    WHOLE, STREAMED = whole(), streamed()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Somebody comes."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._came = b""

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is whole."""
        self._came += data
        head, found, body = self._came.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) >= length:
            self._came = b""
            self._transport.write(self.STREAMED if b'"stream":true' in body else self.WHOLE)


async def main() -> None:
    """Listen until whoever started this closes our standard input."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
