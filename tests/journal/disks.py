"""Disks with faults, to put in the place of the real one. All keep their files where they belong."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Literal

from paceline.journal.disk import OsDisk


class PowerCut(OSError):
    """The lights are out: from here on nothing is done any more."""


class VolatileDisk(OsDisk):
    """Loses at a power cut what was not synced: bytes, and names of files and directories.

    The cut comes before operation number `cut_before`, or when `cut` is called. A lost tail is gone or, as
    some file systems have it, zeros. With `honest=False` its syncs do nothing, which a good test must notice.
    """

    def __init__(
        self,
        *,
        cut_before: int | None = None,
        tail: Literal["gone", "zeros"] = "gone",
        honest: bool = True,
    ) -> None:
        self.is_on = True
        self._left = cut_before
        self._tail = tail
        self._honest = honest
        self._paths: dict[int, Path] = {}
        self._synced: dict[Path, int] = {}
        self._unsynced_names: set[Path] = set()

    def _operate(self) -> None:
        if self.is_on and self._left is not None:
            if self._left == 0:
                self.cut()
            self._left -= 1
        if not self.is_on:
            raise PowerCut(errno.EIO, "no power")

    def cut(self) -> None:
        """Lose what was not synced."""
        self.is_on = False
        for path, safe in self._synced.items():
            if path.exists():
                size = path.stat().st_size
                os.truncate(path, safe)
                if self._tail == "zeros":
                    os.truncate(path, size)
        for path in self._unsynced_names:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def open_append(self, path: Path) -> int:
        self._operate()
        if not path.exists():
            self._unsynced_names.add(path)
        fd = super().open_append(path)
        self._paths[fd] = path
        self._synced.setdefault(path, self.size(fd))
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._operate()
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self._operate()
        if self._honest:
            self._synced[self._paths[fd]] = self.size(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._operate()
        path = self._paths[fd]
        self._synced[path] = min(self._synced[path], size)
        super().truncate(fd, size)

    def make_directory(self, path: Path) -> None:
        self._operate()
        if not path.exists():
            self._unsynced_names.add(path)
        super().make_directory(path)

    def replace(self, source: Path, target: Path) -> None:
        self._operate()
        super().replace(source, target)
        self._synced[target] = self._synced.pop(source)
        self._unsynced_names.discard(source)
        self._unsynced_names.add(target)

    def remove(self, path: Path) -> None:
        self._operate()
        super().remove(path)

    def sync_directory(self, path: Path) -> None:
        self._operate()
        if self._honest:
            self._unsynced_names = {name for name in self._unsynced_names if name.parent != path}


class HastyDisk(OsDisk):
    """Keeps nothing safe, and takes no time for it."""

    def sync(self, fd: int) -> None:
        pass

    def sync_directory(self, path: Path) -> None:
        pass


class ShortDisk(OsDisk):
    """Takes no more than `most` bytes at a time."""

    def __init__(self, most: int) -> None:
        self._most = most

    def write(self, fd: int, data: bytes | memoryview) -> int:
        return super().write(fd, data[: self._most])


class FullDisk(OsDisk):
    """Has room for so many bytes, and takes what fits of a write, as a real one does."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = super().write(fd, data[: self.room])
        self.room -= taken
        return taken


class UnsyncableDisk(OsDisk):
    """Fails the sync with this number, once, and lies that later ones work: as Linux does after an EIO."""

    def __init__(self, failing: int) -> None:
        self._left = failing
        self.syncs_after = 0

    def sync(self, fd: int) -> None:
        self._left -= 1
        if self._left == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if self._left < 0:
            self.syncs_after += 1
        super().sync(fd)


class RecordingDisk(OsDisk):
    """Remembers in which order things were done."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self._names: dict[int, str] = {}

    def open_append(self, path: Path) -> int:
        fd = super().open_append(path)
        self._names[fd] = path.name
        return fd

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.done.append(("write", self._names[fd]))
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self.done.append(("sync", self._names[fd]))
        super().sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self.done.append(("cut", self._names[fd]))
        super().truncate(fd, size)

    def replace(self, source: Path, target: Path) -> None:
        self.done.append(("replace", target.name))
        super().replace(source, target)

    def make_directory(self, path: Path) -> None:
        self.done.append(("make directory", path.name))
        super().make_directory(path)

    def sync_directory(self, path: Path) -> None:
        self.done.append(("sync directory", path.name))
        super().sync_directory(path)
