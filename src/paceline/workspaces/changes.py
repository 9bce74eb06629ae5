"""What has changed in a workspace since it was made: a patch, and a list of files.

git compares, from an index and a store that lie outside the workspace: nothing in it has a say in how. A
`.git` that is in there is the agent's own; whether it commits, stashes or resets makes no difference. What
its `.gitignore` names is left out, as in a commit.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from paceline.workspaces.git import EMPTY_TREE, git
from paceline.workspaces.glimpse import files_in

BIGGEST: Final = 32 * 1024 * 1024
"""Bytes of a file whose content a patch may hold."""
MOST: Final = 256 * 1024 * 1024
"""Bytes of all of them together."""

_AS_A_PATCH: Final = (
    *("--cached", "--binary", "--full-index"),
    *("--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
)

Kind = Literal["added", "modified", "deleted"]
_KINDS: Final[dict[str, Kind]] = {"?": "added", "C": "modified", "R": "deleted"}


class Changed(NamedTuple):
    """A file that is no longer what it was."""

    kind: Kind
    path: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What an attempt has changed."""

    files: tuple[Changed, ...] = ()
    patch: Path | None = None
    """Applied to the workspace as it was, it makes all of these; None where there are none."""
    left_out: tuple[str, ...] = ()
    """Changed files that the patch does not hold, with the reason."""


class Baseline:
    """A workspace as it was.

    `repository` lends its settings, which are ours; objects come from `borrowed` and go into `place`.
    """

    def __init__(
        self, folder: Path, place: Path, *, repository: Path, borrowed: Sequence[Path], tree: str
    ) -> None:
        self._folder = folder
        self._tree = tree
        self._index = place / "index"
        self._now = place / "index.now"
        objects = place / "objects"
        objects.mkdir(parents=True, exist_ok=True)
        self._env = {
            "GIT_DIR": str(repository),
            "GIT_WORK_TREE": str(folder),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(map(str, borrowed)),
        }

    def settle(self) -> None:
        """Take everything as it is now for how it was."""
        found = self._found()
        if found:
            self._take((path for path, _kind in self._held(found, [])[0]), self._index)
            self._tree = self._git("write-tree", index=self._index).decode().strip()

    @property
    def tree(self) -> str:
        """The name of how it was."""
        return self._tree

    def changes(self, patch: Path) -> Changes:
        """What is different now; the patch goes into a file, on the disk for good."""
        found = self._found()
        if not found:
            return Changes()
        left_out: list[str] = []
        held, files = self._held(found, left_out)
        if held:
            if self._index.exists():
                shutil.copyfile(self._index, self._now)
            self._take((path for path, _kind in held), self._now)
            with patch.open("wb") as file:
                self._git("diff", *_AS_A_PATCH, self._tree, index=self._now, stdout=file)
                file.flush()
                os.fsync(file.fileno())
        changed = tuple(Changed(kind, _shown(path)) for path, kind in sorted(files))
        return Changes(changed, patch if held else None, tuple(left_out))

    def _found(self) -> dict[bytes, Kind]:
        """The files that are not what they were."""
        if self._tree == EMPTY_TREE and (there := files_in(os.fsencode(self._folder))) is not None:
            return dict.fromkeys(there, "added")
        look = ("-t", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
        found: dict[bytes, Kind] = {}
        for entry in self._git("ls-files", *look, index=self._index).split(b"\0"):
            tag, _, path = entry.partition(b" ")
            if path and found.get(path) != "deleted":  # one that is gone is listed as modified, too
                found[path] = _KINDS[tag.decode()]
        return found

    def _held(
        self, found: dict[bytes, Kind], left_out: list[str]
    ) -> tuple[list[tuple[bytes, Kind]], list[tuple[bytes, Kind]]]:
        """Of what was found, what a patch can hold, and what counts as changed; the rest is `left_out`."""
        held: list[tuple[bytes, Kind]] = []
        files: list[tuple[bytes, Kind]] = []
        room = MOST
        for path, kind in sorted(found.items()):
            size, why = (0, "") if kind == "deleted" else self._weighed(path)
            if size > min(BIGGEST, room):
                why = f"it has {size:,} bytes"
            if why:
                left_out.append(f"{_shown(path)}: {why}")
            else:
                room -= size
                held.append((path, kind))
            files.append((path, kind))
        return held, files

    def _weighed(self, path: bytes) -> tuple[int, str]:
        """The size of a file, and why it cannot be held, if so."""
        if path.endswith(b"/"):
            return 0, "it is a repository of its own"
        full = os.path.join(os.fsencode(self._folder), path)  # noqa: PTH118  # a path of bytes
        try:
            facts = os.lstat(full)
        except OSError as error:
            return 0, str(error.strerror)
        if stat.S_ISREG(facts.st_mode) and not os.access(full, os.R_OK):
            return 0, "it cannot be read"
        return facts.st_size, ""

    def _take(self, paths: Iterable[bytes], index: Path) -> None:
        listed = b"".join(path + b"\0" for path in paths)
        how = ("--add", "--remove", "--replace", "-z", "--stdin")
        self._git("update-index", *how, index=index, stdin=listed)

    def _git(
        self, *arguments: str, index: Path, stdin: bytes = b"", stdout: IO[bytes] | None = None
    ) -> bytes:
        env = {**self._env, "GIT_INDEX_FILE": str(index)}
        return git(
            "-C", self._folder, "-c", "core.bare=false", *arguments, env=env, stdin=stdin, stdout=stdout
        )


def apply(patch: Path, folder: Path) -> None:
    """Apply a patch to a workspace as it was."""
    # Not told of any repository, git takes the patch as it is: paths from the folder, nothing else.
    env = {"GIT_DIR": os.devnull, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    git("-C", folder, "apply", "--binary", "--whitespace=nowarn", patch.resolve(), env=env)


def _shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")
