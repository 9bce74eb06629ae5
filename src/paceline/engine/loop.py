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

ResultT = TypeVar("ResultT")
LAST_WORDS: Final = 1.0
"""Seconds that leftover tasks may take to end."""


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
    context = copy_context()

    def work() -> None:
        try:
            outcome.append((context.run(_run_here, main, debug=debug), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=work, name="paceline-loop", daemon=True)
    thread.start()
    thread.join()
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # set whenever there is no error


def _run_here(main: Callable[[], Coroutine[Any, Any, ResultT]], *, debug: bool) -> ResultT:
    loop = new_loop(debug=debug)
    asyncio.set_event_loop(loop)
    try:
        task = loop.create_task(main(), name="paceline-run")
        interrupts = 0
        while not task.done():
            try:
                loop.run_until_complete(task)
            except (SystemExit, KeyboardInterrupt) as stray:
                if task.done():
                    break
                # asyncio lets these two out of the loop when any task ends with one. A child task of the
                # user's did, and whoever awaits it gets it as an exception; or it is Ctrl-C in a program that
                # handles it itself.
                if isinstance(stray, KeyboardInterrupt):
                    interrupts += 1
                    task.cancel()
                if interrupts > 2:
                    raise
        return task.result()
    finally:
        _close(loop)


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
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _patiently(loop: asyncio.AbstractEventLoop, last: Coroutine[Any, Any, Any]) -> None:
    with contextlib.suppress(BaseException):
        loop.run_until_complete(last)
