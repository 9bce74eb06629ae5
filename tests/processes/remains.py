"""What is left of a command: processes are found by a mark in their environment, wherever they have gone."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

PATIENCE_S = 5.0
"""Until nothing may be left, as it is promised."""

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what leaves its process group is found on Linux only"
)


class Mark:
    """A mark that every descendant of a command carries."""

    def __init__(self, name: str = "MARK") -> None:
        self.name = name
        self.value = os.urandom(8).hex()

    @property
    def environ(self) -> dict[str, str]:
        """An environment with the mark in it."""
        return {"PATH": os.environ["PATH"], self.name: self.value}

    def left(self) -> list[int]:
        """Processes that carry it, zombies aside: these have no environment any more."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    environ = (folder / "environ").read_bytes()
                except OSError:
                    continue
                if f"{self.name}={self.value}".encode() in environ.split(b"\0"):
                    found.append(int(folder.name))
        return found

    def wait_gone(self, seconds: float = PATIENCE_S) -> None:
        """Return once nothing is left; fail if something is after that time."""
        until = time.monotonic() + seconds
        while left := self.left():
            assert time.monotonic() < until, f"{left} are still there after {seconds} s"
            time.sleep(0.01)

    def wait_there(self, number: int, seconds: float = 20.0) -> None:
        """Return once there are as many."""
        until = time.monotonic() + seconds
        while (there := len(self.left())) < number:
            assert time.monotonic() < until, f"only {there} of {number} are there"
            time.sleep(0.01)
