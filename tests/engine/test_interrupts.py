"""Signals as messages to the run: the first drains, the second cancels, the third goes at once."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.engine.interrupts import SIGNALS, in_hand, interrupts
from paceline.engine.loop import run_to_end

SRC = Path(__file__).resolve().parents[2] / "src"


def on_asyncios_loop(main: Any) -> None:
    asyncio.run(main())


def listening(main: Any, run: Any = on_asyncios_loop) -> list[str]:
    """What a run would be told while `main` goes on."""
    told: list[str] = []

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        with interrupts(
            loop,
            drain=lambda reason: told.append(f"drain: {reason}"),
            cancel=lambda reason: told.append(f"cancel: {reason}"),
        ) as came:
            await main()
            assert len(came) == len(told)

    run(whole)
    return told


async def send(*numbers: signal.Signals) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_drains_and_the_second_cancels(number: signal.Signals) -> None:
    assert listening(lambda: send(number, number)) == [
        f"drain: {number.name} received",
        f"cancel: {number.name} received twice",
    ]


def test_signals_of_different_kinds_count_together() -> None:
    told = listening(lambda: send(signal.SIGTERM, signal.SIGINT))
    assert [each.partition(":")[0] for each in told] == ["drain", "cancel"]


def test_without_a_signal_nothing_is_told_and_all_is_as_before() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]

    async def look() -> None:
        assert in_hand()

    assert listening(look) == []
    assert [signal.getsignal(number) for number in SIGNALS] == before
    assert not in_hand()


def test_what_the_program_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert listening(lambda: send(signal.SIGHUP)) == []
    finally:
        signal.signal(signal.SIGHUP, before)


def test_on_a_thread_signals_are_somebody_elses() -> None:
    found: list[Any] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        with interrupts(loop, drain=found.append, cancel=found.append) as came:
            found.append((list(came), in_hand()))

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    thread.join()
    assert found == [([], False)]


THIRD = """
import asyncio, os, signal, time
from paceline import Case, Dataset
from paceline.engine.interrupts import interrupts

async def main():
    with interrupts(asyncio.get_running_loop(), drain=print, cancel=print):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(0.05)
        time.sleep(30)

asyncio.run(main())
"""


def test_the_third_goes_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-u", "-c", THIRD],
        env=os.environ | {"PYTHONPATH": str(SRC)},
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 130
    assert done.stdout.splitlines() == ["SIGINT received", "SIGINT received twice"]


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("where", ["on the loop", "on a thread"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_process_that_a_task_forks_is_ended_by_signals_and_the_run_hears_nothing(
    number: signal.Signals, where: str
) -> None:
    codes: list[int] = []

    def fork_and_end() -> None:
        ready, says_so = os.pipe()
        child = os.fork()
        if not child:
            try:
                os.write(says_so, b"!")
                time.sleep(60)
            except KeyboardInterrupt:  # what Python does by itself
                os._exit(77)
            finally:
                os._exit(0)
        assert os.read(ready, 1) == b"!"
        os.kill(child, number)
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    async def main() -> None:
        if where == "on a thread":
            await asyncio.to_thread(fork_and_end)
        else:
            fork_and_end()
        await asyncio.sleep(0.02)

    assert listening(main, run_to_end) == []
    assert codes == [77 if number is signal.SIGINT else -number]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_of_processes_within_a_task_comes_to_its_end() -> None:
    """Its `terminate` sends SIGTERM, and waits for those that it was sent to."""
    forking = multiprocessing.get_context("fork")

    def work(n: int) -> int:
        worker = forking.Process(target=time.sleep, args=(60,))
        worker.start()
        worker.terminate()
        worker.join(30)
        assert worker.exitcode == -signal.SIGTERM
        return n

    dataset = Dataset(name="pools", cases=[Case(inputs=n) for n in range(8)])
    report = dataset.evaluate_sync(work, journal=False, max_concurrency=4, timeout=60, progress=False)
    assert [failure.error_message for failure in report.failures] == []
