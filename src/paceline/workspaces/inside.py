"""Writing and reading below a folder, and never outside of it, whatever paths and links say.

Folders are opened one after the other, each from the one above and none through a link, so what somebody
changes about them meanwhile does not lead elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from paceline.workspaces.sources import WorkspaceError

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def parts_of(path: str, *, git: bool = False) -> tuple[str, ...]:
    """The parts of a relative path that stays below where it starts; raises a `WorkspaceError` for any other.

    What belongs to git is refused unless `git` says otherwise: its settings name programs to run.
    """
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    wrong = (
        "it is empty"
        if not parts
        else "it is absolute"
        if path.startswith("/")
        else "it leads upwards"
        if ".." in parts
        else "it has a NUL in it"
        if "\0" in path
        else "that belongs to git"
        if not git and any(part.lower() == ".git" for part in parts)
        else ""
    )
    if wrong:
        raise WorkspaceError(
            f"{path[:200]!r} is no path of a file in a workspace: {wrong}",
            hint="write it from the workspace's folder: `src/app.py`",
        )
    return parts


@contextmanager
def created(folder: Path, parts: Sequence[str], *, executable: bool = False) -> Iterator[IO[bytes]]:
    """A new file below a folder, with the folders in between; a file or link that is there is replaced."""
    *above, name = parts
    path = "/".join(parts)
    mode = 0o777 if executable else 0o666
    with _opened(folder, above, path, make=True) as place:
        try:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place)
            fd = os.open(name, _NEW_FILE, mode, dir_fd=place)
        except OSError as error:
            raise WorkspaceError(f"{path} cannot be written: {error.strerror}")
    with open(fd, "wb") as file:
        yield file


def write(folder: Path, path: str, content: bytes) -> None:
    """Write a file below a folder."""
    with created(folder, parts_of(path)) as file:
        file.write(content)


def read(folder: Path, path: str, *, most: int) -> bytes:
    """A file below a folder. `FileNotFoundError` where there is none; a `WorkspaceError` where it is no plain
    file of the folder's own, or bigger than `most` bytes."""
    *above, name = parts_of(path, git=True)
    with _opened(folder, above, path, make=False) as place:
        try:
            # A pipe or a device would be waited for, a link leads anywhere.
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=place)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise WorkspaceError(f"{path} is a link, which is not followed")
            raise
    with open(fd, "rb") as file:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise WorkspaceError(f"{path} is not a plain file")
        if facts.st_size > most:
            raise WorkspaceError(f"{path} has {facts.st_size:,} bytes, and {most:,} are read at most")
        return file.read(most)


@contextmanager
def _opened(folder: Path, above: Sequence[str], path: str, *, make: bool) -> Iterator[int]:
    """The folder that a path leads to, opened."""
    here = os.open(folder, _OPEN_FOLDER & ~os.O_NOFOLLOW)
    try:
        for part in above:
            here = _stepped(here, part, path, make=make)
        yield here
    finally:
        os.close(here)


def _stepped(here: int, part: str, path: str, *, make: bool) -> int:
    if make:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=here)
    try:
        below = os.open(part, _OPEN_FOLDER, dir_fd=here)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise WorkspaceError(f"{path} leads through {part}, which is a link or no folder")
        raise
    os.close(here)
    return below


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also what nobody may write; not what is mounted in it.

    What cannot be removed stays, and is raised as an `OSError` in the end.
    """
    try:
        device = folder.lstat().st_dev
    except FileNotFoundError:
        return
    try:
        _empty(str(folder), device)
    except (OSError, RecursionError):
        # Deeper than paths are long, say. This program goes from folder to folder.
        only_here = ["--one-file-system"] if sys.platform == "linux" else []
        subprocess.run(["rm", "-rf", *only_here, "--", folder], capture_output=True, check=False)
    with suppress(FileNotFoundError):
        folder.rmdir()


def _empty(folder: str, device: int) -> None:
    entries = _entries(folder)
    for entry in entries:
        if not entry.is_dir(follow_symlinks=False):
            _without_leave(os.unlink, entry.path, folder)
        elif entry.stat(follow_symlinks=False).st_dev == device:
            _empty(entry.path, device)
            _without_leave(os.rmdir, entry.path, folder)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except PermissionError:
        os.chmod(folder, 0o700)  # noqa: PTH101  # paths are plain text here: there may be many
        return list(os.scandir(folder))


def _without_leave(remove_one: Callable[[str], None], path: str, folder: str) -> None:
    """Remove something, also from a folder that does not want to be changed."""
    try:
        remove_one(path)
    except PermissionError:
        os.chmod(folder, 0o700)  # noqa: PTH101  # as above
        remove_one(path)
