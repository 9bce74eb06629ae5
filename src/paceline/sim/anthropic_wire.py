"""The Anthropic wire format: messages, whole and as streams, counting of tokens, and models.

What the official SDK needs to parse an answer is there, and what clients read of headers and errors: usage
with what was read from the cache and put there, `anthropic-ratelimit-*`, `retry-after`, `overloaded_error`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from paceline.pace.messages import Advertised
from paceline.sim.answers import Message, Prompt, Reply, Tool
from paceline.sim.provider import Refused
from paceline.sim.wire import (
    Asked,
    BadRequest,
    Context,
    Event,
    Headers,
    event_writer,
    input_tokens_of,
    mapping_in,
    optional_count,
    pieces_of,
    required,
    shown_number,
    text_of,
    waiting,
)

_named = event_writer(name_events=True)


class Messages:
    """`POST /v1/messages`."""

    def read(self, body: dict[str, Any]) -> Asked:
        model = required(body, "model", str, "a string")
        given = required(body, "messages", list, "an array of messages")
        if not given:
            raise BadRequest("messages: at least one message is required", param="messages")
        required(body, "max_tokens", int, "an integer")
        messages = [each for n, item in enumerate(given) for each in _messages(item, f"messages.{n}")]
        if body.get("system"):
            messages.insert(0, Message("system", text_of(body["system"], "system")))
        must_call, may_call = _tool_choice(body)
        prompt = Prompt(
            model=model,
            messages=tuple(messages),
            tools=tuple(_tools(body)),
            must_call=must_call,
            may_call=may_call,
            schema=_schema(body),
            max_tokens=optional_count(body, "max_tokens"),
        )
        stream = body.get("stream") is True
        return Asked(prompt=prompt, body=body, stream=stream, input_tokens=input_tokens_of(prompt))

    def whole(self, asked: Asked, reply: Reply, context: Context) -> bytes:
        content = [_block(reply, context)]
        return msgspec.json.encode(
            {
                **_head(asked, context),
                "content": content,
                "stop_reason": _stop_reason(reply),
                "usage": _usage(asked, reply.tokens, context),
            }
        )

    def events(self, asked: Asked, reply: Reply, context: Context) -> list[Event]:
        begun = {
            **_head(asked, context),
            "content": [],
            "stop_reason": None,
            "usage": _usage(asked, 1, context),
        }
        ended = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        return [
            _named({"type": "message_start", "message": begun}),
            _named({"type": "content_block_start", "index": 0, "content_block": _begun(reply, context)}),
            _named({"type": "ping"}),
            *(
                _named({"type": "content_block_delta", "index": 0, "delta": delta}, timed=True)
                for delta in _deltas(reply)
            ),
            _named({"type": "content_block_stop", "index": 0}),
            _named({"type": "message_delta", "delta": ended, "usage": {"output_tokens": reply.tokens}}),
            _named({"type": "message_stop"}),
        ]

    def broken(self, number: int, sent: int) -> Event:  # noqa: ARG002  # formats agree
        error = {"type": "overloaded_error", "message": "Overloaded"}
        return _named({"type": "error", "error": error, "request_id": request_id(number)})


def _head(asked: Asked, context: Context) -> dict[str, Any]:
    return {
        "id": f"msg_sim_{context.number:08}",
        "type": "message",
        "role": "assistant",
        "model": asked.prompt.model,
        "stop_sequence": None,
    }


def _usage(asked: Asked, output: int, context: Context) -> dict[str, Any]:
    return {
        "input_tokens": asked.input_tokens - context.cached - context.written,
        "cache_creation_input_tokens": context.written,
        "cache_read_input_tokens": context.cached,
        "output_tokens": output,
        "service_tier": "standard",
    }


def _block(reply: Reply, context: Context) -> dict[str, Any]:
    if reply.call is None:
        return {"type": "text", "text": reply.text, "citations": None}
    return {**_begun(reply, context), "input": reply.call.arguments}


def _begun(reply: Reply, context: Context) -> dict[str, Any]:
    if reply.call is None:
        return {"type": "text", "text": "", "citations": None}
    return {
        "type": "tool_use",
        "id": f"toolu_sim_{context.number:08}",
        "name": reply.call.tool,
        "input": {},
    }


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    if reply.call is None:
        yield from ({"type": "text_delta", "text": piece} for piece in pieces_of(reply.text))
        return
    arguments = msgspec.json.encode(reply.call.arguments).decode()
    yield from ({"type": "input_json_delta", "partial_json": piece} for piece in pieces_of(arguments))


def _stop_reason(reply: Reply) -> str:
    return "tool_use" if reply.call else "max_tokens" if reply.cut else "end_turn"


# Reading ------------------------------------------------------------------------------------------


def _messages(given: Any, where: str) -> Iterator[Message]:
    """A message; the results of tools in it stand apart, and last, as what was said last."""
    match given:
        case {"role": "assistant" | "system" as role, "content": content}:
            yield Message(role, text_of(content, where))
        case {"role": "user", "content": list() as parts}:
            results = [part for part in parts if isinstance(part, dict) and part.get("type") == "tool_result"]
            if rest := [part for part in parts if part not in results]:
                yield Message("user", text_of(rest, where))
            yield from (Message("tool", text_of(result.get("content"), where)) for result in results)
        case {"role": "user", "content": content}:
            yield Message("user", text_of(content, where))
        case _:
            raise BadRequest(f"{where}: a message has a role (user or assistant) and content", param=where)


def _tools(body: Mapping[str, Any]) -> Iterator[Tool]:
    """Tools with a schema; those that the provider itself would carry out are not simulated."""
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise BadRequest("tools: expected an array", param="tools")
    for number, tool in enumerate(tools):
        match tool:
            case {"name": str() as name, "input_schema": dict() as schema}:
                yield Tool(name, schema)
            case {"type": str() as kind} if kind != "custom":
                continue
            case _:
                raise BadRequest(f"tools.{number}: a name and an input_schema are required", param="tools")


def _tool_choice(body: Mapping[str, Any]) -> tuple[str | None, bool]:
    """Which tool has to be called, and whether one may be."""
    match body.get("tool_choice"):
        case {"type": "any"}:
            return "", True
        case {"type": "tool", "name": str() as name}:
            return name, True
        case {"type": "none"}:
            return None, False
        case _:
            return None, True


def _schema(body: Mapping[str, Any]) -> dict[str, Any] | None:
    form = mapping_in(mapping_in(body, "output_config"), "format") or mapping_in(body, "output_format")
    if form.get("type") != "json_schema":
        return None
    if not isinstance(schema := form.get("schema"), dict):
        raise BadRequest("output_config.format.schema: Field required", param="output_config")
    return schema


# Counting and models ------------------------------------------------------------------------------


def counted(asked: Asked) -> dict[str, Any]:
    """`POST /v1/messages/count_tokens`."""
    return {"input_tokens": asked.input_tokens}


def model_of(name: str) -> dict[str, Any]:
    """One model of the list."""
    return {
        "id": name,
        "type": "model",
        "display_name": f"{name} (simulated)",
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
    }


def models_of(names: tuple[str, ...]) -> dict[str, Any]:
    """`GET /v1/models`."""
    data = [model_of(name) for name in names]
    ends = (data[0]["id"], data[-1]["id"]) if data else (None, None)
    return {"data": data, "has_more": False, "first_id": ends[0], "last_id": ends[1]}


# Refusals and headers -----------------------------------------------------------------------------

_TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


class Anthropic:
    """How Anthropic refuses."""

    def refusal(self, refused: Refused, model: str, number: int) -> bytes:
        message, code = _reason(refused, model)
        return self._error(refused.status, message, number, code)

    def failure(self, status: int, message: str, number: int, *, param: str | None = None) -> bytes:
        told = f"{param}: {message}" if param and param not in message else message
        return self._error(status, told, number)

    def headers(self, advertised: Advertised | None, number: int, now: float) -> Headers:
        headers = [("request-id", request_id(number))]
        if advertised is None:
            return headers
        for name in ("requests", "tokens"):
            if (limit := getattr(advertised, name)) is not None:
                start = f"anthropic-ratelimit-{name}"
                reset = now + (getattr(advertised, f"{name}_reset") or 0.0)
                headers += [
                    (f"{start}-limit", shown_number(limit)),
                    (f"{start}-remaining", shown_number(getattr(advertised, f"{name}_left") or 0.0)),
                    (f"{start}-reset", rfc3339(reset)),
                ]
        return headers

    def waits(self, seconds: float, *, exactly: bool) -> Headers:
        return [("retry-after", waiting(seconds, exactly=exactly))]

    def _error(self, status: int, message: str, number: int, code: str | None = None) -> bytes:
        error: dict[str, Any] = {"type": _TYPES.get(status, "api_error"), "message": message}
        if code is not None:
            error["details"] = {"error_code": code}
        return msgspec.json.encode({"type": "error", "error": error, "request_id": request_id(number)})


def _reason(refused: Refused, model: str) -> tuple[str, str | None]:
    """What is said of a refusal, and its code where it has one."""
    match refused.status, refused.cause:
        case 503 | 529, _:
            return "Overloaded", None
        case 404, _:
            return f"model: {model[:200]}", None
        case status, _ if status >= 500:
            return "Internal server error", None
        case _, "auth":
            return "invalid x-api-key", None
        case _, "quota":
            return "You have reached your API usage limit for this month.", "enforced_spend_limit_reached"
    if not refused.told or refused.cause == "unknown":
        return "Rate limited. Please try again later.", None
    if refused.cause == "ramp":
        return "This request would exceed a ramp limit: usage has grown too quickly.", "ramp_limit_exceeded"
    if refused.cause == "concurrency":
        return "Number of concurrent connections has exceeded your rate limit.", None
    limit = refused.advertised and getattr(refused.advertised, refused.cause)
    of = f" of {shown_number(limit)}" if limit else ""
    unit = "requests" if refused.cause == "requests" else "tokens"
    return f"This request would exceed your organization's rate limit{of} {unit} per minute.", None


def request_id(number: int) -> str:
    """Of a request, as errors and headers name it."""
    return f"req_sim_{number:08}"


def rfc3339(at: float) -> str:
    """A moment as their headers write it, rounded up to a second."""
    moment = datetime.fromtimestamp(math.floor(at), UTC) + timedelta(seconds=at != math.floor(at))
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
