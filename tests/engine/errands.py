"""Tasks that are sent to child processes: at the top level of a module that is quick to import."""

from __future__ import annotations

import asyncio
import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import uuid
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paceline.tasks.notes import increment_eval_metric, set_eval_attribute

colour: ContextVar[str] = ContextVar("colour", default="none")
_loops: list[int] = []
_left_behind: list[asyncio.Task[None]] = []


def double(number: int) -> int:
    return 2 * number


async def double_later(number: int) -> int:
    await asyncio.sleep(0.001)
    return 2 * number


def where(_inputs: object) -> tuple[int, int]:
    """The process, and the group that it is in."""
    return os.getpid(), os.getpgrp()


def sleep(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def spin(_inputs: object) -> None:
    """Busy, and deaf to anything but a signal that cannot be caught."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass


def leave(code: int) -> None:
    os._exit(code)


def crash(_inputs: object) -> None:
    ctypes.string_at(0)


def die_by(number: int) -> None:
    os.kill(os.getpid(), number)
    time.sleep(30)


def die_when_idle(sign: str) -> str:
    """Answer, and be gone as soon as there is a file of this name."""
    wait = f"import os, time\nwhile not os.path.exists({sign!r}): time.sleep(0.01)\nos.kill({os.getpid()}, 9)"
    subprocess.Popen([sys.executable, "-c", wait])
    return "answered"


def raises(kind: type[BaseException]) -> None:
    raise kind("from afar")


async def raises_in_child_task(kind: type[BaseException]) -> None:
    async def child() -> None:
        raise kind("from a child")

    await asyncio.gather(child(), asyncio.sleep(5))


def notes(number: int) -> int:
    set_eval_attribute("number", number)
    set_eval_attribute("lambda", lambda: number)
    increment_eval_metric("calls", number)
    return number


def notes_and_fails(number: int) -> None:
    set_eval_attribute("number", number)
    increment_eval_metric("calls", number)
    raise ValueError("after noting")


def paints(name: str) -> str:
    before = colour.get()
    colour.set(name)
    return before


def unpicklable(_inputs: object) -> Any:
    return lambda: None


async def same_loop(_inputs: object) -> bool:
    """Whether every attempt of this process has had the same loop, as a client that is kept would need."""
    _loops.append(id(asyncio.get_running_loop()))
    return len(set(_loops)) == 1


async def leaves_tasks_behind(_inputs: object) -> str:
    async def deaf() -> None:
        while True:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                continue

    _left_behind.append(asyncio.get_running_loop().create_task(deaf(), name="left behind"))
    return "answered"


@dataclass
class Point:
    x: int
    y: int


def mirrored(point: Point) -> Point:
    return Point(point.y, point.x)


class Stubborn:
    """Goes out and does not come in again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _refuse, ()


def _refuse() -> None:
    raise SystemExit("not here")


def stubborn(_inputs: object) -> Stubborn:
    return Stubborn()


class Unsendable:
    def __reduce__(self) -> tuple[Any, ...]:
        raise SystemExit("stays here")


def with_children_of_its_own(number: int) -> int:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(double, (number,))


def starts_another_and_waits(pid_file: str) -> None:
    """As a coding agent's harness does: the real work is in a process of its own."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    Path(pid_file).write_text(str(other.pid), encoding="utf-8")
    other.wait()


def big(megabytes: int) -> bytes:
    return b"x" * (megabytes * 1_000_000)


def meet(where: tuple[str, int]) -> str:
    """Wait until so many are at a place at the same time."""
    place, number = Path(where[0]), where[1]
    (place / uuid.uuid4().hex).touch()
    until = time.monotonic() + 60
    while len(list(place.iterdir())) < number:
        assert time.monotonic() < until, "the others have not come"
        time.sleep(0.01)
    return "met"
