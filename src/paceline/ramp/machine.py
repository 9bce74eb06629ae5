"""How busy this process is while a level is held, and what it is that keeps its event loop from coming round.

Three figures. Processor time: of this process as a share of one core, which is all that Python's interpreter
has, or of it and its children as a share of all cores, whichever is more. The share of the time for which the
loop's thread had something to do and waited for a processor, where the system tells. And the share for which
the loop was held up by something else: a heartbeat on it that comes late means that nothing else came round
either, answers of the provider included; and a loop that is found inside a task again and again, while its
thread computes far less than that, is inside something that blocks, if only for moments each time.

Knows one process. Knows nothing of levels.
"""

from __future__ import annotations

import asyncio
import os
import resource
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Final

from paceline.engine.watch import where_is
from paceline.ramp.seen import Machine

BEAT_S: Final = 0.05
USUAL_S: Final = 0.05
"""By which a heartbeat may be late without meaning anything."""
LOOK_S: Final = 0.02
"""Between two looks at what the loop is in."""


class Meter:
    """Measures between two readings. Made on the loop that it watches over."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._schedule = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._beat_at = time.monotonic()
        self._late = 0.0
        self._places: Counter[str] = Counter()
        self._over = threading.Event()
        self._handle = self._loop.call_later(BEAT_S, self._beat)
        self.start()
        threading.Thread(target=self._look, name="paceline-ramp-meter", daemon=True).start()

    def start(self) -> None:
        """Measure from now on."""
        self._since = self._beat_at = time.monotonic()
        self._late = 0.0
        self._looks = self._inside = 0
        self._places.clear()
        self._computed = time.thread_time()
        self._queued = self._seconds_in_queue()
        self._own = time.process_time()
        self._all = _seconds_of_all()

    def read(self) -> Machine:
        """What was measured since the start. On the loop's thread, as is `start`."""
        now = time.monotonic()
        elapsed = max(now - self._since, 1e-6)
        late = self._late + max(0.0, now - self._beat_at - BEAT_S - USUAL_S)
        own = (time.process_time() - self._own) / elapsed
        together = (_seconds_of_all() - self._all) / elapsed / (os.cpu_count() or 1)
        places = dict(self._places)  # copied in one go: the thread that looks goes on
        where = max(places, key=places.__getitem__, default="")
        inside = self._inside / self._looks if self._looks else 0.0
        starved = min(1.0, (self._seconds_in_queue() - self._queued) / elapsed)
        blocked = inside - (time.thread_time() - self._computed) / elapsed
        held_up = max(late / elapsed, blocked) - starved
        return Machine(cpu=max(own, together), starved=starved, late=min(1.0, max(0.0, held_up)), where=where)

    def close(self) -> None:
        """Watch no more."""
        self._over.set()
        self._handle.cancel()

    def _seconds_in_queue(self) -> float:
        """For how long the loop's thread has waited for a processor; 0 where the system does not say."""
        try:
            return int(self._schedule.read_bytes().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def _beat(self) -> None:
        now = time.monotonic()
        self._late += max(0.0, now - self._beat_at - BEAT_S - USUAL_S)
        self._beat_at = now
        self._handle = self._loop.call_later(BEAT_S, self._beat)

    def _look(self) -> None:
        while not self._over.wait(LOOK_S):
            self._looks += 1
            if asyncio.current_task(self._loop) is not None:
                self._inside += 1
                self._places[where_is(self._thread)] += 1


def _seconds_of_all() -> float:
    """Processor time of this process and of its children: those that have ended, and, where the system
    shows them, those that have not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime + _seconds_of_children()


def _seconds_of_children() -> float:
    children: dict[int, list[tuple[int, float]]] = {}
    with suppress(OSError):
        ticks = os.sysconf("SC_CLK_TCK")
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError, ValueError, IndexError):  # it has ended meanwhile
                    # The name of a program may hold anything, but stands in the last parentheses.
                    fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
                    seconds = sum(map(int, fields[11:15])) / ticks
                    children.setdefault(int(fields[1]), []).append((int(entry.name), seconds))
    total, families = 0.0, [os.getpid()]
    while families:
        for child, seconds in children.pop(families.pop(), []):
            total += seconds
            families.append(child)
    return total
