"""`paceline resume`: go on with a run, from what its record says about how it was started."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paceline.cli import rescore, run
from paceline.cli.run import run_flags
from paceline.cli.verb import Verb, given_of, warn
from paceline.errors import UsageError
from paceline.journal.places import shown

if TYPE_CHECKING:
    from paceline.journal.records import RunLine

STARTERS = {"run": (run.command, run.start), "rescore": (rescore.command, rescore.start)}
"""The commands that start runs, and how they are carried out. The record knows what they were called with."""

ONCE = {
    "retry_errors": False,
    "accept_changes": False,
    "dry_run": False,
    "as_json": False,
    "quiet": False,
    "verbose": False,
    "debug": False,
}
"""What holds for the process that was told so, and not for whoever goes on with the run."""


@click.command("resume", cls=Verb)
@click.argument("run", required=False)
@run_flags
@click.pass_context
def command(ctx: click.Context, /, run: str | None, **given: Any) -> int:
    """Run what is not done of RUN (a path, or an id; else the latest unfinished run, or the latest).

    The suite is loaded as the record says it was, from the same directory and with the same flags; flags
    given here go first.
    """
    from paceline.cli.find import find_resumable

    found, choice = find_resumable(run)
    if choice and not given["quiet"]:
        warn(choice)
    path = found.resolve()
    line = _started_by(path)
    written = line.command
    starter, start = STARTERS[written[1]]
    params = {**starter.make_context(written[1], written[2:]).params, **ONCE, "output": shown(path)}
    if line.rescored_from:
        params["run"] = line.rescored_from  # "the latest" is another one by now
    overruled = given_of(given, ctx)
    if unknown := sorted(set(overruled) - set(params)):
        raise UsageError(f"`paceline {written[1]}` takes no {', '.join(unknown)}", hint="leave it out")
    return start(written, {**params, **overruled})


def _started_by(path: Path) -> RunLine:
    """What says how a run was started; goes to the directory where that was."""
    from paceline.runs import first_line

    line = first_line(path)
    if line is None:
        raise UsageError(
            f"how {shown(path)} was started is not known: the first line of its record is damaged",
            hint=f"start the same command again, with -o {shlex.quote(shown(path))} --accept-changes",
        )
    if line.command[:1] != ["paceline"] or line.command[1] not in STARTERS:
        raise UsageError(
            f"{path} was not started by `paceline run`",
            hint=f"start `{shlex.join(line.command)}` again, with journal={str(path)!r}",
        )
    try:
        os.chdir(line.directory)
    except OSError as error:
        raise UsageError(
            f"{path} was started in {line.directory}, which cannot be entered: {error.strerror}",
            hint=f"in the directory where the suite is now: {shlex.join([*line.command, '-o', str(path)])}",
        )
    return line
