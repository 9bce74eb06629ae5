"""The plain script on the same cases, to be killed too: `python -m bench.suites.script OUT`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bench.script import run_all
from bench.suites.two_hundred import CASES, task

if __name__ == "__main__":
    tasks = [{"id": f"case-{number}", "prompt": f"case-{number}"} for number in range(CASES)]
    asyncio.run(run_all(tasks, task, Path(sys.argv[1]), width=50))
