"""The event loop that a run owns: it comes to its end, whatever is in it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from paceline.engine.clock import SystemClock
from paceline.engine.loop import LAST_WORDS, run_to_end
from paceline.engine.retry import NO_RETRY
from tests.engine.stage import carry_out, cases

SRC = Path(__file__).resolve().parents[2] / "src"
colour: ContextVar[str] = ContextVar("colour", default="none")


@pytest.fixture(params=["uvloop", "asyncio"])
def debug(request: pytest.FixtureRequest) -> bool:
    """With a debugger let in, it is asyncio's own loop."""
    return bool(request.param == "asyncio")


def test_it_gives_what_the_coroutine_gives_and_raises_what_it_raises(debug: bool) -> None:
    async def main() -> str:
        await asyncio.sleep(0)
        return colour.get()

    async def failing() -> None:
        raise LookupError("mine")

    token = colour.set("red")
    assert run_to_end(main, debug=debug) == "red"
    with pytest.raises(LookupError, match="mine"):
        run_to_end(failing, debug=debug)
    colour.reset(token)


def test_it_works_where_a_loop_is_running_already(debug: bool) -> None:
    async def main() -> tuple[str, str]:
        return threading.current_thread().name, colour.get()

    async def failing() -> None:
        raise LookupError("mine")

    async def notebook() -> tuple[str, str]:
        colour.set("blue")
        with pytest.raises(LookupError, match="mine"):
            run_to_end(failing, debug=debug)
        return run_to_end(main, debug=debug)

    assert asyncio.run(notebook()) == ("paceline-loop", "blue")


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("awaited", [True, False])
def test_a_child_task_that_ends_with_an_exit_does_not_end_the_run(
    debug: bool, kind: type[BaseException], awaited: bool
) -> None:
    """On a thread of its own, where no Ctrl-C can be meant."""

    async def child() -> None:
        await asyncio.sleep(0.01)
        raise kind

    async def task(number: int) -> int:
        if number % 2:
            child_task = asyncio.ensure_future(child())
            child_task.add_done_callback(asyncio.Task.exception)  # or asyncio would speak of it
            if awaited:
                await child_task
        await asyncio.sleep(0.05)
        return number

    async def notebook() -> Any:
        return run_to_end(
            lambda: carry_out(cases(6), task, clock=SystemClock(), retry_task=NO_RETRY), debug=debug
        )

    carried = asyncio.run(notebook())
    assert carried.ending.how == "complete"
    assert carried.ended == ({"scored": 3, "task_error": 3} if awaited else {"scored": 6})


@pytest.mark.parametrize("shape", ["gather", "group"])
def test_children_in_groups_that_end_with_an_exit_are_data_of_their_case(debug: bool, shape: str) -> None:
    async def child() -> None:
        await asyncio.sleep(0.01)
        raise SystemExit(4)

    async def task(number: int) -> int:
        if shape == "gather":
            await asyncio.gather(child(), asyncio.sleep(5))
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(child())
        return number

    carried = run_to_end(
        lambda: carry_out(cases(4), task, clock=SystemClock(), retry_task=NO_RETRY), debug=debug
    )
    assert carried.ended == {"task_error": 4}


def test_leftover_tasks_that_ignore_their_cancellation_hold_the_end_up_for_a_moment_only(debug: bool) -> None:
    async def deaf_for_ever() -> None:
        while True:
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                continue

    async def main() -> str:
        left_behind = [asyncio.get_running_loop().create_task(deaf_for_ever()) for _ in range(5)]
        await asyncio.sleep(0)
        return f"answer, with {len(left_behind)} left"

    began = time.monotonic()
    assert run_to_end(main, debug=debug) == "answer, with 5 left"
    assert time.monotonic() - began < 2 * LAST_WORDS + 1


def test_leftover_tasks_that_listen_are_given_their_last_words(debug: bool) -> None:
    said: list[str] = []

    async def tidy() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            await asyncio.sleep(0.01)
            said.append("goodbye")

    async def exiting() -> None:
        try:
            await asyncio.sleep(30)
        finally:
            sys.exit(3)

    async def main() -> None:
        leaving = asyncio.get_running_loop().create_task(exiting())
        leaving.add_done_callback(asyncio.Task.exception)  # or asyncio would speak of it
        tidying = asyncio.get_running_loop().create_task(tidy())
        await asyncio.sleep(0)
        assert not tidying.done()

    run_to_end(main, debug=debug)
    assert said == ["goodbye"]


def test_a_thread_that_hangs_does_not_hold_the_end_up(debug: bool) -> None:
    over = threading.Event()

    async def main() -> None:
        hanging = asyncio.get_running_loop().run_in_executor(None, over.wait, 30)
        await asyncio.sleep(0.05)
        assert not hanging.done()

    began = time.monotonic()
    run_to_end(main, debug=debug)
    over.set()
    assert time.monotonic() - began < 5


def test_the_loop_of_this_thread_is_gone_afterwards() -> None:
    async def main() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert run_to_end(main).is_closed()
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


CTRL_C = """
import asyncio, os, signal, sys, threading, time
from paceline.engine.clock import SystemClock
from paceline.engine.loop import run_to_end

def press():
    os.kill(os.getpid(), signal.SIGINT)

async def main():
    threading.Timer(0.1, press).start()
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        print("in order", flush=True)
        if STUBBORN:
            threading.Timer(0.1, press).start()
            time.sleep(0.5) if IN_THREAD else None
            await asyncio.sleep(30)
        raise

async def notebook():
    return run_to_end(main, debug=DEBUG)

try:
    asyncio.run(notebook()) if IN_THREAD else run_to_end(main, debug=DEBUG)
except KeyboardInterrupt:
    print("KeyboardInterrupt", flush=True)
    os._exit(0)
"""


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize("stubborn", [False, True])
def test_ctrl_c_that_nobody_has_taken_in_hand_ends_the_run_in_order(
    debug: bool, in_thread: bool, stubborn: bool
) -> None:
    script = f"STUBBORN, IN_THREAD, DEBUG = {stubborn}, {in_thread}, {debug}\n{CTRL_C}"
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        timeout=25,
        check=False,
    )
    assert done.stdout.split("\n")[:2] == ["in order", "KeyboardInterrupt"], done
    assert time.monotonic() - began < 20
