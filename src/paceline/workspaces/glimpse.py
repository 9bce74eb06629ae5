"""A glimpse of a folder: the files in it, where they are few and there is nothing for git to say about them.

Most commands leave nothing or a file or two in a workspace that was empty, and asking git costs more than
they do. What git would look into (`.gitignore`, a repository) is git's: then there is no answer here.
"""

from __future__ import annotations

import os
from typing import Final

FEW: Final = 200
"""Entries, folders included."""
_FOR_GIT: Final = frozenset({b".gitignore", b".git"})


def files_in(folder: bytes) -> list[bytes] | None:
    """Files and links below a folder, by their paths from there; None where git has to be asked."""
    found: list[bytes] = []
    unseen = [b""]
    seen = 0
    while unseen:
        above = unseen.pop()
        try:
            entries = list(os.scandir(os.path.join(folder, above)))  # noqa: PTH118  # a path of bytes
        except OSError:
            return None
        seen += len(entries)
        if seen > FEW:
            return None
        for entry in entries:
            if entry.name.lower() in _FOR_GIT:
                return None
            if entry.is_dir(follow_symlinks=False):
                unseen.append(above + entry.name + b"/")
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                found.append(above + entry.name)
    return found
