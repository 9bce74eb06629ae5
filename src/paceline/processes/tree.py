"""The processes below one: listing them, ending them, inheriting the orphans among them.

On Linux nothing gets away: whoever asks for it inherits every orphan below it, however often it has forked
and made a session of its own, so all that a command has started is found below its warden. Elsewhere there is
the process group, and what leaves it is not found.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Collection
from typing import Final, NamedTuple

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NAME: Final = 15
_PR_SET_CHILD_SUBREAPER: Final = 36

PATIENCE_S: Final = 2.0
"""For processes that were sent KILL to be gone. What the kernel holds longer is in its own hands."""
PAUSE_S: Final = 0.005


class Process(NamedTuple):
    """A process, as far as it matters here."""

    pid: int
    parent: int
    group: int


class Tree:
    """Finds what is below a process, again and again; looks closely only at what is new.

    What is `spared` is left out with all that is below it.
    """

    def __init__(self, root: int, *, spared: Collection[int] = ()) -> None:
        self._root = root
        self._spared = spared
        self._others: set[int] = set()
        self._looked = 0

    def below(self) -> list[Process]:
        """Every process below, parents before their children."""
        if sys.platform != "linux":
            return []
        self._looked += 1
        if self._looked % 32 == 0:
            self._others.clear()  # a number may have been given to another process meanwhile
        there = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208  # without pathlib, which is as big as the rest of the keeper
        self._others &= there
        fresh = [found for pid in there - self._others if (found := _look_at(pid)) is not None]
        ours = {self._root}
        below: list[Process] = []
        while more := [
            each
            for each in fresh
            if each.parent in ours and each.pid not in ours and each.pid not in self._spared
        ]:
            ours.update(each.pid for each in more)
            below += more
        self._others.update(each.pid for each in fresh if each.pid not in ours)
        return below


def _look_at(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The name is in parentheses and may hold anything, parentheses included.
            state, parent, group, _rest = file.read().rpartition(b") ")[2].split(b" ", 3)
    except (OSError, ValueError):
        return None
    # A zombie is dead: it only waits to be buried by whoever is its parent.
    return None if state in b"ZX" else Process(pid, int(parent), int(group))


def memory_of(pid: int) -> int:
    """Bytes of memory that a process has in use, those that it shares with others included."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def fair_memory_of(pid: int) -> int:
    """The same with shared pages divided among those that share them: dear to know, and true in a sum."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            for line in file:
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return memory_of(pid)


def signal_all(root: int, number: int, *, spared: Collection[int] = ()) -> int:
    """Send a signal to all that is below a process; how many there were.

    Whole groups at once: the kernel does that in one go, and no fork comes between. Every group below is
    entirely below, because commands begin in a session of their own.
    """
    found = Tree(root, spared=spared).below()
    mine = os.getpgid(root)
    for group in {each.group for each in found} - {mine}:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for each in found:
        if each.group == mine:
            with contextlib.suppress(OSError):
                os.kill(each.pid, number)
    return len(found)


def kill_all(root: int, *, spared: Collection[int] = ()) -> None:
    """Kill all that is below a process, also what forks meanwhile."""
    until = time.monotonic() + PATIENCE_S
    while signal_all(root, signal.SIGKILL, spared=spared) and time.monotonic() < until:
        time.sleep(PAUSE_S)


# What only the system's own library can be asked for


def adopt_orphans() -> None:
    """Become the parent of every process below that loses its own."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Be killed when the thread that forked this process is gone."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def be_called(name: bytes) -> None:
    """What `ps` and `top` show, up to fifteen letters."""
    _prctl(_PR_SET_NAME, name)


if sys.platform == "linux":
    import ctypes

    # Looked up once, in the keeper: each fork of it would have to do it again.
    _prctl_of_libc = ctypes.CDLL(None).prctl

    def _prctl(option: int, argument: int | bytes) -> None:
        _prctl_of_libc(option, argument, 0, 0, 0)

else:

    def _prctl(option: int, argument: int | bytes) -> None:  # there is no such thing here
        pass
