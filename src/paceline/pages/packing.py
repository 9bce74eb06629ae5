"""Packing: columns and texts as a page reads them (`script/parts/packing.mjs` is the other side).

    four bytes     length of the head, little endian
    head           JSON: whatever the page is told, and under "columns" what follows
    data           each column at a multiple of eight bytes

A column says its `group`, `name`, `kind` and where it stands. One that few rows have is written as the
numbers of these rows and their values. In a document, a pack is deflated and written in base64 inside an
element that no browser runs.

Knows numbers and texts. Knows nothing of what they mean.
"""

from __future__ import annotations

import json
import struct
import sys
import zlib
from array import array
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

Kind = Literal["i8", "u8", "u16", "u32", "f32", "f64", "text"]
_CODES: Final[dict[Kind, str]] = {"i8": "b", "u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}
_ALIGN: Final = 8
LEVEL: Final = 6


class Packed(NamedTuple):
    """One column, ready to be written."""

    group: str
    """What it belongs to; empty for those that every sheet has."""
    name: str
    kind: Kind
    values: Sequence[Any]
    rows: Sequence[int] | None = None
    """The rows that have a value; None where there is one for each."""
    said: Mapping[str, Any] = {}
    """More that the page is told: the `words` that codes stand for."""


def pack(head: Mapping[str, Any], columns: Iterable[Packed]) -> bytes:
    """Head and columns, in one piece."""
    parts: list[bytes] = []
    at = 0

    def put(data: bytes) -> int:
        nonlocal at
        begin = at
        padding = -len(data) % _ALIGN
        parts.append(data + bytes(padding))
        at += len(data) + padding
        return begin

    told = []
    for column in columns:
        entry: dict[str, Any] = {
            "group": column.group,
            "name": column.name,
            "kind": column.kind,
            **column.said,
        }
        if column.rows is not None:
            entry["rows_at"] = put(_numbers("u32", column.rows))
        if column.kind == "text":
            data = _json(list(column.values))
            entry.update(at=put(data), bytes=len(data))
        else:
            entry.update(at=put(_numbers(column.kind, column.values)), n=len(column.values))
        told.append(entry)
    begin = _json({**head, "columns": told})
    padding = -(4 + len(begin)) % _ALIGN
    return b"".join((struct.pack("<I", len(begin)), begin, bytes(padding), *parts))


def _numbers(kind: Kind, values: Iterable[Any]) -> bytes:
    numbers = array(_CODES[kind], values)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _json(value: object) -> bytes:
    """JSON in UTF-8; half a surrogate, which UTF-8 does not have, as an escape."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False).encode()


def deflated(data: bytes) -> bytes:
    """As `inflated` of the page takes it."""
    squeeze = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, 9)
    return squeeze.compress(data) + squeeze.flush()


def block(name: str, data: bytes) -> bytes:
    """Data as an element of the document that is never run and never shown."""
    return b'<script type="application/octet-stream" id="%b">%b</script>\n' % (
        name.encode(),
        b64encode(deflated(data)),
    )


__all__ = ["Kind", "Packed", "block", "deflated", "pack"]
