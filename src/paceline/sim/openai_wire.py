"""The OpenAI wire format: chat completions and responses, whole and as streams.

What the official SDK needs to parse an answer is there: text, tool calls, values in a schema, usage with
cached tokens. Parameters that only shape what a model says (temperature, penalties, ...) are accepted and
mean nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from paceline.sim.answers import Message, Prompt, Reply, Tool
from paceline.sim.wire import (
    FINGERPRINT,
    Asked,
    BadRequest,
    Context,
    Event,
    event_writer,
    input_tokens_of,
    mapping_in,
    optional_count,
    pieces_of,
    required,
    text_of,
)

MOST_CHOICES: Final = 128
DONE: Final = Event(b"data: [DONE]\n\n")

_unnamed = event_writer(name_events=False)


# Chat completions ---------------------------------------------------------------------------------


class ChatCompletions:
    """`POST /v1/chat/completions`."""

    def read(self, body: dict[str, Any]) -> Asked:
        model = required(body, "model", str, "a string")
        messages = required(body, "messages", list, "an array of messages")
        if not messages:
            raise BadRequest("Invalid 'messages': an array with at least 1 message.", param="messages")
        choices = optional_count(body, "n") or 1
        if choices > MOST_CHOICES:
            raise BadRequest(f"Invalid value for 'n': expected at most {MOST_CHOICES}.", param="n")
        must_call, may_call = _tool_choice(body)
        prompt = Prompt(
            model=model,
            messages=tuple(_message(each, f"messages[{n}]") for n, each in enumerate(messages)),
            tools=tuple(_tools(body)),
            must_call=must_call,
            may_call=may_call,
            schema=_schema(mapping_in(body, "response_format"), nested=True),
            max_tokens=optional_count(body, "max_completion_tokens", "max_tokens"),
        )
        return Asked(
            prompt=prompt,
            body=body,
            stream=body.get("stream") is True,
            input_tokens=input_tokens_of(prompt),
            choices=choices,
        )

    def whole(self, asked: Asked, reply: Reply, context: Context) -> bytes:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if reply.call else reply.text,
            "refusal": None,
        }
        if reply.call:
            message["tool_calls"] = [_tool_call(reply, context)]
        choice = {"message": message, "logprobs": None, "finish_reason": _finish(reply)}
        return msgspec.json.encode(
            {
                **_chat_head(asked, context, "chat.completion"),
                "choices": [{"index": number, **choice} for number in range(asked.choices)],
                "usage": _chat_usage(asked, reply, context),
            }
        )

    def events(self, asked: Asked, reply: Reply, context: Context) -> list[Event]:
        head = _chat_head(asked, context, "chat.completion.chunk")
        with_usage = mapping_in(asked.body, "stream_options").get("include_usage") is True
        more: dict[str, Any] = {"usage": None} if with_usage else {}

        def chunk(index: int, delta: Mapping[str, Any], finish: str | None, *, timed: bool) -> Event:
            choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
            return _unnamed({**head, "choices": [choice], **more}, timed=timed)

        indices = range(asked.choices)
        events = [
            chunk(index, delta, None, timed=number > 0)
            for number, delta in enumerate(_chat_deltas(reply, context))
            for index in indices
        ]
        events += [chunk(index, {}, _finish(reply), timed=False) for index in indices]
        if with_usage:
            events.append(_unnamed({**head, "choices": [], "usage": _chat_usage(asked, reply, context)}))
        return [*events, DONE]

    def broken(self, number: int, sent: int) -> Event:  # noqa: ARG002  # formats agree
        error = {"message": "The server had an error while processing your request.", "type": "server_error"}
        return _unnamed({"error": {**error, "param": None, "code": None}})


def _chat_head(asked: Asked, context: Context, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-sim-{context.number:08}",
        "object": kind,
        "created": int(context.created),
        "model": asked.prompt.model,
        "service_tier": "default",
        "system_fingerprint": FINGERPRINT,
    }


def _chat_deltas(reply: Reply, context: Context) -> Iterator[dict[str, Any]]:
    if reply.call is None:
        yield {"role": "assistant", "content": "", "refusal": None}
        yield from ({"content": piece} for piece in pieces_of(reply.text))
        return
    call = _tool_call(reply, context)
    arguments = call["function"]["arguments"]
    begun = {**call, "index": 0, "function": {**call["function"], "arguments": ""}}
    yield {"role": "assistant", "content": None, "tool_calls": [begun]}
    for piece in pieces_of(arguments):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _chat_usage(asked: Asked, reply: Reply, context: Context) -> dict[str, Any]:
    output = reply.tokens * asked.choices
    return {
        "prompt_tokens": asked.input_tokens,
        "completion_tokens": output,
        "total_tokens": asked.input_tokens + output,
        "prompt_tokens_details": {"cached_tokens": context.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.call else "length" if reply.cut else "stop"


def _tool_call(reply: Reply, context: Context) -> dict[str, Any]:
    assert reply.call is not None
    arguments = msgspec.json.encode(reply.call.arguments).decode()
    function = {"name": reply.call.tool, "arguments": arguments}
    return {"id": f"call_sim_{context.number:08}", "type": "function", "function": function}


# Responses ----------------------------------------------------------------------------------------

_ENDED: Final = {True: "incomplete", False: "completed"}


class Responses:
    """`POST /v1/responses`. Nothing is stored: an earlier response cannot be named."""

    def read(self, body: dict[str, Any]) -> Asked:
        model = required(body, "model", str, "a string")
        given = required(body, "input", (str, list), "a string or an array of items")
        if body.get("previous_response_id") is not None:
            raise BadRequest(
                "The simulated provider stores no responses: send the whole conversation as `input`.",
                param="previous_response_id",
            )
        messages = list(_items(given))
        if body.get("instructions"):
            messages.insert(0, Message("system", text_of(body["instructions"], "instructions")))
        must_call, may_call = _tool_choice(body)
        prompt = Prompt(
            model=model,
            messages=tuple(messages),
            tools=tuple(_tools(body)),
            must_call=must_call,
            may_call=may_call,
            schema=_schema(mapping_in(mapping_in(body, "text"), "format"), nested=False),
            max_tokens=optional_count(body, "max_output_tokens"),
        )
        stream = body.get("stream") is True
        return Asked(prompt=prompt, body=body, stream=stream, input_tokens=input_tokens_of(prompt))

    def whole(self, asked: Asked, reply: Reply, context: Context) -> bytes:
        status = _ENDED[reply.cut]
        item = _item(reply, context, status)
        return msgspec.json.encode(_response(asked, reply, context, status, [item]))

    def events(self, asked: Asked, reply: Reply, context: Context) -> list[Event]:
        status = _ENDED[reply.cut]
        begun = _response(asked, reply, context, "in_progress", [])
        ended = _response(asked, reply, context, status, [_item(reply, context, status)])
        contents: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.in_progress", "response": begun},
            *(_call_events(reply, context) if reply.call else _text_events(reply, context)),
            {"type": f"response.{status}", "response": ended},
        ]
        named = event_writer(name_events=True)
        return [
            named({**content, "sequence_number": number}, timed=content["type"].endswith(".delta"))
            for number, content in enumerate(contents)
        ]

    def broken(self, number: int, sent: int) -> Event:  # noqa: ARG002  # formats agree
        message = "The server had an error while processing your request."
        content = {"type": "error", "code": "server_error", "message": message, "param": None}
        return event_writer(name_events=True)({**content, "sequence_number": sent})


def _text_events(reply: Reply, context: Context) -> Iterator[dict[str, Any]]:
    item = {"type": "message", "id": _item_id(context), "role": "assistant"}
    place = {"item_id": _item_id(context), "output_index": 0, "content_index": 0}
    part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
    whole = {**part, "text": reply.text}
    added = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": 0, "item": added}
    yield {"type": "response.content_part.added", **place, "part": part}
    for piece in pieces_of(reply.text):
        yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": reply.text, "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": whole}
    done = _item(reply, context, _ENDED[reply.cut])
    yield {"type": "response.output_item.done", "output_index": 0, "item": done}


def _call_events(reply: Reply, context: Context) -> Iterator[dict[str, Any]]:
    done = _item(reply, context, "completed")
    place = {"item_id": _item_id(context), "output_index": 0}
    begun = {**done, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": 0, "item": begun}
    for piece in pieces_of(done["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **place, "delta": piece}
    over = {"arguments": done["arguments"], "name": done["name"]}
    yield {"type": "response.function_call_arguments.done", **place, **over}
    yield {"type": "response.output_item.done", "output_index": 0, "item": done}


def _item_id(context: Context) -> str:
    return f"item_sim_{context.number:08}"


def _item(reply: Reply, context: Context, status: str) -> dict[str, Any]:
    head = {"id": _item_id(context), "status": status}
    if reply.call is not None:
        call = _tool_call(reply, context)
        return {**head, "type": "function_call", "call_id": call["id"], **call["function"]}
    part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
    return {**head, "type": "message", "role": "assistant", "content": [part]}


def _response(
    asked: Asked, reply: Reply, context: Context, status: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    body = asked.body
    usage = {
        "input_tokens": asked.input_tokens,
        "input_tokens_details": {"cached_tokens": context.cached, "cache_write_tokens": 0},
        "output_tokens": reply.tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": asked.input_tokens + reply.tokens,
    }
    return {
        "id": f"resp_sim_{context.number:08}",
        "object": "response",
        "created_at": int(context.created),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": asked.prompt.max_tokens,
        "metadata": {"simulated_by": FINGERPRINT},
        "model": asked.prompt.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": body.get("top_p", 1.0),
        "truncation": "disabled",
        "usage": None if status == "in_progress" else usage,
    }


# Reading what both have ---------------------------------------------------------------------------

_ROLES: Final[Mapping[str, str]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def _message(given: Any, where: str) -> Message:
    if not isinstance(given, dict) or (role := _ROLES.get(str(given.get("role")))) is None:
        raise BadRequest(f"Invalid value for '{where}': a message has a role and content.", param=where)
    return Message(role, text_of(given.get("content"), f"{where}.content"))


def _items(given: str | list[Any]) -> Iterator[Message]:
    if isinstance(given, str):
        yield Message("user", given)
        return
    for number, item in enumerate(given):
        match item:
            case {"type": "function_call_output", "output": output}:
                yield Message("tool", text_of(output, f"input[{number}].output"))
            case {"type": str() as kind} if kind != "message":
                continue  # calls and reasoning of its own that the caller sends back
            case _:
                yield _message(item, f"input[{number}]")


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    """Functions, as chat completions nest them or as responses have them; other tools are not simulated."""
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise BadRequest("Invalid type for 'tools': expected an array.", param="tools")
    for number, tool in enumerate(tools):
        match tool:
            case {"type": "function", "function": {"name": str() as name, **rest}}:
                pass
            case {"type": "function", "name": str() as name, **rest}:
                pass
            case {"type": str() as kind} if kind != "function":
                continue
            case _:
                raise BadRequest(f"Invalid 'tools[{number}]': it has no name.", param=f"tools[{number}]")
        schema = rest.get("parameters")
        yield Tool(name, schema if isinstance(schema, dict) else {"type": "object", "properties": {}})


def _tool_choice(body: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Which tool has to be called, and whether one may be."""
    match body.get("tool_choice"):
        case "required":
            return "", True
        case "none":
            return None, False
        case {"function": {"name": str() as name}} | {"name": str() as name}:
            return name, True
        case _:
            return None, True


def _schema(form: Mapping[str, Any], *, nested: bool) -> dict[str, Any] | None:
    match form.get("type"):
        case "json_schema":
            schema = mapping_in(form, "json_schema").get("schema") if nested else form.get("schema")
            if not isinstance(schema, dict):
                raise BadRequest("Missing required parameter: 'schema'.", param="response_format")
            return schema
        case "json_object":
            return {"type": "object", "properties": {"answer": {"type": "string"}}}
        case _:
            return None
