"""Hidden tests: files and a patch that are put into a workspace when the agent has left it.

What the agent has made of the same files does not count, as in SWE-bench: before a patch of tests is applied,
the files that it touches are brought back to what they were.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.evaluators.code.judging import NotJudged
from paceline.evaluators.code.patches import Damaged, files_of
from paceline.evaluators.wording import brief
from paceline.workspaces.git import git
from paceline.workspaces.inside import write
from paceline.workspaces.sources import WorkspaceError


@dataclass(frozen=True, slots=True)
class HiddenTests:
    """What is put into a workspace."""

    files: Mapping[str, str]
    patch: str = ""

    def put_into(self, where: Path, attributes: Mapping[str, Any]) -> None:
        """Write them; NotJudged where they cannot be what they are meant to be."""
        try:
            for path, text in self.files.items():
                write(where, path, text.encode("utf-8", "surrogateescape"))
            if self.patch:
                _apply(self.patch, where, attributes)
        except (WorkspaceError, Damaged, OSError) as error:
            raise NotJudged(f"the tests cannot be put into the workspace: {error}") from error


def hidden_tests(files: Mapping[str, str] | None, patch: str | None, metadata: object) -> HiddenTests:
    """The hidden tests of a case: those given, or `test_files` and `test_patch` of its metadata."""
    told = metadata if isinstance(metadata, Mapping) else {}
    files = told.get("test_files") if files is None else files
    patch = told.get("test_patch") if patch is None else patch
    if files is not None and not (
        isinstance(files, Mapping) and all(isinstance(each, str) for pair in files.items() for each in pair)
    ):
        raise NotJudged(f"test_files is {brief(files)}, not a mapping from paths to texts")
    if patch is not None and not isinstance(patch, str):
        raise NotJudged(f"test_patch is {brief(patch)}, not a patch")
    return HiddenTests(files or {}, patch or "")


def _apply(patch: str, where: Path, attributes: Mapping[str, Any]) -> None:
    if _git_apply(where, patch, "--reverse", "--check"):
        return  # another evaluator, or an earlier try of this one, has done it
    touched = set(files_of(patch))
    changed = {each["path"] for each in attributes.get("changed_files") or () if isinstance(each, Mapping)}
    if again := sorted(touched & changed):
        _bring_back(again, where, attributes)
    if not _git_apply(where, patch):
        raise NotJudged("the patch of the tests does not apply to the workspace")


def _bring_back(paths: list[str], where: Path, attributes: Mapping[str, Any]) -> None:
    """Bring files back to what they were, by the patch that was kept of what the agent has changed."""
    workspace, kept = attributes.get("workspace_source"), attributes.get("patch")
    if not isinstance(workspace, Mapping) or "run" not in workspace or not isinstance(kept, str):
        raise NotJudged(
            f"the agent has changed {paths[0]}, as the tests do, and nothing was kept of how it was"
        )
    content = Path(workspace["run"], kept).read_bytes().decode("utf-8", "surrogateescape")
    only = [f"--include={_as_pattern(path)}" for path in paths]
    if not _git_apply(where, content, "--reverse", *only):
        raise NotJudged(f"{paths[0]} cannot be brought back to what it was before the agent changed it")


def _as_pattern(path: str) -> str:
    """A path as a pattern that means just it."""
    return "".join(f"\\{sign}" if sign in "*?[\\" else sign for sign in path)


def _git_apply(where: Path, patch: str, *how: str) -> bool:
    """Whether git has applied a patch to the files of a folder, as they are."""
    # Told of no repository, git takes paths from the folder, and nothing else.
    env = {"GIT_DIR": os.devnull, "GIT_CEILING_DIRECTORIES": str(where.parent)}
    content = patch if patch.endswith("\n") else f"{patch}\n"
    with tempfile.NamedTemporaryFile(suffix=".patch") as file:
        file.write(content.encode("utf-8", "surrogateescape"))
        file.flush()
        try:
            git("-C", where, "apply", "--binary", "--whitespace=nowarn", *how, file.name, env=env)
        except WorkspaceError:
            return False
    return True
