"""HTTP/1.1 requests out of bytes: as they come in, however they are cut, and nothing that is not one.

    parser.feed(data)
    while (request := parser.next()) is not None: ...      raises Malformed, which says what to answer

Strict where leniency has been a hole (two lengths, length and chunks, folded headers), and bounded in all it
keeps. Knows bytes. Knows nothing of connections or time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a server puts up with."""

    head_bytes: int = 32 * 1024
    body_bytes: int = 64 * 1024 * 1024
    held_bytes: int = 1024 * 1024 * 1024
    """Of all requests at once, from their first byte to the end of their answer."""
    connections: int = 10_000
    reading_s: float = 30.0
    """From the first byte of a request to its last."""
    idle_s: float = 120.0
    """Between two requests."""
    writing_s: float = 60.0
    """That a client may not take any of its answer."""


class Request(NamedTuple):
    """A whole request."""

    method: str
    path: str
    """Without the query."""
    headers: dict[str, str]
    """By their names in small letters; of several with one name, all, with commas between them."""
    body: bytes
    keep_alive: bool
    chunks: bool
    """Whether the client understands an answer in chunks."""
    query: str = ""


class Malformed(Exception):
    """What came is no request, or more than is put up with."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


_REQUEST_LINE: Final = re.compile(rb"([A-Z]{1,16}) (\S{1,8000}) HTTP/1\.([01])")
_HEADER: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00\r\n]*?)[ \t]*")
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\r\n]*)?")
LONGEST_CHUNK_LINE: Final = 1024
MANY_CHUNKS: Final = 4096
SMALL_CHUNK: Final = 16
"""Bytes that many chunks have on average at least: each is some work, and a byte is no reason for it."""


class RequestParser:
    """Takes bytes and gives requests."""

    __slots__ = (
        "_body",
        "_bounds",
        "_buffer",
        "_chunks",
        "_head",
        "_in_trailer",
        "_left",
        "_most",
        "_room",
        "_seen",
    )

    def __init__(self, bounds: Bounds, room: Callable[[Request], int] | None = None) -> None:
        """`room`: how many bytes of body a request may have, by its head, within the bounds."""
        self._bounds = bounds
        self._room = room
        self._most = bounds.body_bytes
        self._chunks = 0
        self._buffer = bytearray()
        self._head: Request | None = None
        self._body = bytearray()
        self._left: int | None = None
        """Bytes of the body, or of the chunk, that are to come; None where a chunk's size is to come."""
        self._in_trailer = False
        self._seen = 0
        """Bytes in which the end of a head was looked for in vain."""

    @property
    def pending(self) -> int:
        """Bytes that came and are in no request yet."""
        return len(self._buffer) + len(self._body)

    @property
    def begun(self) -> bool:
        """Whether a request has begun and is not whole."""
        return self._head is not None or len(self._buffer) > 0

    @property
    def wants_to_be_told(self) -> bool:
        """Whether the client waits for a word before it sends the body."""
        head = self._head
        waits = head is not None and head.headers.get("expect", "").lower() == "100-continue"
        return waits and not self._buffer and not self._body

    def feed(self, data: bytes) -> None:
        """More has come."""
        self._buffer += data

    def next(self) -> Request | None:
        """The next request, or None as long as it is not whole."""
        if self._head is None and not self._read_head():
            return None
        assert self._head is not None
        chunked = "transfer-encoding" in self._head.headers
        if not (self._read_chunks() if chunked else self._read_body()):
            return None
        request = self._head._replace(body=bytes(self._body))
        self._head, self._left, self._in_trailer, self._chunks = None, None, False, 0
        self._body.clear()
        return request

    def _read_head(self) -> bool:
        buffer = self._buffer
        while buffer[:2] == b"\r\n":  # some clients send one too many after a body
            del buffer[:2]
        end = buffer.find(b"\r\n\r\n", max(0, self._seen - 3))
        if end < 0:
            self._seen = len(buffer)
            if len(buffer) > self._bounds.head_bytes:
                raise Malformed(431, "the head of the request is too long")
            ends = buffer.find(b"\n")
            if ends >= 0 and not (
                buffer[:ends].endswith(b"\r") and _REQUEST_LINE.fullmatch(buffer, 0, ends - 1)
            ):
                raise Malformed(400, "this is not HTTP/1.1")  # said at once: the end of a head may never come
            return False
        if end > self._bounds.head_bytes:
            raise Malformed(431, "the head of the request is too long")
        self._seen = 0
        head = bytes(buffer[:end])
        del buffer[: end + 4]
        self._head = parsed_head(head)
        if self._room is not None:
            self._most = min(self._room(self._head), self._bounds.body_bytes)
        if "transfer-encoding" not in self._head.headers:
            self._left = int(self._head.headers.get("content-length", "0"))
            if self._left > self._most:
                raise Malformed(413, "the body of the request is too large")
        return True

    def _read_body(self) -> bool:
        assert self._left is not None
        self._take(self._left)
        return self._left == 0

    def _read_chunks(self) -> bool:
        while True:
            if self._left is not None:
                self._take(self._left)
                if self._left > 0 or len(self._buffer) < 2:
                    return False
                if self._buffer[:2] != b"\r\n":
                    raise Malformed(400, "a chunk is longer than it says")
                del self._buffer[:2]
                self._left = None
            line = self._line()
            if line is None:
                return False
            if self._in_trailer:
                if not line:
                    return True
                continue
            size = _SIZE.fullmatch(line)
            if size is None:
                raise Malformed(400, "a chunk has no size")
            length = int(size[1], 16)
            if length + len(self._body) > self._most:
                raise Malformed(413, "the body of the request is too large")
            self._chunks += 1
            if self._chunks > MANY_CHUNKS and len(self._body) < self._chunks * SMALL_CHUNK:
                raise Malformed(400, "its chunks are too small")
            self._left, self._in_trailer = (None, True) if length == 0 else (length, False)

    def _take(self, count: int) -> None:
        taken = self._buffer[:count]
        self._body += taken
        del self._buffer[: len(taken)]
        self._left = count - len(taken)

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\r\n")
        if end > LONGEST_CHUNK_LINE or (end < 0 and len(self._buffer) > LONGEST_CHUNK_LINE):
            raise Malformed(400, "a line between chunks is too long")
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line


def parsed_head(head: bytes) -> Request:
    """The request line and the headers; the body is still empty."""
    first, *lines = head.split(b"\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise Malformed(400, "this is not HTTP/1.1")
    headers: dict[str, str] = {}
    for each in lines:
        header = _HEADER.fullmatch(each)
        if header is None:
            raise Malformed(400, "a header is not one")
        name, value = header[1].decode().lower(), header[2].decode("latin-1")
        if name in headers and name in {"content-length", "transfer-encoding", "host"}:
            raise Malformed(400, f"{name} stands there twice")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    _check_length(headers)
    connection = headers.get("connection", "").lower()
    newer = line[3] == b"1"
    keep_alive = "close" not in connection if newer else "keep-alive" in connection
    path, _, query = line[2].decode("latin-1").partition("?")
    return Request(line[1].decode(), path, headers, b"", keep_alive, newer, query)


def _check_length(headers: dict[str, str]) -> None:
    length, coding = headers.get("content-length"), headers.get("transfer-encoding")
    if length is not None and coding is not None:
        raise Malformed(400, "a body has a length or comes in chunks")
    if length is not None and not re.fullmatch(r"[0-9]{1,15}", length):
        raise Malformed(400, "content-length is no number")
    if coding is not None and coding.lower() != "chunked":
        raise Malformed(501, "only the transfer coding `chunked` is understood")
