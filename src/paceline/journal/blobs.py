"""Values too big for a line: files beside the journal, named by the hash of their content.

    {"$paceline":{"blob":"<sha256>","bytes":1234567}}       what stands in the line instead

The content is the encoded value. A blob is whole and on disk before the line that names it is written,
so a line never points at nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from paceline.errors import JournalError
from paceline.journal.disk import Disk, make_directories, write_whole
from paceline.journal.places import shown

BLOB_OVER = 256 * 1024
"""Encoded values of more bytes than this go to a blob."""

_ENVELOPE_START = b'{"$paceline":{"blob":"'


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    blob: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]  # a hash, and no path to somewhere else
    bytes: int


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    named: _Named = msgspec.field(name="$paceline")


_decode_envelope = msgspec.json.Decoder(_Envelope).decode


def digest_of(content: bytes) -> str:
    """The name of a blob."""
    from hashlib import sha256  # loads OpenSSL, which few runs need

    return sha256(content).hexdigest()


def envelope(digest: str, size: int) -> bytes:
    """What stands in a line for a value that is in a blob."""
    return b'{"$paceline":{"blob":"%b","bytes":%d}}' % (digest.encode(), size)


def blob_named_by(raw: bytes | msgspec.Raw) -> tuple[str, int] | None:
    """Digest and size of the blob that this value stands for; None where it stands for itself."""
    written = bytes(raw)
    if not written.startswith(_ENVELOPE_START):
        return None
    try:
        named = _decode_envelope(written).named
    except msgspec.MsgspecError:
        return None
    return named.blob, named.bytes


def read_blob(directory: Path, digest: str) -> bytes:
    """The content of a blob, checked against its name."""
    try:
        content = (directory / digest).read_bytes()
    except OSError as error:
        raise JournalError(f"a value of this run is missing: {shown(directory / digest)}") from error
    if digest_of(content) != digest:
        raise JournalError(f"a value of this run was altered: {shown(directory / digest)}")
    return content


class BlobDirectory:
    """Where the writer puts blobs."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._directory = directory
        self._disk = disk
        self._kept: set[str] = set()
        """Those that this process knows to be there."""

    def put(self, blobs: Mapping[str, bytes], *, sync: bool) -> None:
        """Have these on disk."""
        new = {digest: content for digest, content in blobs.items() if digest not in self._kept}
        if not new:
            return
        make_directories(self._disk, self._directory)
        for digest, content in new.items():
            place = self._directory / digest
            if not _holds(place, content):
                write_whole(self._disk, place, content, sync=sync)
            elif sync:  # the process that put it there may not have synced it
                fd = self._disk.open_append(place)
                try:
                    self._disk.sync(fd)
                finally:
                    self._disk.close(fd)
        if sync:
            self._disk.sync_directory(self._directory)
        self._kept.update(new)


def _holds(place: Path, content: bytes) -> bool:
    """Whether this very content is there: a file that was damaged meanwhile has its name still."""
    try:
        return place.stat().st_size == len(content) and place.read_bytes() == content
    except OSError:
        return False
