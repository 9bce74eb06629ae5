"""The background loop: where calls that block are carried out, all of them on one loop of one thread.

Clients of the SDKs belong to a loop. With a loop for each call, each would open a connection of its own, and
eight threads that ask a judge a thousand times would shake hands eight thousand times. It is made when it is
first needed, and closed when the interpreter ends. It works beside a loop that is running in the caller's
thread, in a notebook or a server; that one waits meanwhile.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from paceline.engine.loop import new_loop, run_to_end

ResultT = TypeVar("ResultT")
LAST_WORDS: Final = 2.0
"""Seconds that connections may take to be closed when the interpreter ends."""


class _Background:
    """A loop on a thread of its own."""

    def __init__(self) -> None:
        self.renew()
        atexit.register(self.close)

    def renew(self) -> None:
        """Start anew, as a forked child has to: the thread stayed with its parent."""
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, main: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """Run a coroutine to its end, whether or not a loop is running in this thread."""
        loop = self._running()
        if _is_running_here(loop):
            # Whoever waits for this loop on this loop waits for ever: it gets one of its own.
            return run_to_end(main)
        future = asyncio.run_coroutine_threadsafe(main(), loop)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C in whoever waits: nobody wants the answer any more.
            _let_go(future)
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = loop = new_loop()
                threading.Thread(target=loop.run_forever, name="paceline-standalone", daemon=True).start()
            return self._loop

    def close(self) -> None:
        """Close connections in order, and end the thread."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        with suppress(Exception):  # it is the end: nobody is left to be told
            asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop).result(LAST_WORDS)
        loop.call_soon_threadsafe(loop.stop)


def _is_running_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _let_go(future: Future[Any]) -> None:
    if not future.done():
        future.cancel()


background: Final = _Background()
os.register_at_fork(after_in_child=background.renew)
