"""Two processes on one journal: one writes, the other is told who, and takes up what the first leaves."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.conduct import conductor
from tests.crash.evidence import Witness, asked, write_suite
from tests.crash.nursery import Nursery

CASES = 8


@pytest.fixture
def witness(tmp_path: Path) -> Witness:
    """A suite whose cases answer once there is a file `hurry`."""
    write_suite(tmp_path, cases=CASES)
    suite = tmp_path / "suite.py"
    waiting = suite.read_text().replace(
        "await asyncio.sleep(n % 4 * PAUSE)",
        "\n    while n > 2 and not os.path.exists('hurry'):\n        await asyncio.sleep(0.01)",
    )
    suite.write_text(waiting)
    return Witness(tmp_path, cases=CASES)


def eventually(so: Callable[[], bool]) -> None:
    """Until something that another process does is so."""
    deadline = time.monotonic() + 30
    while not so():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.01)


def test_the_second_process_is_told_who_writes_and_goes_on_after_a_kill(
    nursery: Nursery, witness: Witness
) -> None:
    folder, journal = witness.folder, witness.run / "journal.jsonl"
    command = ("run", "suite.py", "-o", "out", "-j", "4", "-q")
    first = nursery.runs(folder, *command)
    eventually(lambda: len(witness.record().finished) >= 3 and len(asked(folder)) >= 13)
    before = journal.read_bytes()
    for verb in (command, ("resume", "out"), ("resume", "out", "--retry-errors", "--accept-changes")):
        second = nursery.runs(folder, *verb)
        assert second.wait(5) == 2, second.err
        assert f"process {first.pid}" in second.err
        assert "error: out" in second.err
        assert "hint: " in second.err
    assert journal.read_bytes() == before, "what is being written by one is not touched by another"
    told = nursery.runs(folder, "verify", "out")
    assert told.wait() in (0, 1)
    assert str(first.pid) in told.out
    assert first.kill() == -9
    (folder / "hurry").touch()
    record = witness.record()
    second = nursery.runs(folder, *command)
    witness.expects(second.pid, record)
    assert second.wait() == 0, second.err
    witness.nothing_was_done_twice()
    witness.all_is_there()


def test_of_many_that_start_at_once_one_works_and_nothing_is_asked_twice(
    nursery: Nursery, tmp_path: Path
) -> None:
    write_suite(tmp_path, cases=CASES)
    children = [nursery.runs(tmp_path, "run", "suite.py", "-o", "out", "-q") for _ in range(8)]
    codes = [child.wait() for child in children]
    assert set(codes) <= {0, 2}, [child.err for child in children]
    assert 0 in codes
    calls = Counter((call.what, call.case) for call in asked(tmp_path))
    assert set(calls.values()) == {1}
    Witness(tmp_path, cases=CASES).all_is_there()


@pytest.mark.parametrize("started_before", [False, True], ids=["a new run", "a run to go on with"])
def test_what_another_process_does_between_the_reading_and_the_lock_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started_before: bool
) -> None:
    """The one that comes second has looked at the record when the first was still at it."""
    path = tmp_path / "run"
    calls: list[int] = []

    async def task(n: int) -> int:
        calls.append(n)
        if fails:
            raise ConnectionError("not now")
        return n

    dataset = Dataset(name="late", cases=[Case(name=f"case-{n}", inputs=n) for n in range(3)])

    def run() -> Any:
        return dataset.evaluate_sync(task, journal=path, progress=False, retry_task=False)

    fails = started_before
    if started_before:
        run()
        calls.clear()
    fails = False
    lock = vars(conductor)["recorder_at"]

    def late(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(conductor, "recorder_at", lock)
        run()
        return lock(*arguments, **options)

    monkeypatch.setattr(conductor, "recorder_at", late)
    report = run()
    assert sorted(calls) == [0, 1, 2]
    assert report.n_scored == 3
