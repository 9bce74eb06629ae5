"""The ground of a run: where its workspaces lie, whose they are, and sweeping what a killed run has left.

    PACELINE_WORKSPACES, else the temporary folder: paceline-<user>/<run>/...

Not in the run directory: what is above a workspace is seen from within it (git, test runners and package
managers all look upwards), and a run directory often lies in somebody's repository. A ground belongs to the
process that holds its lock, which the system frees however that process ends: one without a lock is left
over, and is swept by the resume of its run, or by the next run that has any workspaces.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from paceline.errors import JournalBusy
from paceline.journal.lock import Lock, acquire, owner_of
from paceline.workspaces.archives import unpack
from paceline.workspaces.git import git, make_comparing
from paceline.workspaces.inside import remove
from paceline.workspaces.sources import Archive, Repository, Template, WorkspaceError, to_plain
from paceline.workspaces.spreading import spread_out
from paceline.workspaces.stores import Store, store_of


class Snapshot(NamedTuple):
    """A template or an archive as it was when the run first used it."""

    files: Path
    listed: Path
    """Its index, as git calls it."""
    tree: str


class Pinned(NamedTuple):
    """A repository at the very commit that this run means by a name."""

    store: Store
    source: Repository


def grounds_root() -> Path:
    """Where grounds lie, and nothing else: what is found there is swept. Nobody else may write there."""
    base = Path(os.environ.get("PACELINE_WORKSPACES") or tempfile.gettempdir())
    root = base / f"paceline-{os.getuid()}"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = root.lstat()
    except OSError as error:
        raise WorkspaceError(f"{root} cannot be made: {error.strerror}", hint=_ELSEWHERE)
    # In a temporary folder anybody may have put it there before.
    if facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise WorkspaceError(f"{root} can be written by others", hint=_ELSEWHERE)
    return root.resolve()


_ELSEWHERE = "name a folder for workspaces: PACELINE_WORKSPACES=..."


class Ground:
    """The ground of one run. Without a lock it is somebody else's, to be used on their behalf."""

    def __init__(self, root: Path, name: str, *, pins: Path | None = None) -> None:
        """`pins`: a file in which commits that names were found to mean are kept for the resume."""
        self.root = root
        self.path = root / name
        self._pins = pins
        self._lock: Lock | None = None
        self._guards: dict[str, threading.Lock] = {}
        self._pinned: dict[str, Pinned] = {}
        self._snapshots: dict[str, Snapshot] = {}

    def claim(self) -> None:
        """Take it, and remove what a process that was killed has left on it, or on another's."""
        self.root.mkdir(parents=True, exist_ok=True)
        sweep(self.root)
        try:
            self._lock = acquire(_lock_of(self.path))
        except JournalBusy as error:
            raise WorkspaceError(
                f"workspaces of this run are in use: {error}", hint="wait for that process to end"
            )
        remove(self.path)
        self.path.mkdir(parents=True)
        spread_out(self.path)

    def place(self, attempt: str) -> Path:
        """A new folder for what belongs to an attempt."""
        place = self.path / attempt
        remove(place)
        place.mkdir(parents=True)
        return place

    def forget(self, attempt: str) -> None:
        """Remove what belongs to an attempt, or to all attempts at a key."""
        remove(self.path / attempt)

    def close(self) -> None:
        """Remove all of it, and let it go."""
        with suppress(OSError):  # what cannot be removed now is swept by a later run
            remove(self.path)
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def repository(self) -> Path:
        """A repository with settings of ours and no objects, to compare by."""
        return self._comparing("compare.git", literal=False)

    @property
    def literal(self) -> Path:
        """One by which files are their bytes; snapshots keep their objects there."""
        return self._comparing("literal.git", literal=True)

    def _comparing(self, name: str, *, literal: bool) -> Path:
        place = self.path / name
        if not place.exists():
            with self._alone("compare"):
                if not place.exists():
                    # Under another name until it is whole: nobody who sees it waits for anybody.
                    unfinished = place.with_suffix(".new")
                    make_comparing(unfinished, literal=literal)
                    unfinished.rename(place)
        return place

    def pinned(self, source: Repository) -> Pinned:
        """The commit that this run means, asked for once: a branch may move while a run is under way."""
        name = json.dumps(to_plain(source))
        if (found := self._pinned.get(name)) is not None:
            return found
        with self._alone(name):
            store = store_of(source)
            commit = store.commit(self._read_pins().get(name, source.commit))
            with self._alone("pins"):
                self._pin(name, commit)
            self._pinned[name] = found = Pinned(store, Repository(source.url, commit))
            return found

    def snapshot(self, source: Template | Archive) -> Snapshot:
        """A copy to make workspaces from, made once: the original may change while a run is under way."""
        name = json.dumps(to_plain(source))
        if (found := self._snapshots.get(name)) is not None:
            return found
        repository = self.literal
        with self._alone(name):
            place = self.path / "snapshots" / _digest(name)
            found = Snapshot(place / "files", place / "index", "")
            if not (place / "tree").exists():
                remove(place)
                found.files.mkdir(parents=True)
                _fill(source, found.files)
                tree = _indexed(found, repository)
                (place / "tree").write_text(tree)
            found = found._replace(tree=(place / "tree").read_text())
            self._snapshots[name] = found
            return found

    def _read_pins(self) -> dict[str, str]:
        if self._pins is None or not self._pins.exists():
            return {}
        pins: dict[str, str] = json.loads(self._pins.read_text())
        return pins

    def _pin(self, name: str, commit: str) -> None:
        pins = self._read_pins()
        if self._pins is not None and pins.get(name) != commit:
            self._pins.parent.mkdir(parents=True, exist_ok=True)
            fresh = self._pins.with_suffix(".new")
            fresh.write_text(json.dumps({**pins, name: commit}, indent=1))
            fresh.replace(self._pins)

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """One at a time, over the threads of this process and the workers that use this ground."""
        guard = self.path / "guards" / _digest(name)
        guard.parent.mkdir(parents=True, exist_ok=True)
        with self._guards.setdefault(name, threading.Lock()), guard.open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            yield


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=6).hexdigest()


def _fill(source: Template | Archive, files: Path) -> None:
    match source:
        case Template(folder):
            copy(folder, files)
        case Archive(file, strip):
            unpack(file, files, strip=strip)


def _indexed(snapshot: Snapshot, repository: Path) -> str:
    """Note what the files are; the objects stay with the comparing repository."""
    env = {
        "GIT_DIR": str(repository),
        "GIT_WORK_TREE": str(snapshot.files),
        "GIT_INDEX_FILE": str(snapshot.listed),
    }
    alone = ("-C", snapshot.files, "-c", "core.compression=0")
    git(*alone, "add", "--all", ".", env=env)
    return git(*alone, "write-tree", env=env).decode().strip()


def copy(folder: Path, into: Path) -> None:
    """Copy what is in a folder: links as links, permissions and times as they are."""
    done = subprocess.run(
        ["cp", "-pPR", "--", f"{folder}/.", f"{into}/"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        words = done.stderr.decode(errors="backslashreplace").strip()
        raise WorkspaceError(f"{folder} cannot be copied: {words[-1_000:]}")


def sweep(root: Path) -> int:
    """Remove grounds whose owners are gone; how many there were."""
    swept = 0
    # One without a lock at all was let go, and somebody was still at work on it.
    left = {path for path in root.iterdir() if path.is_dir()} | {
        lock.with_suffix("") for lock in root.glob("*.lock")
    }
    for ground in left:
        lock = _lock_of(ground)
        if owner_of(lock) is not None:
            continue
        try:
            mine = acquire(lock)
        except (JournalBusy, OSError):
            continue  # somebody was quicker
        with suppress(OSError):
            remove(ground)
            swept += 1
        mine.release()
        if ground.exists():
            lock.touch()  # a part of it is left, and is tried again
    return swept


def _lock_of(ground: Path) -> Path:
    return ground.with_name(f"{ground.name}.lock")


def moved(folder: Path, to: Path) -> None:
    """Move a folder, to another disk if need be."""
    to.parent.mkdir(parents=True, exist_ok=True)
    remove(to)
    shutil.move(folder, to)
