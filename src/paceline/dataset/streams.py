"""Streams: the rows of a JSONL or CSV file, one after another, each with the line on which it begins.

A row that cannot be read comes as `Refused`, and the next one follows, so that a reader can say at once all
that is wrong. Where nothing more can be read (a damaged archive, a file that changed meanwhile), a
DatasetError ends it. Memory is that of one row; a line has to end some time.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, NamedTuple, TypeAlias

import msgspec

from paceline.dataset.documents import encoding_of
from paceline.dataset.fields import Refused, Row
from paceline.dataset.problems import kind_of
from paceline.errors import DatasetError

Format: TypeAlias = Literal["jsonl", "csv", "tsv"]
Found: TypeAlias = tuple[int, Row | Refused]

MAX_LINE: Final = 256 * 2**20
"""Bytes in a line: what is longer is no row, and might not fit into memory."""
_BLOCK: Final = 2**18
_LINES_BETWEEN_PROGRESS: Final = 20_000
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"


class Watch(NamedTuple):
    """Who else wants to know what is read."""

    line: Callable[[bytes], object]
    progress: Callable[[int, float], object]
    """Told now and then the lines read, and the share of the file that is behind them."""


Stamp: TypeAlias = tuple[int, ...]


def stamp_of(path: Path, at: Path | None = None) -> Stamp:
    """What changes when a file does; it lies `at` this place, and is called as its `path`."""
    try:
        facts = (at or path).stat()
    except OSError as error:
        raise _not_there(path, error)
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def read_rows(
    path: Path,
    fmt: Format,
    *,
    watch: Watch | None = None,
    stamp: Stamp | None = None,
    at: Path | None = None,
) -> Iterator[Found]:
    """The rows of a file; `stamp` is that of the file as it is known, `at` where it lies, if they are."""
    before = stamp_of(path, at)
    _check_unchanged(path, before, stamp)
    with _opened(path, at) as (raw, stream):
        lines = _lines(path, raw, stream, watch)
        yield from _json_rows(lines) if fmt == "jsonl" else _csv_rows(lines, path, fmt)
    _check_unchanged(path, stamp_of(path, at), before)


def _check_unchanged(path: Path, now: Stamp, before: Stamp | None) -> None:
    if before is not None and now != before:
        raise DatasetError(
            f"{path}: the file changed while it was in use", hint="run again, once it is written for good"
        )


def _not_there(path: Path, error: OSError) -> DatasetError:
    if isinstance(error, FileNotFoundError):
        return DatasetError(f"{path}: there is no such file", hint=f"looked in {path.parent.absolute()}")
    return DatasetError(f"{path}: {error.strerror}", hint="a file that can be read is needed")


@contextmanager
def _opened(path: Path, at: Path | None) -> Iterator[tuple[io.FileIO, BinaryIO]]:
    """The file itself, and what is in it, decompressed where it is compressed, whatever its name says."""
    try:
        raw = io.FileIO(at or path)
    except OSError as error:
        raise _not_there(path, error)
    with raw:
        stream: Any = io.BufferedReader(raw, _BLOCK)
        if stream.peek(2)[:2] == _GZIP:
            stream = io.BufferedReader(gzip.GzipFile(fileobj=stream, mode="rb"), _BLOCK)
        yield raw, stream


def _lines(path: Path, raw: io.FileIO, stream: BinaryIO, watch: Watch | None) -> Iterator[bytes]:
    size = max(os.fstat(raw.fileno()).st_size, 1)
    number = 0
    try:
        while line := stream.readline(MAX_LINE):
            number += 1
            if number == 1:
                line = _without_mark(line, path)
            if len(line) == MAX_LINE and line[-1:] != b"\n":
                raise _too_long(path, number)
            if watch is not None:
                watch.line(line)
                if number % _LINES_BETWEEN_PROGRESS == 0:
                    watch.progress(number, raw.tell() / size)
            yield line
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{path}:{number + 1}: cannot be read further: {error}",
            hint="the file is damaged or not complete; copy it anew",
        )


def _without_mark(line: bytes, path: Path) -> bytes:
    if encoding := encoding_of(line):
        raise DatasetError(f"{path}:1: not UTF-8", hint=f"save the file as UTF-8{encoding}")
    return line.removeprefix(_BOM)


def _too_long(path: Path, number: int) -> DatasetError:
    return DatasetError(
        f"{path}:{number}: the line has more than {MAX_LINE // 2**20} MiB",
        hint="each row has a line of its own",
    )


# --- JSONL --------------------------------------------------------------------------------------------------

_decode_row = msgspec.json.Decoder(dict).decode


def _json_rows(lines: Iterator[bytes]) -> Iterator[Found]:
    row: Row | Refused
    for number, line in enumerate(lines, start=1):
        try:
            row = _decode_row(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if line.isspace():
                continue
            row = _closer_look(line)
        yield number, row


def _closer_look(line: bytes) -> Row | Refused:
    """What a line is that msgspec does not read: NaN and half surrogates are fine, anything else is not."""
    try:
        found = json.loads(line.rstrip().decode())
    except UnicodeDecodeError as error:
        return Refused(f"not UTF-8, from byte {error.start + 1} of the line", "save the file as UTF-8")
    except json.JSONDecodeError as error:
        return Refused(f"not JSON: {error.msg}, column {error.colno}", _remedy(line))
    except RecursionError:
        return Refused("nested too deep to be read", "put deep data into a string")
    except ValueError as error:  # a number of more digits than Python reads
        return Refused(f"not readable: {error}", "write the number as text")
    if isinstance(found, dict):
        return found
    return Refused(f"a row is {kind_of(found)}, not an object", _remedy(line))


def _remedy(line: bytes) -> str:
    if line.lstrip()[:1] == b"[":
        return "write one object on each line, such as `jq -c '.[]' FILE` makes of a JSON array"
    return 'each line has to hold one whole JSON object: {"input": ..., "expected": ...}'


# --- CSV ----------------------------------------------------------------------------------------------------


def _csv_rows(lines: Iterator[bytes], path: Path, fmt: Format) -> Iterator[Found]:
    # A limit of the csv module as a whole; 128 KiB is too little for a page of context in a cell.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
    reader = csv.reader(_decoded(lines, path), delimiter="\t" if fmt == "tsv" else ",", strict=True)
    header: list[str] | None = None
    while True:
        begins = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield (
                begins,
                Refused(f"not CSV: {error}", 'is a quote left open? A quote within a cell is written ""'),
            )
            continue
        if not cells:
            continue  # a blank line
        if header is None:
            header = _header(cells, f"{path}:{begins}")
        elif len(cells) != len(header):
            what = f"{len(cells)} cells, where the first row has {len(header)}"
            yield begins, Refused(what, "put cells that have a comma or a new line in them in quotes")
        else:
            yield begins, dict(zip(header, cells, strict=True))


def _decoded(lines: Iterator[bytes], path: Path) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise DatasetError(f"{path}:{number}: not UTF-8", hint="save the file as UTF-8")


def _header(cells: list[str], where: str) -> list[str]:
    names = [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, start=1)]
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        raise DatasetError(
            f"{where}: the cells are not separated by commas",
            hint="save it with commas, or as .tsv with tabs",
        )
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DatasetError(f"{where}: two columns are named {twice!r}", hint="rename one of them")
    return names
