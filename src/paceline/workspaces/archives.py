"""Unpacking an archive that may be hostile: nothing lands outside the folder, and nothing is without bound.

Taken are plain files, folders, and links that stay inside. An absolute path, one that leads upwards, a link
that leads out, a device: the whole archive is refused, with the name of the entry. Of a file's permissions
only whether it can be executed is kept.
"""

from __future__ import annotations

import gzip
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple, Self

from paceline.workspaces.inside import created, parts_of
from paceline.workspaces.sources import WorkspaceError

MOST_BYTES: Final = 4 * 1024**3
MOST_ENTRIES: Final = 500_000
LONGEST_NAME: Final = 4_096
CHUNK: Final = 1024 * 1024

_DAMAGED: Final = (
    tarfile.TarError,
    zipfile.BadZipFile,
    lzma.LZMAError,
    zlib.error,
    gzip.BadGzipFile,
    EOFError,
    NotImplementedError,
    RuntimeError,  # zipfile's word for what wants a password
    ValueError,  # and what the libraries stumble over in a header that makes no sense
    ArithmeticError,
    LookupError,
    struct.error,
)


class Entry(NamedTuple):
    """What one entry of an archive would come to."""

    path: str
    kind: Literal["file", "folder", "link"]
    content: IO[bytes] | None = None
    target: str = ""
    executable: bool = False


def unpack(
    archive: Path, into: Path, *, strip: int = 0, most: int = MOST_BYTES, entries: int = MOST_ENTRIES
) -> None:
    """Unpack a tar (plain, gzip, bzip2, xz) or zip file into a folder that is empty."""
    try:
        links = _unpack(archive, into, strip=strip, most=most, entries=entries)
    except WorkspaceError as error:
        raise _refused(archive, str(error))
    except _DAMAGED as error:
        raise _refused(archive, f"it is damaged, or no tar or zip file: {error}")
    except OSError as error:
        raise WorkspaceError(f"the archive {archive} cannot be unpacked: {error}")
    # Last, so that no entry is written through one.
    for path, target in links.items():
        place = into.joinpath(*parts_of(path, git=True))
        if os.path.lexists(place):
            raise _refused(archive, f"{path} is there twice")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)


def _unpack(archive: Path, into: Path, *, strip: int, most: int, entries: int) -> dict[str, str]:
    """Write folders and files; returns the links that are still to be made."""
    links: dict[str, str] = {}
    left = most
    for number, entry in enumerate(_entries(archive)):
        if number >= entries:
            raise WorkspaceError(f"it has more than {entries:,} entries")
        if entry.path.startswith("/") or len(entry.path) > LONGEST_NAME:
            raise WorkspaceError(f"{entry.path[:200]!r} is no path in a workspace")
        kept = [part for part in entry.path.split("/") if part not in ("", ".")][strip:]
        if not kept:
            continue
        path = "/".join(kept)
        parts = parts_of(path, git=True)
        if any("/".join(parts[:depth]) in links for depth in range(1, len(parts) + 1)):
            raise WorkspaceError(f"{path} lies behind a link")
        match entry.kind:
            case "folder":
                into.joinpath(*parts).mkdir(parents=True, exist_ok=True)
            case "link":
                if not stays_inside(path, entry.target):
                    raise WorkspaceError(f"{path} is a link to {entry.target!r}, which leads out of it")
                links[path] = entry.target
            case "file":
                assert entry.content is not None
                with created(into, parts, executable=entry.executable) as file:
                    while content := entry.content.read(CHUNK):
                        left -= len(content)
                        if left < 0:
                            raise WorkspaceError(f"it holds more than {most:,} bytes")
                        file.write(content)
    return links


def stays_inside(path: str, target: str) -> bool:
    """Whether a link at `path` leads to a place inside.

    It may lead upwards in the beginning only, from the real folder that it lies in. After a name, `..` is
    refused: the name may be another link, and then it leads up from somewhere else.
    """
    if not target or target.startswith("/") or "\0" in target:
        return False
    steps = [step for step in target.split("/") if step not in ("", ".")]
    up = next((place for place, step in enumerate(steps) if step != ".."), len(steps))
    return up <= path.count("/") and ".." not in steps[up:]


def _entries(archive: Path) -> Iterator[Entry]:
    if zipfile.is_zipfile(archive):
        yield from _zip_entries(archive)
    else:
        yield from _tar_entries(archive)


def _zip_entries(archive: Path) -> Iterator[Entry]:
    with zipfile.ZipFile(archive) as opened:
        for each in opened.infolist():
            mode = each.external_attr >> 16
            if each.is_dir():
                yield Entry(each.filename, "folder")
            elif stat.S_ISLNK(mode):
                with opened.open(each) as content:
                    target = content.read(LONGEST_NAME + 1)
                yield Entry(each.filename, "link", target=os.fsdecode(target))
            elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                with opened.open(each) as content:
                    yield Entry(each.filename, "file", content, executable=bool(mode & 0o100))
            else:
                raise WorkspaceError(f"{each.filename} is neither file, folder nor link")


_BAD_HEADER: Final = (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError)  # type: ignore[attr-defined]  # typeshed lacks them


class _Header(tarfile.TarInfo):
    """A header that is not believed blindly: a bad one is not taken for the end, nor a name of a gigabyte."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        try:
            header = super().frombuf(buf, encoding, errors)
        except _BAD_HEADER as error:
            raise WorkspaceError(f"it is damaged, or no tar or zip file: {error}")
        if not header.isreg() and header.size > CHUNK:
            raise WorkspaceError(f"a header in it has {header.size:,} bytes")
        return header


def _tar_entries(archive: Path) -> Iterator[Entry]:
    # As a stream: what an archive says of itself is believed for one entry at a time only.
    with tarfile.open(archive, "r|*", tarinfo=_Header) as opened:
        for each in opened:
            if each.isdir():
                yield Entry(each.name, "folder")
            elif each.issym():
                yield Entry(each.name, "link", target=each.linkname)
            elif each.isreg():
                content = opened.extractfile(each)
                assert content is not None, "a plain file has content"
                yield Entry(each.name, "file", content, executable=bool(each.mode & 0o100))
            elif each.islnk():
                raise WorkspaceError(f"{each.name} is a second name of {each.linkname} (a hard link)")
            else:
                raise WorkspaceError(f"{each.name} is neither file, folder nor link")


def _refused(archive: Path, why: str) -> WorkspaceError:
    return WorkspaceError(
        f"the archive {archive} is refused: {why}",
        hint="it may hold plain files, folders, and links that stay inside",
    )
