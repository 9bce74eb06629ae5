"""A glimpse of a folder before git looks into it.

Most commands leave nothing or a file or two in a workspace that was empty, and asking git costs more than
they do: what is there is seen here. What git would look into (`.gitignore`, a repository) is git's: then
there is no answer here. And what git would wait for without end is taken away before it looks: it opens
whatever has certain names, pipes too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

FEW: Final = 200
"""Entries, folders included."""
_FOR_GIT: Final = frozenset({b".gitignore", b".git"})
_OPENED: Final = frozenset({b".gitignore", b".gitattributes"})
SANE: Final = 32 * 1024 * 1024
"""Bytes that git may read at once of one of these."""


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
            if entry.name.lower() in _FOR_GIT or (entry.name in _OPENED and not _is_sane(entry)):
                return None
            if entry.is_dir(follow_symlinks=False):
                unseen.append(above + entry.name + b"/")
            elif entry.is_file(follow_symlinks=False) or entry.is_symlink():
                found.append(above + entry.name)
    return found


def cleared_for_git(folder: bytes) -> list[bytes]:
    """Take away what git would wait for, or choke on; their paths from the folder."""
    taken: list[bytes] = []
    unseen = [b""]
    while unseen:
        above = unseen.pop()
        with suppress(OSError):
            for entry in os.scandir(os.path.join(folder, above)):  # noqa: PTH118  # as above
                if entry.is_dir(follow_symlinks=False):
                    unseen.append(above + entry.name + b"/")
                elif entry.name in _OPENED and not _is_sane(entry):
                    os.unlink(entry.path)  # noqa: PTH108  # as above
                    taken.append(above + entry.name)
    return taken


def _is_sane(entry: os.DirEntry[bytes]) -> bool:
    """Whether git can read it; a link it does not follow."""
    if entry.is_symlink():
        return True
    return entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_size <= SANE
