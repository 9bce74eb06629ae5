"""Calls that block, calls that do not, and the loop that those which block share."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import paceline
from paceline import aevaluate, evaluate
from paceline.models import Answer
from paceline.standalone.background import background
from tests.evaluators.judges.stage import Said, yes

GIVEN: dict[str, Any] = {"output": "Paris", "context": "Paris is in France."}


class Waits:
    """A judge that answers when as many ask as are expected, and remembers on which loops it was asked."""

    name = version = "test:waits"

    def __init__(self, expected: int) -> None:
        self.expected, self.here = expected, 0
        self.all_here = threading.Event()
        self.loops: set[int] = set()
        self.threads: set[str] = set()

    def check_ready(self) -> None:
        """It always is."""

    async def ask(self, messages: Any, **options: Any) -> Answer:
        self.loops.add(id(asyncio.get_running_loop()))
        self.threads.add(threading.current_thread().name)
        self.here += 1
        if self.here == self.expected:
            self.all_here.set()
        while not self.all_here.is_set():
            await asyncio.sleep(0.001)
        return Answer(text="{}", parsed={"reason": "r", "pass": True}, model=self.name)


def test_threads_that_block_share_one_loop_and_are_asked_at_once() -> None:
    """The pattern of eight workers: none waits for another, and all use the same connections."""
    judge = Waits(8)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: evaluate("groundedness", model=judge, **GIVEN), range(8)))
    assert [each.passed for each in results] == [True] * 8
    assert len(judge.loops) == 1
    assert judge.threads == {"paceline-standalone"}


def test_calls_that_do_not_block_run_together_on_the_loop_of_the_caller() -> None:
    judge = Waits(50)

    async def program() -> tuple[int, list[Any]]:
        calls = (aevaluate("groundedness", model=judge, **GIVEN) for _ in range(50))
        return id(asyncio.get_running_loop()), await asyncio.gather(*calls)

    loop, results = asyncio.run(program())
    assert all(each.passed for each in results)
    assert judge.loops == {loop}


def test_a_call_that_blocks_works_inside_a_running_loop() -> None:
    """As in a notebook."""

    async def cell() -> list[Any]:
        return [evaluate("groundedness", model=Said(yes()), **GIVEN), evaluate("is_json", text="{}")]

    assert [each.passed for each in asyncio.run(cell())] == [True, True]


def test_a_judge_that_itself_blocks_on_a_template_does_not_wait_for_ever() -> None:
    class Asks(Waits):
        async def ask(self, messages: Any, **options: Any) -> Answer:
            assert evaluate("toxicity", output="x", model=Said(yes())).passed
            return await super().ask(messages, **options)

    assert evaluate("groundedness", model=Asks(1), **GIVEN).passed


def test_code_that_judges_for_long_leaves_the_loop_free() -> None:
    """A judgement by code is made on a thread: whoever else is on the loop goes on."""

    async def program() -> tuple[int, Any]:
        ticks, over = 0, asyncio.Event()

        async def tick() -> None:
            nonlocal ticks
            while not over.is_set():
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        result = await aevaluate("levenshtein_similarity", output="ab" * 5000, expected="ba" * 5000)
        over.set()
        await ticking
        return ticks, result

    ticks, result = asyncio.run(program())
    assert result.status == "completed"
    assert ticks > 2


def test_cancelling_a_call_cancels_what_it_has_asked() -> None:
    judge = Waits(2)

    async def program() -> None:
        call = asyncio.create_task(aevaluate("groundedness", model=judge, **GIVEN))
        while not judge.here:
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(program())
    assert not judge.all_here.is_set()


def test_a_forked_child_has_a_loop_of_its_own() -> None:
    program = """
import os, sys
from paceline import evaluate
given = {"output": "Paris", "context": "Paris is in France.", "model": "sim"}
assert evaluate("groundedness", **given).passed
if (child := os.fork()) == 0:
    os._exit(0 if evaluate("groundedness", **given).passed else 1)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert done.returncode == 0


def test_the_interpreter_ends_although_the_loop_was_there() -> None:
    program = "from paceline import evaluate; print(evaluate('toxicity', output='x', model='sim').status)"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "completed\n", "")
    assert time.monotonic() - begun < 30


@pytest.mark.skipif(not hasattr(os, "kill"), reason="no signals here")
def test_ctrl_c_ends_a_call_that_blocks() -> None:
    program = """
import os, signal, threading
from paceline import evaluate
from paceline.models import Answer
import asyncio

class Hangs:
    name = version = "test:hangs"
    def check_ready(self): pass
    async def ask(self, messages, **options):
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            os.write(1, b"let go\\n")
            raise

try:
    evaluate("toxicity", output="x", model=Hangs())
except KeyboardInterrupt:
    os.write(1, b"interrupted\\n")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert sorted(done.stdout.split("\n")) == ["", "interrupted", "let go"]


def test_importing_the_library_and_asking_code_starts_no_thread() -> None:
    program = (
        "import threading, paceline; paceline.evaluate('is_json', text='{}'); print(threading.active_count())"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "1\n"
    assert paceline.EvalResult.__name__ == "EvalResult"
    assert background is not None
