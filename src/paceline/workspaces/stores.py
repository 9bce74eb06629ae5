"""One store of objects for each repository, kept between runs; workspaces borrow from it.

    PACELINE_CACHE, else XDG_CACHE_HOME/paceline, else ~/.cache/paceline: repositories/<name>-<hash>.git

A workspace has a repository of its own, with branches, stash and settings that no other sees, and its
objects come from here (git calls that alternates). A worktree in git's sense would share all of these: one
agent's `git stash` or new branch would be every other's, and `git log --all` would show each what comes
after its commit.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from paceline.settings import cache_root
from paceline.workspaces.git import fetch, git, make_repository
from paceline.workspaces.sources import Repository, WorkspaceError

BRANCH: Final = "main"
"""What the only branch of a workspace is called."""
_WHOLE_HASH: Final = re.compile(r"[0-9a-f]{40}")


def stores_root() -> Path:
    """Where stores are kept."""
    return cache_root() / "repositories"


class Store:
    """The objects of one repository."""

    def __init__(self, root: Path, url: str) -> None:
        local = Path(url).expanduser()
        self.url = str(local.resolve()) if local.exists() else url
        name = re.sub(r"[^\w.-]+", "-", Path(self.url.rstrip("/")).name.removesuffix(".git")).strip(".-")
        digest = hashlib.blake2b(self.url.encode(), digest_size=6).hexdigest()
        self.path = root / f"{name[:60] or 'repository'}-{digest}.git"

    @property
    def objects(self) -> Path:
        """What workspaces borrow from."""
        return self.path / "objects"

    def commit(self, wanted: str) -> str:
        """The full hash of a commit, which is here from now on. Names are asked for where they come from."""
        if _WHOLE_HASH.fullmatch(wanted) and self._has(wanted):
            return wanted
        if wanted.startswith("-"):
            raise WorkspaceError(f"{wanted!r} is no commit")
        with self._alone():
            return self._fetched(wanted)

    def checkout(self, commit: str, folder: Path) -> None:
        """A repository of its own in an empty folder, at a commit; objects are borrowed."""
        own = folder / ".git"
        make_repository(own, head=f"ref: refs/heads/{BRANCH}\n", bare=False)
        (own / "objects" / "info" / "alternates").write_text(f"{self.objects}\n")
        (own / "refs" / "heads" / BRANCH).write_text(f"{commit}\n")
        shutil.copyfile(self._index(commit), own / "index")
        # Everything at once, from an index that is there: half of what `git worktree add` takes.
        git("-C", folder, "checkout-index", "--all", "--quiet", "--index")

    def _has(self, commit: str) -> bool:
        if not self.objects.is_dir():
            return False
        try:
            git("--git-dir", self.path, "cat-file", "-e", f"{commit}^{{commit}}")
        except WorkspaceError:
            return False
        return True

    def _fetched(self, wanted: str) -> str:
        if not (self.path / "HEAD").is_file():  # which is written last: whoever made it may have been killed
            make_repository(self.path, bare=True)
        # Packed, however few: loose objects are slow to read two hundred times. Never tidied: others borrow.
        here = ("--git-dir", self.path, "-c", "fetch.unpackLimit=1", "-c", "gc.auto=0")
        take = (*here, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", self.url)
        try:
            fetch(*take, wanted)
            found = "FETCH_HEAD"
        except WorkspaceError as first:
            # Not the name of anything there: a shortened hash, or a server that gives out none.
            try:
                fetch(*take, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
            except WorkspaceError:
                raise WorkspaceError(
                    f"{self.url} cannot be fetched: {first}",
                    hint="does `git ls-remote` of it work here, without asking for a password? "
                    f"if it does, remove {self.path}, which is made again",
                )
            found = wanted
        try:
            said = git("--git-dir", self.path, "rev-parse", "--verify", "--quiet", f"{found}^{{commit}}")
        except WorkspaceError:
            raise WorkspaceError(
                f"{self.url} has no commit {wanted}", hint="name a commit, branch or tag of it"
            )
        commit = said.decode().strip()
        git("--git-dir", self.path, "update-ref", f"refs/paceline/{commit}", commit)
        return commit

    def _index(self, commit: str) -> Path:
        """The index of a commit, made once."""
        index = self.path / "paceline" / f"{commit}.index"
        if not index.exists():
            with self._alone():
                index.parent.mkdir(exist_ok=True)
                fresh = index.with_suffix(".new")
                git("--git-dir", self.path, "read-tree", commit, env={"GIT_INDEX_FILE": str(fresh)})
                fresh.replace(index)
        return index

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One at a time, over all processes and threads that use the store."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def store_of(source: Repository, root: Path | None = None) -> Store:
    """The store for a repository."""
    return Store(root or stores_root(), source.url)
