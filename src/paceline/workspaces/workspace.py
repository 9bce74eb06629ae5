"""One workspace: made for an attempt, compared with what it was, and made anew where it is gone.

    workspace = make(ground, "paris-1f3a/1", Repository("https://...", "main"), {"prompt.md": b"..."})
    ...                          the agent works in workspace.path
    workspace.changes(patch)     what it has changed
    remake(ground, name, record, patch)   the same workspace once more, for who scores it later

Setup commands are whoever's that asks; what they do counts as how the workspace was, once `settle` is called.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from paceline.workspaces.changes import Baseline, Changes, apply
from paceline.workspaces.git import EMPTY_TREE, require
from paceline.workspaces.ground import Ground, copy
from paceline.workspaces.inside import write
from paceline.workspaces.sources import (
    Archive,
    Nothing,
    Repository,
    Source,
    Template,
    WorkspaceError,
    from_plain,
    to_plain,
)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder to work in, and how it was."""

    path: Path
    baseline: Baseline
    record: Mapping[str, Any]
    """From what it was made, to be written down: `remake` understands it."""
    borrowed: Path | None = None
    """Where its repository has its objects from; whoever works in it has to be able to read there."""

    def settle(self) -> None:
        """Take it as it is now for how it was."""
        self.baseline.settle()

    def changes(self, patch: Path) -> Changes:
        """What has changed since; the patch goes into a file."""
        return self.baseline.changes(patch)


def check(source: Source) -> None:
    """Raise a `WorkspaceError` where no workspace can be made from this, here and now."""
    require()
    match source:
        case Template(folder) if not folder.is_dir():
            raise WorkspaceError(f"there is no folder {folder}", hint="the template is a folder to copy")
        case Archive(file, _strip) if not file.is_file():
            raise WorkspaceError(f"there is no archive {file}", hint="it is a tar or zip file")
        case Repository(url, _commit) if _is_path(url) and not Path(url).expanduser().exists():
            raise WorkspaceError(
                f"there is no repository {url}", hint="it is an address, or a folder with a repository in it"
            )
        case _:
            pass


def _is_path(url: str) -> bool:
    return url.startswith(("/", "./", "../", "~"))


def make(ground: Ground, name: str, source: Source, files: Mapping[str, bytes]) -> Workspace:
    """A workspace on a ground, with these files written into it; takes its time, and belongs on a thread."""
    place = ground.place(name)
    work = place / "work"
    work.mkdir()
    workspace = _made(ground, place, work, source)
    if files:
        for path, content in files.items():
            write(work, path, content)
        workspace.settle()
    return workspace


def _made(ground: Ground, place: Path, work: Path, source: Source) -> Workspace:
    own, lender = place / "objects", None
    repository = literal = ground.literal
    match source:
        case Nothing():
            borrowed, tree, record = [own], EMPTY_TREE, to_plain(source)
        case Template() | Archive():
            snapshot = ground.snapshot(source)
            copy(snapshot.files, work)
            shutil.copyfile(snapshot.listed, place / "index")
            borrowed, tree = [literal / "objects"], snapshot.tree
            record = {**to_plain(source), "tree": tree}
        case Repository():
            store, commit = ground.pinned(source)
            store.checkout(commit.commit, work)
            shutil.copyfile(work / ".git" / "index", place / "index")
            lender, repository = store.objects, ground.repository
            borrowed, tree = [lender], commit.commit
            record = to_plain(commit)
        case _:
            assert_never(source)
    baseline = Baseline(work, place, repository=repository, literal=literal, borrowed=borrowed, tree=tree)
    return Workspace(work, baseline, record, lender)


def remake(ground: Ground, name: str, record: Mapping[str, Any], given: Path | None) -> Workspace:
    """A workspace as it was before an attempt: from its record, with the files in `given` copied in."""
    source = from_plain(record)
    check(source)
    workspace = make(ground, name, source, {})
    if (before := record.get("tree")) and before != workspace.record["tree"]:
        what = record.get("template") or record.get("archive")
        raise WorkspaceError(f"{what} is not what it was when the case was run", hint="put it back as it was")
    if given is not None and given.is_dir():
        copy(given, workspace.path)
        workspace.settle()
    return workspace


def finish(workspace: Workspace, patch: Path | None) -> None:
    """Bring a workspace that was remade to where the attempt has left it."""
    if patch is not None:
        own = workspace.path / ".git" if workspace.borrowed is not None else None
        apply(patch, workspace.path, repository=own)
