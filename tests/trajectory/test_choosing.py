"""Of several accounts of an attempt one is its trajectory, and none is put together with another."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from paceline.trajectory.choosing import chosen

Messages = list[dict[str, Any]]


def calls(*names: str, answered: bool = True, arguments: Any = None) -> Messages:
    """A trajectory in which these tools were called."""
    arguments = {} if arguments is None else arguments
    messages: Messages = []
    for number, name in enumerate(names):
        call = {"id": f"c{number}", "name": name, "arguments": arguments}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        if answered:
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": ""})
    return messages


def without_arguments(*names: str) -> Messages:
    messages = calls(*names)
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["arguments"] = None
    return messages


SPOKEN: Messages = [{"role": "assistant", "content": "Hello.", "call": 1}]


def test_what_the_task_tells_goes_before_all_else() -> None:
    assert chosen(calls("mine"), calls("traced"), calls("seen")) == calls("mine")
    assert chosen([], calls("traced"), calls("seen")) == [], "it says that there were none"


def test_where_there_is_one_account_it_is_taken() -> None:
    assert chosen(None, None, None) is None
    assert chosen(None, SPOKEN, None) == SPOKEN
    assert chosen(None, None, SPOKEN) == SPOKEN


def test_spans_of_tools_go_before_calls_of_models() -> None:
    assert chosen(None, calls("ls"), calls("ls")) == calls("ls")
    assert chosen(None, calls("ls"), SPOKEN) == calls("ls"), "what runs behind is seen by spans alone"


def test_what_the_model_asked_for_and_nobody_ran_was_no_call_where_spans_tell_what_ran() -> None:
    last = {"id": "last", "name": "final_result", "arguments": {}}
    asked = [*calls("ls"), {"role": "assistant", "content": "", "tool_calls": [last]}]
    assert chosen(None, calls("ls"), asked) == calls("ls")


def test_spans_that_leave_something_out_do_not_count() -> None:
    seen = calls("ls", "rm")
    assert chosen(None, calls("ls"), seen) == seen, "a tool that nobody traces"
    assert chosen(None, calls("ls", "ls"), seen) == seen
    assert chosen(None, without_arguments("ls", "rm"), seen) == seen, "content is not captured"
    assert chosen(None, SPOKEN, calls("ls", answered=False)) == calls("ls", answered=False)


def test_calls_that_were_given_are_no_reason_to_doubt_spans() -> None:
    quoted = calls("rm")
    quoted[0]["given"] = True
    assert chosen(None, calls("ls"), quoted + calls("ls")) == calls("ls")


accounts = st.none() | st.lists(st.sampled_from(["ls", "rm", "cat"]), max_size=3).map(lambda n: calls(*n))


@given(told=accounts, traced=accounts, seen=accounts)
def test_the_choice_is_one_of_the_accounts_and_hides_no_tool_that_has_answered(
    told: Messages | None, traced: Messages | None, seen: Messages | None
) -> None:
    choice = chosen(told, traced, seen)
    assert any(choice is account for account in (told, traced, seen))
    if choice is None:
        assert (told, traced, seen) == (None, None, None)
    elif told is None and seen is not None:
        names = [call["name"] for each in choice for call in each.get("tool_calls", ())]
        for each in seen:
            for call in each.get("tool_calls", ()):
                assert call["name"] in names
                names.remove(call["name"])
