"""The child's side of `process`: a worker, which carries out attempts until its parent is gone.

Keeps one event loop for all of them: a client that a suite makes once and keeps belongs to the loop that it
was made on.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import itertools
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import copy_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Literal, NamedTuple

from paceline.engine.bookkeeping import countable
from paceline.engine.contexts import awaited_once, called_in
from paceline.engine.failures import classify, clip, describe, retry_after
from paceline.engine.loop import finish, new_loop
from paceline.journal.records import ErrorClass, ErrorFacts
from paceline.pace.calls import Call, current_listener
from paceline.pace.tape import Tape
from paceline.pace.turnstile import Turnstile
from paceline.tasks.attempt import Attempt, RunPlace, current_attempt
from paceline.tasks.callable import CallableTask, name_of
from paceline.tasks.notes import Notes, current_notes
from paceline.trajectory.spans import listen
from paceline.usercode import load_file


class Shipped(NamedTuple):
    """A task on its way to a worker: pickled by reference, with the place to find its module."""

    pickled: bytes
    origin: tuple[str, str] | None


class Answer(NamedTuple):
    """What comes back over the pipe."""

    pickled: bytes
    """Output and attributes: the user's values, which may need the user's classes."""
    error: ErrorFacts | None = None
    error_class: ErrorClass = "permanent"
    retry_after: float | None = None
    seconds: float = 0.0
    metrics: dict[str, int | float] = {}  # noqa: RUF012  # never changed
    steps: list[dict[str, Any]] | None = None
    """What the task has told of its trajectory."""
    traced: list[dict[str, Any]] | None = None
    """What its spans tell."""


class News(NamedTuple):
    """What a door has told in the child, on its way to the listener in the parent."""

    serial: int
    """Which attempt of this worker made the call: what one has left behind may tell of it much later."""
    what: Literal["begun", "waiting", "going", "ended"]
    call: Call | None = None


NO_OUTPUT = pickle.dumps((None, {}))

Doors = Callable[[], AbstractContextManager[object]]
"""Opens the doors of a process, see `pace.opening`; pickled to get here."""


class Mouth:
    """The child's end of the pipe, for several threads."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        # No lock: an answer that nobody reads to its end is told of by a finalizer, which may run in the
        # midst of saying something else, on the same thread.
        self._inside: Turnstile[object] = Turnstile(self._send, _nothing_more)

    def say(self, words: object) -> None:
        """Say it after what was said before. Never waits for another thread."""
        self._inside.leave(words)

    def _send(self, words: object) -> None:
        with suppress(OSError, ValueError):  # the parent has gone, and so will this process
            self._pipe.send(words)


def _nothing_more() -> None:
    pass


class Teller:
    """Tells the parent of the calls of one attempt."""

    tape: Tape | None = None
    """What keeps the calls of the attempt, and may have their answers."""

    def __init__(self, mouth: Mouth, serial: int) -> None:
        self._mouth = mouth
        self._serial = serial

    def begun(self) -> None:
        self._tell(News(self._serial, "begun"))

    def waiting(self) -> None:
        self._tell(News(self._serial, "waiting"))

    def going(self) -> None:
        self._tell(News(self._serial, "going"))

    def ended(self, call: Call | None) -> None:
        self._tell(News(self._serial, "ended", call))

    def _tell(self, news: News) -> None:
        self._mouth.say(news)


def serve(
    pipe: Connection,
    shipped: Mapping[str, Shipped],
    path: list[str],
    doors: Doors | None = None,
    place: RunPlace | None = None,
) -> None:
    """Carry out attempts until the pipe is closed or the parent is gone."""
    _stand_alone()
    sys.path[:] = path
    tasks = {variant: _unpacked(each) for variant, each in shipped.items()}
    loop = new_loop()
    asyncio.set_event_loop(loop)
    mouth = Mouth(pipe)
    with nullcontext() if doors is None else doors():
        mouth.say("ready")
        for serial in itertools.count():
            try:
                request = pipe.recv_bytes()
            except (EOFError, OSError):
                return
            teller = Teller(mouth, serial) if doors is not None else None
            current_listener.set(teller)
            mouth.say(_answer(request, tasks, loop, teller, place))


def _stand_alone() -> None:
    """Be a group of processes of its own: the parent ends all of it, and Ctrl-C reaches the parent only."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Daemonic processes may have no children. This one may: they end with it, like everything in its group.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]  # noqa: SLF001
    threading.Thread(target=_end_with_parent, name="paceline-orphan", daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        if os.getpgrp() == os.getpid():
            os.killpg(os.getpid(), signal.SIGKILL)
        os._exit(1)


def _unpacked(shipped: Shipped) -> CallableTask | ErrorFacts:
    """The task, or why it cannot be had here."""
    try:
        if shipped.origin is not None:
            name, file = shipped.origin
            try:
                importlib.import_module(name)
            except ModuleNotFoundError:
                load_file(Path(file))  # a suite's file, which is known by a name of its own
        return CallableTask(pickle.loads(shipped.pickled))  # from our own parent
    except BaseException as error:
        return describe(error)


def _answer(
    request: bytes,
    tasks: Mapping[str, CallableTask | ErrorFacts],
    loop: asyncio.AbstractEventLoop,
    teller: Teller | None,
    place: RunPlace | None,
) -> Answer:
    try:
        key, number, inputs, environ, tape = pickle.loads(request)  # from our own parent
    except BaseException as error:
        return Answer(NO_OUTPUT, describe(error))
    if teller is not None:
        teller.tape = tape
    task = tasks[key.variant]
    if isinstance(task, ErrorFacts):
        return Answer(NO_OUTPUT, task)
    if place is not None:
        current_attempt.set(Attempt(key=key, number=number, run=place))
    with _environment(environ):
        return _attempt(task, inputs, loop)


@contextmanager
def _environment(added: Mapping[str, str]) -> Iterator[None]:
    """The environment with some more in it. There is one attempt at a time here, so it is that attempt's."""
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _attempt(task: CallableTask, inputs: Any, loop: asyncio.AbstractEventLoop) -> Answer:
    notes = Notes()
    context = copy_context()
    context.run(current_notes.set, notes)
    heard = context.run(listen)
    started = time.monotonic()
    try:
        output = called_in(context, task.call, inputs)
        if inspect.isawaitable(output):
            driven = loop.create_task(awaited_once(output), context=context)
            output = finish(loop, driven, heeds_ctrl_c=False)
        seconds = time.monotonic() - started
        notes.over = True
        pickled = _pickled(output, task, notes)
    except BaseException as error:
        notes.over = True
        return Answer(
            pickle.dumps((None, _sendable(notes.attributes))),
            error=describe(error),
            error_class=classify(error),
            retry_after=retry_after(error),
            seconds=time.monotonic() - started,
            metrics=countable(notes.metrics),
            steps=notes.told,
        )
    return Answer(
        pickled,
        seconds=seconds,
        metrics=countable(notes.metrics),
        steps=notes.told,
        traced=heard() if heard is not None else None,
    )


def _pickled(output: Any, task: CallableTask, notes: Notes) -> bytes:
    try:
        return pickle.dumps((output, notes.attributes))
    except Exception:
        attributes = _sendable(notes.attributes)
    try:
        return pickle.dumps((output, attributes))
    except Exception as error:
        raise TypeError(
            f"{name_of(task.call)} returned a {type(output).__name__}, which cannot leave its process: "
            f"{error}"
        ) from error


def _sendable(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as far as they can leave the process; of any other, what it looks like."""
    return {
        str(name): value if _can_be_sent(value) else _looks_of(value) for name, value in attributes.items()
    }


def _can_be_sent(value: Any) -> bool:
    try:
        pickle.dumps(value)
    except BaseException:
        return False
    return True


def _looks_of(value: Any) -> str:
    try:
        return clip(repr(value), 1_000)
    except BaseException as error:
        return f"<{type(value).__name__}: its repr raises {type(error).__name__}>"
