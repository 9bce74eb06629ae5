"""Attempts in child processes, so that a deadline really ends them and a crash takes nothing with it.

A worker is a fresh Python (spawned, never forked: threads and locks of ours do not survive a fork). It
carries out one attempt at a time and says so over a pipe. Giving an attempt up kills its worker; so does the
death of this process, at once, also where it was killed itself.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Mapping
from contextvars import copy_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

from paceline.engine.failures import classify, describe, retry_after
from paceline.engine.ports import Attempted, Work
from paceline.engine.threads import Threads
from paceline.errors import UsageError
from paceline.journal.records import ErrorClass, ErrorFacts
from paceline.tasks.callable import CallableTask, name_of
from paceline.tasks.notes import Notes, current_notes
from paceline.usercode import load_file


class Shipped(NamedTuple):
    """A task on its way to a worker: pickled by reference, with the place to find its module."""

    pickled: bytes
    origin: tuple[str, str] | None


class Answer(NamedTuple):
    """What comes back over the pipe."""

    output: bytes = b""
    error: ErrorFacts | None = None
    error_class: ErrorClass = "permanent"
    retry_after: float | None = None
    seconds: float = 0.0
    metrics: dict[str, Any] = {}  # noqa: RUF012  # never changed
    attributes: dict[str, Any] = {}  # noqa: RUF012


class ProcessExecutor:
    """Runs tasks in as many child processes as there are cases in progress."""

    def __init__(self, tasks: Mapping[str, CallableTask], *, concurrency: int) -> None:
        self._tasks = tasks
        self._threads = Threads(concurrency, name="paceline-process")
        self._spawn = multiprocessing.get_context("spawn")
        self._shipped: dict[str, Shipped] = {}
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    @property
    def left_behind(self) -> int:
        """None: what is given up is killed."""
        return 0

    async def start(self) -> None:
        """See that every task can be sent to another process."""
        self._shipped = {name: _shipped(task) for name, task in self._tasks.items()}

    async def stop(self) -> None:
        """End the workers."""
        for worker in list(self._all):
            worker.kill()
        self._all.clear()
        self._threads.stop()

    async def attempt(self, work: Work) -> Attempted:
        """Carry out one attempt in a worker of its own."""
        try:
            inputs = pickle.dumps(work.inputs)
        except Exception as error:
            return Attempted(error=describe(error), exception=error)
        worker = self._idle.pop() if self._idle else self._start_worker()
        try:
            answer = await self._threads.call(copy_context(), worker.ask, work.key.variant, inputs)
        except asyncio.CancelledError:
            self._all.discard(worker)
            worker.kill()
            raise
        if answer is None:
            self._all.discard(worker)
            return Attempted(
                error=ErrorFacts(type="WorkerDied", message=worker.last_words(), stage="task"),
                error_class="infrastructure",
            )
        self._idle.append(worker)
        return _as_attempted(answer)

    def _start_worker(self) -> _Worker:
        worker = _Worker(self._spawn, self._shipped)
        self._all.add(worker)
        return worker


class _Worker:
    """One child process and the pipe to it."""

    def __init__(self, spawn: Any, shipped: Mapping[str, Shipped]) -> None:
        self._pipe, theirs = spawn.Pipe()
        self._process: SpawnProcess = spawn.Process(
            target=serve, args=(theirs, dict(shipped), list(sys.path)), daemon=True, name="paceline-worker"
        )
        self._process.start()
        theirs.close()

    def ask(self, variant: str, inputs: bytes) -> Answer | None:
        """Have an attempt carried out; None where the process died over it. Blocks."""
        try:
            self._pipe.send((variant, inputs))
            answer: Answer = self._pipe.recv()
        except (EOFError, OSError):
            return None
        return answer

    def kill(self) -> None:
        """End it, whatever it is doing."""
        self._process.kill()

    def last_words(self) -> str:
        """How the process ended."""
        self._process.join(5.0)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"the process that ran the task was killed by {signal.Signals(-code).name}"
        return f"the process that ran the task exited with code {code}"


def _shipped(task: CallableTask) -> Shipped:
    try:
        pickled = pickle.dumps(task.call)
    except Exception as error:
        raise UsageError(
            f"the task {task.name} cannot be sent to another process: {error}",
            hint="define it at the top level of a module, or use isolation='thread'",
        ) from error
    return Shipped(pickled, _origin(task.call))


def _origin(call: Any) -> tuple[str, str] | None:
    """Name and file of the module that defines a task; None for the main script, which spawning takes
    along itself."""
    name = getattr(call, "__module__", None) or type(call).__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    return None if name == "__main__" or file is None else (name, file)


def _as_attempted(answer: Answer) -> Attempted:
    attempted = Attempted(
        error=answer.error,
        error_class=answer.error_class,
        retry_after=answer.retry_after,
        seconds=answer.seconds,
        metrics=answer.metrics,
        attributes=answer.attributes,
    )
    if answer.error is None:
        try:
            attempted.output = pickle.loads(answer.output)  # from our own child, over a private pipe
        except Exception as error:
            attempted.error, attempted.exception = describe(error), error
    return attempted


# In the child -------------------------------------------------------------------------------------


def serve(pipe: Connection, shipped: Mapping[str, Shipped], path: list[str]) -> None:
    """Carry out attempts until the pipe is closed or the parent is gone."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole group; the parent decides what it means
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sys.path[:] = path
    tasks: dict[str, CallableTask] = {}
    while True:
        try:
            variant, inputs = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            if variant not in tasks:
                tasks[variant] = _unpacked(shipped[variant])
            answer = _attempt(tasks[variant], pickle.loads(inputs))  # from our own parent
        except BaseException as error:
            answer = Answer(error=describe(error))
        pipe.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _unpacked(shipped: Shipped) -> CallableTask:
    if shipped.origin is not None:
        name, file = shipped.origin
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            load_file(Path(file))  # a suite's file, which is known by a name of its own
    return CallableTask(pickle.loads(shipped.pickled))  # from our own parent


def _attempt(task: CallableTask, inputs: Any) -> Answer:
    notes = Notes()
    current_notes.set(notes)
    started = time.monotonic()
    try:
        output = task.call(inputs)
        if inspect.isawaitable(output):
            output = asyncio.run(_awaited(output))
        seconds = time.monotonic() - started
        pickled = _pickled_output(output, task)
    except BaseException as error:
        return Answer(
            error=describe(error),
            error_class=classify(error),
            retry_after=retry_after(error),
            seconds=time.monotonic() - started,
            metrics=notes.metrics,
        )
    return Answer(output=pickled, seconds=seconds, metrics=notes.metrics, attributes=notes.attributes)


def _pickled_output(output: Any, task: CallableTask) -> bytes:
    try:
        return pickle.dumps(output)
    except Exception as error:
        raise TypeError(
            f"{name_of(task.call)} returned a {type(output).__name__}, which cannot be sent back: {error}"
        ) from error


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
