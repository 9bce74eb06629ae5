"""The suite that is killed: 200 cases that wait as a model does, and say when they were begun.

BENCH_SECONDS is their mean, BENCH_STARTS the file that gets a line for every start of a case.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

from bench.shapes import log_normal
from paceline import Case, Dataset
from paceline.evaluators import EqualsExpected

CASES = 200
DURATIONS = log_normal(CASES, sigma=0.5, mean=float(os.environ["BENCH_SECONDS"]), seed=1)
STARTS = os.open(os.environ["BENCH_STARTS"], os.O_CREAT | os.O_WRONLY | os.O_APPEND)

dataset: Dataset[str, str, Any] = Dataset(
    name="two_hundred",
    cases=[
        Case(name=f"case-{number}", inputs=f"case-{number}", expected_output=f"case-{number}")
        for number in range(CASES)
    ],
    evaluators=[EqualsExpected()],
)


async def task(name: str) -> str:
    """Wait, and answer."""
    os.write(STARTS, name.encode() + b"\n")
    await asyncio.sleep(DURATIONS[int(name.removeprefix("case-"))])
    return name
