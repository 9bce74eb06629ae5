"""PatchApplies and FilesChanged: whether a patch fits, and which files an attempt has changed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.code.judging import NotJudged
from paceline.evaluators.code.patches import Damaged, files_of, matches, patch_in
from paceline.evaluators.wording import brief, kind_of
from paceline.workspaces.git import git
from paceline.workspaces.sources import WorkspaceError

LISTED = 5
"""Files that a reason names."""


@dataclass
class PatchApplies(Evaluator[object, object, object]):
    """The output is a patch that applies to a folder: to its files, or to a `commit` of the repository there.

    Nothing in the folder changes. The patch may stand in a block with a fence, with words around it.
    """

    to: str
    commit: str | None = None
    """What the patch is for: any name that git knows a commit by; taken from the metadata's `base_commit`."""
    evaluation_name: str | None = None

    async def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        if not isinstance(ctx.output, str):
            return EvaluationReason(False, f"the output is {kind_of(ctx.output)}, not a patch")
        patch = patch_in(ctx.output)
        try:
            named = files_of(patch)
        except Damaged as error:
            return EvaluationReason(False, f"the patch is damaged: {error}")
        if not named:
            return EvaluationReason(False, "the output is no patch: it names no file")
        commit = self.commit or _commit_of(ctx.metadata)
        why_not = await asyncio.to_thread(_objection, Path(self.to), commit, patch)
        return EvaluationReason(not why_not, why_not or None)


def _commit_of(metadata: object) -> str | None:
    commit = metadata.get("base_commit") if isinstance(metadata, Mapping) else None
    return commit if isinstance(commit, str) and commit else None


def _objection(folder: Path, commit: str | None, patch: str) -> str:
    """Why a patch does not apply; empty where it does. NotJudged where there is nothing to apply it to."""
    if not folder.is_dir():
        raise NotJudged(f"there is no folder {folder} to apply a patch to")
    if not patch.endswith("\n"):
        patch += "\n"
    with tempfile.TemporaryDirectory(prefix="paceline-patch-") as scratch:
        if commit is None:
            # Told of no repository, git takes the files as they are.
            env = {"GIT_DIR": os.devnull, "GIT_CEILING_DIRECTORIES": str(folder.absolute().parent)}
            how = ["apply", "--check"]
        else:
            env = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
            how = ["apply", "--check", "--cached"]
            try:
                git("-C", folder, "read-tree", f"{commit}^{{tree}}", "--", env=env)
            except WorkspaceError as error:
                raise NotJudged(f"{folder} has no commit {commit}: {error}") from error
        try:
            git("-C", folder, *how, "-", env=env, stdin=patch.encode("utf-8", "surrogateescape"))
        except WorkspaceError as error:
            return str(error).removeprefix("`git apply` failed: ")
    return ""


@dataclass
class FilesChanged(Evaluator[object, object, object]):
    """The attempt has changed files, and only such as `only` means, and none that `never` means.

    `*.py` is a name in any folder, `src/` all below that folder, `docs/*.md` and `tests/**/data/*` paths from
    the top. What was changed is told by the workspace of the attempt, or else by a patch that is the output.
    """

    only: list[str] | None = None
    never: list[str] = field(default_factory=list)
    at_least: int = 1
    at_most: int | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        told: tuple[tuple[str, object], ...] = (("only", self.only or []), ("never", self.never))
        for name, patterns in told:
            listed = patterns if isinstance(patterns, list | tuple) else [None]
            if not all(isinstance(each, str) and each for each in listed):
                raise UsageError(
                    f"FilesChanged cannot have {brief(patterns)} for {name}",
                    hint='a list of patterns: only=["src/", "*.md"]',
                )

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        try:
            changed = _changed(ctx)
        except Damaged as error:
            return EvaluationReason(False, f"the patch is damaged: {error}")
        why_not = self._objection(changed)
        return EvaluationReason(not why_not, why_not or None)

    def _objection(self, changed: tuple[str, ...]) -> str:
        never = [path for path in changed if _any(path, self.never)]
        if never:
            return f"it changed {_some(never)}, which it never may"
        other = [path for path in changed if self.only is not None and not _any(path, self.only)]
        if other:
            return f"it changed {_some(other)}, and only {', '.join(self.only or ())} may be changed"
        if len(changed) < self.at_least:
            return f"it changed {len(changed)} files, and at least {self.at_least} were to be changed"
        if self.at_most is not None and len(changed) > self.at_most:
            return f"it changed {len(changed)} files, and at most {self.at_most} may be changed"
        return ""


def _changed(ctx: AnyContext) -> tuple[str, ...]:
    """The files that an attempt has changed."""
    listed = ctx.attributes.get("changed_files")
    if listed is None:
        if not isinstance(ctx.output, str):
            raise NotJudged("nothing tells which files were changed: there is no workspace, and no patch")
        return files_of(patch_in(ctx.output))
    if ctx.attributes.get("changed_files_left_out"):
        raise NotJudged(f"more files were changed than the {len(listed)} that are on record")
    try:
        return tuple(each if isinstance(each, str) else each["path"] for each in listed)
    except (TypeError, KeyError):
        raise NotJudged(f"changed_files is {brief(listed)}, not a list of paths") from None


def _any(path: str, patterns: list[str]) -> bool:
    return any(matches(path, pattern) for pattern in patterns)


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - LISTED} more" if len(paths) > LISTED else ""
    return f"{', '.join(paths[:LISTED])}{more}"
