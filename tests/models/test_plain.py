"""Messages, tools and schemas as they stand in files, in the spellings that are common."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.models import Assistant, Image, System, Text, Tool, ToolCall, ToolResult, User
from paceline.models.plain import NotUnderstood, arguments_of, messages_of, plain_message, tools_of
from paceline.models.schemas import can_be_strict, name_of_schema

texts = st.text(max_size=20)
arguments = st.dictionaries(texts, st.integers() | texts, max_size=3)
calls = st.builds(ToolCall, id=texts, name=texts, arguments=arguments)
messages = st.one_of(
    st.builds(System, texts),
    st.builds(
        User, texts | st.lists(st.builds(Text, texts) | st.builds(Image, texts), max_size=3).map(tuple)
    ),
    st.builds(Assistant, texts, st.lists(calls, max_size=2).map(tuple)),
    st.builds(ToolResult, call_id=texts, content=texts, is_error=st.booleans()),
)


@given(said=st.lists(messages, min_size=1, max_size=4))
def test_messages_written_as_plain_data_are_read_as_what_they_were(said: list[Any]) -> None:
    assert messages_of([plain_message(each) for each in said]) == tuple(said)


def test_a_text_is_what_the_user_says() -> None:
    assert messages_of("Hm?") == (User("Hm?"),)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"role": "developer", "content": "Be brief."}, System("Be brief.")),
        ({"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, System("Be brief.")),
        (
            {"role": "user", "content": [{"type": "input_text", "text": "a"}, "b"]},
            User((Text("a"), Text("b"))),
        ),
        ({"role": "user", "content": [{"type": "image", "url": "u"}]}, User((Image("u"),))),
        (
            {"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "u"}}]},
            User((Image("u"),)),
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
                ],
            },
            User((Image("data:image/png;base64,AA=="),)),
        ),
        ({"role": "assistant", "content": None}, Assistant()),
        (
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}}],
            },
            Assistant("", (ToolCall(id="a", name="f", arguments={"x": 1}),)),
        ),
        ({"role": "tool", "tool_call_id": "a", "content": "4"}, ToolResult(call_id="a", content="4")),
    ],
)
def test_common_spellings_of_messages_are_understood(written: dict[str, Any], read: object) -> None:
    assert messages_of([written]) == (read,)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], "there are no messages"),
        (["Hm?"], "message 1 is a str"),
        ([{"content": "x"}], "message 1 has the role None; known are system"),
        ([{"role": "robot", "content": "x"}], "the role 'robot'"),
        ([{"role": ["user"], "content": "x"}], r"the role \['user'\]"),
        ([{"role": "user"}], "message 1: content is a NoneType"),
        ([{"role": "user", "content": [{"type": "audio"}]}], "a part of the kind 'audio'"),
        ([{"role": "system", "content": [{"type": "image", "url": "u"}]}], "holds an image"),
        ([{"role": "tool", "content": "x"}], "has no tool_call_id"),
        ([{"role": "assistant", "tool_calls": [{"id": "a"}]}], "a tool call without a name"),
        ([{"role": "assistant", "tool_calls": "none"}], "tool_calls is a str"),
    ],
)
def test_what_is_no_message_is_told_by_its_number(written: list[Any], said: str) -> None:
    with pytest.raises(NotUnderstood, match=said):
        messages_of(written)


PARAMETERS = {"type": "object", "properties": {"q": {"type": "string"}}}


@pytest.mark.parametrize(
    "written",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": PARAMETERS}},
        {"type": "function", "name": "f", "description": "d", "parameters": PARAMETERS},
        {"name": "f", "description": "d", "input_schema": PARAMETERS},
        {"name": "f", "description": "d", "inputSchema": PARAMETERS},
        Tool(name="f", description="d", parameters=PARAMETERS),
    ],
)
def test_tools_are_understood_as_openai_anthropic_and_mcp_describe_them(written: Any) -> None:
    assert tools_of([written]) == (Tool(name="f", description="d", parameters=PARAMETERS),)


@pytest.mark.parametrize("written", [{}, {"name": ""}, {"function": "f"}, "search", 3])
def test_a_tool_without_a_name_is_none(written: Any) -> None:
    with pytest.raises(NotUnderstood, match="tool 1 has no name"):
        tools_of([written])


@given(st.text())
def test_arguments_never_raise_and_never_lose_what_was_written(written: str) -> None:
    read = arguments_of(written)
    assert isinstance(read, dict) or read == written


def test_no_arguments_are_an_empty_object() -> None:
    assert arguments_of("") == arguments_of(None) == {}


CLOSED: dict[str, Any] = {"type": "object", "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "strict"),
    [
        ({**CLOSED, "properties": {}}, True),
        ({**CLOSED, "properties": {"a": {"type": "string"}}, "required": ["a"]}, True),
        ({**CLOSED, "properties": {"a": {"type": "string"}}}, False),
        ({"type": "object", "properties": {}}, False),
        ({"type": "object"}, False),
        ({"type": "array", "items": {**CLOSED, "properties": {}}}, True),
        ({"type": "array", "items": {"type": "object"}}, False),
        ({**CLOSED, "properties": {"a": {"type": "object"}}, "required": ["a"]}, False),
        ({**CLOSED, "properties": {"properties": {"type": "string"}}, "required": ["properties"]}, True),
        ({"anyOf": [{"type": "string"}, {"type": "object"}]}, False),
        ({**CLOSED, "properties": {}, "$defs": {"a": {"type": "object"}}}, False),
        ({**CLOSED, "properties": {}, "patternProperties": {"a": {}}}, False),
    ],
)
def test_a_schema_is_strict_where_every_object_is_closed_and_all_of_it_required(
    schema: dict[str, Any], strict: bool
) -> None:
    assert can_be_strict(schema) is strict


@given(st.text(max_size=100))
def test_a_schema_always_has_a_name_that_openai_takes(title: str) -> None:
    name = name_of_schema({"title": title})
    assert 1 <= len(name) <= 64
    assert all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in name)
