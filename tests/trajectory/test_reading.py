"""A call is read into the same messages whichever provider's format it came in, streamed or whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.models.messages import Assistant, System, ToolCall, ToolResult, User
from paceline.pace.providers import Endpoint
from paceline.sim.answers import Call, Reply
from paceline.sim.anthropic_wire import Messages
from paceline.sim.openai_wire import ChatCompletions, Responses
from paceline.sim.wire import Context, Streamed
from paceline.trajectory.reading import Exchange, read_call

CHAT = Endpoint("openai", "/chat/completions")
RESPONSES = Endpoint("openai", "/responses")
MESSAGES = Endpoint("anthropic", "/messages")
GEMINI = Endpoint("gemini", ":generateContent", "gemini-3")

SEARCH = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def read(endpoint: Endpoint, asked: Any, answered: Any = None) -> Exchange:
    body = answered if isinstance(answered, bytes) else json.dumps(answered).encode() if answered else b""
    return read_call(endpoint, json.dumps(asked).encode(), body)


ASKED: dict[str, tuple[Endpoint, Streamed, dict[str, Any]]] = {
    "chat": (
        CHAT,
        ChatCompletions(),
        {
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Search!"}],
            "tools": [{"type": "function", "function": {"name": "search", "parameters": SEARCH}}],
        },
    ),
    "responses": (
        RESPONSES,
        Responses(),
        {
            "model": "m",
            "instructions": "Be brief.",
            "input": "Search!",
            "tools": [{"type": "function", "name": "search", "parameters": SEARCH}],
        },
    ),
    "messages": (
        MESSAGES,
        Messages(),
        {
            "model": "m",
            "max_tokens": 500,
            "system": "Be brief.",
            "messages": [{"role": "user", "content": "Search!"}],
            "tools": [{"name": "search", "input_schema": SEARCH}],
        },
    ),
}


@pytest.mark.parametrize("form", ASKED)
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("calls_a_tool", [False, True])
def test_all_formats_say_the_same_whole_or_streamed(form: str, streamed: bool, calls_a_tool: bool) -> None:
    endpoint, wire, body = ASKED[form]
    asked = wire.read({**body, "stream": streamed})
    reply = Reply(text="" if calls_a_tool else "A word, and — ünïcode.")
    if calls_a_tool:
        reply = Reply(call=Call("search", {"q": "größe"}))
    context = Context(number=3, created=1.0)
    events = b"".join(event.data for event in wire.events(asked, reply, context))
    exchange = read(endpoint, body, events if streamed else wire.whole(asked, reply, context))

    assert exchange.told == (System("Be brief."), User("Search!"))
    assert exchange.said is not None
    assert exchange.model == "m"
    if calls_a_tool:
        (call,) = exchange.said.tool_calls
        assert (call.name, call.arguments) == ("search", {"q": "größe"})
        assert call.id
    else:
        assert exchange.said == Assistant("A word, and — ünïcode.")


def test_a_chat_tells_what_tools_were_called_and_what_they_returned() -> None:
    exchange = read(
        CHAT,
        {
            "model": "m",
            "messages": [
                {"role": "developer", "content": [{"type": "text", "text": "Rules."}]},
                {"role": "user", "content": [{"type": "text", "text": "See "}, {"type": "image_url"}]},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": '{"path": "."}'}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
            ],
        },
    )
    assert exchange.told == (
        System("Rules."),
        User("See [image_url]"),
        Assistant("", (ToolCall(id="c1", name="ls", arguments={"path": "."}),)),
        ToolResult(call_id="c1", content="a.py"),
    )
    assert exchange.said is None


def test_items_of_one_turn_of_a_response_are_one_message() -> None:
    exchange = read(
        RESPONSES,
        {
            "model": "m",
            "input": [
                {"role": "user", "content": "Go."},
                {"type": "reasoning", "summary": []},
                {
                    "type": "message",
                    "role": "assistant",
                    "content": [{"type": "output_text", "text": "Well."}],
                },
                {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"},
                {"type": "function_call", "call_id": "c2", "name": "cat", "arguments": "not json"},
                {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
            ],
        },
        {"output": [{"type": "web_search_call", "id": "w1", "action": {"query": "x"}}], "model": "m-2"},
    )
    assert exchange.told == (
        User("Go."),
        Assistant(
            "Well.",
            (ToolCall(id="c1", name="ls", arguments={}), ToolCall(id="c2", name="cat", arguments="not json")),
        ),
        ToolResult(call_id="c1", content="a.py"),
    )
    assert exchange.said == Assistant("", (ToolCall(id="w1", name="web_search", arguments={"query": "x"}),))
    assert exchange.model == "m-2"


def test_results_and_thoughts_of_anthropic_are_told_apart_from_what_is_said() -> None:
    exchange = read(
        MESSAGES,
        {
            "model": "m",
            "messages": [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "text", "text": "Let me look."},
                        {"type": "tool_use", "id": "t1", "name": "ls", "input": {"path": "."}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "t1", "content": "denied", "is_error": True},
                        {"type": "text", "text": "And now?"},
                    ],
                },
            ],
        },
    )
    assert exchange.told == (
        Assistant("Let me look.", (ToolCall(id="t1", name="ls", arguments={"path": "."}),)),
        ToolResult(call_id="t1", content="denied", is_error=True),
        User("And now?"),
    )


def test_gemini_speaks_in_parts() -> None:
    exchange = read(
        GEMINI,
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Look."}]},
                {"role": "model", "parts": [{"functionCall": {"name": "ls", "args": {"path": "."}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "ls", "response": {"result": "a.py"}}}],
                },
            ],
        },
        b'data: {"candidates": [{"content": {"parts": [{"text": "One "}]}}], "modelVersion": "g-3"}\n\n'
        b'data: {"candidates": [{"content": {"parts": [{"text": "file."}]}}]}\n\n',
    )
    assert exchange.told == (
        System("Be brief."),
        User("Look."),
        Assistant("", (ToolCall(id="ls", name="ls", arguments={"path": "."}),)),
        ToolResult(call_id="ls", content="a.py", is_error=False),
    )
    assert exchange.said == Assistant("One file.")
    assert exchange.model == "g-3"


def test_embeddings_are_no_conversation() -> None:
    exchange = read(Endpoint("openai", "/embeddings"), {"model": "m", "input": "text"}, {"data": []})
    assert exchange == Exchange((), None)


def test_of_a_stream_that_broke_off_what_had_come_is_read() -> None:
    whole = b'data: {"choices": [{"index": 0, "delta": {"content": "Hal"}}]}\n\ndata: {"choi'
    assert read(CHAT, {"model": "m", "messages": []}, whole).said == Assistant("Hal")


NAMES = """
    role content messages input output type text message tool_calls function name arguments choices delta
    candidates parts functionCall functionResponse response item call_id id contents system index
"""
WORDS = st.sampled_from(NAMES.split()) | st.text(max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(
    endpoint=st.sampled_from([CHAT, RESPONSES, MESSAGES, GEMINI]),
    asked=st.dictionaries(WORDS, JSON),
    answered=st.dictionaries(WORDS, JSON) | st.lists(JSON),
    as_events=st.booleans(),
)
def test_whatever_comes_nothing_is_raised(
    endpoint: Endpoint, asked: dict[str, Any], answered: Any, as_events: bool
) -> None:
    body = json.dumps(answered).encode()
    read_call(endpoint, json.dumps(asked).encode(), b"data: " + body if as_events else body)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_bytes_that_are_no_json_are_no_conversation(asked: bytes, answered: bytes) -> None:
    read_call(CHAT, asked, answered)
