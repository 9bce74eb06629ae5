"""A task that starts programs finds a gateway; others cost nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from paceline import Case, Dataset
from paceline.gateway.server import current_gateway
from paceline.pace.calls import current_listener
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

ASK = """
import openai
answer = openai.OpenAI().chat.completions.create(
    model="m", messages=[{"role": "user", "content": "What is 17 * 23?"}]
)
print(answer.choices[0].message.content)
"""
REAL_KEY = "sk-real-0123456789abcdefghijklmnop"


@pytest.fixture
def sim(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningSim]:
    with start_in_thread(Scenario.of({"latency": 0, "keys": [REAL_KEY]})) as sim:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", REAL_KEY)
        yield sim


class Agent:
    """Starts a program that asks a model."""

    wants_gateway = True

    async def __call__(self, inputs: Any) -> str:
        import asyncio

        gateway = current_gateway.get()
        assert gateway is not None
        with gateway.ticket(current_listener.get()) as ticket:
            environ = {**os.environ, **gateway.environment(ticket)}
            assert REAL_KEY not in environ.values()
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", ASK, env=environ, stdout=subprocess.PIPE
            )
            said, _ = await process.communicate()
        return said.decode().strip()


def evaluated(task: Any, **options: Any) -> Any:
    dataset: Dataset[Any, Any, Any] = Dataset(cases=[Case(name="a", inputs=1)])
    return dataset.evaluate_sync(task, progress=False, journal=False, **options)


@pytest.mark.slow
def test_calls_of_a_program_belong_to_the_attempt_that_started_it(sim: RunningSim) -> None:
    report = evaluated(Agent())
    (case,) = report.cases
    assert case.output == "391"
    assert case.metrics["output_tokens"] == 1
    assert [message["role"] for message in case.trajectory] == ["user", "assistant"]
    assert sim.stats().answered == 1


def test_where_calls_are_not_paced_or_not_wanted_there_is_none() -> None:
    async def look(inputs: Any) -> bool:
        return current_gateway.get() is None

    class Wants:
        wants_gateway = True

        async def __call__(self, inputs: Any) -> bool:
            return current_gateway.get() is None

    assert evaluated(look).cases[0].output is True
    assert evaluated(Wants(), pace_http=False).cases[0].output is True
    assert evaluated(Wants()).cases[0].output is False
