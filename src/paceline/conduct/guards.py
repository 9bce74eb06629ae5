"""What stands around a run while it works: signals, a watch over the loop, a quieter garbage collector."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import threading
import time
from collections.abc import Iterator

from paceline.conduct.record import Record
from paceline.engine.complaints import complain
from paceline.engine.events import LoopBlocked
from paceline.engine.interrupts import interrupts
from paceline.engine.run import Run
from paceline.engine.watch import LoopWatch
from paceline.errors import EngineStuck


@contextlib.contextmanager
def guarded(run: Run, record: Record, *, owns_process: bool, watched: bool) -> Iterator[list[signal.Signals]]:
    """Handle signals where the process is ours, and watch over the loop; yields the signals that came."""
    # A server or a notebook that evaluates on a thread of its own is not ours, whoever called.
    owns_process = owns_process and threading.current_thread() is threading.main_thread()
    with contextlib.ExitStack() as guards:
        if watched:
            watch = watch_over(run, record, may_end_process=owns_process)
            guards.callback(watch.close)
        came: list[signal.Signals] = []
        if owns_process:
            loop = asyncio.get_running_loop()
            came = guards.enter_context(interrupts(loop, drain=run.drain, cancel=run.cancel))
        yield came


def watch_over(run: Run, record: Record, *, may_end_process: bool) -> LoopWatch:
    """Watch over the loop until it is closed: who blocks it is named, and for good is not for ever."""
    loop, plan = asyncio.get_running_loop(), run.plan

    def blocked(seconds: float, where: str) -> None:
        event = LoopBlocked(at=time.time(), seconds=seconds, where=where)
        with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over
            loop.call_soon_threadsafe(run.books.tell, event)

    def stuck(seconds: float, where: str) -> None:
        with contextlib.suppress(Exception):  # a disk that has failed, say: nothing may prevent the end
            run.blame(f"blocked the event loop for {seconds:.0f} s at {where}")
            record.flush(10.0)
        _give_up(seconds, where)

    longest = max((limit for limit in (plan.timeout, plan.case_timeout) if limit), default=None)
    patience = longest + plan.grace if longest is not None and may_end_process else None
    return LoopWatch(loop, blocked=blocked, stuck=stuck, patience=patience)


def _give_up(seconds: float, where: str) -> None:
    """The loop is blocked for good: end the process, which nothing else can."""
    stuck = EngineStuck(
        f"the event loop has been blocked for {seconds:.0f} s at {where}",
        hint="await instead of blocking there, or make the task a plain function: those run on threads",
    )
    complain(f"paceline: {stuck}\n  {stuck.hint}")
    os._exit(stuck.exit_code)


@contextlib.contextmanager
def quiet_collector() -> Iterator[None]:
    """Let the garbage collector look less often: a run makes many small values that live until the commit.

    With Python's own threshold it goes through all of them every few cases, for a quarter of the engine's
    time.
    """
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 20_000), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
