"""Code that hangs, ignores its cancellation or blocks the loop: the run ends soon, and says what is true.

Real processes with the command line, each with the clock on it. Where a coroutine blocks the loop for good
nothing in the process can go on: it ends itself with exit code 3, and the resume gets past the case.
"""

from __future__ import annotations

import signal
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

    async def sleep_in_the_pool_of_asyncio():
        await asyncio.to_thread(time.sleep, 3600)

    async def start_a_thread_that_stays():
        threading.Thread(target=time.sleep, args=(3600,)).start()
        await asyncio.sleep(60)

    WAYS = [@ways@]
    CASES = [
        Case(name=name, inputs=way)
        for n, way in enumerate(WAYS)
        for name, way in ((way.__name__, way.__name__), (f"good-{n}", None))
    ]

    def go(way):
        "A coroutine, or a value."
        return way if way is None or hurry else globals()[way]()
"""

TASK = """
    def task(way):
        asked("task", way)
        return go(way)

    dataset = Dataset(name="hangs", cases=CASES, evaluators=[lambda output: True])
"""

EVALUATOR = """
    async def task(way):
        asked("task", way)
        return way

    def judge(ctx):
        asked("judge", ctx.inputs)
        return True if ctx.inputs is None or hurry else go(ctx.inputs)

    dataset = Dataset(name="hangs", cases=CASES, evaluators=[judge, lambda output: 1])
"""

HOOK = """
    class Hooks(CaseLifecycle):
        async def @hook@(self, *_):
            result = go(self.case.inputs)
            if asyncio.iscoroutine(result):
                await result

    async def returns(way):
        asked("task", way)
        return way

    suite = Suite(
        dataset=Dataset(name="hangs", cases=CASES, evaluators=[lambda output: True]),
        task=returns,
        lifecycle=Hooks,
    )
"""

ON_THE_LOOP = [
    "hang",
    "raise_instead",
    "answer_instead",
    "shielded",
    "ignore",
    "ignore_at_length",
    "catch_everything",
]
ON_THREADS = ["sleep_in_a_thread", "spin_in_a_thread", "wait_in_a_thread"]
LEFT_BEHIND = ["ignore", "ignore_at_length", "catch_everything", *ON_THREADS]
LIMITS = ("--timeout", "500ms", "--evaluator-timeout", "500ms", "--hook-timeout", "500ms")
SOON = 8.0


def start(
    nursery: Nursery,
    folder: Path,
    body: str,
    *flags: str,
    ways: list[str],
    hook: str = "",
    faults: dict[str, Any] | None = None,
) -> Child:
    """Start a run in which a case hangs in each of these ways, with a good one after each."""
    text = textwrap.dedent(HEAD + body).replace("@ways@", ", ".join(ways)).replace("@hook@", hook)
    (folder / "hangs.py").write_text(text)
    name = "hangs.py:suite" if hook else "hangs.py"
    given = {"grace": 0.2, **(faults or {})}
    return nursery.runs(folder, "run", name, "-o", "out", "-j", "4", *LIMITS, *flags, faults=given)


def ended_soon(child: Child) -> int:
    """Its exit code, which it has before long."""
    begun = time.monotonic()
    code = child.wait(60)
    assert time.monotonic() - begun < SOON, child.err
    return code


def only_the_bad_ones_failed(folder: Path, ways: list[str], outcome: str) -> dict[str, Any]:
    """Each of these has this outcome, and every other case is scored; the rows by name."""
    report = Report.read(folder / "out")
    outcomes = {row.name: row.outcome for row in report.rows}
    good = {f"good-{n}": "scored" for n in range(len(ways))}
    assert outcomes == good | dict.fromkeys(ways, outcome)
    assert report.exit_code() == 1
    assert verify(folder / "out").ok
    return {row.name: row for row in report.rows}


def asked(folder: Path, what: str) -> list[str]:
    """What was called with which input."""
    lines = map(str.split, (folder / "asked.log").read_text().splitlines())
    return sorted(way for called, way in lines if called == what)


def test_tasks_that_hang_are_timeouts_and_nothing_else_waits_for_them(
    nursery: Nursery, tmp_path: Path
) -> None:
    ways = ON_THE_LOOP + ON_THREADS
    child = start(nursery, tmp_path, TASK, ways=ways)
    assert ended_soon(child) == 1, child.err
    rows = only_the_bad_ones_failed(tmp_path, ways, "timeout")
    assert all("took longer than 0.5 s" in rows[way].error_message for way in ways)
    called = sorted(ways + ["None"] * len(ways))
    assert asked(tmp_path, "task") == called, "a timeout is not tried again"
    assert Report.read(tmp_path / "out").to_dict()["abandoned"] == len(LEFT_BEHIND)
    for way in LEFT_BEHIND:
        assert "left behind" in rows[way].error_message
        assert f"{way}: task ignored its deadline and was left behind" in child.err
    again = start(nursery, tmp_path, TASK, ways=ways)
    assert ended_soon(again) == 1
    assert asked(tmp_path, "task") == called, "nor by the same command"


def test_evaluators_that_hang_are_their_own_failure_and_the_answer_is_kept(
    nursery: Nursery, tmp_path: Path
) -> None:
    ways = ON_THE_LOOP + ON_THREADS
    child = start(nursery, tmp_path, EVALUATOR, ways=ways)
    assert ended_soon(child) == 1, child.err
    rows = only_the_bad_ones_failed(tmp_path, ways, "evaluator_error")
    for way in ways:
        assert rows[way].output == way
        assert [failure.name for failure in rows[way].evaluator_failures] == ["judge"]
        assert "took longer than 0.5 s" in rows[way].evaluator_failures[0].error_message
        assert rows[way].scores["lambda"].value == 1
    assert asked(tmp_path, "task") == sorted(ways + ["None"] * len(ways))


@pytest.mark.parametrize("hook", ["setup", "prepare_context", "teardown"])
def test_hooks_that_hang_are_outcomes_of_their_cases(nursery: Nursery, tmp_path: Path, hook: str) -> None:
    child = start(nursery, tmp_path, HOOK, ways=ON_THE_LOOP, hook=hook)
    assert ended_soon(child) == 1, child.err
    rows = only_the_bad_ones_failed(tmp_path, ON_THE_LOOP, "timeout")
    assert {rows[way].error_stage for way in ON_THE_LOOP} == {hook}
    assert all(f"the hook `{hook}` took longer" in rows[way].error_message for way in ON_THE_LOOP)


def test_a_thread_that_somebody_else_started_does_not_hold_up_the_exit(
    nursery: Nursery, tmp_path: Path
) -> None:
    """A thread that is not a daemon, or one of a pool, is waited for when an interpreter ends."""
    ways = ["start_a_thread_that_stays", "sleep_in_the_pool_of_asyncio"]
    child = start(nursery, tmp_path, TASK, ways=ways)
    assert ended_soon(child) == 1, child.err
    only_the_bad_ones_failed(tmp_path, ways, "timeout")


# The loop itself ----------------------------------------------------------------------------------


def test_a_task_that_blocks_the_loop_for_a_while_is_named_and_makes_nobody_else_late(
    nursery: Nursery, tmp_path: Path
) -> None:
    """The evaluators of the others have 0.5 s, and answer in time while nobody can hear them."""
    child = start(nursery, tmp_path, TASK, "--timeout", "20s", ways=["block_a_while"])
    assert ended_soon(child) == 0, child.err
    assert "block_a_while" in child.err
    assert "hangs.py:" in child.err


@pytest.mark.parametrize("way", ["block_for_good", "block_in_a_call"])
def test_a_task_that_blocks_the_loop_for_good_ends_the_process_and_the_resume_gets_past_it(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    child = start(nursery, tmp_path, TASK, ways=[way])
    assert ended_soon(child) == 3, child.err
    assert f"in {way}" in child.err
    assert "hangs.py:" in child.err
    assert "hint" in child.err or "await instead" in child.err
    again = start(nursery, tmp_path, TASK, ways=[way])
    assert ended_soon(again) == 1, again.err
    rows = only_the_bad_ones_failed(tmp_path, [way], "timeout")
    assert "blocked the event loop" in rows[way].error_message
    assert asked(tmp_path, "task").count(way) == 1


@pytest.mark.parametrize("hook", ["setup", "teardown"])
def test_a_hook_that_blocks_the_loop_for_good_ends_the_process_and_the_resume_gets_past_it(
    nursery: Nursery, tmp_path: Path, hook: str
) -> None:
    child = start(nursery, tmp_path, HOOK, ways=["block_in_a_call"], hook=hook)
    assert ended_soon(child) == 3, child.err
    again = start(nursery, tmp_path, HOOK, ways=["block_in_a_call"], hook=hook)
    assert ended_soon(again) == 1, again.err
    only_the_bad_ones_failed(tmp_path, ["block_in_a_call"], "timeout")


def test_an_evaluator_that_blocks_the_loop_for_good_ends_the_process_and_the_resume_gets_past_it(
    nursery: Nursery, tmp_path: Path
) -> None:
    way = "block_for_good"
    child = start(nursery, tmp_path, EVALUATOR, ways=[way])
    assert ended_soon(child) == 3, child.err
    again = start(nursery, tmp_path, EVALUATOR, ways=[way])
    assert ended_soon(again) == 1, again.err
    rows = only_the_bad_ones_failed(tmp_path, [way], "timeout")
    assert "evaluator judge" in rows[way].error_message
    assert asked(tmp_path, "task") == ["None", way]
    (tmp_path / "hurry").touch()
    mended = start(nursery, tmp_path, EVALUATOR, "--retry-errors", ways=[way])
    assert ended_soon(mended) == 0, mended.err
    assert "1 done before, 1 to run (1 timeout)" in mended.err


def test_a_loop_that_is_blocked_while_the_disk_fails_still_ends(nursery: Nursery, tmp_path: Path) -> None:
    """Then not even the culprit can be recorded."""
    child = start(nursery, tmp_path, TASK, ways=["block_for_good"], faults={"room": 1_000})
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


# The interpreter itself ----------------------------------------------------------------------------

BACKTRACKS = """
    import asyncio, os, re
    from paceline import Case, Dataset

    @async@def @who@:
        return re.match(r"(a+)+$" if not os.path.exists("mended") else "a+b", "a" * 60 + "b") is not None

    @async@def quick(@argument@):
        with open("asked.log", "a") as log:
            log.write(f"quick {@argument@}\\n")
        return 1

    dataset = Dataset(name="backtracks", cases=[Case(name="a", inputs=1)], evaluators=[@evaluator@])
    task = @task@
"""


@pytest.mark.parametrize("way", ["task on the loop", "task on a thread", "evaluator on a thread"])
def test_code_that_holds_the_interpreters_lock_for_good_ends_with_the_process(
    nursery: Nursery, tmp_path: Path, way: str
) -> None:
    """Python's `re` does, and with it no thread and no handler of a signal of ours can run any more."""
    is_task = way.startswith("task")
    text = (
        textwrap.dedent(BACKTRACKS)
        .replace("@async@", "async " if way.endswith("loop") else "")
        .replace("@who@", "hold(n)" if is_task else "hold(output)")
        .replace("@argument@", "output" if is_task else "n")
        .replace("@evaluator@", "quick" if is_task else "hold")
        .replace("@task@", "hold" if is_task else "quick")
    )
    (tmp_path / "suite.py").write_text(text)
    command = ("run", "suite.py", "-o", "out", *LIMITS)
    child = nursery.runs(tmp_path, *command, faults={"grace": 0.1, "last_resort": 0.3})
    # Processor time is what it is given, and that may take a while on a busy machine.
    assert child.wait(100) == -signal.SIGPROF, child.err
    assert "in hold" in child.err, "the traces of all threads are told"
    assert "suite.py" in child.err
    (tmp_path / "mended").touch()
    again = nursery.runs(tmp_path, *command)
    assert again.wait() == 0, again.err
    assert len((tmp_path / "asked.log").read_text().split()) == 2, "what is on record is not asked for again"
    assert Report.read(tmp_path / "out").n_scored == 1
