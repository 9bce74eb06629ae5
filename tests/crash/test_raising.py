"""Ten thousand cases of which each raises something else: an outcome each, in bounded time and memory.

Everything that can be thrown in Python is thrown: from coroutines and from plain functions on threads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paceline import Report, verify
from tests.crash.nursery import Nursery

THROWN = """
    import asyncio, threading
    from concurrent.futures import CancelledError

    class Unpicklable(Exception):
        def __init__(self, n): super().__init__(n); self.lock = threading.Lock()
        def __reduce__(self): raise RuntimeError("not to be pickled")

    class NoText(Exception):
        def __str__(self): raise ValueError("no text")
        __repr__ = __str__

    class TextIsAnExit(Exception):
        def __str__(self): raise SystemExit(9)
        __repr__ = __str__

    class TextIsNoText(Exception):
        def __str__(self): return 17
        __repr__ = __str__

    class HostileText(str):
        def encode(self, *_): raise KeyboardInterrupt
        __len__ = __getitem__ = __format__ = encode

    class TextIsHostile(Exception):
        def __str__(self): return HostileText("hostile")

    class Nameless(type):
        def __getattribute__(cls, name):
            if name in ("__module__", "__name__", "__qualname__"): raise RuntimeError("no name")
            return super().__getattribute__(name)
    class NamelessError(Exception, metaclass=Nameless): pass

    class Surrogates(Exception):
        def __str__(self): return "lone \\ud800 and \\udfff"

    class NoAttributes(Exception):
        def __getattribute__(self, name):
            if name.startswith("__"): return super().__getattribute__(name)
            raise RuntimeError("no attributes")

    class Circular(Exception):
        def __init__(self, n): super().__init__(n); self.__cause__ = self

    class OwnBase(BaseException): pass
    class OwnExit(SystemExit): pass
    class OwnInterrupt(KeyboardInterrupt): pass
    class Strange(type):
        def __repr__(cls): raise RuntimeError("no repr")
    class StrangeError(Exception, metaclass=Strange): pass

    class HTTPError(Exception):
        status_code = 503

    class RateLimitError(Exception):
        class response:
            headers = {"retry-after": "0.01"}

    class HeadersRaise(Exception):
        class response:
            @property
            def headers(self): raise KeyboardInterrupt
        response = response()

    BASES = [
        Exception, ValueError, KeyError, OSError, ArithmeticError, LookupError, UnicodeError, AssertionError,
        RecursionError, MemoryError, NotImplementedError, StopIteration, StopAsyncIteration, EOFError,
        ImportError, SyntaxError, RuntimeError, Warning, BaseException, GeneratorExit, SystemExit,
        KeyboardInterrupt, asyncio.CancelledError, CancelledError, asyncio.InvalidStateError,
        OwnBase, OwnExit, OwnInterrupt, Unpicklable, NoText, TextIsAnExit, TextIsNoText, Surrogates,
        NoAttributes, Circular, StrangeError, HeadersRaise,
        TextIsHostile, NamelessError,
    ]
    RETRIED = [ConnectionError, TimeoutError, HTTPError, RateLimitError, asyncio.IncompleteReadError]

    def thrown(n):
        "An exception of a class of its own, unlike any other."
        if n % 1000 == 999:
            return ValueError(f"{n} " + "m" * 50_000_000)
        if n % 1000 == 998:
            base = RETRIED[n // 1000 % len(RETRIED)]
        else:
            base = BASES[n % len(BASES)]
        kind = type(f"Raised{n}", (base,), {"__module__": "thrown"})
        if base is asyncio.IncompleteReadError:
            return kind(b"", 1)
        error = kind(n)
        match n % 7:
            case 0:
                error.__cause__ = KeyError("behind it")
            case 1:
                error = ExceptionGroup(f"group {n}", [error]) if isinstance(error, Exception) else error
            case 2:
                error.add_note("x" * 1000)
        return error
"""

SUITE = (
    THROWN
    + """
    import sys
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    CASES = @cases@

    async def at_once(n):
        raise thrown(n)

    async def after_a_while(n):
        await asyncio.sleep(0)
        raise thrown(n)

    async def in_a_child_task(n):
        async def child():
            raise thrown(n)
        await asyncio.create_task(child())

    def on_a_thread(n):
        raise thrown(n)

    async def cancels_itself(n):
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    WAYS = [at_once, after_a_while, in_a_child_task]

    async def on_the_loop(n):
        if n % 997 == 0:
            await cancels_itself(n)
        await WAYS[n % len(WAYS)](n)

    cases = [Case(name=f"case-{n}", inputs=n) for n in range(CASES)]
    dataset = Dataset(name="raising", cases=cases, evaluators=[EqualsExpected()])
    """
)

JUDGES = """
    async def task(n):
        return n

    def judge(ctx):
        raise thrown(ctx.inputs)

    async def judge_on_the_loop(ctx):
        await asyncio.sleep(0)
        raise thrown(ctx.inputs)

    judge.instant = "@kind@" == "instant"
    dataset.evaluators = [judge_on_the_loop if "@kind@" == "loop" else judge]
"""

HOOKS = """
    from paceline import CaseLifecycle, Suite

    async def returns(n):
        return n

    class Hooks(CaseLifecycle):
        pass

    async def fails(self, *_):
        await asyncio.sleep(0)
        raise thrown(self.case.inputs)

    Hooks.@kind@ = fails
    suite = Suite(dataset=Dataset(name="hooks", cases=cases), task=returns, lifecycle=Hooks)
"""

PROGRAM = """
    def peak():
        # Of this program alone: what the system counts for it begins with what has started it.
        try:
            with open("/proc/self/status") as told:
                return next(int(line.split()[1]) for line in told if line.startswith("VmHWM"))
        except OSError:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    if __name__ == "__main__":
        from paceline.api import exit_code, job_of, run_job
        from paceline.options import Options
        import json, resource, time

        begun = time.monotonic()
        options = Options(
            journal="out",
            max_concurrency=50,
            progress=False,
            retry_task={"attempts": 2, "base": 0.05, "cap": 0.05},
        )
        unit = 1 << (20 if sys.platform == "darwin" else 10)
        finished = run_job(job_of(dataset, @task@, options))
        said = {
            "code": exit_code(finished),
            "seconds": time.monotonic() - begun,
            "mb": peak() / unit,
        }
        print(json.dumps(said), flush=True)
"""


def program(text: str, *, cases: int, task: str) -> str:
    """The text of a program that raises."""
    filled = text.replace("@cases@", str(cases)).replace("@task@", task)
    return textwrap.dedent(filled)


def carry_out(folder: Path, *, cases: int, task: str) -> dict[str, Any]:
    """Have this many errors raised, in a process of their own; what that took."""
    (folder / "raising.py").write_text(program(SUITE + PROGRAM, cases=cases, task=task))
    ended = subprocess.run(
        [sys.executable, "raising.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    said: dict[str, Any] = json.loads(ended.stdout)
    return said


def all_have_an_outcome(path: Path, cases: int) -> Report[Any, Any, Any]:
    """Each case once, as an error, with nothing of the engine's own in its way."""
    report = Report.read(path)
    assert (report.n_expected, report.n_failed, report.n_scored, report.n_open) == (cases, cases, 0, 0)
    assert sorted(row.name for row in report.failures) == sorted(f"case-{n}" for n in range(cases))
    assert verify(path).ok
    kinds = Counter(row.outcome for row in report.failures)
    assert set(kinds) <= {"task_error", "infra_error"}, kinds
    assert {row.error_stage for row in report.failures} == {"task"}, "no error is the engine's"
    assert report.exit_code() == 1
    return report


@pytest.mark.slow
@pytest.mark.parametrize("task", ["on_the_loop", "on_a_thread"])
def test_ten_thousand_errors_are_ten_thousand_outcomes(tmp_path: Path, task: str) -> None:
    cases = 10_000
    said = carry_out(tmp_path, cases=cases, task=task)
    report = all_have_an_outcome(tmp_path / "out", cases)
    assert said["code"] == 1
    assert said["seconds"] < 60
    assert said["mb"] < 600, "ten messages of 50 MB are not kept"
    size = (tmp_path / "out" / "journal.jsonl").stat().st_size
    assert size < 40_000_000, "nor written"
    types = {row.error_type for row in report.failures}
    assert len(types) > 8_000, "each is told apart from the others"
    long = next(row for row in report.failures if row.name == "case-999")
    assert long.error_message.startswith("999 mmm")
    assert "left out" in long.error_message
    retried = next(row for row in report.failures if row.name == "case-998")
    assert (retried.outcome, retried.attempts) == ("infra_error", 2)
    report.render()


def test_each_kind_of_error_is_told_for_what_it_is(nursery: Nursery, tmp_path: Path) -> None:
    """By the command line, with its defaults but for the retries; a resume leaves errors alone."""
    suite = program(SUITE, cases=111, task="") + "\ntask = on_the_loop\n"
    (tmp_path / "suite.py").write_text(suite)
    command = ("run", "suite.py", "-o", "out", "--retries", "0")
    child = nursery.runs(tmp_path, *command)
    assert child.wait() == 1, child.err
    report = all_have_an_outcome(tmp_path / "out", 111)
    by_name = {row.name: row for row in report.failures}
    assert by_name["case-0"].error_type.endswith("CancelledError"), "it has cancelled itself"
    assert by_name["case-20"].error_type == "thrown.Raised20"
    assert by_name["case-20"].error_message == "20"
    assert by_name["case-29"].error_message.endswith("<no message: its __str__ raised ValueError>")
    assert by_name["case-30"].error_message == "<no message: its __str__ raised SystemExit>"
    assert by_name["case-32"].error_message == r"lone \ud800 and \udfff"
    before = (tmp_path / "out" / "journal.jsonl").read_bytes().count(b'"begin"')
    again = nursery.runs(tmp_path, *command)
    assert again.wait() == 1, "the exit code is the whole run's"
    assert (tmp_path / "out" / "journal.jsonl").read_bytes().count(b'"begin"') == before
    cured = suite.replace("task = on_the_loop", "async def on_the_loop(n): return n\ntask = on_the_loop")
    (tmp_path / "suite.py").write_text(cured)
    assert nursery.runs(tmp_path, *command, "--retry-errors").wait() == 0
    assert Report.read(tmp_path / "out").n_scored == 111


def run_suite(nursery: Nursery, folder: Path, part: str, *, kind: str, what: str) -> Report[Any, Any, Any]:
    """The errors of 111 cases, one at each case, in a part of the run other than its task."""
    text = program(SUITE + part.replace("@kind@", kind), cases=111, task="")
    (folder / "raising.py").write_text(text)
    child = nursery.runs(folder, "run", what, "-o", "out", "--retries", "0", "-j", "10", "-q")
    assert child.wait() == 1, child.err
    assert verify(folder / "out").ok
    return Report.read(folder / "out")


@pytest.mark.parametrize("kind", ["instant", "thread", "loop"])
def test_whatever_an_evaluator_raises_is_its_failure_and_no_score(
    nursery: Nursery, tmp_path: Path, kind: str
) -> None:
    report = run_suite(nursery, tmp_path, JUDGES, kind=kind, what="raising.py")
    assert report.n_failed == 111
    assert {row.outcome for row in report.rows} == {"evaluator_error"}
    assert {row.output for row in report.cases} == set(range(111)), "the answers are kept"
    assert all(len(row.evaluator_failures) == 1 and not row.assertions for row in report.cases)


@pytest.mark.parametrize("kind", ["setup", "prepare_context", "teardown"])
def test_whatever_a_hook_raises_is_an_outcome_of_its_case(
    nursery: Nursery, tmp_path: Path, kind: str
) -> None:
    report = run_suite(nursery, tmp_path, HOOKS, kind=kind, what="raising.py:suite")
    assert report.n_failed == 111
    assert {row.error_stage for row in report.failures} == {kind}
