"""What crosses the line between judge and answer: plain values, as what they were, and nothing else."""

from __future__ import annotations

import json
import math
import socket
import struct
import threading
from collections import Counter, OrderedDict, deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.evaluators.code.line import LONGEST_MESSAGE, Garbled, Line, Unspeakable, speak, understand

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.fractions()
    | st.decimals(allow_nan=False)
)
plain = st.none() | st.integers() | st.text(max_size=5)
hashable = plain | st.tuples(plain, plain) | st.frozensets(plain, max_size=3)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.sets(hashable, max_size=3)
        | st.lists(inner, max_size=3).map(deque)
    ),
    max_leaves=10,
)


def nothing_held(value: Any, _name: str = "") -> int:
    raise AssertionError(f"{value!r} does not cross as a value")


def crossed(value: Any) -> Any:
    return understand(json.loads(json.dumps(speak(value, nothing_held))), nothing_held)


@given(values)
def test_a_plain_value_comes_over_as_it_is(value: Any) -> None:
    there = crossed(value)
    assert there == value
    assert type(there) is type(value)


@pytest.mark.parametrize("number", [math.inf, -math.inf, -0.0, 0.1 + 0.2, 5e-324])
def test_floats_come_over_to_the_last_digit(number: float) -> None:
    assert repr(crossed(number)) == repr(number)


@pytest.mark.parametrize("digits", [18, 19, 5000])
def test_whole_numbers_come_over_however_long(digits: int) -> None:
    assert crossed(10**digits) == 10**digits
    assert crossed(-(10**digits)) == -(10**digits)


def test_what_is_not_a_number_stays_that() -> None:
    assert math.isnan(crossed(math.nan))


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__

    def __index__(self) -> int:
        return 3


def test_a_subclass_comes_over_as_what_it_derives_from() -> None:
    assert type(crossed(Liar(17))) is int
    assert crossed(Liar(17)) == 17
    assert crossed(Counter("aab")) == {"a": 2, "b": 1}
    assert type(crossed(OrderedDict(a=1))) is dict
    assert crossed(range(1, 7, 2)) == range(1, 7, 2)


def test_what_is_no_value_crosses_as_a_number() -> None:
    held: list[Any] = []

    def refer(value: Any) -> int:
        held.append(value)
        return len(held) - 1

    spoken = speak([object, iter([])], refer)
    assert spoken == [{"held": [0, "type"]}, {"held": [1, "list_iterator"]}]
    assert understand(spoken, lambda number, name: (number, name)) == [(0, "type"), (1, "list_iterator")]


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"tuple": [1], "set": [1]},
        {"tuple": 1},
        {"dict": [[[1], 2]]},
        {"dict": [[1]]},
        {"set": [[1]]},
        {"int": "nine"},
        {"int": 9},
        {"held": []},
        {"held": ["one", "a"]},
        {"Decimal": []},
        {"Fraction": "1/0"},
        {"bytes": "xyz"},
        {"range": ["a"]},
        {"complex": [1]},
        {"__class__": []},
        {"eval": "1"},
    ],
    ids=repr,
)
def test_what_means_nothing_is_garbled(said: Any) -> None:
    with pytest.raises(Garbled):
        understand(said, lambda number, name: None)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["tuple", "dict", "set", "frozenset", "held", "int", "bytes", "range", "deque", "x"]
            ),
            inner,
            max_size=2,
        )
    ),
)


@given(json_values)
def test_whatever_is_heard_is_a_plain_value_or_garbled(said: Any) -> None:
    plain = (
        type(None),
        bool,
        int,
        float,
        str,
        bytes,
        bytearray,
        list,
        tuple,
        dict,
        set,
        frozenset,
        range,
        deque,
    )
    try:
        heard = understand(said, lambda number, name: None)
    except Garbled:
        return
    assert type(heard) in (*plain, complex, Decimal, Fraction)


def test_a_message_comes_over_in_however_many_pieces() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        message = {"said": "x" * 300_000}
        sending = threading.Thread(target=Line(ours).say, args=(message,))
        sending.start()
        assert Line(theirs).hear() == message
        sending.join()


def test_a_message_that_is_too_long_is_neither_said_nor_heard() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(Unspeakable, match="larger than 16 MiB"):
            Line(ours).say({"said": "x" * LONGEST_MESSAGE})
        ours.sendall(struct.pack("!I", LONGEST_MESSAGE + 1))
        with pytest.raises(Garbled, match="more than 16 MiB"):
            Line(theirs).hear()


@pytest.mark.parametrize("sent", [b"[]", b"nothing", b"[" * 200_000, b'{"a": ' * 100_000], ids=len)
def test_what_is_no_message_is_garbled(sent: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sending = threading.Thread(target=ours.sendall, args=(struct.pack("!I", len(sent)) + sent,))
        sending.start()
        with pytest.raises(Garbled):
            Line(theirs).hear()
        sending.join()


def test_an_end_that_is_closed_is_told() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        ours.close()
        with pytest.raises(EOFError):
            Line(theirs).hear()
