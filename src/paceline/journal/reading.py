"""Reading a journal: one line after the other, in constant memory, whatever state the file is in.

A line that is damaged is told as such and does not hide the next one. Bytes after the last newline are
not a line yet, so a journal can be read while it is being written: what is torn is simply the present end.

`JournalSource` is the seam for whoever folds a journal: `FileSource` reads a path, `MemoryJournal` is one.
Knows files and lines. Knows nothing of what they mean for a resume (`ledger`) or a report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, TypeAlias

import msgspec

from paceline.errors import JournalError
from paceline.journal.blobs import blob_named_by, read_blob
from paceline.journal.encoding import (
    DamageReason,
    LineDamaged,
    decode_sealed,
    is_sealed,
    parse,
    parse_edited,
    without_right_seal,
)
from paceline.journal.places import Places, locate, shown
from paceline.journal.records import Line

CHUNK_BYTES = 2 * 1024 * 1024


class Recorded(NamedTuple):
    """A line that can be read."""

    line: Line
    number: int
    """Counted from 1, as an editor does; blank lines count."""
    offset: int
    length: int
    """In bytes, without the newline."""
    sealed: bool = True
    """False where it has no checksum: someone edited it by hand."""


class Damaged(NamedTuple):
    """Bytes between two newlines that are not a line, or not one of ours."""

    reason: DamageReason
    detail: str
    number: int
    offset: int
    length: int


Entry: TypeAlias = Recorded | Damaged


class JournalSource(Protocol):
    """Something that a journal can be folded from."""

    def entries(self, start: int = 0) -> Iterator[Entry]:
        """Every line from this offset on."""
        ...

    def entry_at(self, offset: int) -> Entry:
        """The line that starts at this offset."""
        ...

    def value(self, raw: msgspec.Raw | bytes) -> bytes:
        """The encoded value that a field of a line stands for, fetched from its blob where it lies in one."""
        ...


class FileSource:
    """A journal on disk: a run directory, or a file ending in `.jsonl`."""

    def __init__(self, path: str | os.PathLike[str] | Places) -> None:
        self.places = path if isinstance(path, Places) else locate(path)

    def entries(self, start: int = 0) -> Iterator[Entry]:
        # Of lines whose checksum is right nothing else is looked at: a report waits for this loop.
        recorded: Callable[[type[Recorded], tuple[object, ...]], Entry] = tuple.__new__
        decode = decode_sealed
        with open_journal(self.places.journal) as file:
            file.seek(start)
            number = 0
            for chunk in chunks(file, start):
                lines, offset = (chunk.lines, chunk.offset) if chunk.whole else ([], 0)
                suspects = without_right_seal(lines)  # of all lines at once: half as dear as one by one
                for position, raw in enumerate(lines):
                    number += 1
                    length = len(raw)
                    if position not in suspects:
                        try:
                            entry = recorded(Recorded, (decode(raw), number, offset, length, True))
                        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                            entry = understood(raw, number, offset)
                        yield entry
                    elif raw and not raw.isspace():
                        yield understood(raw, number, offset)
                    offset += length + 1

    def entry_at(self, offset: int) -> Entry:
        return next(entries_at(self.places.journal, [offset]))

    def value(self, raw: msgspec.Raw | bytes) -> bytes:
        named = blob_named_by(raw)
        return bytes(raw) if named is None else read_blob(self.places.blobs, named[0])


def read_lines(path: str | os.PathLike[str], *, start: int = 0) -> Iterator[Entry]:
    """Every line of a journal from this offset on (numbers count from there)."""
    return FileSource(path).entries(start)


def read_at(path: str | os.PathLike[str], offset: int) -> Entry:
    """The line that starts at this offset."""
    return FileSource(path).entry_at(offset)


def entries_at(journal: Path, offsets: list[int]) -> Iterator[Entry]:
    """The lines that start at these offsets of a journal file; their number is not known and given as 0."""
    with open_journal(journal) as file:
        for offset in offsets:
            file.seek(offset)
            raw = file.readline()
            if raw.endswith(b"\n"):
                yield understood(raw[:-1], 0, offset)
            else:
                yield Damaged("torn", "the line has no end", 0, offset, len(raw))


class Chunk(NamedTuple):
    """Consecutive lines, without their newlines."""

    offset: int
    """Of the first of them."""
    lines: list[bytes]
    end: int
    """Offset after the last of them and its newline."""
    whole: bool = True
    """False for the one last piece that has no newline (yet)."""


def chunks(file: BinaryIO, offset: int = 0) -> Iterator[Chunk]:
    """The lines of a file from where it stands, a few thousand at a time."""
    pieces: list[bytes] = []  # of a line longer than a chunk: joined once, not once per chunk
    while piece := file.read(CHUNK_BYTES):
        end = piece.rfind(b"\n")
        if end < 0:
            pieces.append(piece)
            continue
        lines = piece[:end].split(b"\n")
        if pieces:
            lines[0] = b"".join([*pieces, lines[0]])
        after = offset + sum(map(len, pieces)) + end + 1
        yield Chunk(offset, lines, after)
        offset = after
        pieces = [piece[end + 1 :]] if end + 1 < len(piece) else []
    if pieces:
        tail = b"".join(pieces)
        yield Chunk(offset, [tail], offset + len(tail), whole=False)


def understood(raw: bytes, number: int, offset: int) -> Entry:
    """What the bytes of a line (newline left out) say."""
    try:
        if is_sealed(raw):
            return Recorded(parse(raw), number, offset, len(raw))
        return Recorded(parse_edited(raw), number, offset, len(raw), sealed=False)
    except LineDamaged as damage:
        return Damaged(damage.reason, damage.detail, number, offset, len(raw))


def open_journal(journal: Path) -> BinaryIO:
    """The file of a journal, or an error that says what to do."""
    try:
        return open(journal, "rb")
    except FileNotFoundError:
        raise JournalError(
            f"there is no run at {shown(journal)}", hint="`paceline ls` lists the runs there are"
        ) from None
    except OSError as error:
        raise JournalError(f"cannot read {shown(journal)}: {error.strerror}") from error
