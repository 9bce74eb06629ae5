"""PythonTests: what it says of answers, right, wrong and harmful."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import pytest

from paceline.containment import Means
from paceline.errors import UsageError
from paceline.evaluators import NotJudged, PythonTests
from tests.evaluators.cases import finished
from tests.evaluators.code.answers import ADD, SMALL, judged, verdict, why_not

RIGHT = "def add(a, b):\n    return a + b\n"
HARMLESS = {**SMALL, "timeout": 5.0}


def test_an_answer_that_passes_its_tests_passes(way: Means) -> None:
    assert verdict(RIGHT).value is True


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("def add(a, b): return a - b", "assert add(1, 2) == 3; add(1, 2) answered -1"),
        ("def add(a, b): return str(a + b)", "add(1, 2) answered '3'"),
        ("def add(a, b): ...", "add(1, 2) answered None"),
        ("def add(a, b):\n    return a / 0", "add(1, 2) raised ZeroDivisionError: division by zero (line 2)"),
        ("def add(a, b):\n    import no_such_module", "add(1, 2) raised ModuleNotFoundError"),
        ("def add(a, b):\n    assert False", "add(1, 2) raised AssertionError (line 2)"),
        ("def add(a): return a", "TypeError: add() takes 1 positional argument but 2 were given"),
        ("def plus(a, b): return a + b", "the answer defines no function add"),
        ("def add(a, b: return", "the code raised SyntaxError"),
        ("import nothing_of_that_name\n" + RIGHT, "the code raised ModuleNotFoundError"),
        ("raise ValueError('no')\n" + RIGHT, "the code raised ValueError: no (line 1)"),
        ("def add(a, b): return object()", "that is an object of its own, and only plain values"),
        ("def add(a, b): return add(a, b)", "RecursionError"),
    ],
)  # fmt: skip
def test_one_that_does_not_says_why(answer: str, why: str) -> None:
    assert why in why_not(answer)


@pytest.mark.parametrize(
    ("answer", "tests"),
    [
        ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
        ("def f(n): return map(str, range(n))", "assert sorted(f(2)) == ['0', '1']"),
        ("def f(n): return {n: {n}, (n,): [None, 1.5]}", "assert f(2) == {2: {2}, (2,): [None, 1.5]}"),
        ("class f:\n    def __init__(self, n): self.n = n\n    def twice(self): return self.n * 2",
         "one = f(4)\nassert one.twice() == 8 and one.n == 4"),
        ("def f(n): return dict(zip('ab', range(n))).keys()", "assert len(f(2)) == 2"),
        ("def f(n): raise KeyError(n)", "try:\n    f(1)\nexcept KeyError: pass\nelse: assert False"),
        ("def f(n): return 2 ** n", "assert f(20000) == 2 ** 20000"),
        ("def f(*n, **more): return (n, more)", "assert f(1, 2, a=3) == ((1, 2), {'a': 3})"),
        ("import dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\ndef f(n): return P(n).x",
         "assert f(3) == 3"),
    ],
)  # fmt: skip
def test_functions_of_many_kinds_can_be_tested(answer: str, tests: str) -> None:
    found = verdict(answer, tests, entry_point="f")
    assert found.value is True, found.reason


@pytest.mark.parametrize(
    "tests",
    [
        "def check(candidate):\n    assert candidate(1, 2) == 3",
        "def test_adding():\n    assert add(1, 2) == 3\n\n\ndef test_again():\n    assert add(2, 2) == 4",
        "import math\nassert math.isclose(add(0.1, 0.2), 0.3)",
    ],
    ids=["check", "functions", "statements"],
)
def test_tests_come_in_several_forms(tests: str) -> None:
    assert verdict(RIGHT, tests).value is True
    assert verdict("def add(a, b): return 99", tests).value is False


def test_of_several_tests_it_says_how_many_fail() -> None:
    tests = ["assert add(1, 1) == 2", "assert add(2, 2) == 5", "assert add(2, 3) == 6"]
    assert (
        why_not(RIGHT, tests) == "2 of 3 tests fail, the first: assert add(2, 2) == 5; add(2, 2) answered 4"
    )


def test_of_many_tests_the_verdict_stays_short() -> None:
    tests = [f"assert add({n}, 1) == {n}, {'x' * 200!r}" for n in range(1000)]
    assert why_not(RIGHT, tests).startswith("1000 of 1000 tests fail, the first: assert add(0, 1) == 0")


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("assert True", "the tests never called add: they say nothing about the answer"),
        ("def check(function): pass", "never called add"),
        ("def helper(): assert add(1, 2) == 4", "never called add"),
        ("assert add(1", "the tests do not compile"),
        ("import nothing_of_that_name\nassert add(1, 2) == 3", "the tests cannot import what they need"),
        ("assert add(lambda: 1, 2)", "only plain values can be handed to the answer"),
    ],
)
def test_tests_that_say_nothing_are_an_error_and_no_pass(tests: str, why: str) -> None:
    with pytest.raises(NotJudged, match=why):
        verdict(RIGHT, tests)


def test_tests_that_end_themselves_are_not_passed() -> None:
    assert "SystemExit" in why_not(RIGHT, "import sys\nassert add(1, 2) == 3\nsys.exit(0)")


# ---- where it finds tests, function and prompt ----


def asked_with(metadata: Any, *, inputs: Any = "", answer: str = RIGHT, **given: Any) -> Any:
    return asyncio.run(
        PythonTests(**SMALL, **given).evaluate(finished(answer, inputs=inputs, metadata=metadata))
    )


@pytest.mark.parametrize(
    "metadata",
    [
        {"test": ADD, "entry_point": "add"},
        {"tests": ADD},
        {"test_list": ADD.splitlines()},
    ],
    ids=["HumanEval", "told by the tests", "MBPP"],
)
def test_what_is_not_given_comes_from_the_case(metadata: dict[str, Any]) -> None:
    assert asked_with(metadata).value is True


def test_the_prompt_comes_from_the_inputs() -> None:
    prompt = 'def add(a, b):\n    """Add them."""\n'
    assert asked_with({"test": ADD}, inputs=prompt, answer="    return a + b\n").value is True
    assert asked_with({"test": ADD}, inputs={"prompt": prompt}, answer="    return a + b\n").value is True


@pytest.mark.parametrize(
    "metadata", [None, {}, {"test": ""}, {"test_list": []}, {"test_list": [1]}], ids=repr
)
def test_a_case_without_tests_is_an_error_and_no_pass(metadata: Any) -> None:
    with pytest.raises(NotJudged, match="the case has no tests"):
        asked_with(metadata, entry_point="add")


def test_a_case_that_does_not_tell_its_function_is_an_error() -> None:
    with pytest.raises(NotJudged, match="give `entry_point`"):
        asked_with({"test": "assert one(two(1))"})


def test_an_output_that_is_no_text_does_not_pass() -> None:
    assert why_not({"code": RIGHT}) == "the output is a dict, not code"


@pytest.mark.parametrize(
    "wrong", [{"timeout": 0}, {"timeout": float("nan")}, {"memory_mb": 4}, {"processes": 0}]
)
def test_limits_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="PythonTests cannot have"):
        PythonTests(**wrong)


# ---- answers that do harm ----


def test_a_loop_without_end_is_ended(way: Means) -> None:
    assert why_not("def add(a, b):\n    while True: pass", timeout=1.0) == "it took longer than 1 s"


def test_waiting_without_end_is_ended(way: Means) -> None:
    answer = "import time\ndef add(a, b): time.sleep(1000)"
    assert why_not(answer, timeout=1.0) == "it took longer than 1 s"


def test_forking_without_end_is_ended_and_told(way: Means) -> None:
    answer = "import os\ndef add(a, b):\n    while True: os.fork()"
    why = why_not(answer, **{**HARMLESS, "timeout": 3.0})
    # Bounded by the kernel, the answer is told; watched, all of it is ended. Either may come first.
    assert "BlockingIOError" in why or why == "it started more than 8 processes" or "cannot be read" in why


def test_threads_without_end_are_refused_and_told() -> None:
    answer = """
import threading, time
def add(a, b):
    for _ in range(1000):
        threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
"""
    assert "can't start new thread" in why_not(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "def add(a, b): return len(bytearray(1 << 30))",
        "def add(a, b):\n    kept = []\n    while True: kept.append(bytearray(1 << 20))",
    ],
    ids=["at once", "bit by bit"],
)
def test_memory_past_the_limit_is_refused_and_told(way: Means, answer: str) -> None:
    assert "MemoryError" in why_not(answer)


def test_memory_of_several_processes_is_taken_together(way: Means) -> None:
    answer = """
import os, time
def add(a, b):
    for _ in range(5):
        if os.fork() == 0:
            kept = bytearray(b"x") * (80 << 20)
            time.sleep(10)
            os._exit(0)
    time.sleep(10)
    return 3
"""
    assert why_not(answer) == "it used more than 256 MB of memory"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_without_end_is_ended_and_told(way: Means, stream: str) -> None:
    answer = f"import sys\ndef add(a, b):\n    while True: sys.{stream}.write('x' * 65536)"
    assert why_not(answer) == "it printed without end"


def test_writing_without_end_is_refused_and_told(way: Means) -> None:
    answer = """
def add(a, b):
    with open("filled", "wb") as file:
        while True: file.write(bytes(1 << 20))
"""
    why = why_not(answer)
    assert any(told in why for told in ("No space left on device", "File too large", "SIGXFSZ")), why


def test_reading_outside_is_refused_and_told(way: Means, tmp_path: Any) -> None:
    (tmp_path / "answers").write_text("3")
    answer = f"def add(a, b): return int(open({str(tmp_path / 'answers')!r}).read())"
    why = why_not(answer)
    assert any(told in why for told in ("FileNotFoundError", "PermissionError")), why


def test_sockets_are_refused_and_told(way: Means) -> None:
    answer = "import socket\ndef add(a, b): return socket.create_connection(('192.0.2.1', 80), 1) and 3"
    why = why_not(answer)
    assert any(told in why for told in ("Network is unreachable", "Operation not permitted")), why


def test_what_an_answer_leaves_running_is_ended_with_it(way: Means) -> None:
    answer = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
def add(a, b): return a + b
"""
    assert verdict(answer).value is True  # and comes back, which it would not if somebody were left


def test_a_crash_of_the_interpreter_is_told(way: Means) -> None:
    assert "SIGSEGV" in why_not("import ctypes\ndef add(a, b): return ctypes.string_at(0)")


def test_the_same_answer_is_judged_many_times_at_once(way: Means) -> None:
    async def all_of_them() -> list[Any]:
        evaluator = PythonTests(ADD, "add", **SMALL)
        return await asyncio.gather(*(evaluator.evaluate(finished(RIGHT)) for _ in range(8)))

    for said in asyncio.run(all_of_them()):
        assert (said["PythonTests"] if isinstance(said, dict) else said).value is True


# ---- where it cannot be contained ----


def test_without_containment_it_is_refused_before_anything_runs(only_limits: Means) -> None:
    from paceline.evaluators.prepare import prepare

    with pytest.raises(UsageError, match="generated code cannot be contained on this machine") as refused:
        prepare([PythonTests(ADD, "add")])
    assert "bubblewrap" in refused.value.hint
    with pytest.raises(UsageError):
        judged(RIGHT)


def test_where_that_is_allowed_the_report_says_what_is_not_contained(only_limits: Means) -> None:
    said = judged(RIGHT, allow_uncontained=True)
    assert said["PythonTests"].value is True
    told = said["PythonTests_not_contained"].value
    assert "files outside can be read and written; the network can be reached" in told


def test_limits_hold_without_containment_too(only_limits: Means) -> None:
    loop = "def add(a, b):\n    while True: pass"
    assert why_not(loop, allow_uncontained=True, timeout=1.0) == "it took longer than 1 s"
    greedy = "def add(a, b): return len(bytearray(1 << 30))"
    assert "MemoryError" in why_not(greedy, allow_uncontained=True)


def test_what_is_installed_can_be_imported_only_where_that_is_said(way: Means) -> None:
    answer = "import msgspec\ndef add(a, b): return a + b\n"
    assert "ModuleNotFoundError" in why_not(answer)
    assert verdict(answer, packages=True).value is True


def test_another_interpreter_can_be_named_and_one_that_is_none_is_refused(way: Means) -> None:
    assert verdict(RIGHT, python=os.path.realpath(sys.executable)).value is True
    with pytest.raises(UsageError, match="is no Python interpreter"):
        PythonTests(ADD, "add", python="/bin/true").check_ready()
    with pytest.raises(UsageError, match="is no Python interpreter"):
        PythonTests(ADD, "add", python="/nowhere/python").check_ready()
