"""Messages are found in what a task returns, whoever's form they have; what holds none is left alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.models.messages import Assistant, Message, ToolCall, ToolResult, User
from paceline.trajectory.listed import Step, steps_in

SPOKEN: dict[str, Any] = {
    "openai chat": [
        {"role": "user", "content": "Which files?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "assistant", "content": "One."},
    ],
    "openai responses": [
        {"role": "user", "content": "Which files?"},
        {"type": "reasoning", "id": "r1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": '{"path": "."}'},
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One."}]},
    ],
    "anthropic": [
        {"role": "user", "content": "Which files?"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "ls", "input": {"path": "."}}],
        },
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a.py"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "One."}]},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Which files?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "c1", "name": "ls", "response": {"result": "a.py"}}}],
        },
        {"role": "model", "parts": [{"text": "One."}]},
    ],
    "opentelemetry": [
        {"role": "user", "parts": [{"type": "text", "content": "Which files?"}]},
        {
            "role": "assistant",
            "parts": [{"type": "tool_call", "id": "c1", "name": "ls", "arguments": {"path": "."}}],
        },
        {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "a.py"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": "One."}]},
    ],
    "our own": [
        {"role": "user", "content": "Which files?"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"path": "."}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "assistant", "content": "One."},
    ],
}
LS = ToolCall(id="c1", name="ls", arguments={"path": "."})
KNOWS_FAILURE = ("anthropic", "gemini")


def messages(steps: list[Step] | None) -> list[Message] | None:
    return None if steps is None else [step.message for step in steps]


@pytest.mark.parametrize("form", SPOKEN)
@pytest.mark.parametrize(
    "within", [lambda said: said, lambda said: {"answer": 1, "messages": said}, lambda said: ("One.", said)]
)
def test_one_conversation_is_the_same_in_every_form_and_wherever_it_stands(form: str, within: Any) -> None:
    assert messages(steps_in(within(SPOKEN[form]))) == [
        User("Which files?"),
        Assistant("", (LS,)),
        ToolResult(call_id="c1", content="a.py", is_error=False if form in KNOWS_FAILURE else None),
        Assistant("One."),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        SPOKEN["openai chat"][1],
        SPOKEN["openai chat"][1]["tool_calls"],
        {"choices": [{"message": SPOKEN["openai chat"][1]}], "model": "m"},
        {"id": "r", "output": [SPOKEN["openai responses"][2]], "model": "m"},
        {"type": "message", **SPOKEN["anthropic"][1]},
        SPOKEN["anthropic"][1]["content"],
        {"candidates": [{"content": SPOKEN["gemini"][1]}]},
        {"text": "", "tool_calls": [{"name": "ls", "arguments": {"path": "."}}]},
        {"role": "assistant", "content": "", "function_call": {"name": "ls", "arguments": '{"path": "."}'}},
    ],
)
def test_a_single_answer_of_a_model_counts_as_well(answer: Any) -> None:
    found = messages(steps_in({"case": 7, "response": answer}))
    assert found == messages(steps_in(answer))
    assert found is not None
    (said,) = found
    assert isinstance(said, Assistant)
    ((name, arguments),) = [(call.name, call.arguments) for call in said.tool_calls]
    assert (name, arguments) == ("ls", {"path": "."})


@pytest.mark.parametrize("nothing", [{"messages": []}, {"trajectory": []}])
def test_an_empty_list_under_its_name_says_that_there_were_none(nothing: Any) -> None:
    assert steps_in(nothing) == []


def test_an_answer_without_tool_calls_is_one() -> None:
    assert messages(steps_in({"text": "Rome", "tool_calls": []})) == [Assistant("Rome")]


@pytest.mark.parametrize(
    "value",
    [
        "Rome",
        42,
        None,
        [],
        {},
        {"answer": "Rome"},
        [{"role": "user", "id": 1}, {"role": "user", "id": 2}],
        [{"name": "ls", "arguments": {}, "price": 3}],
        [{"type": "phone_call"}, {"city": "Rome"}],
        {"choices": ["a", "b"]},
        {"output": [1, 2]},
        [SPOKEN["our own"][0], {"city": "Rome"}],
        {"a": SPOKEN["our own"], "b": SPOKEN["anthropic"]},
        {"a": {"b": {"c": {"d": SPOKEN["our own"]}}}},
    ],
)
def test_what_is_no_conversation_or_not_clearly_one_is_none(value: Any) -> None:
    assert steps_in(value) is None


def test_marks_of_a_record_are_read() -> None:
    steps = steps_in(
        [
            {"role": "assistant", "content": "so far", "given": True},
            {"role": "assistant", "content": "", "call": 3, "unread": True},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"id": "a", "name": "f", "arguments": None},
                    {"id": "b", "name": "g", "arguments": {}},
                ],
            },
            {"role": "tool", "tool_call_id": "a", "content": "", "is_error": True},
        ]
    )
    assert steps is not None
    assert [(step.given, step.call, step.unread) for step in steps[:2]] == [
        (True, 0, False),
        (False, 3, True),
    ]
    assert steps[2].bare == {"a"}
    assert steps[3].message == ToolResult(call_id="a", content="", is_error=True)


NAMES = """
    role content messages trajectory type text tool_calls function name arguments parts output choices
    message tool_use tool_result function_call assistant user tool model input id call given unread
"""
WORDS = st.sampled_from(NAMES.split())
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=5),
    max_leaves=25,
)


@given(VALUES)
def test_whatever_a_task_returns_nothing_is_raised(value: Any) -> None:
    steps = steps_in(value)
    assert steps is None or all(isinstance(step, Step) for step in steps)
