"""The argv of bubblewrap that makes a cell: an empty root, and in it only what was named.

Namespaces of its own for files, network, processes, IPC and the host's name. The root and /dev cannot be
written to; /tmp and /dev/shm are in memory, bounded, and gone with the cell. Everything in it ends when its
first process does, and when we do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from paceline.containment.view import SYSTEM, etc_paths, is_below, system_paths

if TYPE_CHECKING:
    from paceline.containment.cell import Cell
    from paceline.containment.means import Means

SCRATCH: Final = Path("/tmp/cell")
"""The temporary folder, as it is called inside: not /tmp itself, where what lies there may be shown."""
_SHARED_MEMORY: Final = 16 * 1024 * 1024


def argv(cell: Cell, found: Means, seen: Iterable[str], *, own_user: bool) -> tuple[str, ...]:
    """How bubblewrap is called, up to where it starts and what it runs.

    `own_user` leaves a root just the power to become somebody else, which the gate does.
    """
    spaces = ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"]
    if not cell.network:
        spaces.append("--unshare-net")
    if found.root:
        powers = ["--cap-drop", "ALL"]
        powers += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if own_user else []
    else:
        powers = ["--unshare-user"]
    return (
        *(found.bwrap, "--die-with-parent", *_first(own_user), *spaces, *powers, "--hostname", "cell"),
        *(part for path in system_paths() for part in _shown(path)),
        *("--proc", "/proc", "--dev", "/dev"),
        *_memory("/dev/shm", _SHARED_MEMORY, found),
        *("--remount-ro", "/dev"),
        *_memory("/tmp", cell.scratch, found),
        *("--perms", "1777", "--dir", str(SCRATCH)),
        *(part for path in etc_paths(network=cell.network) if cell.etc for part in _shown(path)),
        *_given(cell, seen),
        *("--remount-ro", "/"),
    )


def _first(own_user: bool) -> list[str]:
    """Who is the first process of the cell, with which all others end.

    The command itself, so that there is no process of bubblewrap's in there, which holds the same files and
    could be looked into. Not where the command is another user: that one cannot be ended with its parent, and
    cannot look into a process of root's.
    """
    return [] if own_user else ["--as-pid-1"]


def _shown(path: str) -> list[str]:
    """One of the system's paths, to read; /bin is often a link to /usr/bin, and then it stays one."""
    if os.path.islink(path) and path in SYSTEM:  # noqa: PTH114
        return ["--symlink", os.readlink(path), path]  # noqa: PTH115
    return ["--ro-bind", path, path]


def _memory(path: str, size: int, found: Means) -> list[str]:
    bound = ["--size", str(size)] if found.sizes else []
    return ["--perms", "1777", *bound, "--tmpfs", path]


def _given(cell: Cell, seen: Iterable[str]) -> Iterator[str]:
    """What is bound besides, parents before what lies in them."""
    modes = dict.fromkeys(seen, "--ro-bind")
    for paths, mode in ((cell.readable, "--ro-bind"), (cell.writable, "--bind")):
        modes |= {str(each): mode for path in paths for each in (_absolute(path), path.resolve())}
    shown = [path for path in modes if modes[path] == "--bind" or not is_below(path, SYSTEM)]
    # Made by itself, bubblewrap would close the folders above to everyone but root.
    above = {str(parent) for path in shown for parent in Path(path).parents} - {"/", "/tmp"}
    for path in sorted({*above, *shown}, key=lambda each: (each.count("/"), each)):
        if path in modes and path in shown:
            yield from (modes[path], path, path)
        elif not is_below(path, (*SYSTEM, *shown)):
            yield from ("--perms", "0755", "--dir", path)


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100  # links stay what they are
