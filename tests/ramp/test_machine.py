"""How busy this process is, and what blocks its loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from paceline.ramp.machine import Meter
from paceline.ramp.seen import Machine


def measured(what: Callable[[], object], *, rest: float = 0.0) -> Machine:
    """What the meter reads of a loop on which this is called again and again for half a second."""

    async def main() -> Machine:
        meter = Meter()
        await asyncio.sleep(0.12)  # the first heartbeats
        meter.start()
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            what()
            await asyncio.sleep(rest)
        read = meter.read()
        meter.close()
        return read

    return asyncio.run(main())


def blocking() -> None:
    time.sleep(0.3)  # where it is named


def computing() -> None:
    until = time.thread_time() + 0.01
    while time.thread_time() < until:
        pass


def test_a_process_that_waits_is_not_busy() -> None:
    assert measured(lambda: None, rest=0.02).cpu < 0.5


def test_what_blocks_the_loop_is_named_with_its_line() -> None:
    read = measured(blocking)
    assert read.late + read.starved > 0.3
    assert f"{__file__}:" in read.where
    assert read.where.endswith("in blocking")


def test_what_blocks_the_loop_for_moments_only_is_named_as_well() -> None:
    read = measured(lambda: time.sleep(0.01))
    assert read.late + read.starved > 0.3, "where others are at work, some of it is waiting for them"
    assert f"{__file__}:" in read.where


def test_a_process_that_computes_uses_more_of_a_core_than_one_that_waits() -> None:
    # How much of a core it gets is not for us to say: others may be at work here.
    assert measured(computing).cpu > 2 * measured(lambda: None, rest=0.02).cpu


@pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="the system does not tell")
def test_a_loop_that_waits_for_a_processor_is_starved_and_not_blocked() -> None:
    busy = "while True: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        read = measured(computing)
    finally:
        for each in others:
            each.kill()
            each.wait()
    assert read.starved > 0.1
    assert read.busy > read.cpu


def test_what_children_compute_counts_too() -> None:
    burn = "import time\nuntil = time.process_time() + 0.4\nwhile time.process_time() < until: pass"
    ended = measured(lambda: subprocess.run([sys.executable, "-c", burn], check=True))
    assert ended.cpu > 0.02
