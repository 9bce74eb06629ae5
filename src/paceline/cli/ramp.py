"""`paceline ramp`: how much the provider of a suite bears, found with cases of that suite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from paceline.cli import closed_from_the_start
from paceline.cli.options import json_flag, selection_flags, setting_flags_but, settings_among
from paceline.cli.run import Call, job_from, suite_flags
from paceline.cli.verb import (
    StdoutLost,
    Verb,
    say_json,
    stdout_for_the_document,
    unless_gone,
    warn,
    written_arguments,
)
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.conduct import Job
    from paceline.progress import Style
    from paceline.ramp.report import RampReport

OWN = ("--levels", "--per-level", "--variant", "--svg")
"""Options that `run` does not know, each with a value."""
WITHOUT_MEANING = ("max_concurrency", "fail_fast", "fail_on", "replay")
"""Settings of runs: a sweep has its levels, its own rules when to stop, and its own exit codes."""


@click.command("ramp", cls=Verb)
@click.argument("target", required=False)
@click.option("--levels", metavar="N,N,...", help="Cases at a time, rising.  [1,2,4,...,128]")
@click.option(
    "--per-level", metavar="N", default="20", show_default=True, help="Cases at each level, or more."
)
@click.option("--variant", metavar="NAME", help="Which of several variants of the suite.")
@click.option("--svg", metavar="FILE", help="Draw the curve into this file too.")
@suite_flags
@selection_flags
@click.option("--accept-changes", is_flag=True, help="Go on although the suite has changed.")
@click.option(
    "--rehearse",
    is_flag=False,
    flag_value="rehearsal",
    metavar="[SCENARIO]",
    help="Climb against a simulated provider: free, and nothing is learned of a real one.",
)
@setting_flags_but(*WITHOUT_MEANING)
@json_flag
@click.option("-q", "--quiet", is_flag=True, help="No progress; only what was found.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Climb: hold 1, 2, 4, ... cases of TARGET at a time, until more brings nothing or does harm.

    Says what the ceiling is and why, and keeps it for `-j auto`. The cases are on record as those of any run:
    `paceline run TARGET -o PATH`, or `paceline resume`, takes them as done. Killed or interrupted, the same
    command with the same -o goes on with the levels that are missing.
    """
    from paceline.ramp.levels import parse_levels

    levels, per_level = given.pop("levels"), _count(given.pop("per_level"))
    chosen = parse_levels(levels) if levels is not None else None
    variant, svg, quiet = given.pop("variant"), given.pop("svg"), given["quiet"]
    picture = _place_for(svg)
    flags = settings_among(given)
    call = Call(
        # What goes on with it is a run, by `paceline resume`.
        written=["paceline", "run", *without(written_arguments(ctx), OWN)],
        retry_errors=False,
        dry_run=False,
        recording=None,
        record_only=False,
        verbose=False,
        debug=False,
        flags=flags,
        **given,
    )
    with stdout_for_the_document(call.as_json):
        job, settings = job_from(call)
        if call.output is None:
            _mention_unfinished(job)
        found = _climb(job, chosen, per_level, variant, "none" if quiet else settings["progress"])
    return _tell(found, picture, as_json=call.as_json)


def _count(written: str) -> int:
    try:
        number = int(written)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"--per-level {written!r} is no number of cases", hint="such as --per-level 20")
    return number


def _place_for(svg: str | None) -> Path | None:
    """Where the picture goes: said before anything is paid for, if it cannot go there."""
    if svg is None:
        return None
    path = Path(svg).absolute()
    if not svg or path.is_dir() or not path.parent.is_dir():
        raise UsageError(
            f"--svg {svg!r} is no file that can be written", hint="name a file in a directory that is there"
        )
    return path


def without(arguments: list[str], options: tuple[str, ...]) -> list[str]:
    """Arguments as they were typed, without some options and their values."""
    kept: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            return [*kept, argument, *rest]
        name, equals, _ = argument.partition("=")
        if name not in options:
            kept.append(argument)
        elif not equals:
            next(rest, None)
    return kept


def _climb(
    job: Job, levels: tuple[int, ...] | None, per_level: int, variant: str | None, style: Style
) -> RampReport:
    from paceline.engine.loop import run_to_end
    from paceline.ramp.front import Wishes, climb
    from paceline.ramp.view import View

    wishes = Wishes(levels=levels, per_level=per_level, variant=variant)
    view = View(style)
    job = replace(job, options=replace(job.options, progress=False))
    return run_to_end(lambda: climb(job, wishes, view=view, owns_process=True))


def _mention_unfinished(job: Job) -> None:
    from paceline.cli.find import done_of, unfinished_run
    from paceline.runs import runs_root

    found = unfinished_run(runs_root(job.options.runs), job.suite)
    if found is not None:
        warn(
            f"an unfinished run of {job.suite} exists ({done_of(found.path)}): "
            f"`-o {quote(str(found.path))}` climbs with the cases it has left; starting a new one"
        )


def _tell(found: RampReport, picture: Path | None, *, as_json: bool) -> int:
    """Show what was found, and what to do next; the exit code."""
    if picture is not None:
        _draw(found, picture)
    try:
        if as_json:
            say_json(found.to_dict())
        elif 1 not in closed_from_the_start:
            with unless_gone():
                found.print()
    except StdoutLost as error:
        warn(f"warning: {error}")
    if found.path is not None:
        place = quote(str(found.path))
        if found.how != "complete":
            warn(f"incomplete: {found.stopped}")
            warn(f"the same command with -o {place} goes on with it")
        left = f"runs the {found.left:,} that are left" if found.left else "has nothing left to run"
        warn(f"the cases are on record in {place}; `paceline resume {place}` {left}")
    return found.exit_code()


def _draw(found: RampReport, picture: Path) -> None:
    try:
        picture.write_text(found.to_svg(), encoding="utf-8")
    except OSError as error:
        warn(f"warning: {picture} cannot be written: {error.strerror}")
