"""Spans in the conventions for generative AI tell which tools have run and which models were asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest

pytest.importorskip("opentelemetry.sdk", reason="spans need the `otel` extra")

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Status, StatusCode

from paceline.trajectory import spans
from paceline.trajectory.hearing import hear

Heard = Callable[[], list[dict[str, Any]] | None]
PROVIDER = TracerProvider()
TRACER = PROVIDER.get_tracer("agent")


@pytest.fixture
def heard() -> Iterator[Heard]:
    """What is heard from here on."""
    before = otel_context.attach(otel_context.get_current())
    found = hear(PROVIDER)
    yield lambda: spans.messages_of(found)
    otel_context.detach(before)


def run_tool(name: str, *, error: str = "", span_name: str = "", **attributes: Any) -> None:
    facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **attributes}
    with TRACER.start_as_current_span(span_name or f"execute_tool {name}", attributes=facts) as span:
        if error:
            span.set_status(Status(StatusCode.ERROR, error))


def ask(*, said: Any = None, told: Any = (), **attributes: Any) -> None:
    facts = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", **attributes}
    if said is not None:
        facts["gen_ai.output.messages"] = json.dumps([{"role": "assistant", "parts": said}])
        facts["gen_ai.input.messages"] = json.dumps(list(told))
    with TRACER.start_as_current_span("chat m", attributes=facts):
        pass


def test_tools_that_have_run_are_told_with_what_came_of_them(heard: Heard) -> None:
    with TRACER.start_as_current_span("invoke_agent"):
        ask()
        run_tool(
            "ls",
            **{
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"path": "."}',
                "gen_ai.tool.call.result": '["a.py"]',
            },
        )
        run_tool("rm", error="PermissionError", **{"gen_ai.tool.call.arguments": "{}"})
        ask()
    assert heard() == [
        {"role": "assistant", "content": "", "model": "m", "call": 1},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"path": "."}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '["a.py"]', "is_error": False},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call-3", "name": "rm", "arguments": {}}]},
        {"role": "tool", "tool_call_id": "call-3", "content": "PermissionError", "is_error": True},
        {"role": "assistant", "content": "", "model": "m", "call": 2},
    ]


def test_what_people_have_said_stands_between_the_tools_that_have_run(heard: Heard) -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Look."}]}]
    instructions = json.dumps([{"type": "text", "content": "Be brief."}])
    ask(said=[], told=asked, **{"gen_ai.system_instructions": instructions})
    run_tool("ls", **{"gen_ai.tool.call.arguments": "{}"})
    ask(said=[{"type": "text", "content": "One file."}], told=asked)
    assert [(each["role"], each["content"]) for each in heard() or ()] == [
        ("system", "Be brief."),
        ("user", "Look."),
        ("assistant", ""),
        ("assistant", ""),
        ("tool", ""),
        ("assistant", "One file."),
    ]


def names(messages: list[dict[str, Any]] | None) -> list[str]:
    return [call["name"] for each in messages or () for call in each.get("tool_calls", ())]


def test_what_only_looks_like_a_tool_that_ran_is_none(heard: Heard) -> None:
    run_tool("put_off", **{"pydantic_ai.tool.deferral.name": "ApprovalRequired"})
    run_tool("final", **{"logfire.msg": "running output function: final"})
    facts = {"gen_ai.tool.name": "old_final"}
    with TRACER.start_as_current_span("running output function", attributes=facts):
        pass
    with TRACER.start_as_current_span("running tool", attributes={"gen_ai.tool.name": "old"}):
        pass
    with TRACER.start_as_current_span("execute_tool search", attributes={"gen_ai.tool.name": "search"}):
        run_tool("search", span_name="tools/call search")
    assert names(heard()) == ["old", "search"]


def test_without_content_arguments_are_not_known(heard: Heard) -> None:
    run_tool("ls")
    messages = heard()
    assert messages is not None
    assert messages[0]["tool_calls"] == [{"id": "call-0", "name": "ls", "arguments": None}]


def test_where_no_tool_is_traced_the_words_of_models_tell_what_they_asked_for(heard: Heard) -> None:
    asked = {"role": "user", "parts": [{"type": "text", "content": "Look."}]}
    call = {"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"path": "."}}
    ask(said=[call], told=[asked])
    result = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": ["a.py"]}]}
    words = [{"type": "text", "content": "One file."}]
    ask(said=words, told=[asked, {"role": "assistant", "parts": [call]}, result])
    assert heard() == [
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"path": "."}}],
            "model": "m",
            "call": 1,
        },
        {"role": "tool", "tool_call_id": "c1", "content": '["a.py"]'},
        {"role": "assistant", "content": "One file.", "model": "m", "call": 2},
    ]


def test_a_model_of_whose_answer_nothing_is_known_may_have_asked_for_anything(heard: Heard) -> None:
    ask()
    ask(**{"gen_ai.response.finish_reasons": ("tool_calls",)})
    ask(**{"gen_ai.response.finish_reasons": ("stop",)})
    assert [each.get("unread", False) for each in heard() or ()] == [True, True, False]


def test_other_spans_tell_nothing(heard: Heard) -> None:
    with TRACER.start_as_current_span("GET /"):
        pass
    facts = {"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "e"}
    with TRACER.start_as_current_span("embeddings e", attributes=facts):
        pass
    assert heard() is None


def test_spans_of_threads_and_tasks_are_heard_and_those_of_others_are_not(heard: Heard) -> None:
    async def task(name: str) -> None:
        await asyncio.sleep(0)
        run_tool(name)

    async def both() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(task("a"))
            group.create_task(task("b"))

    asyncio.run(both())
    with ThreadPoolExecutor(1) as threads:
        threads.submit(copy_context().run, run_tool, "on a thread").result()
        threads.submit(run_tool, "of somebody else").result()
    assert sorted(names(heard())) == ["a", "b", "on a thread"]


def test_a_span_in_a_context_of_somebodys_making_is_heard_with_its_parent(heard: Heard) -> None:
    with TRACER.start_as_current_span("agent") as agent:
        bare = trace.set_span_in_context(agent, otel_context.Context())
        facts = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ls"}
        TRACER.start_span("execute_tool ls", context=bare, attributes=facts).end()
    assert names(heard()) == ["ls"]


def test_two_who_listen_at_once_hear_each_their_own() -> None:
    def attempt(name: str) -> list[str]:
        found = hear(PROVIDER)
        run_tool(name)
        return names(spans.messages_of(found))

    with ThreadPoolExecutor(2) as threads:
        heard = [threads.submit(copy_context().run, attempt, name) for name in ("a", "b")]
    assert [each.result() for each in heard] == [["a"], ["b"]]
