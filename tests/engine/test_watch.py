"""The watch over the event loop: a coroutine that blocks is noticed and named."""

from __future__ import annotations

import asyncio
import importlib.util
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from paceline.engine import watch
from paceline.engine.watch import LastResort, LoopWatch, where_is


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BEAT", 0.02)
    monkeypatch.setattr(watch, "BLOCKED_AFTER", 0.1)


class Told:
    """What the watch has said."""

    def __init__(self) -> None:
        self.blocked: list[tuple[float, str]] = []
        self.stuck: list[tuple[float, str]] = []
        self.was_stuck = threading.Event()

    def note_blocked(self, seconds: float, where: str) -> None:
        self.blocked.append((seconds, where))

    def note_stuck(self, seconds: float, where: str) -> None:
        self.stuck.append((seconds, where))
        self.was_stuck.set()


def watched(main: Any, *, patience: float | None = None) -> Told:
    told = Told()

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        over = LoopWatch(loop, blocked=told.note_blocked, stuck=told.note_stuck, patience=patience)
        try:
            await main(told)
        finally:
            over.close()

    asyncio.run(whole())
    return told


async def blocking(told: Told) -> None:
    time.sleep(0.3)  # the line that is named
    await asyncio.sleep(0.05)


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_coroutine_that_blocks_is_named_with_file_and_line() -> None:
    told = watched(blocking)
    ((seconds, where),) = told.blocked
    assert 0.1 <= seconds < 0.3
    assert where == f"{__file__}:{line_of('# the line that ' + 'is named')} in blocking"


def test_each_spell_is_told_once() -> None:
    async def twice(told: Told) -> None:
        for _ in range(2):
            await blocking(told)

    assert len(watched(twice).blocked) == 2


def test_a_loop_that_comes_round_is_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "BLOCKED_AFTER", 0.6)  # a busy machine may well keep it waiting for a tenth

    async def busy(told: Told) -> None:
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            await asyncio.sleep(0)

    told = watched(busy, patience=0.7)
    assert (told.blocked, told.stuck) == ([], [])


def test_a_loop_that_is_blocked_for_longer_than_anything_may_take_is_stuck() -> None:
    async def for_good(told: Told) -> None:
        assert told.was_stuck.wait(10)

    told = watched(for_good, patience=0.2)
    ((seconds, where),) = told.stuck
    assert seconds >= 0.2
    assert "in test_a_loop_that_is_blocked" in where


def test_a_process_that_was_stopped_is_not_stuck(tmp_path: Path) -> None:
    """Ctrl-Z over lunch: the clock has gone on, and nothing has hung."""
    program = tmp_path / "stopped.py"
    program.write_text(
        """
import asyncio
from paceline.engine import watch

watch.STOPPED_AFTER = 0.5
told = []

def note(*said):
    told.append(said)

async def main():
    over = watch.LoopWatch(asyncio.get_running_loop(), blocked=note, stuck=note, patience=1.0)
    print("ready", flush=True)
    await asyncio.sleep(4)
    over.close()
    print("told", told)

asyncio.run(main())
"""
    )
    child = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    child.send_signal(signal.SIGSTOP)
    time.sleep(3)
    child.send_signal(signal.SIGCONT)
    out, _ = child.communicate(timeout=60)
    assert out == "told []\n"


def test_the_last_resort_leaves_no_trace_behind_and_takes_nothing_from_anybody() -> None:
    before = signal.getsignal(signal.SIGPROF)
    last = LastResort(100.0)
    assert 90 < signal.getitimer(signal.ITIMER_PROF)[0] <= 100.1
    last.close()
    last.put_off()
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
    assert signal.getsignal(signal.SIGPROF) == before
    signal.setitimer(signal.ITIMER_PROF, 500)
    try:
        other = LastResort(1.0)  # a profiler is at work
        other.put_off()
        other.close()
        assert signal.getitimer(signal.ITIMER_PROF)[0] > 400
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def test_without_patience_to_lose_nothing_is_ever_stuck() -> None:
    assert watched(blocking, patience=None).stuck == []


def test_after_its_end_the_watch_says_nothing_more() -> None:
    async def nothing(told: Told) -> None:
        await asyncio.sleep(0.05)

    told = watched(nothing)
    time.sleep(0.2)
    assert told.blocked == []
    assert not [thread for thread in threading.enumerate() if thread.name == "paceline-watch"]


def test_the_line_is_the_users_own_and_not_that_of_a_library_it_calls() -> None:
    """`subprocess`, `json`, an SDK: what is installed is not what anybody would change."""
    went_on = threading.Event()

    def working() -> None:
        import functools

        functools.reduce(lambda _so_far, _each: went_on.wait(10), [1, 2])

    thread = threading.Thread(target=working)
    thread.start()
    try:
        time.sleep(0.05)
        assert thread.ident is not None
        assert f"{__file__}:" in where_is(thread.ident)
    finally:
        went_on.set()
        thread.join()


def test_code_beside_the_interpreter_is_the_users_where_it_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container whose application lies in /usr/src, with Python in /usr."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    module = tmp_path / "application.py"
    module.write_text("def wait(event):\n    event.wait(10)\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location("application", module)
    assert spec is not None
    assert spec.loader is not None
    application = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(application)
    went_on = threading.Event()
    thread = threading.Thread(target=application.wait, args=(went_on,))
    thread.start()
    try:
        time.sleep(0.05)
        assert thread.ident is not None
        assert where_is(thread.ident) == f"{module}:2 in wait"
    finally:
        went_on.set()
        thread.join()


def test_a_thread_that_is_not_there_is_nowhere() -> None:
    assert where_is(0) == "somewhere that cannot be seen"
