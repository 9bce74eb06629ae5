"""Requests out of bytes: the same however they are cut, and nothing that is not one."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.sim.requests import MANY_CHUNKS, Bounds, Malformed, Request, RequestParser

SMALL = Bounds(head_bytes=200, body_bytes=100)


def parsed(*pieces: bytes, bounds: Bounds = SMALL) -> list[Request]:
    """All requests in these bytes, fed piece by piece."""
    parser = RequestParser(bounds)
    found = []
    for piece in pieces:
        parser.feed(piece)
        while (request := parser.next()) is not None:
            found.append(request)
    return found


def with_length(body: bytes, path: str = "/x") -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def in_chunks(body: bytes, size: int, trailer: bytes = b"") -> bytes:
    chunks = [body[start : start + size] for start in range(0, len(body), size)]
    written = b"".join(b"%x;note=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + written + b"0\r\n" + trailer + b"\r\n"


bodies = st.binary(max_size=60)
written = st.builds(with_length, bodies) | st.builds(
    in_chunks, bodies, st.integers(1, 20), st.sampled_from([b"", b"a: b\r\n", b"a: b\r\nc: d\r\n"])
)


@given(requests=st.lists(written, min_size=1, max_size=4), cuts=st.lists(st.integers(0, 600), max_size=8))
def test_requests_are_the_same_wherever_the_bytes_are_cut(requests: list[bytes], cuts: list[int]) -> None:
    whole = b"".join(requests)
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[start:end] for start, end in pairwise(places)]
    assert parsed(*pieces) == parsed(*(bytes([byte]) for byte in whole)) == parsed(whole)
    assert len(parsed(whole)) == len(requests)


@given(body=bodies, size=st.integers(1, 20))
def test_a_body_is_the_same_with_a_length_and_in_chunks(body: bytes, size: int) -> None:
    (one,), (other,) = parsed(with_length(body)), parsed(in_chunks(body, size))
    assert one.body == other.body == body


@given(garbage=st.binary(max_size=300))
def test_garbage_is_malformed_or_not_whole_and_never_anything_else(garbage: bytes) -> None:
    with suppress(Malformed):
        parsed(garbage)


def test_a_request_knows_its_path_without_query_and_its_headers_by_small_names() -> None:
    (found,) = parsed(b"GET /a/b?c=d HTTP/1.1\r\nX-Api-Key: one\r\nACCEPT: a\r\naccept: b\r\n\r\n")
    assert (found.method, found.path, found.body) == ("GET", "/a/b", b"")
    assert found.headers == {"x-api-key": "one", "accept": "a, b"}
    assert (found.keep_alive, found.chunks) == (True, True)


@pytest.mark.parametrize(
    ("head", "keep_alive", "chunks"),
    [
        (b"GET / HTTP/1.1\r\nConnection: close", False, True),
        (b"GET / HTTP/1.0", False, False),
        (b"GET / HTTP/1.0\r\nConnection: keep-alive", True, False),
    ],
)
def test_whether_another_request_may_follow(head: bytes, keep_alive: bool, chunks: bool) -> None:
    (found,) = parsed(head + b"\r\n\r\n")
    assert (found.keep_alive, found.chunks) == (keep_alive, chunks)


def test_a_line_too_many_after_a_body_is_overlooked() -> None:
    assert len(parsed(with_length(b"x") + b"\r\n" + with_length(b"y"))) == 2


def test_who_waits_for_a_word_before_the_body_is_known() -> None:
    parser = RequestParser(SMALL)
    parser.feed(b"POST / HTTP/1.1\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n")
    assert parser.next() is None
    assert parser.wants_to_be_told
    parser.feed(b"x")
    assert parser.next() is not None
    assert not parser.wants_to_be_told


def test_how_much_body_a_request_may_have_is_told_by_its_head() -> None:
    def room(head: Request) -> int:
        return 5 if head.path == "/small" else 50

    def taken(request: bytes) -> bytes:
        parser = RequestParser(Bounds(), room)
        parser.feed(request)
        found = parser.next()
        assert found is not None
        return found.body

    for path, most in (("/small", 5), ("/big", 50)):
        head = b"POST %b HTTP/1.1\r\n" % path.encode()
        assert len(taken(head + b"content-length: %d\r\n\r\n" % most + b"x" * most)) == most
        for more in (
            b"content-length: %d\r\n\r\n" % (most + 1),
            b"transfer-encoding: chunked\r\n\r\n%x\r\n" % (most + 1),
        ):
            with pytest.raises(Malformed) as met:
                taken(head + more)
            assert met.value.status == 413


def test_a_body_in_crumbs_is_refused_before_it_takes_the_day() -> None:
    head = b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"
    small = b"1\r\nx\r\n" * MANY_CHUNKS
    parser = RequestParser(Bounds())
    parser.feed(head + small)
    assert parser.next() is None
    parser.feed(b"1\r\nx\r\n")
    with pytest.raises(Malformed, match="too small"):
        parser.next()
    parser = RequestParser(Bounds())
    parser.feed(head + b"20\r\n%b\r\n" % (b"x" * 32) * (2 * MANY_CHUNKS) + b"0\r\n\r\n")
    assert parser.next() is not None


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\n", 400),  # the beginning of TLS
        (b"GET / HTTP/2.0\r\n\r\n", 400),
        (b"get / HTTP/1.1\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\n\r\n", 400),
        (b"hello\n", 400),
        (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nfolded: a\r\n b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nname : a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\na: \x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: h\n\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n", 413),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, 400),
        (b"GET /" + b"a" * 300, 431),
        (b"GET / HTTP/1.1\r\na: " + b"b" * 300 + b"\r\n\r\n", 431),
    ],
)
def test_what_is_no_request_or_too_much_is_malformed(data: bytes, status: int) -> None:
    with pytest.raises(Malformed) as met:
        parsed(data)
    assert met.value.status == status
