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
import time
from contextlib import suppress
from io import TextIOWrapper
from typing import Final

LEAVES_WITHIN: Final = 3.0
"""Seconds that threads of the user's may take to end after the program has."""
closed_from_the_start: set[int] = set()
"""Standard streams that nobody has given this process."""


def main() -> None:
    """The `paceline` program."""
    keep_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A letter that a terminal does not know is shown by its number, and is no reason to stop.
            stream.reconfigure(errors="backslashreplace")
    from paceline.cli.ctrl_c import CtrlC

    ctrl_c = CtrlC()
    ctrl_c.take_in_hand()
    from paceline.cli.group import paceline

    try:
        paceline(prog_name="paceline")
    except SystemExit as leaving:
        ctrl_c.leaving()
        leave_in_time(leaving.code)
        raise


def leave_in_time(code: object) -> None:
    """Let the interpreter wait for threads that the user's code has started, but not for ever.

    A call that hangs in a pool's thread would otherwise hold up the exit of a run that was over long ago.
    """
    if "threading" not in sys.modules:
        return
    import threading

    if all(thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        return

    def end() -> None:
        time.sleep(LEAVES_WITHIN)
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code if isinstance(code, int) else code is not None)

    threading.Thread(target=end, name="paceline-leaving", daemon=True).start()


def keep_standard_streams() -> None:
    """Give closed standard streams a place to go to.

    Otherwise the next file opened gets their number, and whatever prints would write into a journal.
    """
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            closed_from_the_start.add(descriptor)
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # for good
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  # for good
