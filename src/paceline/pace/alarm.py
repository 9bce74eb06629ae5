"""Waking the desk at a time: a quota fills while nobody says anything, so somebody has to look at the clock.

A daemon thread, not a timer on some caller's loop: callers are on several loops and on none, a loop may be
blocked or closed while others wait, and whoever waits in the main thread has no loop at all. The thread is
started when something first waits for a time, which with a wide quota is never.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Protocol


class Alarm(Protocol):
    """Calls a function at a time. A test brings one that rings when the test says so."""

    def set(self, at: float) -> None:
        """Ring at `at`, or before. Never waits. An earlier time that was set before still holds."""
        ...

    def stop(self) -> None:
        """Ring no more."""
        ...


class ThreadAlarm:
    """An alarm on a thread of its own."""

    def __init__(self, ring: Callable[[], None], now: Callable[[], float] = time.monotonic) -> None:
        self._ring = ring
        self._now = now
        # A SimpleQueue may be put to from anywhere, a finalizer in the midst of its own `get` included.
        self._times: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def set(self, at: float) -> None:
        """Only called by one thread at a time: under the desk's lock."""
        self._times.put(at)
        if self._thread is None:
            self._thread = threading.Thread(target=self._wait_and_ring, name="paceline-desk", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        self._times.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _wait_and_ring(self) -> None:
        at = math.inf
        while True:
            try:
                # Bounded, as a system's timeout is.
                told = self._times.get(
                    timeout=None if at == math.inf else min(max(0.0, at - self._now()), 3600.0)
                )
            except queue.Empty:
                if self._now() >= at:
                    at = math.inf
                    self._ring()
            else:
                if told is None:
                    return
                at = min(at, told)
