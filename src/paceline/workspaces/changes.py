"""What has changed in a workspace since it was made: a patch, and a list of files.

git compares, from an index and a store that lie outside the workspace: nothing in it has a say in how. A
`.git` that is in there is the agent's own; whether it commits, stashes or resets makes no difference. What
its `.gitignore` names is left out, as in a commit; a `.gitignore` itself never is. Files are compared by
their bytes, unless the repository that they come from has them written otherwise than it keeps them.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal, NamedTuple

from paceline.workspaces.git import ANY_NAME, EMPTY_TREE, git
from paceline.workspaces.glimpse import cleared_for_git, files_in
from paceline.workspaces.sources import WorkspaceGone

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

    `repository` lends its settings, which are ours; objects come from `borrowed` and go into `place`. Where
    the agent has changed how files are to be written, `literal` lends them: files are their bytes.
    """

    def __init__(
        self,
        folder: Path,
        place: Path,
        *,
        repository: Path,
        literal: Path,
        borrowed: Sequence[Path],
        tree: str,
    ) -> None:
        self._folder = folder
        self._tree = tree
        self._index = place / "index"
        self._now = place / "index.now"
        self._literal = str(literal)
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
        found = self._found([])
        if found:
            self._take(self._held(found, [])[0], self._index)
            self._tree = self._git("write-tree", index=self._index).decode().strip()

    @property
    def tree(self) -> str:
        """The name of how it was."""
        return self._tree

    def changes(self, patch: Path) -> Changes:
        """What is different now; the patch goes into a file, on the disk for good."""
        left_out: list[str] = []
        found = self._found(left_out)
        if self._env["GIT_DIR"] != self._literal and any(map(_is_attributes, found)):
            self._env["GIT_DIR"] = self._literal
            found = self._found(left_out)
        held, files = self._held(found, left_out)
        if held:
            if self._index.exists():
                shutil.copyfile(self._index, self._now)
            self._take(held, self._now)
            with patch.open("wb") as file:
                self._git("diff", *_AS_A_PATCH, self._tree, index=self._now, stdout=file)
                file.flush()
                os.fsync(file.fileno())
        changed = tuple(Changed(kind, _shown(path)) for path, kind in sorted(files))
        return Changes(changed, patch if held else None, tuple(left_out))

    def _found(self, left_out: list[str]) -> dict[bytes, Kind]:
        """The files that are not what they were."""
        if not self._folder.is_dir() or self._folder.is_symlink():
            raise WorkspaceGone("the folder that it was given is not there any more")
        folder = os.fsencode(self._folder)
        if self._tree == EMPTY_TREE and (there := files_in(folder)) is not None:
            return dict.fromkeys(there, "added")
        left_out += [f"{_shown(path)}: it was no plain file" for path in cleared_for_git(folder)]
        # An agent could hide what it likes by a .gitignore that names itself.
        ignored = ("--exclude-standard", "--exclude=!.gitignore")
        look = ("-t", "-z", "--modified", "--deleted", "--others", *ignored)
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
        parts = path.lower().split(b"/")
        if b".git" in parts or (stat.S_ISLNK(facts.st_mode) and parts[-1].startswith(b".gitmodules")):
            return 0, "git takes nothing of that name"
        if stat.S_ISREG(facts.st_mode) and not os.access(full, os.R_OK):
            return 0, "it cannot be read"
        return facts.st_size, ""

    def _take(self, held: Sequence[tuple[bytes, Kind]], index: Path) -> None:
        """Have an index say what is there now."""
        gone = [path for path, kind in held if kind == "deleted"]
        there = [path for path, kind in held if kind != "deleted"]
        if gone:  # first, and unseen: a link may lead elsewhere where their folder was
            self._update(gone, index, "--force-remove")
        if there:
            self._update(there, index, "--add", "--remove", "--replace")

    def _update(self, paths: Iterable[bytes], index: Path, *how: str) -> None:
        listed = b"".join(path + b"\0" for path in paths)
        self._git("update-index", *how, "-z", "--stdin", index=index, stdin=listed)

    def _git(
        self, *arguments: str, index: Path, stdin: bytes = b"", stdout: IO[bytes] | None = None
    ) -> bytes:
        env = {**self._env, "GIT_INDEX_FILE": str(index)}
        return git("-C", self._folder, *arguments, env=env, stdin=stdin, stdout=stdout)


def apply(patch: Path, folder: Path, *, repository: Path | None = None) -> None:
    """Apply a patch to a workspace as it was; `repository` is its own, where it was made from one."""
    # Told of no repository, git takes the patch as it is: paths from the folder, nothing else. Of one it
    # learns which files are written otherwise than they are kept.
    env = {"GIT_DIR": str(repository or os.devnull), "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    if repository is not None:
        env["GIT_WORK_TREE"] = str(folder)
    git("-C", folder, *ANY_NAME, "apply", "--binary", "--whitespace=nowarn", patch.resolve(), env=env)


def _is_attributes(path: bytes) -> bool:
    """Whether it is a file in which git looks for how others are written."""
    return path.rpartition(b"/")[2] == b".gitattributes"


def _shown(path: bytes) -> str:
    return path.decode(errors="backslashreplace")
