"""Faults that a process is born with: it dies at a write, its disk is full, its patience is short.

    {"dies_at": 7, "when": "before" | "amid" | "after"}     SIGKILL at the seventh thing asked of the disk
    {"room": 4000}                                           ENOSPC after so many bytes
    {"file_size": 4000}                                      the kernel's own limit: EFBIG
    {"sync_fails_at": 3}                                     EIO
    {"takes_at_most": 7}                                     short writes
    {"grace": 0.2}                                           seconds that cancelled code has, in all places
    {"last_resort": 0.5}                                     seconds that the watch has for its own way out

Faults are put where no public name reaches; everything else about the process is as it always is.
"""

from __future__ import annotations

import functools
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from paceline.journal.disk import Disk, OsDisk
from tests.journal.disks import FullDisk, ShortDisk, UnsyncableDisk

ResultT = TypeVar("ResultT")


class DyingDisk(OsDisk):
    """Takes its process along at operation number `dies_at`: before, after, or in the middle of a write."""

    def __init__(self, dies_at: int, when: str) -> None:
        self._left = dies_at
        self._when = when

    def _do(self, work: Callable[[], ResultT], amid: Callable[[], object] | None = None) -> ResultT:
        self._left -= 1
        if self._left == 0 and self._when == "before":
            die()
        if self._left == 0 and self._when == "amid":
            if amid is not None:
                amid()
            die()
        result = work()
        if self._left == 0:
            die()
        return result

    def open_append(self, path: Path) -> int:
        return self._do(lambda: super(DyingDisk, self).open_append(path))

    def write(self, fd: int, data: bytes | memoryview) -> int:
        half = data[: len(data) // 2]
        return self._do(lambda: os.write(fd, data), lambda: os.write(fd, half))

    def sync(self, fd: int) -> None:
        self._do(lambda: super(DyingDisk, self).sync(fd))

    def truncate(self, fd: int, size: int) -> None:
        self._do(lambda: os.ftruncate(fd, size))

    def make_directory(self, path: Path) -> None:
        self._do(lambda: path.mkdir(exist_ok=True))

    def replace(self, source: Path, target: Path) -> None:
        self._do(lambda: source.replace(target))

    def remove(self, path: Path) -> None:
        self._do(lambda: path.unlink(missing_ok=True))

    def sync_directory(self, path: Path) -> None:
        self._do(lambda: super(DyingDisk, self).sync_directory(path))


def die() -> None:
    """As if by `kill -9`, at this very place."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()  # the signal may take a moment to arrive, and nothing may happen in it


def install(faults: Mapping[str, Any]) -> None:
    """Put faults in place, in this process."""
    import paceline.journal.journal
    from paceline import cli
    from paceline.conduct import planning
    from paceline.engine import loop, plan, watch

    disk = _disk(faults)
    if disk is not None:
        put(paceline.journal.journal, "OsDisk", lambda: disk)
    if "grace" in faults:
        impatient = functools.partial(plan.Plan, grace=faults["grace"])
        put(planning, "Plan", impatient)
        put(loop, "LAST_WORDS", faults["grace"])
        put(cli, "LEAVES_WITHIN", faults["grace"])
    if "last_resort" in faults:
        put(watch, "LAST_RESORT", faults["last_resort"])
    if "file_size" in faults:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (faults["file_size"], hard))


def put(module: ModuleType, name: str, fault: object) -> None:
    """Put a fault in the place of what is there."""
    assert hasattr(module, name), f"{module.__name__} has no {name} any more"
    setattr(module, name, fault)


def _disk(faults: Mapping[str, Any]) -> Disk | None:
    match faults:
        case {"dies_at": dies_at, "when": when}:
            return DyingDisk(dies_at, when)
        case {"room": room}:
            return FullDisk(room)
        case {"sync_fails_at": failing}:
            return UnsyncableDisk(failing)
        case {"takes_at_most": most}:
            return ShortDisk(most)
        case _:
            return None
