"""The machine that figures were taken on, as far as it explains them; nothing that names it."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bench.contest import scratch

SYNCS = 100


def machine() -> dict[str, Any]:
    """Cores, Python, kernel, and what a synced append of one line costs here."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": cores,
        "processor": _processor(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "kernel": f"{platform.system()} {platform.release()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "uvloop": _version("uvloop"),
        "synced_append_ms": round(synced_append() * 1e3, 3),
    }


def synced_append() -> float:
    """Seconds that appending one line and syncing it takes, the median of some."""
    with scratch() as folder:
        fd = os.open(folder / "line", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        try:
            return statistics.median(_synced_append(fd) for _ in range(SYNCS))
        finally:
            os.close(fd)


def _synced_append(fd: int) -> float:
    started = time.perf_counter()
    os.write(fd, b"x" * 200 + b"\n")
    if sys.platform == "darwin":
        os.fsync(fd)
    else:
        os.fdatasync(fd)
    return time.perf_counter() - started


def _processor() -> str:
    if sys.platform == "linux":
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
