"""Where the processes of one user on one machine meet: a directory, a lock that elects, the name of a socket.

The kernel frees the lock when its owner dies, however it dies. It is taken by `flock`, which a forked child
shares; so all that is held here is closed in a child as soon as it is born, or a run that was killed would
hold the desk for as long as some child of its task lives.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
import stat
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from paceline.pace.learned import state_directory

LONGEST_NAME: Final = 100
"""Bytes in the name of a socket; systems stop at 104 or 108."""


class Closable(Protocol):
    """Something that holds a file of the system."""

    def close(self) -> None: ...


_ours: weakref.WeakSet[Closable] = weakref.WeakSet()


def not_for_children(held: Closable) -> None:
    """Close this in every child that is forked."""
    _ours.add(held)


def _forget_in_child() -> None:
    for held in list(_ours):
        held.close()
    _ours.clear()


os.register_at_fork(after_in_child=_forget_in_child)


class Lock:
    """The right to hold the desk of this machine."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        not_for_children(self)

    def close(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


class Meeting:
    """A place to meet. Raises `OSError` where there can be none."""

    def __init__(self, state: Path | None = None, *, environment: Mapping[str, str] = os.environ) -> None:
        state = state or state_directory(environment)
        state.mkdir(parents=True, exist_ok=True, mode=0o700)
        _insist_on_private(state)
        # By machine: a home directory may be on several, and a socket reaches only its own.
        node = hashlib.blake2b(os.uname().nodename.encode(), digest_size=4).hexdigest()
        self.lock_path = state / f"desk-{node}.lock"
        self.socket_path = state / f"desk-{node}.sock"
        if len(os.fsencode(self.socket_path)) > LONGEST_NAME:
            name = hashlib.blake2b(os.fsencode(state.resolve()), digest_size=8).hexdigest()
            short = Path(tempfile.gettempdir()) / f"paceline-{os.getuid()}-{name}"
            short.mkdir(exist_ok=True, mode=0o700)
            _insist_on_private(short)
            self.socket_path = short / "desk.sock"

    def elect(self) -> Lock | None:
        """The lock, if nobody has it."""
        fd = os.open(self.lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        except BaseException:
            os.close(fd)
            raise
        return Lock(fd)

    def listen(self) -> socket.socket:
        """The socket that clients come to. Only for whoever has the lock: a dead holder's is removed."""
        self.socket_path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(self.socket_path))
            self.socket_path.chmod(0o600)
            listener.listen(128)
            listener.setblocking(False)
        except BaseException:
            listener.close()
            raise
        not_for_children(listener)
        return listener

    def connect(self, *, timeout_s: float) -> socket.socket | None:
        """A connection to whoever listens; None where nobody does."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(timeout_s)
        try:
            sock.connect(str(self.socket_path))
        except OSError:
            sock.close()
            return None
        not_for_children(sock)
        return sock


def _insist_on_private(directory: Path) -> None:
    """Others must not be able to come in: whoever can write to the socket is believed."""
    found = directory.lstat() if directory.name.startswith("paceline-") else directory.stat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise PermissionError(f"{directory} belongs to somebody else")
    if stat.S_IMODE(found.st_mode) & 0o077:
        directory.chmod(0o700)
