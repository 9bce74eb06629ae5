"""What Landlock is told of a cell: below which paths which rights remain, everything else being refused.

Needs no namespaces and no rights, so it also holds within most containers. It knows files and signals;
sockets are refused by seccomp (`gate`).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from paceline.containment.means import LANDLOCK_SCOPES
from paceline.containment.view import DEVICES, etc_paths, system_paths

if TYPE_CHECKING:
    from paceline.containment.cell import Cell
    from paceline.containment.means import Means

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_ON_FOLDERS_TO_WRITE: Final = sum(1 << bit for bit in (4, 5, 7, 8, 9, 10, 12))
"""Removing folders and files; making folders, files, sockets, pipes and links."""
_MAKE_DEVICES: Final = (1 << 6) | (1 << 11)
_REFER, _TRUNCATE, _IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15
_IOCTL_SINCE: Final = 5

READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
WRITE: Final = READ | _WRITE_FILE | _ON_FOLDERS_TO_WRITE | _REFER | _TRUNCATE
_ON_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
"""The rights that mean something for what is no folder."""
_ABSTRACT_SOCKETS, _SIGNALS = 1 << 0, 1 << 1


def rules(cell: Cell, found: Means, seen: Iterable[str], scratch: Path) -> dict[str, Any]:
    """The rules of a cell, as the gate takes them."""
    handled = WRITE | _MAKE_DEVICES | (_IOCTL_DEVICE if found.landlock >= _IOCTL_SINCE else 0)
    read = [*system_paths(), *seen, *map(str, cell.readable)]
    if cell.etc:
        read += etc_paths(network=cell.network)
    paths = [(path, READ) for path in read]
    paths += [(str(path), WRITE) for path in (scratch, *cell.writable)]
    paths += [(f"/dev/{name}", _READ_FILE | _WRITE_FILE | _TRUNCATE) for name in DEVICES]
    return {
        "handled": handled,
        "scoped": _ABSTRACT_SOCKETS | _SIGNALS if found.landlock >= LANDLOCK_SCOPES else 0,
        "paths": [(path, allowed if Path(path).is_dir() else allowed & _ON_FILES) for path, allowed in paths],
    }
