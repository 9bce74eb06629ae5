"""The bodies of model calls, in a file beside the journal: what was asked, and what came back.

    {"case":"a","ordinal":3,"began":...,"path":"/v1/chat/completions","asked":"...","answered":"...","crc":"..."}

A run reads them when it takes up again an attempt that was cut off: a call that is on record is answered
from here and not paid for twice. They stand apart because nothing else needs them: a report of a million
calls should not have to read past their texts. A line is on disk before the journal's line of its call.

Requests of an agent repeat all that was said before. So of each is kept only what differs from the one
before it in the same attempt: how much its beginning and its end have in common with that, and what stands
between. What is damaged or torn is passed over: that call is asked again, and nothing else suffers.

Knows lines and files. Knows nothing of who asks for them again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from paceline.journal.disk import Disk, make_directories, write_all
from paceline.journal.encoding import LineDamaged, is_sealed, seal
from paceline.journal.places import locate
from paceline.journal.reading import chunks
from paceline.journal.records import Key


class CallBodies(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One call that was answered, with its bodies."""

    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    by: str = ""
    """Label of the evaluator that asked; empty where it was the task."""
    part: str = ""
    """The part of the evaluator that asked, where it comes to a verdict of its own."""
    ordinal: int = 1
    """That of its line in the journal."""
    began: float = 0.0
    """Seconds since the epoch, as `ended` is."""
    ended: float = 0.0
    request: str = ""
    """Hash of what was asked."""
    replayed: bool = False
    """Whether it was answered from this file: then its bodies stand further up."""
    fresh: bool = False
    """In place of a call: from here on the key is attempted anew, and nothing before is to be played."""
    path: str = ""
    """Where it was asked, without the host."""
    status: int = 200
    content_type: str = ""
    simulated: bool = False
    """Whether a simulated provider has answered."""
    asked: str = ""
    answered: str = ""
    answered_bytes: bytes = b""
    """In place of `answered`, where it is no text."""

    @property
    def key(self) -> Key:
        """What it is about."""
        return Key(self.case, self.repeat, self.variant)

    @property
    def answer(self) -> bytes:
        """What came back."""
        return self.answered_bytes or self.answered.encode()


class _Line(CallBodies, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The same as it is written: of `asked`, only what differs from the request before."""

    like: int = 0
    """The ordinal of that request; 0 where there is none."""
    head: int = 0
    """Characters at its beginning that are the same."""
    tail: int = 0
    """And at its end."""


class Before(msgspec.Struct, frozen=True):
    """The request that came before, in the same attempt."""

    ordinal: int = 0
    asked: str = ""


NONE_BEFORE: Final = Before()
_decode: Final = msgspec.json.Decoder(_Line).decode


def body_text(body: bytes) -> tuple[str, bytes]:
    """A body as a text, or as bytes where it is none."""
    try:
        return body.decode(), b""
    except UnicodeDecodeError:
        return "", body


def written(bodies: CallBodies, before: Before = NONE_BEFORE) -> bytes:
    """A call as it stands in the file."""
    asked, head, tail = bodies.asked, 0, 0
    if before.ordinal:
        head = common_start(before.asked, asked)
        tail = common_start(before.asked[head:][::-1], asked[head:][::-1])
    fields = msgspec.structs.asdict(bodies)
    fields["asked"] = asked[head : len(asked) - tail]
    line = _Line(**fields, like=before.ordinal, head=head, tail=tail)
    return seal(msgspec.json.encode(line))


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def read_bodies(
    path: str | os.PathLike[str], wanted: Callable[[Key], bool] | None = None
) -> Iterator[CallBodies]:
    """The calls of a run whose bodies are on record, of these keys, in the order in which they ended.

    `asked` is empty where the request that it is told by cannot be read any more.
    """
    before: dict[tuple[Key, int, str, str], Before] = {}
    for line in _lines(locate(path).bodies):
        key = line.key
        if wanted is not None and not wanted(key):
            continue
        conversation = key, line.attempt, line.by, line.part
        told = before.get(conversation, NONE_BEFORE)
        asked = ""
        if line.like in (0, told.ordinal):
            end = told.asked[len(told.asked) - line.tail :] if line.tail else ""
            asked = told.asked[: line.head] + line.asked + end
            if not (line.replayed or line.fresh):
                before[conversation] = Before(line.ordinal, asked)
        fields = {name: getattr(line, name) for name in CallBodies.__struct_fields__}
        yield CallBodies(**{**fields, "asked": asked})


def _lines(file: Path) -> Iterator[_Line]:
    if not file.exists():
        return
    with open(file, "rb") as opened:
        for chunk in chunks(opened):
            for raw in chunk.lines if chunk.whole else ():
                try:
                    if is_sealed(raw):
                        yield _decode(raw)
                except (LineDamaged, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    continue


class BodiesFile:
    """Where the writer puts them: a file that is made when the first one comes."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._fd = -1

    def append(self, lines: Iterable[bytes], *, sync: bool) -> None:
        """Have these on disk."""
        if self._fd < 0:
            self._open(sync=sync)
        write_all(self._disk, self._fd, b"".join(lines))
        if sync:
            self._disk.sync(self._fd)

    def close(self) -> None:
        """Let go of the file."""
        if self._fd >= 0:
            self._disk.close(self._fd)
            self._fd = -1

    def _open(self, *, sync: bool) -> None:
        make_directories(self._disk, self._path.parent)
        self._fd = self._disk.open_append(self._path)
        # What a crash has left half written would be glued to the next line.
        size, whole = self._disk.size(self._fd), _whole_bytes(self._path)
        if whole < size:
            self._disk.truncate(self._fd, whole)
        if sync:
            self._disk.sync_directory(self._path.parent)


def _whole_bytes(path: Path) -> int:
    """How much of a file is whole lines."""
    end = 0
    with open(path, "rb") as file:
        for chunk in chunks(file):
            end = chunk.end if chunk.whole else end
    return end
