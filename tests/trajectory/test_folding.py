"""The calls of an attempt become one sequence of messages, in which each stands once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.models.messages import Assistant, Message, System, ToolCall, ToolResult, User
from paceline.trajectory.folding import trajectory_of
from paceline.trajectory.reading import Exchange

LS = ToolCall(id="c1", name="ls", arguments={"path": "."})
CAT = ToolCall(id="c2", name="cat", arguments={"path": "a.py"})


def roles(messages: list[dict[str, object]]) -> list[object]:
    return [message["role"] for message in messages]


def test_what_was_said_before_is_not_told_again() -> None:
    start: tuple[Message, ...] = (System("Rules."), User("Go."))
    messages = trajectory_of(
        [
            Exchange(start, Assistant("", (LS,)), "m"),
            Exchange(
                (*start, Assistant("", (LS,)), ToolResult(call_id="c1", content="a.py")), Assistant("Done.")
            ),
        ]
    )
    assert messages == [
        {"role": "system", "content": "Rules."},
        {"role": "user", "content": "Go."},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "ls", "arguments": {"path": "."}}],
            "model": "m",
            "call": 1,
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "assistant", "content": "Done.", "call": 2},
    ]


def test_who_says_the_same_twice_has_said_it_twice() -> None:
    first = Exchange((User("go on"),), Assistant("one"))
    second = Exchange((User("go on"), Assistant("one"), User("go on")), Assistant("two"))
    assert roles(trajectory_of([first, second])) == ["user", "assistant", "user", "assistant"]


def test_a_history_that_was_shortened_is_not_told_again() -> None:
    first = Exchange((User("a"),), Assistant("b"))
    second = Exchange((User("a"), Assistant("b"), User("c")), Assistant("d"))
    third = Exchange((User("c"), Assistant("d"), User("e")), Assistant("f"))
    assert [each["content"] for each in trajectory_of([first, second, third])] == list("abcdef")


def test_votes_on_one_question_are_so_many_answers() -> None:
    vote = Exchange((User("Which?"),), Assistant("this"))
    assert roles(trajectory_of([vote, vote, vote])) == ["user", "assistant", "assistant", "assistant"]


def test_turns_that_an_agent_writes_in_other_parts_are_known_again() -> None:
    said = Exchange((User("Go."),), Assistant("Let me look.", (LS,)))
    split = (
        User("Go."),
        Assistant(" Let me look.\n"),
        Assistant("", (LS,)),
        ToolResult(call_id="c1", content="x"),
    )
    messages = trajectory_of([said, Exchange(split, Assistant("Done."))])
    assert roles(messages) == ["user", "assistant", "tool", "assistant"]
    assert messages[-1]["content"] == "Done."


def test_a_history_that_no_seen_call_has_made_is_part_of_it() -> None:
    example = (User("2+2?"), Assistant("4"), User("3+3?"))
    assert [each["content"] for each in trajectory_of([Exchange(example, Assistant("6"))])] == [
        "2+2?",
        "4",
        "3+3?",
        "6",
    ]


def given_in(messages: list[dict[str, Any]]) -> list[bool]:
    return [bool(each.get("given")) for each in messages if each["role"] == "assistant"]


def test_what_a_prompt_quotes_was_given_and_what_a_model_said_was_not() -> None:
    example = (User("List."), Assistant("", (LS,)), ToolResult(call_id="c1", content="a.py"), User("Go."))
    first = Exchange(example, Assistant("", (CAT,)))
    second = Exchange(
        (*example, Assistant("", (CAT,)), ToolResult(call_id="c2", content="1")), Assistant("One.")
    )
    messages = trajectory_of([first, second])
    assert roles(messages) == ["user", "assistant", "tool", "user", "assistant", "tool", "assistant"]
    assert given_in(messages) == [True, False, False]


def test_examples_of_an_agent_that_comes_in_later_were_given_too() -> None:
    first = Exchange((User("Plan."),), Assistant("A plan."))
    other = Exchange((User("2+2?"), Assistant("4"), User("3+3?")), Assistant("6"))
    assert given_in(trajectory_of([first, other])) == [False, True, False]


def test_what_a_conversation_goes_on_with_was_said_though_nobody_has_heard_it() -> None:
    first = Exchange((User("a"),), Assistant("b"))
    later = Exchange((User("a"), Assistant("b"), User("c"), Assistant("", (LS,)), User("e")), Assistant("f"))
    assert given_in(trajectory_of([first, later])) == [False, False, False]


def test_an_answer_that_nobody_could_read_is_missing_until_it_is_quoted() -> None:
    unread = Exchange((User("Go."),), None, "m")
    (_, missing) = trajectory_of([unread])
    assert missing == {"role": "assistant", "content": "", "unread": True, "model": "m", "call": 1}

    result = ToolResult(call_id="c1", content="a.py")
    messages = trajectory_of([unread, Exchange((User("Go."), Assistant("", (LS,)), result), Assistant("x"))])
    assert roles(messages) == ["user", "assistant", "tool", "assistant"]
    assert not any("unread" in each or "given" in each for each in messages)
    assert [each.get("call") for each in messages] == [None, 1, None, 2]


@pytest.mark.parametrize("text", ["", "Let me look."])
def test_a_call_that_a_client_has_given_another_id_is_the_same_call(text: str) -> None:
    # Gemini gives its calls no ids: they are read under the names of their tools.
    said = ToolCall(id="ls", name="ls", arguments={"path": "."})
    own = [ToolCall(id=f"made-up-{number}", name="ls", arguments={"path": "."}) for number in (1, 2)]
    history: list[Message] = [User("Go.")]
    exchanges = []
    for call in own:
        exchanges.append(Exchange(tuple(history), Assistant(text, (said,))))
        history += [Assistant(text, (call,)), ToolResult(call_id=call.id, content=f"of {call.id}")]
    exchanges.append(Exchange(tuple(history), Assistant("Done.")))
    messages = trajectory_of(exchanges)
    assert roles(messages) == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert [each["tool_call_id"] for each in messages if each["role"] == "tool"] == ["ls", "ls"]
    assert given_in(messages) == [False, False, False]


def test_an_example_that_looks_like_a_call_stays_an_example() -> None:
    example = (User("List."), Assistant("", (ToolCall(id="ex", name="ls", arguments={"path": "."}),)))
    start = (*example, ToolResult(call_id="ex", content="b.py"), User("Go."))
    first = Exchange(start, Assistant("", (LS,)))
    second = Exchange(
        (*start, Assistant("", (LS,)), ToolResult(call_id="c1", content="a.py")), Assistant("Done.")
    )
    messages = trajectory_of([first, second])
    assert given_in(messages) == [True, False, False]
    assert [each["tool_call_id"] for each in messages if each["role"] == "tool"] == ["ex", "c1"]


turns = st.lists(
    st.tuples(st.text("ab", max_size=2), st.text("xy", min_size=1, max_size=2)), min_size=1, max_size=6
)


@given(turns)
def test_a_conversation_is_told_as_it_was_led(turns: list[tuple[str, str]]) -> None:
    history: list[Message] = []
    exchanges = []
    for asked, answered in turns:
        history.append(User(asked))
        exchanges.append(Exchange(tuple(history), Assistant(answered)))
        history.append(Assistant(answered))
    told = [each["content"] for each in trajectory_of(exchanges)]
    assert told == [text for turn in turns for text in turn]
