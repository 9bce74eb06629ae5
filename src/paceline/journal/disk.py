"""The few things that a journal asks of a disk, so that a test can put one with faults in its place.

Knows file descriptors and paths. Knows nothing of lines.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from pathlib import Path
from typing import Protocol

if sys.platform == "darwin":
    import fcntl

_CANNOT = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOTTY})
"""The file system says that it has no such operation, as opposed to that it failed."""


class Disk(Protocol):
    """A place for bytes. Every method may raise OSError; a write may be short."""

    def open_append(self, path: Path) -> int:
        """Open for appending, made if absent."""
        ...

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write at the end; answers how many bytes were taken."""
        ...

    def sync(self, fd: int) -> None:
        """Return when what was written survives a power cut."""
        ...

    def size(self, fd: int) -> int: ...

    def truncate(self, fd: int, size: int) -> None: ...

    def close(self, fd: int) -> None: ...

    def make_directory(self, path: Path) -> None: ...

    def replace(self, source: Path, target: Path) -> None: ...

    def remove(self, path: Path) -> None: ...

    def sync_directory(self, path: Path) -> None:
        """Return when the names in this directory survive a power cut."""
        ...


class OsDisk:
    """The disk of the operating system."""

    def open_append(self, path: Path) -> int:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return os.write(fd, data)

    def sync(self, fd: int) -> None:
        if sys.platform == "darwin":
            try:
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)  # fsync there stops at the drive's own cache
            except OSError as error:
                if error.errno not in _CANNOT:
                    raise
                os.fsync(fd)
        else:
            os.fdatasync(fd)

    def size(self, fd: int) -> int:
        return os.fstat(fd).st_size

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def close(self, fd: int) -> None:
        os.close(fd)

    def make_directory(self, path: Path) -> None:
        path.mkdir(exist_ok=True)

    def replace(self, source: Path, target: Path) -> None:
        source.replace(target)

    def remove(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def sync_directory(self, path: Path) -> None:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in _CANNOT:  # some network file systems keep names safe by themselves
                raise
        finally:
            os.close(fd)


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write all of `data`, however little the disk takes at a time."""
    rest = memoryview(data)
    while rest:
        taken = disk.write(fd, rest)
        if taken <= 0:
            raise OSError("the disk takes no more bytes, and does not say why")
        rest = rest[taken:]


def make_directories(disk: Disk, path: Path) -> None:
    """Make a directory and its parents, and let none of the new names be lost in a power cut."""
    missing = [path, *path.parents]
    missing = missing[: next((i for i, place in enumerate(missing) if place.exists()), len(missing))]
    for place in reversed(missing):
        disk.make_directory(place)
        disk.sync_directory(place.parent)


def write_whole(disk: Disk, path: Path, data: bytes, *, sync: bool = True) -> None:
    """Put a whole file in place: under its name there is all of it or none.

    With `sync` that holds after a power cut too; that the name is kept takes a sync of the directory.
    """
    unfinished = path.with_name(f"{path.name}.part")
    disk.remove(unfinished)  # left by a crash; appending to it would spoil the file
    fd = disk.open_append(unfinished)
    try:
        write_all(disk, fd, data)
        if sync:
            disk.sync(fd)
    except OSError:
        with contextlib.suppress(OSError):
            disk.remove(unfinished)
        raise
    finally:
        disk.close(fd)
    disk.replace(unfinished, path)
