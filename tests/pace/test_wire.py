"""The wire between processes: messages arrive whole and in order, and nonsense breaks it and nothing else."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.messages import Ask, Grant, Limits, Result
from paceline.pace.pool import Closed, PoolFacts
from paceline.pace.wire import (
    LONGEST_FRAME,
    MOST_UNSENT,
    VERSION,
    Asked,
    Facts,
    FromHolder,
    Granted,
    Hello,
    Holding,
    Present,
    Ready,
    Settled,
    Shut,
    ToHolder,
    Wanted,
    Welcome,
    Wire,
    WireBroken,
    Withdrawn,
    of_client,
    of_holder,
)
from tests.pace.stands import POOL

TO_HOLDER: list[ToHolder] = [
    Hello(VERSION, Limits(rpm=600.0), {"openai:gpt": Limits(window=3)}),
    Holding(Grant(id=5, pool=POOL, at=1.0, tokens=900.0, waited=0.5, fruitless=True)),
    Ready(),
    Wanted(Ask(id=7, pool=POOL, tokens=12.5)),
    Withdrawn(7),
    Settled(5, Result(outcome="rate_limited", cause="tokens", retry_after=1.5, message="wait")),
    Asked(),
]
FACTS = PoolFacts(
    id=POOL,
    window=20.0,
    in_flight=1,
    waiting=2,
    binding="window",
    rate=None,
    token_rate=3.5,
    blocked_until=None,
    accepted=4,
    rejected=1,
    by_cause={"tokens": 1},
    lost=0,
    knee=False,
)
FROM_HOLDER: list[FromHolder] = [
    Welcome(VERSION),
    Present(3),
    Granted(7),
    Granted(8, fruitless=True),
    Shut(POOL, Closed(cause="quota", message="pay first", at=3.0)),
    Facts([FACTS]),
]


@pytest.fixture
def ends() -> Iterator[tuple[Wire, socket.socket]]:
    ours, theirs = socket.socketpair()
    wire = Wire(ours, on_unsent=lambda: None)
    theirs.setblocking(True)
    yield wire, theirs
    wire.close()
    theirs.close()


def framed(body: bytes) -> bytes:
    return struct.pack("!I", len(body)) + body


@pytest.mark.parametrize("message", TO_HOLDER, ids=lambda message: type(message).__name__)
def test_every_word_to_the_holder_arrives_as_it_was_said(message: ToHolder) -> None:
    assert of_client.decode(msgspec.msgpack.encode(message)) == message


@pytest.mark.parametrize("message", FROM_HOLDER, ids=lambda message: type(message).__name__)
def test_every_word_from_the_holder_arrives_as_it_was_said(message: FromHolder) -> None:
    assert of_holder.decode(msgspec.msgpack.encode(message)) == message


def test_messages_arrive_whole_and_in_order_however_they_are_cut(
    ends: tuple[Wire, socket.socket],
) -> None:
    wire, other = ends
    stream = b"".join(framed(msgspec.msgpack.encode(message)) for message in TO_HOLDER)
    heard = []
    for byte in stream:
        other.send(bytes([byte]))
        heard += [of_client.decode(frame) for frame in wire.receive()]
    assert heard == TO_HOLDER


def test_what_the_socket_does_not_take_is_kept_and_told_of_and_sent_later(
    ends: tuple[Wire, socket.socket],
) -> None:
    wire, other = ends
    told: list[int] = []
    wire._on_unsent = lambda: told.append(1)
    count = 0
    while not wire.unsent:
        wire.send(Settled(count, Result(message="x" * 1_000)))
        count += 1
    wire.send(Settled(count, Result()))
    assert told == [1], "told once, until it is empty again"
    back = Wire(other, on_unsent=lambda: None)
    heard: list[ToHolder] = []
    while len(heard) <= count:
        heard += [of_client.decode(frame) for frame in back.receive()]
        wire.flush()
    assert [message.id for message in heard if isinstance(message, Settled)] == list(range(count + 1))
    assert not wire.unsent


def test_who_does_not_read_for_too_long_counts_as_gone(ends: tuple[Wire, socket.socket]) -> None:
    wire, _ = ends
    large = Settled(1, Result(message="x" * 100_000))
    for _ in range(2 * MOST_UNSENT // 100_000):
        wire.send(large)
    assert wire.broken
    assert not wire.unsent or len(wire._unsent) <= MOST_UNSENT + 200_000


def test_a_message_too_long_for_a_frame_breaks_the_wire_and_is_not_sent(
    ends: tuple[Wire, socket.socket],
) -> None:
    wire, other = ends
    wire.send(Settled(1, Result(message="x" * (LONGEST_FRAME + 1))))
    assert wire.broken
    other.setblocking(False)
    with pytest.raises(BlockingIOError):
        other.recv(1)


def test_when_the_other_side_has_gone_reading_says_so_and_sending_is_harmless(
    ends: tuple[Wire, socket.socket],
) -> None:
    wire, other = ends
    other.close()
    wire.send(Ready())
    wire.send(Ready())
    with pytest.raises(WireBroken):
        wire.receive()


def test_a_frame_longer_than_any_message_breaks_the_wire(ends: tuple[Wire, socket.socket]) -> None:
    wire, other = ends
    other.send(struct.pack("!I", LONGEST_FRAME + 1))
    with pytest.raises(WireBroken):
        wire.receive()


@given(st.binary(min_size=1, max_size=300))
def test_garbage_is_no_message_or_breaks_the_wire_and_raises_nothing_else(garbage: bytes) -> None:
    ours, theirs = socket.socketpair()
    wire = Wire(ours, on_unsent=lambda: None)
    with ours, theirs:
        theirs.send(garbage)
        try:
            for frame in wire.receive():
                of_client.decode(frame)
        except (WireBroken, msgspec.DecodeError):
            pass
        wire.close()
