"""`kill -9`: at random moments, at every write, and again during the resume. Real processes.

After each death the journal is read by the letter, without Paceline: what stands in it then is what may never
be done again. Task and evaluators keep their own account of how often they were asked.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.crash.evidence import Witness, asked, write_suite
from tests.crash.nursery import Child, Nursery

CASES = 40
SMALL = 4


def start(nursery: Nursery, witness: Witness, *flags: str, **order: Any) -> Child:
    """Start the run, or go on with it: the command is the same."""
    record = witness.record()
    child = nursery.runs(witness.folder, "run", "suite.py", "-o", "out", "-q", *flags, **order)
    witness.expects(child.pid, record)
    return child


def unbroken(nursery: Nursery, folder: Path, *, cases: int, big: int, flags: tuple[str, ...]) -> Any:
    """What there is to say of a run that nothing happened to, and how long it took."""
    write_suite(folder, cases=cases, big=big)
    witness = Witness(folder, cases=cases)
    begun = time.monotonic()
    assert start(nursery, witness, *flags).wait() == 0
    return witness.all_is_there(), time.monotonic() - begun


def kill_at_random_moments(
    nursery: Nursery, tmp_path: Path, *, kills: int, seed: int, flags: tuple[str, ...]
) -> None:
    """Runs, each killed again and again until it gets through, until there have been so many kills."""
    dice = random.Random(seed)
    expected, seconds = unbroken(nursery, tmp_path / "unbroken", cases=CASES, big=7, flags=flags)
    hit = 0
    for number in itertools.count():
        if hit >= kills:
            break
        folder = tmp_path / f"run-{number}"
        write_suite(folder, cases=CASES, big=7)
        witness = Witness(folder, cases=CASES)
        for _ in range(dice.randint(1, 4)):
            child = start(nursery, witness, *flags)
            time.sleep(dice.uniform(0, seconds))  # the moment of the kill, which nothing must depend on
            hit += child.kill() == -9
        assert start(nursery, witness, *flags).wait() == 0
        witness.nothing_was_done_twice()
        assert witness.all_is_there() == expected, f"seed {seed}, run {number}"
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("seed", "flags"),
    [(1, ("-j", "8")), (2, ("-j", "1", "--evaluator-concurrency", "1"))],
    ids=["eight at a time", "one by one"],
)
def test_a_kill_at_any_moment_loses_nothing_and_repeats_nothing(
    nursery: Nursery, tmp_path: Path, seed: int, flags: tuple[str, ...]
) -> None:
    kill_at_random_moments(nursery, tmp_path, kills=20, seed=seed, flags=flags)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("width", ["1", "3", "8", "40"])
def test_two_hundred_kills_and_more(nursery: Nursery, tmp_path: Path, seed: int, width: str) -> None:
    kill_at_random_moments(nursery, tmp_path, kills=60, seed=100 + seed, flags=("-j", width))


def die_at_every_operation(
    nursery: Nursery,
    tmp_path: Path,
    *,
    when: str,
    again: Callable[[int], Iterable[int]],
    flags: tuple[str, ...],
) -> int:
    """For each thing that a run asks of the disk: die there, die in the resume too, and go on to the end.

    Answers how many such things there are.
    """
    expected, _ = unbroken(nursery, tmp_path / "unbroken", cases=SMALL, big=1, flags=flags)
    folder = tmp_path / "run"
    for place in itertools.count(1):
        for second in again(place):
            shutil.rmtree(folder, ignore_errors=True)
            write_suite(folder, cases=SMALL, big=1)
            witness = Witness(folder, cases=SMALL)
            code = start(nursery, witness, *flags, faults={"dies_at": place, "when": when}).wait()
            if code == 0:
                return place - 1
            assert code == -9
            dies_again = {"dies_at": second, "when": when}
            assert start(nursery, witness, *flags, faults=dies_again).wait() in (-9, 0)
            assert start(nursery, witness, *flags).wait() == 0
            witness.nothing_was_done_twice()
            assert witness.all_is_there() == expected, f"died {when} operation {place}, then {second}"
            calls = [call.case for call in asked(folder) if call.what == "task"]
            assert len(calls) <= SMALL + 2 * SMALL, "what was in flight may be repeated, once for each death"
    raise AssertionError("the count has no end")


@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_a_death_at_any_write_loses_nothing_and_repeats_nothing(
    nursery: Nursery, tmp_path: Path, when: str
) -> None:
    """One by one, so that nearly every line is written by itself."""

    def somewhere(place: int) -> list[int]:
        return [1 + place * 7 % 19]

    places = die_at_every_operation(nursery, tmp_path, when=when, again=somewhere, flags=("-j", "1"))
    assert places > 20, "the run asks the disk for more than that"


@pytest.mark.soak
@pytest.mark.parametrize("width", ["1", "4"])
@pytest.mark.parametrize("when", ["before", "amid", "after"])
def test_a_death_at_any_write_and_at_any_write_of_the_resume(
    nursery: Nursery, tmp_path: Path, when: str, width: str
) -> None:
    def everywhere(_place: int) -> range:
        return range(1, 25)

    die_at_every_operation(nursery, tmp_path, when=when, again=everywhere, flags=("-j", width))


def test_the_processes_of_a_killed_run_end_with_it(nursery: Nursery, tmp_path: Path) -> None:
    """With `--isolation process` the task runs in children: they must not go on, paid for and unheard."""
    write_suite(tmp_path, cases=6, pause=30.0)
    flags = ("-j", "4", "--isolation", "process")
    witness = Witness(tmp_path, cases=6)
    child = start(nursery, witness, *flags)
    eventually(lambda: sum(call.what == "task" for call in asked(tmp_path)) >= 4)
    eventually(lambda: "case-0" in witness.record().answered)  # the one that does not wait
    assert child.kill() == -9
    eventually(lambda: not any(alive(call.pid) for call in asked(tmp_path)))
    write_suite(tmp_path, cases=6)
    assert start(nursery, witness, *flags).wait() == 0
    witness.nothing_was_done_twice()
    witness.all_is_there()


def eventually(so: Callable[[], bool]) -> None:
    """Until something that another process does is so."""
    deadline = time.monotonic() + 30
    while not so():
        assert time.monotonic() < deadline, "it does not come to that"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether there is such a process, and it is more than a name that its parent has not yet struck out."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
