"""Attempts in this process: coroutines on the loop, sync callables on threads.

A coroutine is driven by whoever calls `attempt`, each step in a context of its own. What the task raises
becomes data here, `SystemExit` and `KeyboardInterrupt` included; only the cancellation of the caller passes.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import Context, copy_context
from dataclasses import replace
from typing import Any

from paceline.engine.calls import CallsOfAttempt
from paceline.engine.clock import Clock, SystemClock
from paceline.engine.contexts import awaited_once, called_in, in_context
from paceline.engine.executors.places import Places, clock_held
from paceline.engine.failures import classify, describe, retry_after
from paceline.engine.ports import Attempted, Work
from paceline.engine.threads import LeftBehind, Threads
from paceline.pace.calls import current_listener
from paceline.tasks.attempt import Attempt, RunPlace, current_attempt
from paceline.tasks.callable import CallableTask
from paceline.tasks.notes import Notes, current_notes
from paceline.trajectory.choosing import chosen

Around = Callable[[Work], AbstractContextManager[object]]
"""What stands around every attempt: OpenTelemetry's span, say. Entered inside the attempt's context."""


class LocalExecutor:
    """Runs the task of each variant in this process."""

    def __init__(
        self,
        tasks: Mapping[str, CallableTask],
        *,
        concurrency: int,
        inline: bool = False,
        around: Around | None = None,
        clock: Clock | None = None,
        listens: bool = False,
        place: RunPlace | None = None,
    ) -> None:
        """`listens`: there are doors in this process, which tell what calls an attempt makes. `place`: what
        tasks are told of the run that ask for it."""
        self._tasks = tasks
        self._listens = listens
        self._threads = Threads(concurrency, name="paceline-task")
        self._inline = inline
        self._around = around
        self._now = (clock or SystemClock()).now
        self._places = Places(concurrency, self._now)
        self._place = place
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0

    @property
    def left_behind(self) -> int:
        """Threads that ignored their deadline and are still running."""
        return self._threads.left_behind

    async def start(self) -> None:
        """Remember whose loop this is: to ask for it costs a system call, and attempts are many."""
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    async def stop(self) -> None:
        """Let the threads go."""
        self._threads.stop()

    async def attempt(self, work: Work) -> Attempted:
        """One call of the task."""
        notes = Notes()
        context = copy_context()
        context.run(current_notes.set, notes)
        work.counted, work.noted = notes.metrics, notes.attributes
        calls = self._listener(work) if self._listens else None
        if calls is not None:
            context.run(current_listener.set, calls)
        task = self._tasks[work.key.variant]
        if task.needs_place and self._place is not None:
            context.run(current_attempt.set, self._told(work, self._place))
        # Without what it waits from here on: what was waited before is in no reading of this clock.
        started = self._now() - work.waited
        try:
            if task.is_async and self._around is None:
                output = await in_context(context, task.call(work.inputs))
            else:
                output = await self._call(context, task, work)
        except asyncio.CancelledError as error:
            if asyncio.current_task().cancelling():  # type: ignore[union-attr]  # this is one
                raise  # the caller's wish, or the task cancelled itself: the lane can tell
            failure: BaseException = error
        except GeneratorExit:  # a task's own has become a RuntimeError on its way here
            raise
        except BaseException as error:
            failure = error
        else:
            if calls is not None:
                calls.close()
            return Attempted(
                output=output,
                seconds=max(self._now() - started - work.waited, 0.0),
                waited=work.waited,
                metrics=notes.metrics,
                attributes=notes.attributes,
                trajectory=_trajectory(notes, work, calls),
            )
        finally:
            notes.over = True
            if calls is not None and not calls.over:
                calls.close()
        attempted = _failed(failure, notes, max(self._now() - started - work.waited, 0.0), work.waited)
        attempted.trajectory = _trajectory(notes, work, calls)
        return attempted if calls is None else calls.judge(attempted)

    def _listener(self, work: Work) -> CallsOfAttempt:
        """What is told of the calls that the attempt makes."""
        if self._loop is None:
            return CallsOfAttempt.here(work, self._now)
        return CallsOfAttempt(work, self._now, self._loop, self._thread)

    def _told(self, work: Work, place: RunPlace) -> Attempt:
        """What a task may know of its attempt."""
        held = functools.partial(clock_held, work, self._now)
        return Attempt(key=work.key, number=work.attempt, run=place, clock_held=held)

    async def _call(self, context: Context, task: CallableTask, work: Work) -> Any:
        if self._around is not None:
            return await in_context(context, self._surrounded(self._around(work), task, work))
        return await self._call_sync(context, task, work)

    async def _call_sync(self, context: Context, task: CallableTask, work: Work) -> Any:
        if self._inline:
            output = called_in(context, task.call, work.inputs)
        else:
            await self._places.take(work)
            try:
                output = await self._threads.call(context, task.call, work.inputs)
            except LeftBehind:
                work.abandoned = 1
                raise
            finally:
                self._places.leave()
        # A lambda or partial around a coroutine function is sync to look at and async in truth.
        return await in_context(context, awaited_once(output)) if inspect.isawaitable(output) else output

    async def _surrounded(
        self, around: AbstractContextManager[object], task: CallableTask, work: Work
    ) -> Any:
        with around as trace:
            if (attempt := current_attempt.get()) is not None:
                current_attempt.set(replace(attempt, environ=lambda: getattr(trace, "environ", {})))
            if task.is_async:
                return await task.call(work.inputs)
            return await self._call_sync(copy_context(), task, work)


def _trajectory(notes: Notes, work: Work, calls: CallsOfAttempt | None) -> list[dict[str, Any]] | None:
    """What is known of what the attempt did."""
    told = notes.told
    if told is not None or (calls is None and work.traced is None):
        return told
    seen = calls.trajectory if calls is not None else None
    return seen if work.traced is None else chosen(told, work.traced(), seen)


def _failed(error: BaseException, notes: Notes, seconds: float, waited: float) -> Attempted:
    return Attempted(
        error=describe(error),
        error_class=classify(error),
        retry_after=retry_after(error),
        exception=error,
        seconds=seconds,
        waited=waited,
        metrics=notes.metrics,
        attributes=notes.attributes,
    )
