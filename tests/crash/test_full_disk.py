"""Disks that are full, fail, or take little at a time: the run ends, says so, and goes on when they are well.

End to end, in processes of their own: exit code 3, a message with a remedy, nothing lost that was on record.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.crash.evidence import Witness, write_suite
from tests.crash.nursery import Child, Nursery

CASES = 12
SOON = 10.0
"""Seconds within which a run gives up whose tasks take none."""


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    write_suite(tmp_path, cases=CASES, big=3)
    return Witness(tmp_path, cases=CASES)


def run(nursery: Nursery, witness: Witness, faults: dict[str, Any] | None = None) -> Child:
    """The run, with these faults, to its end."""
    record = witness.record()
    command = ("run", "suite.py", "-o", "out", "-j", "4")
    child = nursery.runs(witness.folder, *command, faults=faults or {})
    witness.expects(child.pid, record)
    child.wait(SOON)
    return child


def says_why(child: Child, *, error: str) -> None:
    """It ended as an environment that broke, and told a person what to do."""
    assert child.wait() == 3, child.err
    assert error in child.err
    assert "cannot write" in child.err
    assert "hint: " in child.err
    assert "safe" in child.err or "-o" in child.err
    assert "Traceback" not in child.err


def goes_on(nursery: Nursery, witness: Witness) -> None:
    """With a disk that is well, the same command does what is left, and only that."""
    child = run(nursery, witness)
    assert child.wait() == 0, child.err
    witness.nothing_was_done_twice()
    witness.all_is_there()


# Whatever has room for the first line and not for the last; the blob of case-3 does not fit in most.
@pytest.mark.parametrize("room", [0, 100, 900, 1500, 3000, 5000, 150_000, 303_000])
def test_a_full_disk_ends_the_run_and_room_lets_it_go_on(
    nursery: Nursery, witness: Witness, room: int
) -> None:
    says_why(run(nursery, witness, {"room": room}), error="No space left on device")
    goes_on(nursery, witness)


@pytest.mark.parametrize("size", [300, 2000, 4500, 150_000])
def test_a_file_that_may_not_grow_ends_the_run(nursery: Nursery, witness: Witness, size: int) -> None:
    """The kernel's own limit: no fake disk."""
    child = run(nursery, witness, {"file_size": size})
    says_why(child, error="File too large")
    goes_on(nursery, witness)


@pytest.mark.parametrize("failing", [1, 2, 3, 5, 8])
def test_a_failed_sync_ends_the_run_and_is_not_tried_again(
    nursery: Nursery, witness: Witness, failing: int
) -> None:
    says_why(run(nursery, witness, {"sync_fails_at": failing}), error="Input/output error")
    goes_on(nursery, witness)


def test_a_disk_that_takes_little_at_a_time_changes_nothing(nursery: Nursery, witness: Witness) -> None:
    child = run(nursery, witness, {"takes_at_most": 61})
    assert child.wait() == 0, child.err
    witness.all_is_there()


def test_a_disk_that_fills_up_while_cases_wait_ends_the_run_soon(nursery: Nursery, witness: Witness) -> None:
    """What is in flight is cut off: nobody waits a minute for answers that cannot be kept."""
    text = (witness.folder / "suite.py").read_text()
    slow = text.replace("n % 4 * PAUSE", "0 if n < 4 else 60")
    assert slow != text
    (witness.folder / "suite.py").write_text(slow)
    begun = time.monotonic()
    says_why(run(nursery, witness, {"room": 3000}), error="No space left on device")
    assert time.monotonic() - begun < SOON
    (witness.folder / "suite.py").write_text(text)
    goes_on(nursery, witness)


def test_a_place_that_cannot_be_written_is_told_before_anything_runs(
    nursery: Nursery, witness: Witness
) -> None:
    (witness.folder / "out").write_text("notes of mine\n")
    child = run(nursery, witness)
    assert child.wait() == 2, child.err
    assert "out" in child.err
    assert (witness.folder / "out").read_text() == "notes of mine\n"
    assert not (witness.folder / "asked.log").exists()


def test_a_library_call_raises_what_the_disk_said(nursery: Nursery, tmp_path: Path) -> None:
    """`evaluate_sync` in a script: an error of ours with a hint, and the next call goes on."""
    (tmp_path / "script.py").write_text(
        "from paceline import Case, Dataset, PacelineError\n"
        "async def task(n): return n\n"
        "dataset = Dataset(name='x', cases=[Case(inputs=n) for n in range(2000)])\n"
        "try:\n"
        "    report = dataset.evaluate_sync(task, journal='out')\n"
        "    print('n', report.n_scored)\n"
        "except PacelineError as error:\n"
        "    print(type(error).__name__, error, error.hint)\n"
    )
    child = nursery.scripts(tmp_path, "script.py", faults={"room": 50_000})
    assert child.wait() == 0, child.err
    assert child.out.startswith("JournalBroken cannot write")
    assert "free space" in child.out
    child = nursery.scripts(tmp_path, "script.py")
    assert child.wait() == 0, child.err
    assert child.out.split() == ["n", "2000"]


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_stdout_that_is_full_does_not_reach_the_run(nursery: Nursery, witness: Witness) -> None:
    """The report cannot be printed, and that is said; the run is as complete as any."""
    for flags in ((), ("--json",)):
        child = nursery.runs(witness.folder, "run", "suite.py", "-o", "out", *flags, stdout="/dev/full")
        assert child.wait() == 0, child.err
        assert "stdout cannot be written: No space left on device" in child.err
        assert "paceline report out" in child.err
        assert "Traceback" not in child.err
    witness.all_is_there()
