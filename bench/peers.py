"""Where the peers are: the interpreter that has Pydantic Evals installed.

`make bench` installs it beside Paceline. Where it is elsewhere, `BENCH_PEER` names that interpreter;
where it is nowhere, its rows are left out, and the table says so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from typing import NamedTuple

PROBE = "import importlib.metadata as m; print(m.version('pydantic-evals'))"


class Peer(NamedTuple):
    """An interpreter with Pydantic Evals."""

    python: str
    version: str

    @property
    def name(self) -> str:
        return f"Pydantic Evals {self.version}"


@cache
def pydantic_evals() -> Peer | None:
    """The interpreter to run Pydantic Evals with, if there is one."""
    for python in filter(None, (os.environ.get("BENCH_PEER"), sys.executable)):
        found = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return Peer(python, found.stdout.strip())
    return None


ABSENT = "Pydantic Evals is not installed here (`make bench` does that), so it was not compared with."
