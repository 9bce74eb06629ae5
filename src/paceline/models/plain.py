"""Messages and tools as they stand in files: plain mappings, in the spellings that are common.

Messages are written as OpenAI's chat has them, the form that most datasets use; tools as OpenAI, Anthropic
or MCP describe them. What cannot be understood is a `ValueError` that says which item and why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from paceline.models.messages import (
    Assistant,
    Conversation,
    Image,
    Message,
    Part,
    System,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    User,
)


class NotUnderstood(ValueError):
    """Messages or tools are written in a form that is not known."""


def messages_of(said: Conversation) -> tuple[Message, ...]:
    """A conversation in our own form."""
    if isinstance(said, str):
        return (User(said),)
    messages = tuple(_message(each, number) for number, each in enumerate(said, start=1))
    if not messages:
        raise NotUnderstood("there are no messages to send")
    return messages


def tools_of(written: Sequence[Tool | Mapping[str, Any]]) -> tuple[Tool, ...]:
    """Tools in our own form."""
    return tuple(_tool(each, number) for number, each in enumerate(written, start=1))


def arguments_of(written: object) -> dict[str, Any] | str:
    """The arguments of a tool call; the text itself where it is not a JSON object."""
    if isinstance(written, Mapping):
        return dict(written)
    text = str(written or "")
    try:
        read = msgspec.json.decode(text) if text.strip() else {}
    except (msgspec.DecodeError, RecursionError):
        return text
    return read if isinstance(read, dict) else text


def arguments_text(arguments: dict[str, Any] | str) -> str:
    """Arguments as text, as OpenAI's APIs want them."""
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


def plain_message(message: Message, *, given: bool = False) -> dict[str, Any]:
    """A message as it is recorded in a trajectory.

    `given`: it is part of what was asked. Where the model is quoted there, it has not said it now.
    """
    match message:
        case System(content):
            return {"role": "system", "content": content}
        case User(content):
            parts = content if isinstance(content, str) else [_plain_part(part) for part in content]
            return {"role": "user", "content": parts}
        case Assistant(content, calls):
            mark = {"given": True} if given else {}
            called = {"tool_calls": [msgspec.to_builtins(call) for call in calls]} if calls else {}
            return {"role": "assistant", "content": content, **called, **mark}
        case ToolResult():
            failed = {} if message.is_error is None else {"is_error": message.is_error}
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.content, **failed}


def _plain_part(part: Part) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Image(url):
            return {"type": "image_url", "image_url": {"url": url}}


def _message(each: object, number: int) -> Message:
    if isinstance(each, System | User | Assistant | ToolResult):
        return each
    if not isinstance(each, Mapping):
        raise NotUnderstood(f"message {number} is a {type(each).__name__}, not keys with values")
    role = each.get("role")
    read = _BY_ROLE.get(role) if isinstance(role, str) else None
    if read is None:
        raise NotUnderstood(
            f"message {number} has the role {role!r}; known are {', '.join(_BY_ROLE)}",
        )
    return read(each, f"message {number}")


def _system(each: Mapping[str, Any], where: str) -> Message:
    return System(_text_only(each.get("content"), where))


def _user(each: Mapping[str, Any], where: str) -> Message:
    content = each.get("content")
    if isinstance(content, str):
        return User(content)
    return User(tuple(_part(part, where) for part in _listed(content, f"{where}: content")))


def _assistant(each: Mapping[str, Any], where: str) -> Message:
    content = each.get("content")
    calls = _listed(each.get("tool_calls") or (), f"{where}: tool_calls")
    return Assistant(
        "" if content is None else _text_only(content, where),
        tuple(_call(call, where) for call in calls),
    )


def _tool_result(each: Mapping[str, Any], where: str) -> Message:
    call = each.get("tool_call_id")
    if not isinstance(call, str):
        raise NotUnderstood(f"{where} answers no tool call: it has no tool_call_id")
    content = _text_only(each.get("content"), where)
    failed = each.get("is_error")
    return ToolResult(call_id=call, content=content, is_error=failed if isinstance(failed, bool) else None)


_BY_ROLE: Final[Mapping[str, Callable[[Mapping[str, Any], str], Message]]] = {
    "system": _system,
    "developer": _system,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool_result,
}


def _call(call: object, where: str) -> ToolCall:
    if isinstance(call, ToolCall):
        return call
    if isinstance(call, Mapping):
        function = call.get("function", call)
        if isinstance(function, Mapping) and isinstance(name := function.get("name"), str):
            arguments = function.get("arguments", function.get("input"))
            return ToolCall(id=str(call.get("id") or ""), name=name, arguments=arguments_of(arguments))
    raise NotUnderstood(f"{where} has a tool call without a name")


def _part(part: object, where: str) -> Part:
    match part:
        case str():
            return Text(part)
        case Text() | Image():
            return part
        case {"type": "text" | "input_text", "text": str(text)}:
            return Text(text)
        case {"type": "image_url", "image_url": {"url": str(url)}}:
            return Image(url)
        case {"type": "image_url" | "input_image", "image_url": str(url)} | {
            "type": "image",
            "url": str(url),
        }:
            return Image(url)
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return Image(url)
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            return Image(f"data:{kind};base64,{data}")
    found = part.get("type") if isinstance(part, Mapping) else type(part).__name__
    raise NotUnderstood(f"{where} has a part of the kind {found!r}; known are text and images")


def _text_only(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    parts = [_part(part, where) for part in _listed(content, f"{where}: content")]
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) < len(parts):
        raise NotUnderstood(f"{where} holds an image, which only messages of the user may")
    return "".join(texts)


def _listed(value: object, where: str) -> Sequence[Any]:
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return value
    raise NotUnderstood(f"{where} is a {type(value).__name__}, not a text or a list")


def _tool(each: object, number: int) -> Tool:
    if isinstance(each, Tool):
        return each
    if isinstance(each, Mapping):
        function = each.get("function", each)
        if isinstance(function, Mapping) and isinstance(name := function.get("name"), str) and name:
            schemas = ("parameters", "input_schema", "inputSchema")
            parameters = next(
                (function[key] for key in schemas if isinstance(function.get(key), Mapping)), None
            )
            return Tool(
                name=name,
                description=str(function.get("description") or ""),
                strict=function.get("strict") is True,
                **({} if parameters is None else {"parameters": dict(parameters)}),
            )
    raise NotUnderstood(f"tool {number} has no name: write name, description and parameters (a JSON schema)")
