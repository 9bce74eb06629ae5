"""Messages that stand in a value: a list of them, an answer of a model, or something that has either.

    steps_in(output)  ->  [Step(System), Step(User), Step(Assistant), Step(ToolResult), ...]

In the form of OpenAI (chat or responses), Anthropic, Gemini, the conventions of OpenTelemetry, or our own, in
which trajectories are recorded. A list counts only where every entry of it can be read: half of a trajectory
would be taken for all of it.

Knows plain values: mappings, lists, texts. Raises nothing, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from paceline.models.messages import Assistant, Message
from paceline.trajectory.reading import (
    anthropic_said,
    blocks_said,
    blocks_told,
    chat_call,
    chat_message,
    content_told,
    gemini_said,
    items_told,
    openai_said,
)
from paceline.trajectory.spans import parts_told
from paceline.trajectory.streams import dicts, string

FIELDS: Final = ("trajectory", "messages")
"""Where messages are looked for first; an empty list of this name says that there are none."""
ROLES: Final = frozenset({"system", "developer", "user", "assistant", "model", "tool", "function"})
BLOCKS: Final = frozenset(
    {
        *("tool_use", "tool_result", "server_tool_use", "mcp_tool_use", "mcp_tool_result"),
        *("thinking", "redacted_thinking", "web_search_tool_result"),
    }
)
"""Kinds of the blocks by which a message is known as one of Anthropic."""
WORDED: Final = frozenset({"content", "parts", "tool_calls", "function_call", "refusal"})
"""What a message has beside its role: there are users in other lists, too."""
DEPTH: Final = 3
"""How far below a value its messages are looked for."""
PAIRED: Final = 8
"""Values of a list, such as an answer with its messages, that are looked into one by one."""


class Step(NamedTuple):
    """A message, and what its record says of it."""

    message: Message
    given: bool = False
    """It is part of what was asked: where a model is quoted, it has not said it now."""
    call: int = 0
    """The number of the call that it was said in; 0 where that is not known."""
    unread: bool = False
    """A model was asked, and of what it said nothing is known."""
    bare: frozenset[str] = frozenset()
    """Ids of tool calls of whose arguments nothing is known."""


def steps_in(value: object, *, depth: int = DEPTH) -> list[Step] | None:
    """The messages of a value; None where it has none."""
    if isinstance(value, Mapping):
        return _steps_of_mapping(value, depth)
    if not isinstance(value, list | tuple) or not value:
        return None
    steps = _steps_of_list(value)
    return steps if steps is not None or len(value) > PAIRED else _only(value, depth)


def _only(values: Iterable[Any], depth: int) -> list[Step] | None:
    """The messages that one of several values has. Where more than one has some, nobody knows which count."""
    if depth == 0:
        return None
    found = [steps for each in values if (steps := steps_in(each, depth=depth - 1)) is not None]
    return found[0] if len(found) == 1 else None


def _steps_of_mapping(value: Mapping[str, Any], depth: int) -> list[Step] | None:
    for field in FIELDS:
        listed = value.get(field)
        if isinstance(listed, list | tuple):
            steps = _steps_of_list(listed)
            if steps is not None:
                return steps
    said = _answer(value)
    if said is not None:
        return [Step(said, unread=_loses_calls(said, _entry_of(value)))]
    return _only(value.values(), depth)


def _answer(value: Mapping[str, Any]) -> Assistant | None:
    """What a model says in an answer as its SDK returns it, or in a single message."""
    if isinstance(value.get("choices"), list) or isinstance(value.get("output"), list):
        said = openai_said({**value, "output": value.get("output")})
        return said if said is not None and (value.get("choices") or _are_items(value["output"])) else None
    if isinstance(value.get("candidates"), list):
        return gemini_said(value)
    if value.get("role") == "assistant":
        return anthropic_said(value) if _in_blocks(value) else _as_assistant(value)
    return _as_assistant(value) if _are_calls(value.get("tool_calls")) else None


def _as_assistant(value: Mapping[str, Any]) -> Assistant | None:
    message = chat_message({"content": value.get("text"), **value, "role": "assistant"})
    return message if isinstance(message, Assistant) else None


def _steps_of_list(listed: Sequence[Any]) -> list[Step] | None:
    """The messages of a list; None where one of its entries is none."""
    if listed and _are_calls(listed):
        calls = tuple(call for each in listed if (call := _bare_call(each)) is not None)
        return [Step(Assistant("", calls))]
    steps: list[Step] = []
    for is_item, entries in groupby(listed, _is_item):
        if is_item:  # those of one turn are one message
            steps += map(Step, items_told(list(entries)))
            continue
        for entry in entries:
            messages = _messages_of(entry)
            if messages is None:
                return None
            steps += (_marked(message, entry) for message in messages)
    return steps


def _messages_of(entry: object) -> list[Message] | None:
    """What one entry of a list says, in whatever form; None where it is no message."""
    if not isinstance(entry, Mapping) or string(entry.get("role")) not in ROLES:
        return None
    if not WORDED & entry.keys():
        return None
    if isinstance(parts := entry.get("parts"), list):
        typed = any(isinstance(part, Mapping) and "type" in part for part in parts)
        return parts_told(entry) if typed else content_told(entry)
    if _in_blocks(entry):
        content = entry["content"]
        return [blocks_said(content)] if entry["role"] == "assistant" else blocks_told(content)
    message = chat_message(entry)
    return None if message is None else [message]


def _marked(message: Message, entry: Mapping[str, Any]) -> Step:
    """A message with the marks that a recorded trajectory has."""
    if not isinstance(message, Assistant):
        return Step(message)
    calls = entry.get("tool_calls")
    bare = [call for call in calls if _tells_no_arguments(call)] if isinstance(calls, list) else []
    number = entry.get("call")
    return Step(
        message,
        given=entry.get("given") is True,
        call=number if isinstance(number, int) else 0,
        unread=entry.get("unread") is True or _loses_calls(message, entry),
        bare=frozenset(str(call.get("id") or "") for call in bare),
    )


def _entry_of(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message of an answer of the chat; any other says itself what it holds."""
    first = next(iter(dicts(answer.get("choices"))), {})
    message = first.get("message")
    return message if isinstance(message, Mapping) else answer


def _loses_calls(message: Assistant, entry: Mapping[str, Any]) -> bool:
    """Whether a message tells of tool calls that cannot be read: a tool that nobody sees called is no tool
    that was not called."""
    written = entry.get("tool_calls")
    read = message.tool_calls
    if any(not call.name for call in read):
        return True
    return len(read) < len(written) if isinstance(written, list | tuple) else bool(written)


def _tells_no_arguments(call: object) -> bool:
    return isinstance(call, Mapping) and "arguments" in call and call["arguments"] is None


# How entries are told apart ---------------------------------------------------------------------------


def _is_item(entry: object) -> bool:
    """Whether an entry is an item of responses."""
    if not isinstance(entry, Mapping) or not isinstance(kind := entry.get("type"), str):
        return False
    return (kind == "message" and "role" in entry and not _in_blocks(entry)) or (
        "role" not in entry
        and (kind.endswith(("_call", "_call_output", "_approval_request")) or kind == "reasoning")
    )


def _are_items(listed: object) -> bool:
    return isinstance(listed, list) and bool(listed) and all(map(_is_item, listed))


def _in_blocks(message: Mapping[str, Any]) -> bool:
    """Whether a message is written in blocks of Anthropic's."""
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(block, Mapping) and string(block.get("type")) in BLOCKS for block in content
    )


def _are_calls(listed: object) -> bool:
    """Whether a list holds nothing but tool calls."""
    return isinstance(listed, list | tuple) and all(_bare_call(each) is not None for each in listed)


def _bare_call(each: object) -> Any:
    if not isinstance(each, Mapping) or "role" in each:
        return None
    if each.get("type") == "tool_use":
        return blocks_said([each]).tool_calls[0]
    if isinstance(each.get("function") or each.get("custom"), Mapping) or _NAMED <= each.keys() <= _OF_CALL:
        return chat_call(each)
    return None


_NAMED: Final = frozenset({"name", "arguments"})
_OF_CALL: Final = _NAMED | {"id", "type"}
"""All that a call has, and nothing that is none."""


__all__ = ["Step", "steps_in"]
