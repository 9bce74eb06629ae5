"""Ctrl-C while there is no run to interrupt: before it, after it, and while the program goes."""

from __future__ import annotations

import os
import signal
import textwrap
import time
from pathlib import Path

import pytest

from tests.crash.nursery import Child, Nursery

SUITE = """
    import asyncio, atexit, os, sys, threading, time
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    def linger(touch=os.open, now=time.monotonic):
        touch("lingers", {creating})
        until = now() + {seconds}
        while now() < until:
            pass

    class Last:
        def __del__(self, linger=linger):
            linger()

    async def task(n):
        return n

    dataset = Dataset(cases=[Case(inputs=1, expected_output=1)], evaluators=[EqualsExpected()])
    {lingering}
"""
LINGERING = {
    "while the suite is loaded": "linger()",
    "while it loads a dataclass": "exec('linger()')",
    "while its threads end": "threading.Thread(target=linger).start()",
    "while its exit hooks run": "atexit.register(linger)",
    "while the interpreter ends": "sys.kept_to_the_last = Last()",
}
AFTER_THE_RUN = [when for when in LINGERING if "load" not in when]


def lingering(nursery: Nursery, folder: Path, when: str, *, seconds: float) -> Child:
    """A run of a suite that has come to where it takes its time."""
    text = textwrap.dedent(SUITE).format(
        seconds=seconds, creating=os.O_CREAT | os.O_WRONLY, lingering=LINGERING[when]
    )
    (folder / "suite.py").write_text(text)
    child = nursery.runs(folder, "run", "suite.py", "-o", "out")
    deadline = time.monotonic() + 20
    shown = "COMPLETE" if when in AFTER_THE_RUN else ""
    while not ((folder / "lingers").exists() and shown in child.out):
        assert time.monotonic() < deadline, child.err
        time.sleep(0.005)
    time.sleep(0.1)
    return child


@pytest.mark.parametrize("when", [when for when in LINGERING if when != "while the interpreter ends"])
def test_outside_of_a_run_ctrl_c_ends_the_program_at_once_by_its_own_exit_code(
    nursery: Nursery, tmp_path: Path, when: str
) -> None:
    child = lingering(nursery, tmp_path, when, seconds=20)
    begun = time.monotonic()
    child.signals(signal.SIGINT)
    assert child.wait() == 130, child.err
    assert time.monotonic() - begun < 2.0
    assert "Traceback" not in child.err
    assert (tmp_path / "out").exists() == (when in AFTER_THE_RUN)


def test_at_its_very_end_ctrl_c_comes_too_late_to_change_how_it_went(
    nursery: Nursery, tmp_path: Path
) -> None:
    child = lingering(nursery, tmp_path, "while the interpreter ends", seconds=0.5)
    child.signals(signal.SIGINT)
    assert child.wait() == 0, child.err
