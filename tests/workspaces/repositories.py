"""Repositories and folders to make workspaces from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **AUTHOR},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def repository(folder: Path, *commits: Mapping[str, str | bytes]) -> list[str]:
    """A repository with these commits; their hashes."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=trunk")
    hashes = []
    for files in commits:
        write(folder, files)
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--allow-empty", "-m", "a commit")
        hashes.append(git(folder, "rev-parse", "HEAD"))
    return hashes


def shown(folder: Path) -> dict[str, str]:
    """What is in a folder, `.git` aside: content, and where links lead."""
    found = {}
    for above, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in [*names, *(each for each in folders if Path(above, each).is_symlink())]:
            path = Path(above, name)
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = f"-> {path.readlink()}"
            else:
                executable = "x " if os.access(path, os.X_OK) and path.stat().st_mode & 0o100 else ""
                found[key] = executable + path.read_bytes().decode("latin-1")
    return found


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where stores and grounds lie in this test."""
    monkeypatch.setenv("PACELINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PACELINE_WORKSPACES", str(tmp_path / "grounds"))
    return tmp_path
