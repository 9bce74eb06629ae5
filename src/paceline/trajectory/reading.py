"""One call as messages of ours: what was told to the model, and what it said, whichever wire it was.

    read_call(endpoint, request_body, answer_body)  ->  Exchange(told=(System, User, ...), said=Assistant)

Text stands as it is; a picture or a file stands as a word in brackets. A tool call keeps its name, its
arguments as an object where they are one, and the id by which its result names it.

Knows the request and answer documents of the wire formats. Raises nothing, whatever they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from paceline.models.messages import Assistant, Message, System, ToolCall, ToolResult, User
from paceline.models.plain import arguments_of
from paceline.pace.providers import Endpoint, Wire
from paceline.trajectory.streams import decoded, dicts, document_of, encoded, string


class Exchange(NamedTuple):
    """What one call said in both directions."""

    told: tuple[Message, ...]
    said: Assistant | None
    """None where there was no answer, or none that is one of a model."""
    model: str = ""


CONVERSING: Final = frozenset(
    {
        "/chat/completions",
        "/completions",
        "/responses",
        "/messages",
        ":generateContent",
        ":streamGenerateContent",
        ":rawPredict",
        ":streamRawPredict",
    }
)
"""Endpoints at which somebody says something; embeddings are no part of a trajectory."""


def read_call(endpoint: Endpoint, asked: bytes, answered: bytes = b"") -> Exchange:
    """A call from its two bodies; the second is empty where no answer came."""
    if endpoint.name not in CONVERSING:
        return Exchange((), None)
    request = decoded(asked)
    told, said = _READERS[endpoint.wire]
    document = document_of(answered, endpoint.wire) if answered else None
    model = string((document or {}).get("model")) or string((document or {}).get("modelVersion"))
    model = model or endpoint.model
    request = request if isinstance(request, dict) else {}
    return Exchange(
        tuple(told(request)), said(document) if document else None, model or string(request.get("model"))
    )


# OpenAI: chat completions, completions, responses ---------------------------------------------------


def _openai_told(request: Mapping[str, Any]) -> list[Message]:
    if "input" in request:
        return _responses_told(request)
    if "messages" not in request and isinstance(request.get("prompt"), str):
        return [User(request["prompt"])]
    return [message for each in dicts(request.get("messages")) if (message := chat_message(each))]


def chat_message(each: Mapping[str, Any]) -> Message | None:
    """A message of a chat, in the form of OpenAI or our own."""
    text = _text_in(each.get("content"))
    match each.get("role"):
        case "system" | "developer":
            return System(text)
        case "user":
            return User(text)
        case "assistant":
            return Assistant(text or string(each.get("refusal")), _chat_calls(each))
        case "tool" | "function":
            failed = each.get("is_error")
            return ToolResult(
                call_id=string(each.get("tool_call_id") or each.get("name")),
                content=text,
                is_error=failed if isinstance(failed, bool) else None,
            )
    return None


def _chat_calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    calls = [call for each in dicts(message.get("tool_calls")) if (call := chat_call(each)) is not None]
    if not calls and isinstance(only := message.get("function_call"), dict):  # as it was before tools
        return (ToolCall(id=string(only.get("name")), **_named(only)),)
    return tuple(calls)


def chat_call(call: Mapping[str, Any]) -> ToolCall | None:
    """A call of a tool within a message; None where nothing says of which."""
    function = call.get("function") or call.get("custom") or call
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    return ToolCall(id=string(call.get("id")), **_named(function))


def _named(function: Mapping[str, Any]) -> dict[str, Any]:
    arguments = function.get("arguments", function.get("input"))
    return {"name": string(function.get("name")), "arguments": arguments_of(arguments)}


def openai_said(document: Mapping[str, Any]) -> Assistant | None:
    """What a model says in an answer of the chat or of responses."""
    if isinstance(document.get("output"), list):
        said = [message for message in items_told(document["output"]) if isinstance(message, Assistant)]
        return _joined(said) if said else None
    for choice in dicts(document.get("choices")):
        if isinstance(message := choice.get("message"), dict):
            read = chat_message({**message, "role": "assistant"})
            return read if isinstance(read, Assistant) else None
        return Assistant(string(choice.get("text")))
    return None


def _responses_told(request: Mapping[str, Any]) -> list[Message]:
    instructions = string(request.get("instructions"))
    first: list[Message] = [System(instructions)] if instructions else []
    given = request["input"]
    return [*first, User(given)] if isinstance(given, str) else [*first, *items_told(given)]


def items_told(written: object) -> list[Message]:
    """Items of responses, asked or answered; those of one turn of the model are one message."""
    messages: list[Message] = []
    for item in dicts(written):
        message = _item(item)
        before = messages[-1] if messages else None
        if isinstance(message, Assistant) and isinstance(before, Assistant):
            messages[-1] = _joined([before, message])
        elif message is not None:
            messages.append(message)
    return messages


def _item(item: Mapping[str, Any]) -> Message | None:
    kind = string(item.get("type")) or "message"
    called = string(item.get("call_id"))
    if kind == "message":
        return chat_message(item)
    if kind.endswith("_output"):
        return ToolResult(call_id=called, content=_text_in(item.get("output")))
    if kind in ("function_call", "custom_tool_call"):
        arguments = arguments_of(item.get("arguments", item.get("input")))
        return Assistant("", (ToolCall(id=called, name=string(item.get("name")), arguments=arguments),))
    if kind.endswith("_call"):  # a tool of the provider's own, such as a search
        name = kind.removesuffix("_call")
        action = item.get("action")
        arguments = dict(action) if isinstance(action, dict) else {}
        return Assistant("", (ToolCall(id=called or string(item.get("id")), name=name, arguments=arguments),))
    return None


def _joined(said: list[Assistant]) -> Assistant:
    text = "\n".join(each.content for each in said if each.content)
    return Assistant(text, tuple(call for each in said for call in each.tool_calls))


# Anthropic ------------------------------------------------------------------------------------------


def _anthropic_told(request: Mapping[str, Any]) -> list[Message]:
    system = _text_in(request.get("system"))
    messages: list[Message] = [System(system)] if system else []
    for each in dicts(request.get("messages")):
        if each.get("role") == "assistant":
            messages.append(blocks_said(each.get("content")))
        else:
            messages += blocks_told(each.get("content"))
    return messages


def blocks_told(content: object) -> list[Message]:
    """A turn of the user in the form of Anthropic.

    Results of tools are messages of their own, and so is what is said besides.
    """
    blocks = dicts(content)
    results: list[Message] = [
        ToolResult(
            call_id=string(block.get("tool_use_id")),
            content=_text_in(block.get("content")),
            is_error=block.get("is_error") is True,
        )
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    rest = content if not results else [block for block in blocks if block.get("type") != "tool_result"]
    return [*results, User(_text_in(rest))] if rest or not results else results


def blocks_said(content: object) -> Assistant:
    """A turn of the model."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else dicts(content)
    calls = tuple(
        ToolCall(
            id=string(block.get("id")),
            name=string(block.get("name")),
            arguments=arguments_of(block.get("input")),
        )
        for block in blocks
        if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use")
    )
    text = "".join(string(block.get("text")) for block in blocks if block.get("type") == "text")
    return Assistant(text, calls)


def anthropic_said(document: Mapping[str, Any]) -> Assistant | None:
    """What a model says in a message."""
    return blocks_said(document["content"]) if "content" in document else None


# Gemini ---------------------------------------------------------------------------------------------


def _gemini_told(request: Mapping[str, Any]) -> list[Message]:
    instruction = request.get("systemInstruction") or request.get("system_instruction")
    system = _text_in(instruction.get("parts")) if isinstance(instruction, dict) else ""
    messages: list[Message] = [System(system)] if system else []
    for content in dicts(request.get("contents")):
        messages += content_told(content)
    return messages


def content_told(content: Mapping[str, Any]) -> list[Message]:
    """A turn of either side."""
    parts = dicts(content.get("parts"))
    if content.get("role") == "model":
        return [_parts_said(parts)]
    results: list[Message] = [
        _response_of(part) for part in parts if isinstance(part.get("functionResponse"), dict)
    ]
    rest = [part for part in parts if "functionResponse" not in part]
    return [*results, *([User(_text_in(rest))] if rest else ())]


def _response_of(part: Mapping[str, Any]) -> ToolResult:
    told = part["functionResponse"]
    response = told.get("response")
    content = (
        response.get("result", response.get("output", response)) if isinstance(response, dict) else response
    )
    return ToolResult(
        call_id=string(told.get("id")) or string(told.get("name")),
        content=content if isinstance(content, str) else _as_json(content),
        is_error=isinstance(response, dict) and "error" in response,
    )


def _parts_said(parts: list[dict[str, Any]]) -> Assistant:
    calls = tuple(
        ToolCall(
            id=string(call.get("id")) or string(call.get("name")),
            name=string(call.get("name")),
            arguments=arguments_of(call.get("args")),
        )
        for part in parts
        if isinstance(call := part.get("functionCall"), dict)
    )
    return Assistant("".join(string(part.get("text")) for part in parts if not part.get("thought")), calls)


def gemini_said(document: Mapping[str, Any]) -> Assistant | None:
    """What a model says in its first candidate."""
    for candidate in dicts(document.get("candidates")):
        content = candidate.get("content")
        return _parts_said(dicts(content.get("parts"))) if isinstance(content, dict) else None
    return None


# What they have in common ---------------------------------------------------------------------------


def _text_in(content: object) -> str:
    """The text of a message's content: a text, or parts, of which those without text are named."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "".join(part if isinstance(part, str) else _part_text(part) for part in content)


def _part_text(part: object) -> str:
    if not isinstance(part, dict):
        return ""
    if isinstance(text := part.get("text", part.get("refusal")), str):
        return text
    kind = string(part.get("type")) or next(iter(part), "part")
    return "" if kind in ("thinking", "redacted_thinking", "reasoning") else f"[{kind}]"


def _as_json(value: object) -> str:
    return encoded(value).decode("utf-8", "replace") if value is not None else ""


def _nothing_told(request: Mapping[str, Any]) -> list[Message]:  # noqa: ARG001  # the shape of the others
    return []


def _nothing_said(document: Mapping[str, Any]) -> Assistant | None:  # noqa: ARG001  # as above
    return None


_Told = Callable[[Mapping[str, Any]], list[Message]]
_Said = Callable[[Mapping[str, Any]], Assistant | None]

_READERS: Final[Mapping[Wire, tuple[_Told, _Said]]] = {
    "openai": (_openai_told, openai_said),
    "anthropic": (_anthropic_told, anthropic_said),
    "gemini": (_gemini_told, gemini_said),
    "bedrock": (_nothing_told, _nothing_said),
}
