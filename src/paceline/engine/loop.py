"""The event loop that a run owns when nobody else brings one.

Differs from `asyncio.run` where an evaluation needs it to: a `SystemExit` out of a stray child task does not
end the run; what ignores its cancellation is not waited for at the end; the threads that hang in it are not
joined. And it works inside a running loop (a notebook, a server) by taking a thread of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any, Final, TypeVar

from paceline.engine.interrupts import in_hand

ResultT = TypeVar("ResultT")
LAST_WORDS: Final = 1.0
"""Seconds that leftover tasks may take to end."""
LOOKS_UP_AFTER: Final = 0.2
"""Seconds after which whoever waits for another thread's loop sees whether that is still wanted."""


def run_to_end(main: Callable[[], Coroutine[Any, Any, ResultT]], *, debug: bool = False) -> ResultT:
    """Run a coroutine to its end from sync code, whether or not a loop is running in this thread."""
    # Not from within an `except`: every exception of the user's would have that one for its context.
    run = _run_on_thread if _a_loop_is_running() else _run_here
    return run(main, debug=debug)


def _a_loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _run_on_thread(main: Callable[[], Coroutine[Any, Any, ResultT]], *, debug: bool) -> ResultT:
    outcome: list[tuple[ResultT | None, BaseException | None]] = []
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[ResultT]]] = []
    over = threading.Event()
    context = copy_context()

    def work() -> None:
        try:
            outcome.append((context.run(_run_here, main, debug=debug, begun=begun), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            over.set()

    threading.Thread(target=work, name="paceline-loop", daemon=True).start()
    interrupted = _wait_out(over, begun)
    result, error = outcome[0]
    if interrupted and isinstance(error, asyncio.CancelledError):
        raise KeyboardInterrupt
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # set whenever there is no error


def _wait_out(
    over: threading.Event, begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]]
) -> bool:
    """Wait for the thread, and pass on to it that the run is not wanted any more; whether Ctrl-C said so."""
    waiting = asyncio.current_task()
    passed_on = interrupted = False
    while not over.is_set():
        try:
            over.wait(LOOKS_UP_AFTER)
            # Cancelled while it waits here: `asyncio.run` does that to its main task on the first Ctrl-C.
            unwanted = waiting is not None and waiting.cancelling() > 0
        except KeyboardInterrupt:
            if passed_on or not begun:
                raise
            unwanted = interrupted = True
        if unwanted and begun and not passed_on:
            passed_on = True
            loop, task = begun[0]
            with contextlib.suppress(RuntimeError):  # it has come to its end meanwhile
                loop.call_soon_threadsafe(task.cancel)
    return interrupted


def _run_here(
    main: Callable[[], Coroutine[Any, Any, ResultT]],
    *,
    debug: bool,
    begun: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[ResultT]]] | None = None,
) -> ResultT:
    loop = new_loop(debug=debug)
    asyncio.set_event_loop(loop)
    try:
        task = loop.create_task(main(), name="paceline-run")
        if begun is not None:
            begun.append((loop, task))
        return finish(loop, task)
    finally:
        _close(loop)


def finish(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[ResultT], *, heeds_ctrl_c: bool = True
) -> ResultT:
    """Run a loop until a task of it is done, whatever other tasks end with.

    asyncio lets `SystemExit` and `KeyboardInterrupt` out of the loop when any task ends with one. Where a
    child task of the user's did, whoever awaits it gets it as an exception, and the loop goes on.
    """
    interrupts = 0
    while not task.done():
        try:
            loop.run_until_complete(task)
        except (SystemExit, KeyboardInterrupt) as stray:
            if task.done():
                break
            if heeds_ctrl_c and isinstance(stray, KeyboardInterrupt) and _may_be_ctrl_c():
                interrupts += 1
                task.cancel()
                if interrupts > 2:
                    raise
        except BaseException:
            if not task.done():
                raise
    if interrupts and task.cancelled():
        raise KeyboardInterrupt
    return task.result()


def _may_be_ctrl_c() -> bool:
    return threading.current_thread() is threading.main_thread() and not in_hand()


def new_loop(*, debug: bool = False) -> asyncio.AbstractEventLoop:
    """uvloop where it is installed and not in a debugger's way, else asyncio's own."""
    if not debug and sys.platform != "win32":
        with contextlib.suppress(ImportError):
            import uvloop

            return uvloop.new_event_loop()
    return asyncio.new_event_loop()


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what is left, give it a moment, and go."""
    try:
        leftover = asyncio.all_tasks(loop)
        for task in leftover:
            task.cancel()
        if leftover:
            _patiently(loop, asyncio.wait(leftover, timeout=LAST_WORDS))
        _patiently(loop, asyncio.wait_for(loop.shutdown_asyncgens(), LAST_WORDS))
        for task in leftover:
            # Said once in the report already; asyncio's own complaint at collection would only repeat it.
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
        if ignoring := [task for task in leftover if not task.done()]:
            _keep_for_good(ignoring)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _keep_for_good(tasks: list[asyncio.Task[Any]]) -> None:
    """Let nobody ever collect these: a coroutine that catches everything catches `GeneratorExit`, too.

    One that does so in a loop would go round for ever within its own destruction, at the latest when the
    interpreter ends. The frame of a thread that never wakes is what even that leaves alone.
    """
    never = threading.Event()

    def hold(_tasks: list[asyncio.Task[Any]]) -> None:
        never.wait()

    threading.Thread(target=hold, args=(tasks,), name="paceline-left-behind", daemon=True).start()


def _patiently(loop: asyncio.AbstractEventLoop, last: Coroutine[Any, Any, Any]) -> None:
    with contextlib.suppress(BaseException):
        finish(loop, loop.create_task(last), heeds_ctrl_c=False)
