"""What an attempt has told its model and which tools were called is there for evaluators, unasked."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from paceline import Case, Dataset, rescore, tells_tool_calls, tool_call
from paceline.evaluators import EvaluatorContext, MaxModelRequests, ToolCorrectness, TrajectoryMatch
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


def through_a_client(base_url: str, *, stream: bool = False) -> list[str]:
    """What a sync task does: an agent whose model asks for one tool."""
    said: list[Any] = [{"role": "user", "content": "List it"}]
    with openai.OpenAI(base_url=base_url, api_key="k") as client:
        if stream:
            pieces = client.chat.completions.create(model="m", messages=said, tools=TOOLS, stream=True)
            return [piece.choices[0].finish_reason or "" for piece in pieces]
        answer = client.chat.completions.create(model="m", messages=said, tools=TOOLS)
        message: Any = answer.choices[0].message
        said += [message, {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "a.py"}]
        client.chat.completions.create(model="m", messages=said, tools=TOOLS)
    return [call.function.name for call in message.tool_calls]


def names(trajectory: list[dict[str, Any]] | None) -> list[str]:
    return [call["name"] for each in trajectory or () for call in each.get("tool_calls", ())]


def test_a_sync_task_has_one_on_its_thread(sim: RunningSim) -> None:
    trajectory = trajectory_of(lambda _: through_a_client(f"{sim.url}/v1"))
    assert [message["role"] for message in trajectory or ()] == ["user", "assistant", "tool", "assistant"]
    assert names(trajectory) == ["ls"]


def test_a_streamed_answer_tells_the_same(sim: RunningSim) -> None:
    assert names(trajectory_of(lambda _: through_a_client(f"{sim.url}/v1", stream=True))) == ["ls"]


def test_an_answer_that_the_task_breaks_off_is_not_known() -> None:
    slow = {"latency": {"mean": 0, "per_output_token": 0.05}, "answers": {"output_tokens": 20}}

    async def task(number: int) -> int:
        async with openai.AsyncOpenAI(base_url=f"{slow_sim.url}/v1", api_key="k") as client:
            said: Any = [{"role": "user", "content": "Talk."}]
            pieces = await client.chat.completions.create(model="m", messages=said, stream=True)
            async for piece in pieces:
                if piece.choices[0].delta.content:
                    break
            await pieces.response.aclose()
        return number

    with start_in_thread(Scenario.of(slow)) as slow_sim:
        trajectory = trajectory_of(task)
    assert [message.get("unread") for message in trajectory or ()] == [True]


def in_a_child(base_url: str) -> list[str]:
    return through_a_client(base_url)


def tells_in_a_child(name: str) -> str:
    tool_call(name)
    return name


def test_a_task_in_a_process_of_its_own_has_one_too(sim: RunningSim) -> None:
    seen: list[Any] = []

    def look(ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        seen.append((names(ctx.trajectory), ctx.metrics.get("requests")))
        return True

    for task, inputs in ((in_a_child, f"{sim.url}/v1"), (tells_in_a_child, "rm")):
        dataset: Dataset[Any, Any, Any] = Dataset(cases=[Case(inputs=inputs)], evaluators=[look])
        dataset.evaluate_sync(task, isolation="process", progress=False, journal=False)
    assert seen == [(["ls"], 2), (["rm"], None)]


def test_requests_are_counted(sim: RunningSim) -> None:
    dataset: Dataset[Any, Any, Any] = Dataset(cases=[Case(inputs=f"{sim.url}/v1")])
    report = dataset.evaluate_sync(through_a_client, progress=False, journal=False)
    assert report.cases[0].metrics["requests"] == 2


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
        {"role": "tool", "tool_call_id": "call-0", "content": "found", "is_error": False},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "call-2", "name": "fetch", "arguments": {}}],
        },
        {"role": "tool", "tool_call_id": "call-2", "content": "404", "is_error": True},
    ]


def test_who_says_that_all_calls_are_told_has_made_none_where_none_is_told() -> None:
    def task(number: int) -> int:
        tells_tool_calls()
        return number

    assert trajectory_of(task) == []


def test_a_task_without_calls_has_none() -> None:
    async def task(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert trajectory_of(task) is None


def test_outside_a_run_steps_are_told_to_nobody() -> None:
    tool_call("search", {"q": "x"})


# On record --------------------------------------------------------------------------------------------


def test_a_rescore_and_a_resume_have_it_from_the_record(sim: RunningSim, tmp_path: Path) -> None:
    asked: list[str] = []
    ready = False

    def task(url: str) -> str:
        asked.append(url)
        through_a_client(url)
        return "done"

    def look(ctx: EvaluatorContext[Any, Any, Any]) -> bool:
        if not ready:
            raise RuntimeError("not yet")
        return names(ctx.trajectory) == ["ls"]

    dataset: Dataset[Any, Any, Any] = Dataset(
        name="agents", cases=[Case(name="a", inputs=f"{sim.url}/v1")], evaluators=[look]
    )
    first = dataset.evaluate_sync(task, journal=tmp_path / "run", progress=False)
    assert first.cases[0].outcome == "evaluator_error"
    ready = True
    second = dataset.evaluate_sync(task, journal=tmp_path / "run", progress=False)
    assert second.cases[0].passed is True

    evaluators = [ToolCorrectness(["ls"]), MaxModelRequests(1), TrajectoryMatch(["ls"], threshold=1)]
    again = rescore(tmp_path / "run", evaluators=evaluators, journal=tmp_path / "again", progress=False)
    assert {name: result.value for name, result in again.cases[0].assertions.items()} == {
        "ToolCorrectness": True,
        "MaxModelRequests": False,
        "TrajectoryMatch_pass": True,
    }
    assert len(asked) == 1, "the task was asked once"


def test_that_no_tool_was_called_is_on_record_too(tmp_path: Path) -> None:
    def task(number: int) -> int:
        tells_tool_calls()
        return number

    dataset: Dataset[Any, Any, Any] = Dataset(name="n", cases=[Case(inputs=1)])
    dataset.evaluate_sync(task, journal=tmp_path / "run", progress=False)
    again = rescore(
        tmp_path / "run", evaluators=[ToolCorrectness([])], journal=tmp_path / "again", progress=False
    )
    assert again.cases[0].passed is True


# Spans ------------------------------------------------------------------------------------------------

TRACED = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode

trace.set_tracer_provider(TracerProvider())
TRACER = trace.get_tracer("agent")


def tool(name, **status):
    facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    with TRACER.start_as_current_span(f"execute_tool {name}", attributes=facts) as span:
        span.set_attribute("gen_ai.tool.call.arguments", "{}")
        if status:
            span.set_status(Status(StatusCode.ERROR))


def task(name):
    with TRACER.start_as_current_span("invoke_agent"):
        tool(name)
        tool("rm", failed=True)
    return name


async def on_the_loop(name):
    return task(name)
"""
RUN_TRACED = """
import sys
import traced
from paceline import Case, Dataset
from paceline.evaluators import ForbiddenTools, NoFailedTools, ToolCorrectness

if __name__ == "__main__":
    task, isolation = getattr(traced, sys.argv[1]), sys.argv[2]
    cases = [Case(name=name, inputs=name, evaluators=[ToolCorrectness([name])]) for name in "abc"]
    dataset = Dataset(cases=cases, evaluators=[ForbiddenTools(["rm"]), NoFailedTools()])
    report = dataset.evaluate_sync(task, isolation=isolation, journal=False, progress=False)
    for row in report.cases:
        print(row.name, *(f"{name}={result.value}" for name, result in sorted(row.assertions.items())))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "isolation"), [("task", "thread"), ("on_the_loop", "thread"), ("task", "process")]
)
def test_spans_tell_it_where_nothing_else_does(tmp_path: Path, task: str, isolation: str) -> None:
    pytest.importorskip("opentelemetry.sdk", reason="spans need the `otel` extra")
    (tmp_path / "traced.py").write_text(TRACED)
    (tmp_path / "run.py").write_text(RUN_TRACED)
    done = subprocess.run(
        [sys.executable, "run.py", task, isolation], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        f"{name} ForbiddenTools=False NoFailedTools=False ToolCorrectness=True" for name in "abc"
    ], done.stderr
