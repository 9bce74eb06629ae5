"""One writer for a journal: a lock that the kernel frees when its owner dies, however it dies.

It is a POSIX record lock. `flock` would live on in every child that a task has forked, long after the
run was killed; a record lock belongs to the one process that took it. Two things follow, and both are
dealt with here: it does not exclude a second taker within the process (so there is a registry), and *any*
close of the file within the process frees it (so nothing but this module opens a lock file, and whoever
wants to know the owner asks `owner_of`).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
import sys
import threading
import time
from pathlib import Path

import msgspec

from paceline.errors import JournalBusy
from paceline.journal.places import shown

_FLOCK, _TYPE, _PID = ("@qqihh", 3, 2) if sys.platform == "darwin" else ("@hhqqi", 0, 4)
"""The layout of `struct flock`, and where in it the type of the lock and its owner stand."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a lock, as it has written into the file."""

    pid: int
    host: str
    since: float
    """Seconds since the epoch."""
    program: str
    """Its name only: arguments may hold secrets, and this file is not redacted."""

    def __str__(self) -> str:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"process {self.pid} on {self.host} since {since} ({self.program})"


class _Registry:
    """The locks that this process holds, by device and inode."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start anew, as a forked child has to: its parent's locks are not its own."""
        self.guard = threading.Lock()
        self.held: dict[tuple[int, int], Owner] = {}

    def owner_at(self, path: Path) -> Owner | None:
        try:
            stat = path.stat()
        except OSError:
            return None
        return self.held.get((stat.st_dev, stat.st_ino))


_registry = _Registry()
os.register_at_fork(after_in_child=_registry.renew)


class Lock:
    """A held lock. Made by `acquire`."""

    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd
        self._pid = os.getpid()

    def release(self) -> None:
        """Let go, and take the file away. In a forked child nothing is let go: the lock is the parent's."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        if os.getpid() != self._pid:
            os.close(fd)
            return
        with _registry.guard:
            _registry.held.pop(_identity(fd), None)
            # Removed while it is held: whoever opened it before and locks it after sees that it is no
            # longer the file of that name, and starts over (see `acquire`).
            if _is_at(self.path, fd):
                with contextlib.suppress(OSError):
                    self.path.unlink()
            os.close(fd)


def acquire(path: Path) -> Lock:
    """Take the lock, or raise `JournalBusy` with its owner."""
    with _registry.guard:
        while True:
            if mine := _registry.owner_at(path):
                raise _busy(path, mine)
            fd = _try(path)
            if _is_at(path, fd):
                break
            os.close(fd)  # taken away by its last owner between our open and our lock
        owner = _myself()
        os.ftruncate(fd, 0)
        os.pwrite(fd, msgspec.json.encode(owner) + b"\n", 0)
        _registry.held[_identity(fd)] = owner
        return Lock(path, fd)


def owner_of(path: Path) -> Owner | None:
    """Who holds the lock at this moment; None where nobody does."""
    with _registry.guard:
        if mine := _registry.owner_at(path):
            return mine
        try:
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            # Asked, not tried: a lock that is taken only to look would turn away who comes just then.
            wanted = struct.pack(_FLOCK, *(fcntl.F_WRLCK if place == _TYPE else 0 for place in range(5)))
            holder = struct.unpack(_FLOCK, fcntl.fcntl(fd, fcntl.F_GETLK, wanted))
            if holder[_TYPE] == fcntl.F_UNLCK:
                return None
            return _read_owner(fd) or Owner(pid=holder[_PID], host="", since=0.0, program="just starting")
        finally:
            os.close(fd)


def _try(path: Path) -> int:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = _read_owner(fd)
        os.close(fd)
        if error.errno in {errno.EACCES, errno.EAGAIN}:
            raise _busy(path, owner) from None
        raise
    return fd


def _busy(path: Path, owner: Owner | None) -> JournalBusy:
    return JournalBusy(
        f"{shown(path.with_suffix(''))} is being written by {owner or 'another process'}",
        hint="wait for it to end, or stop it; a run of its own needs another `-o`",
    )


def _identity(fd: int) -> tuple[int, int]:
    stat = os.fstat(fd)
    return stat.st_dev, stat.st_ino


def _is_at(path: Path, fd: int) -> bool:
    try:
        stat = path.stat()
    except OSError:
        return False
    return (stat.st_dev, stat.st_ino) == _identity(fd)


def _read_owner(fd: int) -> Owner | None:
    try:
        return msgspec.json.decode(os.pread(fd, 65536, 0), type=Owner)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None  # it has the lock, and has not yet written who it is


def _myself() -> Owner:
    name = Path(sys.argv[0]).name if sys.argv else ""
    program = (name or "python")[:100].encode("utf-8", "backslashreplace").decode()
    return Owner(pid=os.getpid(), host=os.uname().nodename, since=time.time(), program=program)
