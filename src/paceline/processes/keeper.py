"""The keeper: a small process that forks for us, because we are too big and have too many threads to fork.

It is a fresh Python without site packages, started once for each process of ours. Each line to us that it is
handed becomes that of a warden, which it forks and which takes it from there, for one command after the
other. Such a fork costs a few milliseconds, where a Python of its own would cost ten times as much.

It ends when our end of its socket closes. Should a warden be killed, what it watched over becomes the
keeper's, and is ended at once.

Loads nothing but the standard library, and little of that: what it loads is copied with each fork.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from typing import Final

from paceline.processes import warden
from paceline.processes.tree import PAUSE_S, adopt_orphans, kill_all

PARTING_S: Final = 1.0
"""For wardens without a command, which end when we do."""


def main(control_fd: int, owner: int) -> None:
    """Fork wardens, until the process that started this one is gone."""
    gc.disable()  # there is no garbage worth a collection, which would touch pages that forks share
    gc.freeze()
    control = socket.socket(fileno=control_fd)
    owner_gone = _opened_pid(owner)
    adopt_orphans()
    wake_r, wake_w = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK) if hasattr(os, "pipe2") else _pipe()
    signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _heard)
    poll = select.poll()
    for fd in (control_fd, wake_r, owner_gone):
        if fd >= 0:
            poll.register(fd, select.POLLIN)
    wardens: set[int] = set()
    while True:
        ready = {fd for fd, _event in poll.poll()}
        if owner_gone in ready:
            return
        if wake_r in ready:
            os.read(wake_r, 4096)
            _reap(wardens)
        if control_fd in ready:
            line = _received(control)
            if line is None:
                _part(wardens)
                return
            pid = os.fork()
            if pid == 0:
                control.close()
                os.close(wake_r)
                os.close(wake_w)
                warden.serve(line, owner_gone)  # never returns
            wardens.add(pid)
            os.close(line)


def _part(wardens: set[int]) -> None:
    """Bury those that end now: what they have used is then known to whoever waits for this process."""
    until = time.monotonic() + PARTING_S
    _reap(wardens)
    while wardens and time.monotonic() < until:
        time.sleep(PAUSE_S)
        _reap(wardens)


def _reap(wardens: set[int]) -> None:
    """Bury what has ended. A warden that did not end by itself leaves a command behind."""
    murdered = False
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if pid == 0:
            break
        murdered |= pid in wardens and status != 0
        wardens.discard(pid)
    if murdered:
        kill_all(os.getpid(), spared=wardens)


def _received(control: socket.socket) -> int | None:
    """The line for another warden; None where nobody will ask for one."""
    try:
        byte, files, _flags, _address = socket.recv_fds(control, 1, 1)
    except ConnectionError:
        return None
    if not byte:
        return None
    (line,) = files
    os.set_inheritable(line, False)
    return line


def _opened_pid(pid: int) -> int:
    """A file that is ready once a process has ended; -1 where the system has none such.

    A process that was forked from it may hold our sockets open long after it is gone: this says so all the
    same.
    """
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _pipe() -> tuple[int, int]:
    ends = os.pipe()
    for fd in ends:
        os.set_blocking(fd, False)
    return ends


def _heard(_number: int, _frame: object) -> None:
    """The signal's byte is in the pipe; this is only there so that Python does not ignore it."""
