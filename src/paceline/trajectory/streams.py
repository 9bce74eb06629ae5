"""A streamed answer put together again: the JSON document that would have come, had it not been streamed.

Each wire streams in its own way. OpenAI's chat sends pieces of one message, its responses send the whole
document at the end, Anthropic builds blocks, Gemini sends documents whose parts follow one another. Of a
stream that broke off, what had come until then is put together.

Knows the events of the wire formats. Raises nothing, whatever comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from paceline.pace.providers import Wire


def document_of(body: bytes, wire: Wire) -> dict[str, Any] | None:
    """The answer that a body holds, streamed or whole; None where it is none."""
    whole = decoded(body)
    if isinstance(whole, dict):
        return whole
    events = whole if isinstance(whole, list) else list(events_of(body))
    told = [event for event in events if isinstance(event, dict)]
    return _JOINED[wire](told) if told else None


def events_of(body: bytes) -> Iterator[Any]:
    """The documents within a stream of server-sent events."""
    for line in body.split(b"\n"):
        if line.startswith(b"data:") and (event := decoded(line[5:].strip())) is not None:
            yield event


def decoded(text: bytes) -> Any:
    """What a text says as JSON; None where it is none."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def encoded(value: Any) -> bytes:
    """A value that was decoded, as text again; the same for the same value."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except (OverflowError, RecursionError, TypeError, ValueError):  # numbers of any size are legal JSON
        return repr(value).encode("utf-8", "surrogatepass")


def _openai(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    for event in reversed(events):
        if isinstance(response := event.get("response"), dict) and response.get("output"):
            return response
    if any("choices" in event for event in events):
        return _chat(events)
    items = [event["item"] for event in events if event.get("type") == "response.output_item.done"]
    return {"output": items} if items else None


def _chat(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The first of the choices; those beside it are alternatives."""
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    for choice in _first_choices(events):
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            text.append(string(choice.get("text")))
            continue
        text.append(string(delta.get("content")) or string(delta.get("refusal")))
        for piece in dicts(delta.get("tool_calls")):
            _add_to_call(calls, piece)
    message = {
        "role": "assistant",
        "content": "".join(text),
        "tool_calls": [calls[at] for at in sorted(calls)],
    }
    return {"choices": [{"message": message}], "model": next(map(_model, events), "")}


def _first_choices(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for event in events:
        for choice in dicts(event.get("choices")):
            if not choice.get("index"):
                yield choice


def _add_to_call(calls: dict[int, dict[str, Any]], piece: dict[str, Any]) -> None:
    index = piece.get("index")
    at = index if isinstance(index, int) else len(calls)
    call = calls.setdefault(at, {"id": "", "function": {"name": "", "arguments": ""}})
    call["id"] = call["id"] or string(piece.get("id"))
    function = piece.get("function")
    if isinstance(function, dict):
        call["function"]["name"] += string(function.get("name"))
        call["function"]["arguments"] += string(function.get("arguments"))


def _anthropic(events: list[dict[str, Any]]) -> dict[str, Any] | None:
    blocks: dict[Any, dict[str, Any]] = {}
    model = ""
    for event in events:
        match event:
            case {"type": "message_start", "message": dict(message)}:
                model = _model(message)
            case {"type": "content_block_start", "index": int(at), "content_block": dict(block)}:
                blocks[at] = dict(block)
            case {"type": "content_block_delta", "index": int(at), "delta": dict(delta)}:
                _add_to_block(blocks.setdefault(at, {"type": "text", "text": ""}), delta)
    content = [_finished(blocks[at]) for at in sorted(blocks)]
    return {"role": "assistant", "content": content, "model": model} if content or model else None


def _add_to_block(block: dict[str, Any], delta: dict[str, Any]) -> None:
    match delta:
        case {"type": "text_delta", "text": str(text)}:
            block["text"] = string(block.get("text")) + text
        case {"type": "input_json_delta", "partial_json": str(text)}:
            block["written"] = string(block.get("written")) + text


def _finished(block: dict[str, Any]) -> dict[str, Any]:
    written = block.pop("written", "")
    if written:
        read = decoded(written.encode("utf-8", "surrogatepass"))
        block["input"] = read if isinstance(read, dict) else written
    return block


def _gemini(events: list[dict[str, Any]]) -> dict[str, Any]:
    parts: list[Any] = []
    for event in events:
        for candidate in dicts(event.get("candidates"))[:1]:
            content = candidate.get("content")
            parts += dicts(content.get("parts")) if isinstance(content, dict) else []
    model = next((string(event.get("modelVersion")) for event in events), "")
    return {"candidates": [{"content": {"role": "model", "parts": parts}}], "modelVersion": model}


def _bedrock(events: list[dict[str, Any]]) -> None:
    """Its streams are binary, which nobody here reads."""


_JOINED: Final[Mapping[Wire, Callable[[list[dict[str, Any]]], dict[str, Any] | None]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
}


def string(value: object) -> str:
    """A text, or nothing."""
    return value if isinstance(value, str) else ""


def _model(event: Mapping[str, Any]) -> str:
    return string(event.get("model"))


def dicts(value: object) -> list[dict[str, Any]]:
    """The objects of a list, or nothing."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
