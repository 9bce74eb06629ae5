"""What is done to a journal before anyone appends to it again.

The end of the file may be anything after a crash: half a line, zeros, garbage. It is copied aside, and
cut off, or the next line would be glued to it. A damaged line further up is copied aside and stays where
it is: nothing is ever removed from the middle. A file that is not a journal is refused before it, or
anything beside it, is touched.
"""

from __future__ import annotations

from binascii import b2a_base64
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from paceline.errors import JournalError, JournalForeign, JournalTooNew
from paceline.journal.disk import Disk, write_whole
from paceline.journal.encoding import SEAL_LENGTH, LineDamaged, is_sealed, parse_edited, without_right_seal
from paceline.journal.places import Places, shown
from paceline.journal.reading import chunks
from paceline.journal.records import FORMAT, RunLine

_FIRST_BYTES = b'{"kind":"run"'
_HEAD_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What opening a journal had to deal with."""

    lines: int = 0
    """Whole lines that remain, damaged ones included."""
    unsealed: int = 0
    """Lines without a checksum: edited by hand, and accepted."""
    damaged: int = 0
    """Lines that were set aside; what they said is lost."""
    damaged_copy: Path | None = None
    torn_bytes: int = 0
    """Length of the tail that was cut off."""
    torn_copy: Path | None = None


def standing(journal: Path) -> Literal["new", "ours"]:
    """Whether a run can be created here or is on record already; `JournalForeign` where neither is so.

    A file in which nothing was ever committed (empty, zeros, half of a first line) counts as new.
    """
    try:
        with open(journal, "rb") as file:
            head = file.read(_HEAD_BYTES)
            more = bool(file.read(1))
    except FileNotFoundError:
        return "new"
    except NotADirectoryError:
        raise _foreign(journal.parent, "a file, not a run directory") from None
    except IsADirectoryError:
        raise _foreign(journal, "a directory, not a journal") from None
    except OSError as error:
        raise JournalError(f"cannot read {shown(journal)}: {error.strerror}") from error
    *lines, rest = head.split(b"\n")
    for raw in lines:
        if _is_ours(raw):
            _refuse_newer(journal, lines[0])
            return "ours"
    if more:
        if rest.startswith(_FIRST_BYTES):
            return "ours"  # one enormous first line
        raise _foreign(journal, "not a journal of Paceline")
    if not head.strip(b"\0\n") or _FIRST_BYTES.startswith(head) or _is_a_damaged_first_line(head):
        return "new"
    raise _foreign(journal, "not a journal of Paceline")


def _is_ours(raw: bytes) -> bool:
    """Whether only Paceline can have written this line: it is sealed, or the first one, edited by hand."""
    try:
        return is_sealed(raw) or isinstance(parse_edited(raw), RunLine)
    except LineDamaged:
        return False


def _is_a_damaged_first_line(head: bytes) -> bool:
    return head.startswith(_FIRST_BYTES) or b',"crc":"' in head[-SEAL_LENGTH - 1 :]


class _Header(msgspec.Struct):
    kind: str = ""
    format: int = 0


_kind_and_format = msgspec.json.Decoder(_Header).decode


def _refuse_newer(journal: Path, first: bytes) -> None:
    try:
        is_sealed(first)
        header = _kind_and_format(first)
    except (LineDamaged, msgspec.MsgspecError, UnicodeDecodeError):
        return  # what a damaged line says is not to be believed; the lines after it tell enough
    if header.kind == "run" and header.format > FORMAT:
        raise JournalTooNew(
            f"{shown(journal)} was written by a newer Paceline "
            f"(format {header.format}; this one reads {FORMAT})",
            hint="upgrade: `pip install -U paceline`",
        )


def _foreign(path: Path, what: str) -> JournalForeign:
    named = shown(path)
    return JournalForeign(
        f"{named} is {what}; it was left as it is",
        hint=f"choose another `-o`, or import results of another harness: "
        f"`paceline rescore {named} --evaluators EqualsExpected --expected gold.jsonl -o runs/imported`",
    )


def clear_leftover(places: Places, disk: Disk, fd: int) -> None:
    """Set aside what a crash at the very first write has left, so that the file is empty."""
    if disk.size(fd):
        _cut(places, disk, fd, 0)


def recover(places: Places, disk: Disk, fd: int) -> Recovery:
    """Make the file end with a whole line, copy aside what is damaged, and have the disk keep it all."""
    survey = _survey(places.journal)
    torn_bytes = disk.size(fd) - survey.good_end
    torn_copy = _cut(places, disk, fd, survey.good_end) if torn_bytes else None
    damages = [damage for damage in survey.damages if damage.offset < survey.good_end]
    if damages:
        write_whole(disk, places.damaged, b"".join(map(_copied, damages)))
    # What the process before us has written without a sync must be safe before we call it done.
    disk.sync(fd)
    disk.sync_directory(places.journal.parent)
    return Recovery(
        lines=survey.good_lines,
        unsealed=survey.unsealed,
        damaged=len(damages),
        damaged_copy=places.damaged if damages else None,
        torn_bytes=torn_bytes,
        torn_copy=torn_copy,
    )


class _Damage(NamedTuple):
    number: int
    offset: int
    reason: str
    raw: bytes


class _Survey:
    """What stands in a file, line by line."""

    def __init__(self) -> None:
        self.unsealed = 0
        self.damages: list[_Damage] = []
        self.good_lines = 0
        """Lines up to the last one that is not garbage."""
        self.good_end = 0
        """Offset after that line."""


def _survey(journal: Path) -> _Survey:
    survey = _Survey()
    number = 0
    with open(journal, "rb") as file:
        for chunk in chunks(file):
            if not chunk.whole:
                break
            suspects = without_right_seal(chunk.lines)
            if not suspects:
                number += len(chunk.lines)
                survey.good_lines, survey.good_end = number, chunk.end
                continue
            offset = chunk.offset
            for index, raw in enumerate(chunk.lines):
                number += 1
                if index not in suspects or _is_kept(survey, raw, number, offset):
                    survey.good_lines, survey.good_end = number, offset + len(raw) + 1
                offset += len(raw) + 1
    return survey


def _is_kept(survey: _Survey, raw: bytes, number: int, offset: int) -> bool:
    """Note what is the matter with a line; False where it is garbage, which is cut off if nothing follows."""
    is_json = False
    try:
        if raw.strip():
            is_sealed(raw)
            is_json = True
            parse_edited(raw)
            survey.unsealed += 1
    except LineDamaged as damage:
        survey.damages.append(_Damage(number, offset, str(damage), raw))
        # A line that is JSON may be a slip of whoever edited it by hand: it stays for them to see.
        return is_json or damage.reason == "checksum"
    return True


def _cut(places: Places, disk: Disk, fd: int, end: int) -> Path:
    """Copy aside what lies beyond `end`, and only when the copy is safe cut it off."""
    with open(places.journal, "rb") as file:
        file.seek(end)
        tail = file.read()
    aside = places.next_torn()
    write_whole(disk, aside, tail)
    disk.sync_directory(aside.parent)
    disk.truncate(fd, end)
    return aside


def _copied(damage: _Damage) -> bytes:
    facts: dict[str, object] = {"line": damage.number, "offset": damage.offset, "reason": damage.reason}
    try:
        facts["text"] = damage.raw.decode()
    except UnicodeDecodeError:
        facts["base64"] = b2a_base64(damage.raw, newline=False).decode()
    return msgspec.json.encode(facts) + b"\n"
