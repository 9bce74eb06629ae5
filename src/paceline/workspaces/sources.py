"""What a workspace can be made from, as values that can be written down and read back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, assert_never

from paceline.errors import PacelineError


class WorkspaceError(PacelineError):
    """A workspace cannot be made, or what came of it cannot be kept. It says nothing about the agent."""


class WorkspaceGone(WorkspaceError):
    """Whoever worked in it has removed it, or put something else in its place."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty folder."""


@dataclass(frozen=True, slots=True)
class Template:
    """A copy of a folder."""

    folder: Path


@dataclass(frozen=True, slots=True)
class Archive:
    """What a tar or zip file holds, without the first `strip` folders of each path."""

    file: Path
    strip: int = 0


@dataclass(frozen=True, slots=True)
class Repository:
    """A git repository at a commit."""

    url: str
    """An address, or a path."""
    commit: str = "HEAD"


Source = Nothing | Template | Archive | Repository


def to_plain(source: Source) -> dict[str, Any]:
    """A source as it stands in a record."""
    match source:
        case Nothing():
            return {}
        case Template(folder):
            return {"template": str(folder)}
        case Archive(file, strip):
            return {"archive": str(file), **({"strip": strip} if strip else {})}
        case Repository(url, commit):
            return {"repository": url, "commit": commit}
        case _:
            assert_never(source)


def from_plain(plain: Mapping[str, Any]) -> Source:
    """The source that stands in a record."""
    if "template" in plain:
        return Template(Path(plain["template"]))
    if "archive" in plain:
        return Archive(Path(plain["archive"]), plain.get("strip", 0))
    if "repository" in plain:
        return Repository(plain["repository"], plain["commit"])
    return Nothing()
