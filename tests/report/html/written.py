"""A page that was written, read again without a browser: its blocks, its sheet, its bodies."""

from __future__ import annotations

import json
import re
import struct
import zlib
from array import array
from base64 import b64decode
from pathlib import Path
from typing import Any, NamedTuple

from paceline.pages.packing import _CODES
from paceline.report.html.bodies import LAYOUT

BLOCK = re.compile(rb'<script type="application/octet-stream" id="([\w-]+)">([A-Za-z0-9+/=]*)</script>')


class Written(NamedTuple):
    """What stands in a page."""

    head: dict[str, Any]
    columns: dict[str, list[Any]]
    """By `group/name`; of columns that few rows have, None elsewhere; words in place of their codes."""
    bodies: list[dict[str, Any]]
    markup: str
    """All that is no data."""


def read_page(path: Path) -> Written:
    """A page from its file."""
    raw = path.read_bytes()
    blocks = {
        name.decode(): zlib.decompress(b64decode(text), -zlib.MAX_WBITS) for name, text in BLOCK.findall(raw)
    }
    head, columns = read_pack(blocks.pop("sheet"))
    lines = [line for block in blocks.values() for line in block.split(b"\n") if line]
    assert [int(name.removeprefix("bodies-")) for name in blocks] == head["starts"]
    bodies = [read_body(line) for line in lines]
    return Written(head, columns, bodies, BLOCK.sub(b"", raw).decode())


def read_body(line: bytes) -> dict[str, Any]:
    """A body, by the names of its places."""
    texts, rest = map(json.loads, line.split(b"\t"))
    return {
        **dict(zip(LAYOUT["texts"], texts, strict=True)),
        **dict(zip(LAYOUT["rest"], rest, strict=True)),
    }


def read_pack(pack: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Head and columns of a pack."""
    (length,) = struct.unpack_from("<I", pack)
    head = json.loads(pack[4 : 4 + length])
    begin = (4 + length + 7) // 8 * 8
    columns = {}
    for column in head.pop("columns"):
        at = begin + column["at"]
        values: list[Any]
        if column["kind"] == "text":
            values = json.loads(pack[at : at + column["bytes"]])
        else:
            values = _numbers(column["kind"], pack, at, column["n"])
        if "words" in column:
            values = [column["words"][code] for code in values]
        if "rows_at" in column:
            rows = _numbers("u32", pack, begin + column["rows_at"], column["n"])
            few = dict(zip(rows, values, strict=True))
            values = [few.get(row) for row in range(head["rows"])]
        columns[f"{column['group']}/{column['name']}"] = values
    return head, columns


def _numbers(kind: Any, pack: bytes, at: int, n: int) -> list[Any]:
    numbers: array[Any] = array(_CODES[kind])
    numbers.frombytes(pack[at : at + n * numbers.itemsize])
    return numbers.tolist()
