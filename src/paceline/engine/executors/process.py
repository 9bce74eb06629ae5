"""Attempts in child processes, so that a deadline really ends them and a crash takes nothing with it.

A worker (`worker`) is a fresh Python, spawned and never forked: threads and locks of ours do not survive a
fork. It carries out one attempt at a time and says so over a pipe. Giving an attempt up kills its worker with
everything that it has started; so does the death of this process, at once, also where it was killed itself.

Starting a worker and loading the user's code there takes its time, which is no attempt's: its clock stands
still meanwhile.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from contextvars import copy_context
from multiprocessing.context import SpawnProcess
from typing import Final, Protocol

from paceline.engine.calls import CallsOfAttempt
from paceline.engine.contexts import in_context
from paceline.engine.executors.places import Places, clock_held
from paceline.engine.executors.worker import Answer, Doors, News, Shipped, serve
from paceline.engine.failures import describe
from paceline.engine.ports import Attempted, Work
from paceline.engine.threads import Threads
from paceline.errors import UsageError
from paceline.journal.records import ErrorFacts
from paceline.tasks.attempt import RunPlace
from paceline.tasks.callable import CallableTask
from paceline.trajectory.choosing import chosen

START_LIMIT: Final = 300.0
"""Seconds that a worker may take to start and to load the user's code."""
REMEMBERED: Final = 16
"""Attempts of a worker whose late calls still find who records them."""
LAST_WORDS: Final = 5.0
"""Seconds that a process may take to go once its pipe is closed."""


class WorkerDied(Exception):
    """The process is gone, or has never come."""


class Trace(Protocol):
    """What stands around an attempt, for an attempt that does not happen here."""

    @property
    def environ(self) -> Mapping[str, str]:
        """What tells the other process of it: `TRACEPARENT`."""
        ...

    def tell_error(self, error: ErrorFacts) -> None:
        """The attempt has failed, and no exception will pass."""
        ...


AroundElsewhere = Callable[[Work], AbstractContextManager[Trace]]


class ProcessExecutor:
    """Runs tasks in as many child processes as there are cases in progress."""

    def __init__(
        self,
        tasks: Mapping[str, CallableTask],
        *,
        concurrency: int,
        around: AroundElsewhere | None = None,
        doors: Doors | None = None,
        place: RunPlace | None = None,
    ) -> None:
        """`doors`: opens in each child the doors that tell what calls an attempt makes. `place`: what tasks
        are told of the run that ask for it."""
        self._tasks = tasks
        self._doors = doors
        self._place = place
        self._around = around
        self._threads = Threads(concurrency, name="paceline-process")
        self._places = Places(concurrency, time.monotonic)
        self._shipped: dict[str, Shipped] = {}
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()

    @property
    def left_behind(self) -> int:
        """None: what is given up is killed."""
        return 0

    async def start(self) -> None:
        """See that every task can be sent to another process."""
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise UsageError(
                "the script was started anew in a child process, and there it starts the run again",
                hint="put what starts it under `if __name__ == '__main__':`",
            )
        self._shipped = {name: _shipped(task) for name, task in self._tasks.items()}

    async def stop(self) -> None:
        """End the workers."""
        for worker in self._all:
            worker.kill()
        patience = time.monotonic() + 1.0
        for worker in self._all:
            worker.bury(patience - time.monotonic())
        self._all.clear()
        self._threads.stop()

    async def attempt(self, work: Work) -> Attempted:
        """Carry out one attempt in a worker of its own."""
        await self._places.take(work)
        worker = self._idle_worker()
        try:
            if worker is None:
                worker = self._new_worker()
                with clock_held(work, time.monotonic):
                    await self._threads.call(copy_context(), worker.begin)
            attempted = await in_context(copy_context(), self._asked(worker, work))
        except asyncio.CancelledError:
            self._give_up(worker)
            raise
        except WorkerDied as died:
            self._give_up(worker)
            attempted = Attempted(
                error=ErrorFacts(type="WorkerDied", message=str(died)), error_class="infrastructure"
            )
        else:
            self._idle.append(worker)
        finally:
            self._places.leave()
        attempted.waited = work.waited
        return attempted

    async def _asked(self, worker: _Worker, work: Work) -> Attempted:
        if self._around is None:
            return await self._call(worker, work, {})
        with self._around(work) as trace:
            attempted = await self._call(worker, work, trace.environ)
            if attempted.error is not None:
                trace.tell_error(attempted.error)
            return attempted

    async def _call(self, worker: _Worker, work: Work, environ: Mapping[str, str]) -> Attempted:
        calls, before = CallsOfAttempt.here(work, time.monotonic), work.waited
        try:
            attempted: Attempted = await self._threads.call(
                copy_context(), worker.ask, work, dict(environ), calls
            )
        finally:
            calls.close()
        attempted.seconds = max(attempted.seconds - (work.waited - before), 0.0)
        traced = work.traced() if work.traced is not None else None
        attempted.trajectory = chosen(attempted.trajectory, traced, calls.trajectory)
        if work.counted:
            attempted.metrics = {**work.counted, **attempted.metrics}
        return calls.judge(attempted)

    async def make_ready(self, count: int) -> None:
        """Have so many workers at hand: whoever measures does not want to measure how they start."""
        more = [self._new_worker() for _ in range(count - len(self._all))]
        begun = await asyncio.gather(
            *(self._threads.call(copy_context(), worker.begin) for worker in more), return_exceptions=True
        )
        for worker, died in zip(more, begun, strict=True):
            if died is None:
                self._idle.append(worker)
            else:
                self._give_up(worker)  # whoever needs it will find out why

    def _new_worker(self) -> _Worker:
        worker = _Worker(self._shipped, self._doors, self._place)
        self._all.add(worker)
        return worker

    def _idle_worker(self) -> _Worker | None:
        """A worker that has nothing to do and is still there: the system may have ended it meanwhile."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            self._give_up(worker)
        return None

    def _give_up(self, worker: _Worker | None) -> None:
        if worker is not None:
            self._all.discard(worker)
            worker.kill()


class _Worker:
    """One child process and the pipe to it. What blocks is called on a thread."""

    def __init__(self, shipped: Mapping[str, Shipped], doors: Doors | None, place: RunPlace | None) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, self._theirs = spawn.Pipe()
        self._process: SpawnProcess = spawn.Process(
            target=serve,
            args=(self._theirs, dict(shipped), list(sys.path), doors, place),
            daemon=True,
            name="paceline-worker",
        )
        self._lock = threading.Lock()
        self._killed = False
        self._serial = -1
        self._listeners: dict[int, CallsOfAttempt] = {}

    def begin(self) -> None:
        """Start the process, and wait until it is ready."""
        self._process.start()
        self._theirs.close()
        with self._lock:
            if self._killed:  # before there was anything to kill
                self._end_group()
        try:
            if not self._pipe.poll(START_LIMIT):
                raise WorkerDied(f"the process was not ready to run the task within {START_LIMIT:g} s")
            self._pipe.recv()
        except (EOFError, OSError):
            raise WorkerDied(f"{self._last_words()} before it was ready to run the task") from None

    def ask(self, work: Work, environ: dict[str, str], calls: CallsOfAttempt) -> Attempted:
        """Have an attempt carried out, with these environment variables besides; `calls` hears of its
        calls."""
        try:
            request = pickle.dumps((work.key, work.attempt, work.inputs, environ, calls.tape))
        except BaseException as error:
            return Attempted(error=describe(error), exception=error)
        try:
            self._pipe.send_bytes(request)
            self._serial += 1
            self._listeners[self._serial] = calls
            self._listeners.pop(self._serial - REMEMBERED, None)
            while not isinstance(said := self._pipe.recv(), Answer):
                self._pass_on(said)
            answer: Answer = said
        except (EOFError, OSError):
            raise WorkerDied(f"{self._last_words()} while it ran the task") from None
        work.traced = lambda: answer.traced
        return _as_attempted(answer)

    def _pass_on(self, news: News) -> None:
        listener = self._listeners.get(news.serial)
        if listener is None:
            return
        if news.what == "ended":
            listener.ended(news.call)
        else:
            getattr(listener, news.what)()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        """End it and all it has started, whatever they are doing."""
        with self._lock:
            self._killed = True
            if self._process.pid is not None:
                self._end_group()

    def _end_group(self) -> None:
        pid = self._process.pid
        assert pid is not None
        with suppress(OSError):  # it has not made a group of its own yet, or is gone with all of it
            os.killpg(pid, signal.SIGKILL)
        self._process.kill()

    def bury(self, patience: float) -> None:
        """Leave no zombie."""
        if self._process.pid is not None:
            self._process.join(max(patience, 0.0))

    def _last_words(self) -> str:
        self._process.join(LAST_WORDS)
        code = self._process.exitcode
        if code is None:
            return "the process closed its pipe"
        if code >= 0:
            return f"the process exited with code {code}"
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        hint = ", as the system does where memory runs out," if name == "SIGKILL" else ""
        return f"the process was killed by {name}{hint}"


def _shipped(task: CallableTask) -> Shipped:
    try:
        pickled = pickle.dumps(task.call)
    except Exception as error:
        raise UsageError(
            f"the task {task.name} cannot be sent to another process: {error}",
            hint="define it at the top level of a module, or use isolation='thread'",
        ) from error
    name = getattr(task.call, "__module__", None) or type(task.call).__module__
    file = getattr(sys.modules.get(name), "__file__", None)
    if name == "__main__":
        if file is None:
            raise UsageError(
                f"the task {task.name} was defined at a prompt, where another process does not find it",
                hint="put it into a file and import it, or use isolation='thread'",
            )
        return Shipped(pickled, None)  # spawning takes the main script along itself
    return Shipped(pickled, None if file is None else (name, file))


def _as_attempted(answer: Answer) -> Attempted:
    attempted = Attempted(
        error=answer.error,
        error_class=answer.error_class,
        retry_after=answer.retry_after,
        seconds=answer.seconds,
        metrics=answer.metrics,
        trajectory=answer.steps,
    )
    try:
        # From our own child, over a private pipe.
        attempted.output, attempted.attributes = pickle.loads(answer.pickled)
    except BaseException as error:
        attempted.error = attempted.error or describe(error)
    return attempted
