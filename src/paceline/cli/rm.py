"""`paceline rm`: remove runs. Nothing but a run is ever removed, and no run that is being written."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from pathlib import Path

import click

from paceline.cli.verb import Verb, say
from paceline.errors import UsageError


@click.command("rm", cls=Verb)
@click.argument("runs", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def command(runs: tuple[str, ...], yes: bool) -> int:
    """Remove RUNS (paths or ids) with all that was recorded of them."""
    from paceline.cli.find import find_run

    paths = [find_run(named) for named in runs]
    shown = "".join(f"\n  {path}" for path in paths)
    if not yes and not sys.stdin.isatty():
        raise UsageError(
            "nobody is at a terminal to confirm this", hint="pass --yes to remove without being asked"
        )
    if not yes and not click.confirm(f"Remove for good:{shown}\nSure?", err=True):
        say("nothing was removed")
        return 0
    for path in paths:
        remove(path)
        say(f"removed {path}")
    return 0


def remove(run: Path) -> None:
    """Remove what a run consists of, and its directory if nothing else is in it.

    A run may have been recorded in a directory that holds other things, `-o .` for one: they stay.
    """
    from paceline.journal import lock
    from paceline.journal.places import locate

    places = locate(run)
    held = lock.acquire(places.lock)  # refuses a run that is being written, with its owner
    try:
        torn = places.journal.parent.glob(f"{places.journal.name}.torn-[0-9]*")
        for file in (*torn, places.damaged, places.bodies, places.journal):
            file.unlink(missing_ok=True)
        shutil.rmtree(places.blobs, ignore_errors=True)
        shutil.rmtree(places.files, ignore_errors=True)
    finally:
        held.release()
    if run.is_dir():
        with suppress(OSError):  # something else is in it
            run.rmdir()
