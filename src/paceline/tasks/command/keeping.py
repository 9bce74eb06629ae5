"""What is kept of an attempt, in files beside the journal; the journal has the tails of what was printed.

    files/<case>-<hash>/<attempt>/stdout.txt, stderr.txt, setup-1.txt, changes.patch, given/..., workspace/...

Secrets are taken out of them as out of the journal.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from paceline.journal.records import Key
from paceline.journal.redaction import Redactor
from paceline.processes.launch import Ended, Printed
from paceline.workspaces.changes import Changes
from paceline.workspaces.inside import remove

TAIL: Final = 2_000
"""Bytes of what was printed last that stand in the journal."""
LISTED: Final = 1_000
"""Changed files that are listed in the journal."""
PIECE: Final = 4 * 1024 * 1024
"""Bytes of a file that are looked at together: a patch may have a quarter of a GB."""
LONGEST_LINE: Final = 64 * 1024 * 1024
LONGEST_KEY: Final = 64 * 1024
_KEY_BEGINS: Final = b"-----BEGIN "
_KEY_ENDS: Final = b"-----END "


def name_of(key: Key) -> str:
    """A name for the files of a key: one that every file system takes, and no other key has."""
    whole = "\0".join((key.case, str(key.repeat), key.variant))
    readable = ".".join(
        part for part in (key.case, key.variant, f"r{key.repeat}" if key.repeat else "") if part
    )
    digest = hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9.]+', '-', readable)[:40].strip('.-') or 'case'}-{digest}"


class Kept:
    """The files of one attempt."""

    def __init__(self, files: Path | None, name: str, number: int) -> None:
        self._temporary = files is None
        if files is None:
            self.folder = Path(tempfile.mkdtemp(prefix="paceline-"))
            self._shown = ""
        else:
            self.folder = files / name / str(number)
            self._shown = f"{files.name}/{name}/{number}/"
            remove(self.folder)  # of an attempt that a killed process has not come to the end of
            self.folder.mkdir(parents=True)

    @property
    def stdout(self) -> Path:
        return self.folder / "stdout.txt"

    @property
    def stderr(self) -> Path:
        return self.folder / "stderr.txt"

    @property
    def patch(self) -> Path:
        return self.folder / "changes.patch"

    @property
    def given(self) -> Path:
        """The files of the case, as they were written."""
        return self.folder / "given"

    def named(self, path: Path) -> str | None:
        """What the journal calls one of the files: a path from the run directory. None where it goes away."""
        return None if self._temporary else f"{self._shown}{path.relative_to(self.folder).as_posix()}"

    def printed(self, printed: Printed) -> dict[str, Any]:
        """What the journal says of a stream."""
        assert printed.path is not None
        told: dict[str, Any] = {"bytes": printed.size, "tail": tail_of(printed.path)}
        if printed.size and (name := self.named(printed.path)) is not None:
            told["file"] = name
        if printed.cut:
            told["cut"] = True
        return told

    def close(self) -> None:
        """Let go of what is not kept; what was printed is to be read before."""
        if self._temporary:
            with suppress(OSError):
                remove(self.folder)


def tail_of(path: Path) -> str:
    """The end of what was printed, as text."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - TAIL, 0))
            tail = file.read()
    except OSError:
        return ""
    if size > TAIL:
        tail = tail.lstrip(b"\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f")  # half a sign
        return f"…{tail.decode(errors='backslashreplace')}"
    return tail.decode(errors="backslashreplace")


def cleaned(path: Path, redactor: Redactor) -> None:
    """Take the secrets out of a file, byte for byte the same otherwise; one that is empty is taken away."""
    try:
        if not path.stat().st_size:
            path.unlink()
            return
    except FileNotFoundError:
        return
    with path.open("rb") as file:
        if all(_clean(piece, redactor) is piece for piece in _pieces(file)):
            return
        fresh = path.with_name(f"{path.name}.clean")
        file.seek(0)
        with fresh.open("wb") as clean:
            for piece in _pieces(file):
                clean.write(_clean(piece, redactor))
            clean.flush()
            os.fsync(clean.fileno())  # as the file was that it replaces
    fresh.replace(path)


def _clean(piece: bytes, redactor: Redactor) -> bytes:
    """A piece without secrets: itself, where it has none."""
    text = piece.decode("utf-8", "surrogateescape")
    clean = redactor.clean_body(text)
    return piece if clean == text else clean.encode("utf-8", "surrogateescape")


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    """A file in pieces of whole lines; a private key, which has many, is in one of them."""
    rest = b""
    while chunk := file.read(PIECE):
        rest += chunk
        cut = rest.rfind(b"\n") + 1
        key = rest.rfind(_KEY_BEGINS, 0, cut)
        if key > rest.rfind(_KEY_ENDS, 0, cut) and cut - key < LONGEST_KEY:
            cut = rest.rfind(b"\n", 0, key) + 1  # with what follows
        if not cut and len(rest) < LONGEST_LINE:
            continue
        cut = cut or len(rest)
        yield rest[:cut]
        rest = rest[cut:]
    if rest:
        yield rest


def told_of(ended: Ended, kept: Kept) -> dict[str, Any]:
    """What the journal says of how a command went."""
    told: dict[str, Any] = {"how": ended.how}
    if ended.code is not None:
        told["exit_code"] = ended.code
    if ended.signal is not None:
        told["signal"] = ended.signal
    if ended.outlived_by:
        told["outlived_by"] = ended.outlived_by
    return {**told, "stdout": kept.printed(ended.stdout), "stderr": kept.printed(ended.stderr)}


def told_of_changes(changes: Changes, kept: Kept) -> dict[str, Any]:
    """What the journal says of what has changed."""
    told: dict[str, Any] = {
        "changed_files": [{"path": each.path, "kind": each.kind} for each in changes.files[:LISTED]]
    }
    if len(changes.files) > LISTED:
        told["changed_files_left_out"] = len(changes.files) - LISTED
    if changes.patch is not None and (name := kept.named(changes.patch)) is not None:
        told["patch"] = name
    if changes.left_out:
        told["not_in_patch"] = list(changes.left_out[:LISTED])
    return told


def redactor_for(names: tuple[str, ...], env: Mapping[str, str]) -> Redactor:
    """Knows the secrets of our environment and those that the command was given."""
    return Redactor(names=names, environ={**os.environ, **env})
