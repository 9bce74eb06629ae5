"""`paceline view`: the runs of a folder in the browser, while they go on and afterwards."""

from __future__ import annotations

import time
from pathlib import Path

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, warn


@click.command("view", cls=Verb)
@click.argument("directory", required=False, type=click.Path(path_type=Path))
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Listen at this port; 0 for any.")
@click.option("--no-open", is_flag=True, help="Only say where it is.")
@json_flag
def command(directory: Path | None, port: int | None, no_open: bool, as_json: bool) -> int:
    """Show the runs in DIRECTORY (or that one run) in the browser, live, until Ctrl-C.

    With --json, print the list of runs and serve nothing.
    """
    from paceline.cli.find import runs_folder
    from paceline.errors import UsageError

    root = directory or runs_folder()
    if not root.is_dir():
        raise UsageError(f"there is no folder {root}", hint="name the folder that your runs are in")
    if as_json:
        from paceline.view.listing import Listing

        say_json([run.document() for run in Listing(root).runs(patience=float("inf"), now=time.monotonic)])
        return 0
    _serve(root, port, opens=not no_open)
    return 0


def _serve(root: Path, port: int | None, *, opens: bool) -> None:
    import webbrowser

    from paceline.cli.beside import Ending
    from paceline.view.server import View

    with Ending() as ending, View(root, port=port) as view:
        say(view.url)
        warn(f"showing the runs in {root}; Ctrl-C ends it")
        if opens:
            webbrowser.open(view.url)
        ending.asked.wait()
