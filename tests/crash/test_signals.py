"""Ctrl-C once, twice, thrice; SIGTERM; readers that go away: the run ends as asked, and its record is safe.

By the command line and from a script that calls the library. Every time the same command afterwards does what
is left.
"""

from __future__ import annotations

import os
import signal
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.crash.evidence import Witness, asked, write_suite
from tests.crash.nursery import Child, Nursery

CASES = 12
AT_ONCE = 4
SOON = 6.0
SIGINT, SIGTERM, SIGHUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
COMMAND = ("run", "suite.py", "-o", "out", "-j", str(AT_ONCE))

WAYS = {
    # How the cases from the fifth on wait: until there is a file `go`, or longer than anybody.
    "patient": """
    while n >= 4 and not os.path.exists("go"):
        await asyncio.sleep(0.01)
""",
    "deaf": """
    while n >= 4 and not os.path.exists("go"):
        try:
            await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            pass
""",
    "blocked": """
    while n >= 4 and not os.path.exists("go"):
        pass
""",
}
ON_A_THREAD = """
    def task(n):
        note("task", f"case-{n}")
        while n >= 4 and not os.path.exists("go"):
            time.sleep(0.01)
        return {"double": 2 * n, "bulk": "x" * n}
"""


def prepared(folder: Path, way: str) -> Witness:
    """A suite whose cases from the fifth on wait in this way."""
    write_suite(folder, cases=CASES, pause=0)
    suite = folder / "suite.py"
    text = suite.read_text()
    if way == "thread":
        start, end = text.index("async def task"), text.index("async def judge")
        text = text[:start] + textwrap.dedent(ON_A_THREAD) + "\n" + text[end:]
        text = "import time\n" + text
    else:
        text = text.replace(
            "await asyncio.sleep(n % 4 * PAUSE)\n", WAYS[way].lstrip("\n").removeprefix("    ")
        )
    suite.write_text(text)
    return Witness(folder, cases=CASES)


def under_way(nursery: Nursery, witness: Witness, *flags: str, waiting: int = AT_ONCE, **order: Any) -> Child:
    """A run that has come to where its cases wait."""
    child = nursery.runs(witness.folder, *COMMAND, *flags, **order)
    witness.expects(child.pid, witness.record())
    tasks = 4 + waiting
    eventually(lambda: sum(call.what == "task" for call in asked(witness.folder)) >= tasks, child)
    if waiting > 1:
        eventually(lambda: len(witness.record().finished) >= 4, child)
    return child


def eventually(so: Callable[[], bool], child: Child | None = None) -> None:
    """Until something that another process does is so."""
    deadline = time.monotonic() + 20
    while not so():
        assert time.monotonic() < deadline, "it does not come to that" if child is None else child.err
        time.sleep(0.01)


def ended_soon(child: Child) -> int:
    begun = time.monotonic()
    code = child.wait(60)
    assert time.monotonic() - begun < SOON, child.err
    return code


def goes_on(nursery: Nursery, witness: Witness, *command: str) -> None:
    """What is left is done by this command, and only that."""
    (witness.folder / "go").touch()
    record = witness.record()
    child = nursery.runs(witness.folder, *(command or COMMAND))
    witness.expects(child.pid, record)
    assert child.wait() == 0, child.err
    witness.nothing_was_done_twice()
    witness.all_is_there()


@pytest.mark.parametrize("number", [SIGINT, SIGTERM, SIGHUP])
@pytest.mark.parametrize("way", ["patient", "thread"])
def test_once_lets_finish_what_is_in_flight_and_says_how_to_go_on(
    nursery: Nursery, tmp_path: Path, number: signal.Signals, way: str
) -> None:
    witness = prepared(tmp_path, way)
    child = under_way(nursery, witness)
    child.signals(number)
    eventually(lambda: f"{number.name} received: finishing {AT_ONCE} in flight" in child.err, child)
    (tmp_path / "go").touch()
    assert ended_soon(child) == 4, child.err
    assert len(witness.record().finished) == 4 + AT_ONCE, "what was in flight is on record, and nothing more"
    assert "go on with: paceline resume out" in child.err
    goes_on(nursery, witness, "resume", "out")


def test_what_does_not_finish_in_the_time_for_it_is_cut_off(nursery: Nursery, tmp_path: Path) -> None:
    witness = prepared(tmp_path, "patient")
    child = under_way(nursery, witness, "--drain-timeout", "300ms")
    child.signals(SIGINT)
    assert ended_soon(child) == 4, child.err
    goes_on(nursery, witness)


@pytest.mark.parametrize("way", ["patient", "deaf", "thread"])
def test_twice_cuts_off_what_is_in_flight_whatever_it_does_about_it(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    """Threads that hang, and coroutines that do not listen, do not hold up the exit."""
    witness = prepared(tmp_path, way)
    child = under_way(nursery, witness, faults={"grace": 0.3})
    child.signals(SIGINT)
    eventually(lambda: "finishing" in child.err, child)
    child.signals(SIGINT)
    assert ended_soon(child) == 130, child.err
    assert "paceline resume out" in child.err
    assert "Traceback" not in child.err
    goes_on(nursery, witness)


@pytest.mark.parametrize("way", ["deaf", "thread", "blocked"])
def test_thrice_ends_it_at_once_also_where_the_loop_is_blocked(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    witness = prepared(tmp_path, way)
    child = under_way(nursery, witness, waiting=1 if way == "blocked" else AT_ONCE)
    for heard in ("finishing", "", ""):
        child.signals(SIGINT)
        if way != "blocked":
            eventually(lambda heard=heard: heard in child.err, child)  # type: ignore[misc]
        time.sleep(0.05)  # two of a kind that wait to be delivered at the same time are one
    begun = time.monotonic()
    assert child.wait(20) == 130, child.err
    assert time.monotonic() - begun < 2.0
    goes_on(nursery, witness)


def test_ctrl_c_at_a_terminal_reaches_child_processes_and_they_finish_all_the_same(
    nursery: Nursery, tmp_path: Path
) -> None:
    """The terminal sends it to the whole group; what it means is for the parent to say."""
    witness = prepared(tmp_path, "patient")
    child = under_way(nursery, witness, "--isolation", "process", own_group=True)
    os.killpg(child.pid, SIGINT)
    eventually(lambda: "finishing" in child.err, child)
    (tmp_path / "go").touch()
    assert ended_soon(child) == 4, child.err
    assert len(witness.record().finished) == 4 + AT_ONCE
    goes_on(nursery, witness)


# From a script ------------------------------------------------------------------------------------

SCRIPT = """
    import asyncio, sys
    from paceline import RunInterrupted
    from suite import dataset, task

    def hear(event):
        if type(event).__name__ == "Draining":
            print("draining", flush=True)

    options = dict(journal="out", max_concurrency=4, on_event=hear, progress=False)
    {call}
"""
CALLS = {
    "sync": """
    try:
        report = dataset.evaluate_sync(task, **options)
        print("scored", report.n_scored)
    except RunInterrupted as stopped:
        print("interrupted", len(stopped.report.rows), stopped, flush=True)
        sys.exit(4)
    """,
    "sync, uncaught": """
    report = dataset.evaluate_sync(task, **options)
    print("scored", report.n_scored)
    """,
    "async": """
    report = asyncio.run(dataset.evaluate(task, **options))
    print("scored", report.n_scored)
    """,
    "on a thread": """
    async def main():
        return dataset.evaluate_sync(task, **options)  # a notebook's cell, say
    report = asyncio.run(main())
    print("scored", report.n_scored)
    """,
}


def script_under_way(nursery: Nursery, witness: Witness, call: str) -> Child:
    text = textwrap.dedent(SCRIPT).format(call=textwrap.dedent(CALLS[call]).strip())
    (witness.folder / "script.py").write_text(text)
    child = nursery.scripts(witness.folder, "script.py")
    witness.expects(child.pid, witness.record())
    eventually(lambda: sum(call.what == "task" for call in asked(witness.folder)) >= 4 + AT_ONCE, child)
    eventually(lambda: len(witness.record().finished) >= 4, child)
    return child


def script_goes_on(nursery: Nursery, witness: Witness) -> None:
    (witness.folder / "go").touch()
    record = witness.record()
    child = nursery.scripts(witness.folder, "script.py")
    witness.expects(child.pid, record)
    assert child.wait() == 0, child.err
    assert f"scored {CASES}" in child.out
    witness.nothing_was_done_twice()
    witness.all_is_there()


def test_a_script_is_told_of_an_interrupt_once_what_was_in_flight_has_finished(
    nursery: Nursery, tmp_path: Path
) -> None:
    witness = prepared(tmp_path, "patient")
    child = script_under_way(nursery, witness, "sync")
    child.signals(SIGINT)
    eventually(lambda: "draining" in child.out, child)
    (tmp_path / "go").touch()
    assert ended_soon(child) == 4, child.err
    assert f"interrupted {4 + AT_ONCE}" in child.out
    assert "the same call with journal='out' goes on from there" in child.out
    script_goes_on(nursery, witness)


@pytest.mark.parametrize("way", ["patient", "thread"])
def test_a_script_that_does_not_expect_an_interrupt_ends_as_one_that_was_interrupted(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    witness = prepared(tmp_path, way)
    child = script_under_way(nursery, witness, "sync, uncaught")
    child.signals(SIGINT)
    eventually(lambda: "draining" in child.out, child)
    child.signals(SIGINT)
    assert ended_soon(child) not in (0, None), child.err
    assert "RunInterrupted" in child.err
    assert "goes on from there" in child.err
    script_goes_on(nursery, witness)


@pytest.mark.parametrize("call", ["async", "on a thread"])
def test_in_a_loop_that_is_somebody_elses_ctrl_c_cuts_the_run_off_and_nothing_is_lost(
    nursery: Nursery, tmp_path: Path, call: str
) -> None:
    witness = prepared(tmp_path, "patient")
    child = script_under_way(nursery, witness, call)
    child.signals(SIGINT)
    if call == "on a thread":
        time.sleep(0.1)
        child.signals(SIGINT)  # the first one goes to the loop, which cannot hear it as long as it waits here
    assert ended_soon(child) in (130, -SIGINT), child.err
    assert "KeyboardInterrupt" in child.err
    script_goes_on(nursery, witness)


# Readers that go away -----------------------------------------------------------------------------


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_reader_that_goes_away_in_the_middle_is_no_reason_to_stop(
    nursery: Nursery, tmp_path: Path, stream: str, flags: tuple[str, ...]
) -> None:
    witness = prepared(tmp_path, "patient")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    gone = threading.Thread(target=read_a_little, args=(pipe, witness))
    gone.start()
    order: dict[str, Any] = {stream: str(pipe)}
    child = under_way(nursery, witness, *flags, **order)
    gone.join()
    (tmp_path / "go").touch()
    assert ended_soon(child) == 0, child.err
    witness.all_is_there()


def read_a_little(pipe: Path, witness: Witness) -> None:
    """Read until the run is under way, then go."""
    with pipe.open("rb", buffering=0):
        eventually(lambda: len(witness.record().finished) >= 4)
