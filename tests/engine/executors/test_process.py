"""Attempts in child processes: ended when late, and no crash of theirs is ours."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from paceline.engine.executors.process import ProcessExecutor
from paceline.engine.ports import Attempted, Work
from paceline.engine.retry import NO_RETRY
from paceline.errors import UsageError
from paceline.journal.records import Key
from paceline.tasks.callable import CallableTask
from tests.engine import errands, slow_errand
from tests.engine.stage import Carried, cases, really

ROOT = Path(__file__).resolve().parents[3]


def attempts(task: Callable[..., Any], *inputs: Any, concurrency: int = 2) -> list[Attempted]:
    """One attempt after the other, by one executor."""

    async def main() -> list[Attempted]:
        executor = ProcessExecutor({"": CallableTask(task)}, concurrency=concurrency)
        await executor.start()
        try:
            return [await executor.attempt(Work(Key("case"), 1, each)) for each in inputs]
        finally:
            await executor.stop()

    return asyncio.run(main())


def run(given: list[Any], task: Callable[..., Any], **how: Any) -> Carried:
    executor = ProcessExecutor({"": CallableTask(task)}, concurrency=how.get("concurrency", 2))
    how.setdefault("concurrency", 2)
    how.setdefault("retry_task", NO_RETRY)
    return really(given, task, executor=executor, **how)


def of(*inputs: Any) -> list[Any]:
    made = cases(len(inputs))
    for case, each in zip(made, inputs, strict=True):
        case.inputs = each
    return made


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z"


def wait_until(claim: Callable[[], bool], seconds: float = 10.0) -> None:
    until = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < until, "it never came about"
        time.sleep(0.02)


def error_of(attempted: Attempted) -> tuple[str, str]:
    assert attempted.error is not None
    return attempted.error.type, attempted.error.message


def test_sync_and_async_tasks_answer_from_another_process() -> None:
    assert [each.output for each in attempts(errands.double, 1, 2)] == [2, 4]
    assert [each.output for each in attempts(errands.double_later, 1, 2)] == [2, 4]
    ((pid, group), (again, _group)) = [each.output for each in attempts(errands.where, None, None)]
    assert pid == again != os.getpid(), "a worker is used again"
    assert group == pid, "in a group of its own"


def test_values_of_the_users_classes_go_there_and_come_back() -> None:
    (attempted,) = attempts(errands.mirrored, errands.Point(1, 2))
    assert attempted.output == errands.Point(2, 1)


def test_what_a_task_notes_comes_back_as_far_as_it_can() -> None:
    first, second = attempts(errands.notes, 1, 2)
    assert (first.metrics, second.metrics) == ({"calls": 1}, {"calls": 2})
    assert second.attributes["number"] == 2
    assert "lambda" in second.attributes["lambda"], "what cannot come is shown"
    assert second.output == 2
    (failed,) = attempts(errands.notes_and_fails, 3)
    assert (failed.metrics, failed.attributes) == ({"calls": 3}, {"number": 3})


def test_attempts_in_one_worker_see_nothing_of_each_others_context() -> None:
    assert [each.output for each in attempts(errands.paints, "red", "blue")] == ["none", "none"]


def test_a_client_that_is_kept_finds_the_same_loop_in_every_attempt() -> None:
    assert [each.output for each in attempts(errands.same_loop, None, None, None)] == [True] * 3


def test_tasks_that_are_left_behind_hold_no_worker_up() -> None:
    assert [each.output for each in attempts(errands.leaves_tasks_behind, None, None)] == ["answered"] * 2


def test_whatever_is_raised_there_is_data_here() -> None:
    kinds = [ValueError, SystemExit, KeyboardInterrupt, asyncio.CancelledError, StopIteration, GeneratorExit]
    for task in (errands.raises, errands.raises_in_child_task):
        for kind, attempted in zip(kinds, attempts(task, *kinds), strict=True):
            assert attempted.error is not None
            assert kind.__name__ in attempted.error.type + attempted.error.trace + attempted.error.message
    (transient,) = attempts(errands.raises, ConnectionError)
    assert transient.error_class == "transient"
    assert transient.error is not None
    assert "errands.py" in transient.error.trace


@pytest.mark.parametrize(
    ("task", "inputs", "told"),
    [
        (errands.leave, 7, "exited with code 7"),
        (errands.crash, None, "SIGSEGV"),
        (errands.die_by, signal.SIGKILL, "SIGKILL, as the system does where memory runs out"),
        (errands.die_by, signal.SIGABRT, "SIGABRT"),
    ],
)
def test_a_crash_is_an_infrastructure_error_that_says_how_it_died(
    task: Callable[..., Any], inputs: Any, told: str
) -> None:
    first, second = attempts(task, inputs, inputs)
    for attempted in (first, second):
        assert attempted.error_class == "infrastructure"
        assert error_of(attempted)[0] == "WorkerDied"
        assert told in error_of(attempted)[1]


def test_a_crash_takes_nothing_with_it() -> None:
    carried = run(of(0.05, "not a number", 0.05, 0.05), errands.sleep)
    assert carried.ended == {"scored": 3, "task_error": 1}
    carried = run(of(3, signal.SIGKILL, 5), errands.die_by, concurrency=2)
    assert len(carried.outcomes) == 3


def test_a_worker_that_died_between_two_attempts_costs_nobody_one(tmp_path: Path) -> None:
    now, never = tmp_path / "now", tmp_path / "never"

    async def main() -> list[Any]:
        executor = ProcessExecutor({"": CallableTask(errands.die_when_idle)}, concurrency=1)
        await executor.start()
        first = await executor.attempt(Work(Key("a"), 1, str(now)))
        (worker,) = executor._all
        now.touch()
        await asyncio.to_thread(wait_until, lambda: not worker.alive)
        second = await executor.attempt(Work(Key("b"), 1, str(never)))
        await executor.stop()
        return [first.output, second.output]

    assert asyncio.run(main()) == ["answered", "answered"]


def test_a_deadline_ends_the_process_whatever_it_is_doing() -> None:
    began = time.monotonic()
    carried = run(of(None, None), errands.spin, timeout=0.2)
    assert carried.ended == {"timeout": 2}
    assert carried.ending.left_behind == 0
    assert time.monotonic() - began < 20


def test_a_deadline_ends_what_the_task_has_started_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    carried = run(of(str(pid_file)), errands.starts_another_and_waits, timeout=1.5)
    assert carried.ended == {"timeout": 1}
    wait_until(lambda: gone(int(pid_file.read_text(encoding="utf-8"))))


def test_starting_a_process_and_loading_the_code_there_is_no_part_of_an_attempt() -> None:
    carried = run(of(None, None), slow_errand.answer, timeout=0.5, concurrency=2)
    assert carried.ended == {"scored": 2}
    for line in carried.outcomes.values():
        assert line.seconds < 0.5
        assert line.waited >= 1.0


def test_a_task_may_have_child_processes_of_its_own() -> None:
    (attempted,) = attempts(errands.with_children_of_its_own, 4)
    assert attempted.output == 8


def test_what_cannot_be_sent_is_said_clearly() -> None:
    with pytest.raises(UsageError, match="cannot be sent to another process") as caught:
        attempts(lambda inputs: inputs, 1)
    assert "top level" in caught.value.hint
    (there,) = attempts(errands.double, lambda: None)
    assert "pickle" in error_of(there)[1].lower()
    (there,) = attempts(errands.double, errands.Unsendable())
    assert error_of(there)[0] == "SystemExit"
    (back,) = attempts(errands.unpicklable, 1)
    assert "unpicklable returned a function, which cannot leave its process" in error_of(back)[1]
    (in_between, after) = attempts(errands.stubborn, 1, 1)
    assert error_of(in_between) == ("SystemExit", "not here")
    assert error_of(after) == ("SystemExit", "not here"), "and the worker is still there"


def test_a_large_answer_comes_through() -> None:
    (attempted,) = attempts(errands.big, 20)
    assert len(attempted.output) == 20_000_000


def test_a_module_that_cannot_be_loaded_there_is_an_error_of_each_attempt(tmp_path: Path) -> None:
    module = tmp_path / "fickle.py"
    module.write_text(
        "import multiprocessing\n"
        "if multiprocessing.parent_process() is not None:\n"
        "    raise RuntimeError('only here')\n"
        "def task(inputs):\n"
        "    return inputs\n",
        encoding="utf-8",
    )
    from paceline.usercode import load_file

    first, second = attempts(load_file(module).task, 1, 2)
    assert error_of(first)[1].count("only here") == 1
    assert error_of(second) == error_of(first)


def program(tmp_path: Path, text: str) -> subprocess.Popen[str]:
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    return subprocess.Popen(
        [sys.executable, str(script)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


ORPHANS = """
import asyncio, sys
from paceline.engine.executors.process import ProcessExecutor
from paceline.engine.ports import Work
from paceline.journal.records import Key
from paceline.tasks.callable import CallableTask
from tests.engine import errands

async def main():
    executor = ProcessExecutor({{"": CallableTask(errands.{task})}}, concurrency=2)
    await executor.start()
    asyncio.ensure_future(executor.attempt(Work(Key("a"), 1, {inputs!r})))
    while not executor._all or any(not worker._process.pid for worker in executor._all):
        await asyncio.sleep(0.01)
    print(*[worker._process.pid for worker in executor._all], flush=True)
    await asyncio.sleep(60)

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_children_die_with_a_parent_that_was_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    parent = program(tmp_path, ORPHANS.format(task="starts_another_and_waits", inputs=str(pid_file)))
    try:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        wait_until(lambda: pid_file.exists() and pid_file.read_text(encoding="utf-8") != "")
        pids.append(int(pid_file.read_text(encoding="utf-8")))
    finally:
        parent.kill()
        parent.communicate(timeout=10)
    assert len(pids) == 2
    for pid in pids:
        wait_until(lambda pid=pid: gone(pid))  # type: ignore[misc]


UNGUARDED = """
import asyncio
from paceline.engine.executors.process import ProcessExecutor
from paceline.engine.ports import Work
from paceline.journal.records import Key
from paceline.tasks.callable import CallableTask

def task(inputs):
    return inputs

async def main():
    executor = ProcessExecutor({"": CallableTask(task)}, concurrency=1)
    await executor.start()
    attempted = await executor.attempt(Work(Key("a"), 1, 5))
    await executor.stop()
    print(attempted.output, attempted.error)

GUARD
asyncio.run(main())
"""


def test_a_script_without_a_guard_is_told_what_is_missing(tmp_path: Path) -> None:
    out, err = program(tmp_path, UNGUARDED.replace("GUARD", "")).communicate(timeout=60)
    assert "WorkerDied" in out
    assert "starts the run again" in err


def test_a_script_with_its_guard_runs_tasks_of_its_own(tmp_path: Path) -> None:
    text = UNGUARDED.replace("GUARD\n", "if __name__ == '__main__':\n    ")
    out, err = program(tmp_path, text).communicate(timeout=60)
    assert out == "5 None\n", err


def test_nothing_is_left_after_it_was_stopped() -> None:
    async def main() -> list[int]:
        executor = ProcessExecutor({"": CallableTask(errands.sleep)}, concurrency=2)
        await executor.start()
        busy = asyncio.ensure_future(executor.attempt(Work(Key("a"), 1, 60.0)))
        await executor.attempt(Work(Key("b"), 1, 0.0))
        pids = [worker._process.pid for worker in executor._all]
        busy.cancel()
        await asyncio.wait([busy])
        await executor.stop()
        return [pid for pid in pids if pid is not None]

    pids = asyncio.run(main())
    assert len(pids) == 2
    for pid in pids:
        wait_until(lambda pid=pid: gone(pid))  # type: ignore[misc]
