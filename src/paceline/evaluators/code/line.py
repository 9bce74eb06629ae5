"""The line between a judge and an answer: values as JSON, each made a plain one of its kind again.

Runs in a cell, so it stands alone: the standard library, and nothing of ours. Whoever listens believes
nothing: what is heard is a value of Python's own types, or `Garbled`. What only its own process can hold (a
function, an iterator, an object of a class) crosses as a number.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from typing import Any, TypeAlias

LONGEST_MESSAGE = 16 * 1024 * 1024
_LENGTH = struct.Struct("!I")

Refer: TypeAlias = Callable[[Any], int]
"""Gives a number to what stays here."""
Hold: TypeAlias = Callable[[int, str], Any]
"""Makes something of the number, and the type's name, of what stayed there."""


class Unspeakable(Exception):
    """A value that cannot cross the line."""


class Garbled(Exception):
    """What came over the line means nothing."""


def speak(value: Any, refer: Refer) -> Any:
    """A value as JSON. `refer` gives a number to what only its own process can hold."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        number = int.__index__(value)
        return number if abs(number) < 1 << 62 else {"int": hex(number)}
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, list):
        return [speak(each, refer) for each in list.__iter__(value)]
    if isinstance(value, tuple):
        return {"tuple": [speak(each, refer) for each in tuple.__iter__(value)]}
    if isinstance(value, dict):
        return {"dict": [[speak(key, refer), speak(each, refer)] for key, each in dict.items(value)]}
    if isinstance(value, set):
        return {"set": [speak(each, refer) for each in set.__iter__(value)]}
    if isinstance(value, frozenset):
        return {"frozenset": [speak(each, refer) for each in frozenset.__iter__(value)]}
    return _spoken_by_name(value, refer)


def _spoken_by_name(value: Any, refer: Refer) -> Any:
    kind = type(value)
    if isinstance(value, bytes | bytearray):
        return {kind.__name__ if kind in (bytes, bytearray) else "bytes": bytes(value).hex()}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if kind is range:
        return {"range": [speak(each, refer) for each in (value.start, value.stop, value.step)]}
    if (kind.__module__, kind.__name__) == ("collections", "deque"):
        return {"deque": [speak(each, refer) for each in value]}
    if (kind.__module__, kind.__name__) in (("decimal", "Decimal"), ("fractions", "Fraction")):
        return {kind.__name__: str(value)}
    return {"held": [refer(value), kind.__name__[:100]]}


def understand(said: Any, hold: Hold) -> Any:
    """The value that was spoken; Garbled where there is none. `hold` makes something of a number."""
    if said is None or isinstance(said, bool | str | int | float):
        return said
    if isinstance(said, list):
        return [understand(each, hold) for each in said]
    try:
        ((kind, content),) = said.items()
        if kind == "held":
            number, name = content
            return hold(int(number), str(name))
        if kind in _PLAIN_CONTENT:
            return _PLAIN_CONTENT[kind](content)
        inside = [understand(each, hold) for each in content]
        return {key: each for key, each in inside} if kind == "dict" else _made_of(kind, inside)  # noqa: C416
    except (Garbled, RecursionError):
        raise
    except Exception as error:
        raise Garbled(f"{type(error).__name__}: {error}") from error


def _made_of(kind: str, inside: list[Any]) -> Any:
    if kind == "range":
        return range(*inside)
    if kind == "deque":
        from collections import deque

        return deque(inside)
    return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](inside)


def _decimal(text: str) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _fraction(text: str) -> Any:
    from fractions import Fraction

    return Fraction(text)


_PLAIN_CONTENT: dict[str, Any] = {
    "int": lambda text: int(text, 16),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": lambda parts: complex(float(parts[0]), float(parts[1])),
    "Decimal": _decimal,
    "Fraction": _fraction,
}


class Line:
    """One end of the line."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end

    def say(self, message: dict[str, Any]) -> None:
        """Send a message; Unspeakable where it is too much of one."""
        try:
            text = json.dumps(message).encode()
        except RecursionError:
            raise Unspeakable("it is nested too deeply, or contains itself") from None
        if len(text) > LONGEST_MESSAGE:
            raise Unspeakable(f"it is larger than {LONGEST_MESSAGE >> 20} MiB")
        self._end.sendall(_LENGTH.pack(len(text)) + text)

    def hear(self) -> dict[str, Any]:
        """The next message; EOFError where the other end is closed, Garbled where it is none."""
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > LONGEST_MESSAGE:
            raise Garbled(f"a message of more than {LONGEST_MESSAGE >> 20} MiB")
        try:
            message = json.loads(self._exactly(length))
        except (ValueError, RecursionError) as error:
            raise Garbled(str(error)) from error
        if not isinstance(message, dict):
            raise Garbled("not a message")
        return message

    def _exactly(self, size: int) -> bytes:
        got = bytearray()
        while len(got) < size:
            part = self._end.recv(min(size - len(got), 1 << 16))
            if not part:
                raise EOFError
            got += part
        return bytes(got)
