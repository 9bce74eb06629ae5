"""The suite of `paceline demo`: 200 sums for a model that takes its time, and is sometimes wrong."""

import asyncio
import os
import random
from pathlib import Path

from paceline import Case, Dataset
from paceline.evaluators import EqualsExpected

SECONDS = float(os.environ.get("DEMO_SECONDS", "2"))
"""What an answer takes, typically."""
CALLS = Path(__file__).with_name("calls.log")
"""Every call of the task, a line each: how the demo finds out what was run twice."""

dice = random.Random(7)
sums = [(dice.randint(10, 99), dice.randint(10, 99)) for _ in range(200)]
dataset = Dataset(
    name="demo",
    cases=[
        Case(name=f"sum-{number:03}", inputs={"number": number, "a": a, "b": b}, expected_output=a + b)
        for number, (a, b) in enumerate(sums, start=1)
    ],
    evaluators=[EqualsExpected()],
)
overloaded: set[int] = set()


async def task(question: dict[str, int]) -> int:
    """Stands in for a call of a model: it waits, now and then it is overloaded, sometimes it is wrong."""
    number = question["number"]
    with CALLS.open("a") as log:
        log.write(f"sum-{number:03}\n")
    mood = random.Random(number)
    await asyncio.sleep(SECONDS * mood.lognormvariate(0.0, 0.5))
    if mood.random() < 0.03 and number not in overloaded:
        overloaded.add(number)
        raise ConnectionError("the model is overloaded")  # tried again, since that can help
    return question["a"] + question["b"] + (mood.random() < 0.05)
