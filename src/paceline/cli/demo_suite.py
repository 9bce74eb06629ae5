"""The suite of `paceline demo`: 200 sums for a model that takes its time, has limits, and is sometimes wrong.

It asks over plain HTTP, so that the demo needs no SDK; `openai` and `anthropic` are paced, counted and
recorded in the same way. This file knows nothing of that.
"""

import os
import random
from pathlib import Path

import httpx2

from paceline import Case, Dataset
from paceline.evaluators import EqualsExpected

CALLS = Path(__file__).with_name("calls.log")
"""Every call of the task, a line each: how the demo finds out what was run twice."""

dice = random.Random(7)
sums = [(dice.randint(10, 99), dice.randint(10, 99)) for _ in range(200)]
dataset = Dataset(
    name="demo",
    cases=[
        Case(name=f"sum-{number:03}", inputs={"number": number, "a": a, "b": b}, expected_output=str(a + b))
        for number, (a, b) in enumerate(sums, start=1)
    ],
    evaluators=[EqualsExpected()],
)
model = httpx2.AsyncClient(
    base_url=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    headers={"authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"},
    limits=httpx2.Limits(max_connections=None),
    timeout=60,
)


async def task(question: dict[str, int]) -> str:
    """Ask the model, as if there were no limits."""
    with CALLS.open("a") as log:
        log.write(f"sum-{question['number']:03}\n")
    prompt = f"What is {question['a']} + {question['b']}? (question {question['number']})"
    asked = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": prompt}]}
    answer = await model.post("chat/completions", json=asked)
    answer.raise_for_status()
    return str(answer.json()["choices"][0]["message"]["content"])
