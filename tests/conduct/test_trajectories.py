"""What an attempt has told its model and which tools were called is there for evaluators, unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from paceline import Case, Dataset, tool_call
from paceline.evaluators import EvaluatorContext
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

TOOLS: Any = [{"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}]
RULES = [{"when": "^List it", "call": "ls", "arguments": {"path": "."}}]


@pytest.fixture
def sim() -> Iterator[RunningSim]:
    with start_in_thread(Scenario.of({"latency": 0, "answers": {"rules": RULES}})) as sim:
        yield sim


def trajectory_of(task: Any, **options: Any) -> list[dict[str, Any]] | None:
    seen: list[list[dict[str, Any]] | None] = []

    def look(ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        seen.append(ctx.trajectory)
        return True

    dataset: Dataset[Any, Any, Any] = Dataset(cases=[Case(name="a", inputs=1)], evaluators=[look])
    report = dataset.evaluate_sync(task, progress=False, journal=False, **options)
    assert not report.failures
    assert report.cases[0].trajectory == seen[0]
    return seen[0]


@pytest.mark.parametrize("replay", ["resume", "off"])
def test_the_calls_of_an_unchanged_task_tell_its_trajectory(sim: RunningSim, replay: Any) -> None:
    async def task(number: int) -> str:
        said: list[Any] = [{"role": "user", "content": "List it"}]
        async with openai.AsyncOpenAI(base_url=f"{sim.url}/v1", api_key="k") as client:
            answer = await client.chat.completions.create(model="m", messages=said, tools=TOOLS)
            message: Any = answer.choices[0].message
            said += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "a.py"}]
            await client.chat.completions.create(model="m", messages=said, tools=TOOLS)
        return "done"

    trajectory = trajectory_of(task, replay=replay)
    assert trajectory is not None
    assert [message["role"] for message in trajectory] == ["user", "assistant", "tool", "assistant"]
    (call,) = trajectory[1]["tool_calls"]
    assert (call["name"], call["arguments"]) == ("ls", {"path": "."})
    assert trajectory[2]["tool_call_id"] == call["id"]


def test_a_task_may_tell_its_steps_itself() -> None:
    def task(number: int) -> int:
        tool_call("search", {"q": "x", "when": object}, result="found")
        tool_call("fetch", error="404")
        return number

    assert trajectory_of(task) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "call-0", "name": "search", "arguments": {"q": "x", "when": "<class 'object'>"}}
            ],
        },
        {"role": "tool", "tool_call_id": "call-0", "content": "found"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call-2", "name": "fetch", "arguments": {}}],
        },
        {"role": "tool", "tool_call_id": "call-2", "content": "404", "is_error": True},
    ]


def test_a_task_without_calls_has_none() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert trajectory_of(task) is None


def test_outside_a_run_steps_are_told_to_nobody() -> None:
    tool_call("search", {"q": "x"})
