"""Code that hangs, ignores its cancellation or blocks the loop: the run ends soon, with a true report and exit code.

Real processes with the command line, each with the clock on it. Where a coroutine blocks the loop for good nothing in
the process can go on: it ends itself with exit code 3, and the resume gets past the case that did it.
"""

from __future__ import annotations

import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from paceline import Report, verify
from tests.crash.nursery import Child, Nursery

HEAD = """
    import asyncio, os, threading, time
    from paceline import Case, CaseLifecycle, Dataset, Suite

    hurry = os.path.exists("hurry")

    def asked(what, n):
        with open("asked.log", "a") as log:
            log.write(f"{what} {n}\\n")

    async def hang():
        await asyncio.Event().wait()

    async def ignore():
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                pass

    async def ignore_at_length():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(60)

    async def catch_everything():
        while True:
            try:
                await asyncio.sleep(0.05)
            except BaseException:
                pass

    async def shielded():
        await asyncio.shield(asyncio.sleep(60))

    async def raise_instead():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ValueError("not today")

    async def answer_instead():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return "late"

    async def block_a_while():
        time.sleep(1.5)

    async def block_for_good():
        while True:
            pass

    async def block_in_a_call():
        time.sleep(3600)

    def sleep_in_a_thread():
        time.sleep(3600)

    def spin_in_a_thread():
        while True:
            pass

    def wait_in_a_thread():
        threading.Lock().acquire() and threading.Event().wait()

    async def start_a_thread_that_stays():
        threading.Thread(target=time.sleep, args=(3600,)).start()
        await asyncio.sleep(60)

    CASES = [Case(name=f"case-{n}", inputs=n) for n in range(5)]
    BAD = 2
"""

TASK = """
    def task(n):
        asked("task", n)
        return n if n != BAD else @way@()

    dataset = Dataset(name="hangs", cases=CASES, evaluators=[lambda output: True])
"""

EVALUATOR = """
    def task(n):
        asked("task", n)
        return n

    def judge(ctx):
        asked("judge", ctx.inputs)
        return ctx.inputs == BAD and @way@() or True

    def other(ctx):
        return 1

    dataset = Dataset(name="hangs", cases=CASES, evaluators=[judge, other])
"""

HOOK = """
    class Hooks(CaseLifecycle):
        async def @hook@(self, *_):
            if self.case.inputs == BAD:
                result = @way@()
                if asyncio.iscoroutine(result):
                    await result

    async def returns(n):
        asked("task", n)
        return n

    suite = Suite(dataset=Dataset(name="hangs", cases=CASES, evaluators=[lambda output: True]), task=returns,
                  lifecycle=Hooks)
"""

GIVES_IN = ["hang", "raise_instead", "shielded"]
ABANDONED = ["ignore", "ignore_at_length", "catch_everything", "sleep_in_a_thread", "wait_in_a_thread"]
LIMITS = ("--timeout", "300ms", "--evaluator-timeout", "300ms", "--hook-timeout", "300ms")
SOON = 8.0


def start(nursery: Nursery, folder: Path, body: str, *flags: str, name: str = "hangs.py", **way: str) -> Child:
    """Start a run of these cases, of which one hangs in this way."""
    text = textwrap.dedent(HEAD + body)
    for mark, word in way.items():
        text = text.replace(f"@{mark}@", word)
    (folder / "hangs.py").write_text(text)
    faults = {"grace": 0.2}
    return nursery.runs(folder, "run", name, "-o", "out", "-j", "2", *LIMITS, *flags, faults=faults)


def ended_soon(child: Child) -> int:
    """Its exit code, which it has before long."""
    begun = time.monotonic()
    code = child.wait(60)
    assert time.monotonic() - begun < SOON, child.err
    return code


def report_of(folder: Path) -> tuple[Report[Any, Any, Any], dict[str, str]]:
    """The report, and how each case has ended."""
    report = Report.read(folder / "out")
    return report, {row.name: row.outcome for row in report.rows}


def only_the_bad_one_failed(folder: Path, outcome: str) -> Any:
    """Every other case is scored; the row of the bad one."""
    report, outcomes = report_of(folder)
    assert outcomes == {f"case-{n}": outcome if n == 2 else "scored" for n in range(5)}
    assert report.exit_code() == 1
    assert verify(folder / "out").ok
    return next(row for row in report.rows if row.name == "case-2")


def asked(folder: Path, what: str) -> list[int]:
    lines = map(str.split, (folder / "asked.log").read_text().splitlines())
    return sorted(int(n) for called, n in lines if called == what)


@pytest.mark.parametrize("way", [*GIVES_IN, *ABANDONED, "spin_in_a_thread"])
def test_a_task_that_hangs_is_a_timeout_and_nothing_else_waits_for_it(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    child = start(nursery, tmp_path, TASK, way=way)
    assert ended_soon(child) == 1, child.err
    row = only_the_bad_one_failed(tmp_path, "timeout")
    assert "took longer than 0.3 s" in row.error_message
    assert asked(tmp_path, "task") == [0, 1, 2, 3, 4], "a timeout is not tried again"
    again = start(nursery, tmp_path, TASK, way=way)
    assert ended_soon(again) == 1
    assert asked(tmp_path, "task") == [0, 1, 2, 3, 4], "nor by the same command"


def test_a_task_that_answers_after_its_deadline_has_timed_out(nursery: Nursery, tmp_path: Path) -> None:
    assert ended_soon(start(nursery, tmp_path, TASK, way="answer_instead")) == 1
    only_the_bad_one_failed(tmp_path, "timeout")


@pytest.mark.parametrize("way", ["ignore", "sleep_in_a_thread", "catch_everything"])
def test_what_is_left_behind_is_counted_and_told(nursery: Nursery, tmp_path: Path, way: str) -> None:
    child = start(nursery, tmp_path, TASK, way=way)
    assert ended_soon(child) == 1
    report, _ = report_of(tmp_path)
    assert report.to_dict()["abandoned"] == 1
    assert "case-2" in child.err
    assert "left behind" in child.err


@pytest.mark.parametrize("way", [*GIVES_IN, *ABANDONED])
def test_an_evaluator_that_hangs_is_its_failure_and_the_answer_is_kept(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    child = start(nursery, tmp_path, EVALUATOR, way=way)
    assert ended_soon(child) == 1, child.err
    row = only_the_bad_one_failed(tmp_path, "evaluator_error")
    assert row.output == 2
    assert [failure.name for failure in row.evaluator_failures] == ["judge"]
    assert row.scores["other"].value == 1
    assert asked(tmp_path, "task") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("hook", ["setup", "prepare_context", "teardown"])
@pytest.mark.parametrize("way", ["hang", "ignore", "catch_everything", "raise_instead"])
def test_a_hook_that_hangs_is_an_outcome_of_its_case(
    nursery: Nursery, tmp_path: Path, hook: str, way: str
) -> None:
    child = start(nursery, tmp_path, HOOK, name="hangs.py:suite", hook=hook, way=way)
    assert ended_soon(child) == 1, child.err
    row = only_the_bad_one_failed(tmp_path, "timeout")
    assert row.error_stage == hook
    assert "hook" in row.error_message


def test_a_thread_that_somebody_else_started_does_not_hold_up_the_exit(
    nursery: Nursery, tmp_path: Path
) -> None:
    """A thread that is not a daemon would be waited for when the interpreter ends."""
    child = start(nursery, tmp_path, TASK, way="start_a_thread_that_stays")
    assert ended_soon(child) == 1, child.err
    only_the_bad_one_failed(tmp_path, "timeout")


def test_a_task_that_blocks_the_loop_for_a_while_is_named_with_its_line(
    nursery: Nursery, tmp_path: Path
) -> None:
    child = start(nursery, tmp_path, TASK, "--timeout", "20s", way="block_a_while")
    assert ended_soon(child) == 0, child.err
    assert "block_a_while" in child.err
    assert "hangs.py:" in child.err


@pytest.mark.parametrize("way", ["block_for_good", "block_in_a_call"])
def test_a_task_that_blocks_the_loop_for_good_ends_the_process_and_the_resume_gets_past_it(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    child = start(nursery, tmp_path, TASK, way=way)
    assert ended_soon(child) == 3, child.err
    assert way in child.err
    assert "hangs.py:" in child.err
    again = start(nursery, tmp_path, TASK, way=way)
    assert ended_soon(again) == 1, again.err
    row = only_the_bad_one_failed(tmp_path, "timeout")
    assert "blocked the event loop" in row.error_message
    assert asked(tmp_path, "task").count(2) == 1


@pytest.mark.parametrize("hook", ["setup", "teardown"])
def test_a_hook_that_blocks_the_loop_for_good_ends_the_process_and_the_resume_gets_past_it(
    nursery: Nursery, tmp_path: Path, hook: str
) -> None:
    order = {"name": "hangs.py:suite", "hook": hook, "way": "time.sleep(3600) or None"}
    order["way"] = "(lambda: time.sleep(3600))"
    child = start(nursery, tmp_path, HOOK, **order)
    assert ended_soon(child) == 3, child.err
    again = start(nursery, tmp_path, HOOK, **order)
    assert ended_soon(again) == 1, again.err
    only_the_bad_one_failed(tmp_path, "timeout")


def test_an_evaluator_that_blocks_the_loop_for_good_ends_the_process_and_keeps_the_answer(
    nursery: Nursery, tmp_path: Path
) -> None:
    """It is asked again by each resume, as every evaluator without an answer is; each ends in bounded time."""
    child = start(nursery, tmp_path, EVALUATOR, way="block_for_good")
    assert ended_soon(child) == 3, child.err
    again = start(nursery, tmp_path, EVALUATOR, way="block_for_good")
    assert ended_soon(again) in (1, 3), again.err
    mended = start(nursery, tmp_path, EVALUATOR, way="int")
    assert ended_soon(mended) == 0, mended.err
    assert asked(tmp_path, "task") == [0, 1, 2, 3, 4]


def test_a_loop_that_is_blocked_while_the_disk_fails_still_ends(nursery: Nursery, tmp_path: Path) -> None:
    """Then not even the culprit can be recorded."""
    (tmp_path / "hangs.py").write_text(textwrap.dedent(HEAD + TASK.replace("@way@", "block_for_good")))
    faults = {"grace": 0.2, "room": 1_200}
    child = nursery.runs(tmp_path, "run", "hangs.py", "-o", "out", "-j", "1", *LIMITS, faults=faults)
    assert ended_soon(child) == 3, child.err


def test_a_run_with_many_that_hang_ends_when_their_time_is_up(nursery: Nursery, tmp_path: Path) -> None:
    """Threads that never come back are replaced, so that those after them have their turn."""
    suite = """
        import threading, time
        from paceline import Case, Dataset

        def task(n):
            if n % 2:
                time.sleep(3600)
            return n

        dataset = Dataset(name="many", cases=[Case(name=f"case-{n}", inputs=n) for n in range(40)])
    """
    (tmp_path / "suite.py").write_text(textwrap.dedent(suite))
    child = nursery.runs(
        tmp_path, "run", "suite.py", "-o", "out", "-j", "4", "--timeout", "200ms", faults={"grace": 0.1}
    )
    assert ended_soon(child) == 1, child.err
    report = Report.read(tmp_path / "out")
    assert (report.n_scored, report.n_failed) == (20, 20)
    assert {row.outcome for row in report.failures} == {"timeout"}
