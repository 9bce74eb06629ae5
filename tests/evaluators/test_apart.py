"""Regular expressions in another process: the answers, the deadline, and what becomes of the process."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paceline.evaluators import apart
from paceline.evaluators.apart import Matchers, TookTooLong, matches_apart

ENDLESS = (r"(a+)+$", "a" * 60 + "!")


@pytest.fixture
def matchers() -> Iterator[Matchers]:
    ours = Matchers(limit=1)
    yield ours
    ours.stop()


def ask(matchers: Matchers, pattern: str, text: str, *, whole: bool = False, timeout: float = 10) -> bool:
    return matchers.matches(pattern, 0, text, whole=whole, timeout=timeout)


def test_a_child_answers_as_re_does(matchers: Matchers) -> None:
    assert ask(matchers, "b", "abc") is True
    assert ask(matchers, "b", "abc", whole=True) is False
    assert ask(matchers, ".b.", "abc", whole=True) is True
    assert ask(matchers, "\ud800", "a\ud800") is True
    assert ask(matchers, "x$", "a" * 1_000_000 + "x") is True


def test_one_child_answers_many_questions(matchers: Matchers) -> None:
    ask(matchers, "a", "a")
    (child,) = matchers._idle
    for _ in range(50):
        ask(matchers, "a", "b")
    assert matchers._idle == [child]


def test_a_child_that_took_too_long_is_gone_and_the_next_question_gets_another(matchers: Matchers) -> None:
    ask(matchers, "a", "a")
    (child,) = matchers._idle
    with pytest.raises(TookTooLong):
        ask(matchers, *ENDLESS, timeout=0.1)
    assert not child.is_alive
    assert ask(matchers, "a", "a") is True


def test_a_child_that_someone_else_has_ended_is_replaced(matchers: Matchers) -> None:
    ask(matchers, "a", "a")
    matchers._idle[0]._process.kill()
    matchers._idle[0]._process.wait()
    assert ask(matchers, "a", "a") is True


def test_there_are_never_more_children_than_the_limit() -> None:
    ours = Matchers(limit=2)
    answers: list[bool] = []
    threads = [threading.Thread(target=lambda: answers.append(ask(ours, "b", "abc"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 8
    assert len(ours._idle) <= 2
    ours.stop()


def test_a_child_takes_nothing_from_the_working_directory(
    matchers: Matchers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "marshal.py").write_text("raise SystemExit(3)")
    (tmp_path / "re.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert ask(matchers, "a", "a") is True


PARENT = """
import os, sys, threading
from paceline.evaluators import apart
matchers = apart.Matchers(limit=1)
matchers.matches("a", 0, "a", whole=False, timeout=10)
(child,) = matchers._idle
print(child._process.pid, flush=True)
if sys.argv[1] == "busy":
    ask = lambda: matchers.matches(r"(a+)+$", 0, "a" * 60 + "!", whole=False, timeout=1)
    threading.Thread(target=ask, daemon=True).start()
sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_a_child_does_not_outlive_a_parent_that_was_killed(state: str) -> None:
    """By the end of its input when idle, by its own alarm in the middle of a pattern. Real processes."""
    run = [sys.executable, "-c", PARENT, state]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 30
    while is_running(child):
        assert time.monotonic() < deadline, "the child is still there"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Where nobody collects orphans, a dead one still has its number.
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return not state.stdout.strip().startswith("Z") and bool(state.stdout.strip())


def _answer_in_a_fork(answers: multiprocessing.SimpleQueue[tuple[bool, int]]) -> None:
    found = matches_apart("b", 0, "abc", whole=False, timeout=10)
    answers.put((found, apart._matchers._idle[0]._process.pid))


@pytest.mark.skipif(sys.platform != "linux", reason="forking is safe enough on Linux only")
def test_a_forked_process_has_children_of_its_own() -> None:
    assert matches_apart("b", 0, "abc", whole=False, timeout=10)
    ours = apart._matchers._idle[-1]._process.pid
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    fork = context.Process(target=_answer_in_a_fork, args=(answers,))
    fork.start()
    found, theirs = answers.get()
    fork.join()
    assert found
    assert theirs != ours
    assert matches_apart("b", 0, "abc", whole=False, timeout=10)
