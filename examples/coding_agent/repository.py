"""A git repository made from a folder: a repository cannot be part of another one.

The same folder makes the same commit, on every machine and whenever.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def commit_of(folder: Path, repository: Path) -> str:
    """The commit of a repository that has the folder's files; made where it is not there yet."""
    repository.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=repository.parent) as scratch:
        fresh = Path(scratch) / "kit.git"
        _git("init", "--quiet", "--bare", "--initial-branch=main", str(fresh), at=folder)
        _git("add", "--all", ".", at=folder, repository=fresh)
        _git("commit", "--quiet", "--message", "Begin", at=folder, repository=fresh)
        commit = _git("rev-parse", "HEAD", at=folder, repository=fresh)
        # Another process may do the same at this moment: whoever is last finds it there.
        if not _has(repository, commit):
            shutil.rmtree(repository, ignore_errors=True)
            try:
                fresh.rename(repository)
            except OSError:
                if not _has(repository, commit):
                    raise
    return commit


def _has(repository: Path, commit: str) -> bool:
    if not repository.is_dir():
        return False
    done = subprocess.run(
        ["git", "--git-dir", str(repository), "cat-file", "-e", commit], capture_output=True, check=False
    )
    return done.returncode == 0


def _git(*arguments: str, at: Path, repository: Path | None = None) -> str:
    """Git, with nobody's settings, and at no time in particular."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _SOMEBODY}
    place = [] if repository is None else ["--git-dir", str(repository), "--work-tree", str(at)]
    done = subprocess.run(
        ["git", *place, *arguments],
        cwd=at,
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **who},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


_SOMEBODY = (("NAME", "kit"), ("EMAIL", "kit@example.com"), ("DATE", "2026-01-01T00:00:00+0000"))
