"""The workspace of an attempt, for whoever scores it: where it still is, or made anew.

    with workspace_of(ctx) as folder:
        ...

While its case is being scored a workspace is where the command has left it. Where it is gone (the run was
resumed, or is scored once more, days later), it is made again: from the same source at the same commit, with
the files of the case, its setup, and the patch. What cannot be made again as it was is refused.

Takes its time, and belongs on a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from paceline.processes.launch import Launch
from paceline.processes.running import run_blocking
from paceline.tasks.command.environment import ALWAYS, passed
from paceline.tasks.command.grounds import ground_for
from paceline.tasks.command.spec import SETUP_S
from paceline.workspaces.sources import WorkspaceError
from paceline.workspaces.workspace import Workspace, finish, remake


class Attempted(Protocol):
    """What an evaluator is given, as far as it matters here."""

    @property
    def attributes(self) -> Mapping[str, Any]: ...


@contextmanager
def workspace_of(ctx: Attempted) -> Iterator[Path]:
    """The folder that an attempt has worked in, as it has left it; a `WorkspaceError` where there is none."""
    attributes = ctx.attributes
    told = attributes.get("workspace_source")
    if not isinstance(told, Mapping):
        raise WorkspaceError(
            "this case has no workspace", hint="commands have one, unless they say `workspace: none`"
        )
    if (there := Path(attributes["workspace"])).is_dir():
        yield there
        return
    _check(attributes, told)
    with ground_for(None) as ground:
        run = Path(told["run"])
        given = run / told["given"] if "given" in told else None
        workspace = remake(ground, "again", told["source"], given)
        _set_up(workspace, told.get("setup", ()))
        finish(workspace, run / attributes["patch"] if "patch" in attributes else None)
        yield workspace.path


def _check(attributes: Mapping[str, Any], told: Mapping[str, Any]) -> None:
    """See that everything is there that it takes."""
    hint = "run the case again: `paceline run` with the same -o and `--retry-errors`, or a run of its own"
    if "run" not in told:
        raise WorkspaceError(
            "the workspace is gone, and nothing was kept of it", hint="give the run a journal"
        )
    if left_out := attributes.get("not_in_patch"):
        raise WorkspaceError(f"the workspace cannot be made again without {left_out[0]}", hint=hint)
    if told.get("setup") and told.get("in"):
        raise WorkspaceError(f"the workspace was set up in a container of {told['in']}", hint=hint)
    kept = [Path(told["run"]) / name for name in (attributes.get("patch"), told.get("given")) if name]
    if missing := [path for path in kept if not path.exists()]:
        raise WorkspaceError(
            f"the workspace is gone, and so is {missing[0]}", hint="was the run directory moved? put it back"
        )


def _set_up(workspace: Workspace, commands: Any) -> None:
    env = {**passed(ALWAYS), "PACELINE_WORKSPACE": str(workspace.path)}
    for argv in commands:
        ended = run_blocking(Launch(argv=tuple(argv), env=env, cwd=workspace.path, timeout_s=SETUP_S))
        if not ended.ok:
            said = ended.stderr.read()[-600:].decode(errors="backslashreplace").strip()
            raise WorkspaceError(f"its setup failed: {said or ended.error or ended.how}")
    if commands:
        workspace.settle()
