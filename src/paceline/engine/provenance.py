"""Where a run comes from: versions, commit, command. Written into its first line, so that figures can be
traced."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

PACKAGES_THAT_MATTER: Final = ("paceline", "openai", "anthropic", "pydantic-ai", "litellm", "langchain-core")


def versions() -> dict[str, str]:
    """Python, and the packages that change what a model answers."""
    found = {"python": platform.python_version()}
    for name in PACKAGES_THAT_MATTER:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def git_commit(folder: Path) -> dict[str, Any] | None:
    """The commit that a folder is at, read from git's files: starting git would cost more than the run's
    first case."""
    for directory in (folder.absolute(), *folder.absolute().parents):
        marker = directory / ".git"
        try:
            if marker.is_file():  # a worktree: a file that says where the rest is
                marker = (directory / marker.read_text().removeprefix("gitdir:").strip()).resolve()
            if not marker.is_dir():
                continue
            head = (marker / "HEAD").read_text().strip()
            if not head.startswith("ref:"):
                return {"commit": head}
            ref = head.removeprefix("ref:").strip()
            return {"commit": _resolve(marker, ref), "branch": ref.removeprefix("refs/heads/")}
        except OSError:
            return None
    return None


def _resolve(git: Path, ref: str) -> str | None:
    common = git / "commondir"
    places = [git, (git / common.read_text().strip()).resolve()] if common.is_file() else [git]
    for place in places:
        if (place / ref).is_file():
            return (place / ref).read_text().strip()
        if (place / "packed-refs").is_file():
            for line in (place / "packed-refs").read_text().splitlines():
                if line.endswith(f" {ref}"):
                    return line.split()[0]
    return None


def command() -> list[str]:
    """The command line of this process."""
    return [os.fspath(part) for part in sys.argv]
