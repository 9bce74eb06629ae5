"""The command line: parse, call one public function, print, choose the exit code.

    0    every case was scored, or the gate is green
    1    some case ended without being scored, or the gate is red (`--fail-on`)
    2    wrong usage: nothing has started
    3    the tool or its environment broke
    4    incomplete: interrupted, or out of budget
    130  cut off by a second Ctrl-C

Facts go to stdout, and with `--json` nothing but one JSON document does; progress, warnings and errors
go to stderr. A reader that has gone away is no reason to stop a run.

`paceline --help` has to be there at once, so this room loads a command when it is called, and not before.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper


def main() -> None:
    """The `paceline` program."""
    keep_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A letter that a terminal does not know is shown by its number, and is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    from paceline.cli.group import paceline

    paceline(prog_name="paceline")


def keep_standard_streams() -> None:
    """Give closed standard streams a place to go to.

    Otherwise the next file opened gets their number, and whatever prints would write into a journal.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # for good
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # for good
