"""The process in which one contestant works; see `contest`.

    python -m bench.child bench.noop:script '{"cases": 1000}' FOLDER

Prints the cost as JSON, on the last line. Runs in the environment of a peer too, so it imports nothing but
the standard library.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from importlib import import_module
from pathlib import Path


def main(does: str, settings: str, folder: str) -> None:
    """Make ready, work under the clock, tell."""
    module, _, name = does.partition(":")
    contestant = getattr(import_module(module), name)
    os.chdir(folder)
    timed = contestant(**json.loads(settings))
    next(timed)
    gc.collect()
    if hasattr(os, "sync"):
        os.sync()  # nobody's sync shall wait for what another contestant has left to be written
    cpu, wall = cpu_seconds(), time.perf_counter()
    next(timed)
    wall, cpu = time.perf_counter() - wall, cpu_seconds() - cpu
    peak = peak_mb()
    try:
        next(timed)
    except StopIteration as stop:
        facts = stop.value
    else:
        raise SystemExit(f"{does} yields more than twice")
    print()
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mb": peak, "facts": facts}))


def cpu_seconds() -> float:
    """Processor time so far, of all threads and of children that ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def peak_mb() -> float:
    """Peak resident memory of this process, in MB of 10^6 bytes.

    Linux hands `ru_maxrss` down through `exec`, so a small child of a big parent looks big: there the
    kernel's own mark for this program (`VmHWM`) is read.
    """
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(fields["VmHWM"].split()[0]) * 1024 / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
