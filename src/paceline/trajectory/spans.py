"""Spans that follow OpenTelemetry's conventions for generative AI, as messages.

    execute_tool    a tool that was run: its name, its arguments and result where they were captured, and
                    whether it failed
    chat            a model that was asked; with what was said, where content is captured

Where tools have spans of their own, these tell what was called, and a model's words about it are left aside.
A model that was asked, and of whose answer nothing is known, has an `unread` message.

Older spans of Pydantic AI are known by their names (`running tool`); those of its output functions and of
calls that were put off are no calls of tools. Knows spans by their shape, and raises nothing whatever they
hold.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from paceline.models.messages import Assistant, Message, System, ToolCall, ToolResult, User
from paceline.models.plain import arguments_of, plain_message
from paceline.trajectory.folding import Trajectory
from paceline.trajectory.reading import Exchange
from paceline.trajectory.streams import decoded, dicts, encoded, string

ASKING: Final = frozenset({"chat", "generate_content", "text_completion"})
"""Operations by which a model is asked."""
WANTS_TOOLS: Final = frozenset({"tool_call", "tool_calls", "tool_use", "function_call"})
"""Reasons for which a model ends its turn, as they are spelt."""

Attributes = Mapping[str, Any]


def listen() -> Callable[[], list[dict[str, Any]] | None] | None:
    """Hear the spans that are made in this context from now on; what they tell, when it is called.

    None where nobody traces here, or in a way that cannot be listened to.
    """
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return None
    provider = api.get_tracer_provider()
    provider = getattr(provider, "provider", provider)  # Logfire's stands before the one that does the work
    if not hasattr(provider, "add_span_processor"):
        return None
    from paceline.trajectory.hearing import hear

    spans = hear(provider)
    return lambda: messages_of(spans)


def is_about_models(attributes: Attributes | None) -> bool:
    """Whether a span is of interest here."""
    return _runs_tool(attributes or {}) or _asks_model(attributes or {})


def messages_of(spans: Iterable[Any]) -> list[dict[str, Any]] | None:
    """What the spans of an attempt tell; None where they tell nothing of tools and models."""
    in_order = sorted(spans, key=lambda span: span.start_time or 0)
    tools = [span for span in in_order if _is_tool_call(span)]
    asked = [span for span in in_order if _asks_model(span.attributes or {})]
    if not tools and not asked:
        return None
    return _told_by_tools(in_order, _outermost(tools)) if tools else _told_by_models(asked)


def _runs_tool(attributes: Attributes) -> bool:
    return isinstance(attributes.get("gen_ai.tool.name"), str)


def _asks_model(attributes: Attributes) -> bool:
    return (
        attributes.get("gen_ai.operation.name") in ASKING
        and attributes.get("gen_ai.request.model") is not None
    )


def _is_tool_call(span: Any) -> bool:
    attributes = span.attributes or {}
    if not _runs_tool(attributes) or "pydantic_ai.tool.deferral.name" in attributes:
        return False
    if string(attributes.get("logfire.msg")).startswith("running output function"):
        return False
    return attributes.get("gen_ai.operation.name") == "execute_tool" or span.name in (
        "running tool",
        f"execute_tool {attributes['gen_ai.tool.name']}",
    )


def _outermost(tools: list[Any]) -> list[Any]:
    """Without those that stand directly within one of the same name: two tell of one call, as where a client
    of MCP is traced as well as who uses it."""
    names = {span.context.span_id: span.attributes["gen_ai.tool.name"] for span in tools}
    return [
        span
        for span in tools
        if span.parent is None or names.get(span.parent.span_id) != span.attributes["gen_ai.tool.name"]
    ]


# Tools that have run ----------------------------------------------------------------------------------


def _told_by_tools(in_order: list[Any], tools: list[Any]) -> list[dict[str, Any]]:
    counted = {id(span) for span in tools}
    messages: list[dict[str, Any]] = []
    told: list[Message] = []
    requests = 0
    for span in in_order:
        if id(span) in counted:
            messages += _tool_run(span, number=len(messages))
        elif _asks_model(span.attributes or {}):
            requests += 1
            new = [each for each in _asked_by_people(span.attributes) if each not in told]
            told += new
            messages += map(plain_message, new)
            said = _said(span.attributes)
            text = said.content if said is not None else ""
            messages.append({"role": "assistant", "content": text, **_facts(span.attributes, requests)})
    return messages


def _asked_by_people(attributes: Attributes) -> Iterable[Message]:
    """What a model was told that neither a model nor a tool has said."""
    return (each for each in _told(attributes) if isinstance(each, System | User))


def _tool_run(span: Any, *, number: int) -> list[dict[str, Any]]:
    attributes = span.attributes
    called = string(attributes.get("gen_ai.tool.call.id")) or f"call-{number}"
    arguments = attributes.get("gen_ai.tool.call.arguments", attributes.get("tool_arguments"))
    call = {
        "id": called,
        "name": attributes["gen_ai.tool.name"],
        "arguments": None if arguments is None else arguments_of(arguments),
    }
    result = attributes.get("gen_ai.tool.call.result", attributes.get("tool_response"))
    failed = span.status.status_code.name == "ERROR"
    content = _text(result) or (string(span.status.description) if failed else "")
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": called, "content": content, "is_error": failed},
    ]


# Models that were asked -------------------------------------------------------------------------------


def _told_by_models(asked: list[Any]) -> list[dict[str, Any]]:
    trajectory = Trajectory()
    for number, span in enumerate(asked, start=1):
        attributes = span.attributes
        said = _said(attributes)
        if said is None and _had_no_tools_in_mind(attributes):
            said = Assistant("")
        told = tuple(_told(attributes))
        trajectory.add(Exchange(told, said, _model(attributes)), call=number)
    return trajectory.messages


def _had_no_tools_in_mind(attributes: Attributes) -> bool:
    """Whether a model has ended its turn for reasons of which none is a tool."""
    reasons = attributes.get("gen_ai.response.finish_reasons")
    reasons = [reasons] if isinstance(reasons, str) else list(reasons or ())
    return bool(reasons) and not WANTS_TOOLS & {string(reason).lower() for reason in reasons}


def _model(attributes: Attributes) -> str:
    return string(attributes.get("gen_ai.response.model")) or string(attributes.get("gen_ai.request.model"))


def _facts(attributes: Attributes, number: int) -> dict[str, Any]:
    model = _model(attributes)
    return {**({"model": model} if model else {}), "call": number}


def _told(attributes: Attributes) -> list[Message]:
    system = "".join(_texts(_document(attributes.get("gen_ai.system_instructions"))))
    messages: list[Message] = [System(system)] if system else []
    for each in dicts(_document(attributes.get("gen_ai.input.messages"))):
        messages += parts_told(each)
    return messages


def _said(attributes: Attributes) -> Assistant | None:
    """What the model has said, where that is captured."""
    for each in dicts(_document(attributes.get("gen_ai.output.messages")))[:1]:
        for message in parts_told({**each, "role": "assistant"}):
            if isinstance(message, Assistant):
                return message
    return None


def parts_told(message: Mapping[str, Any]) -> list[Message]:
    """A message in the form of the conventions: a role, and parts."""
    parts = dicts(message.get("parts"))
    text = "".join(_texts(parts))
    match message.get("role"):
        case "system":
            return [System(text)]
        case "assistant":
            return [Assistant(text, tuple(_call(part) for part in parts if part.get("type") == "tool_call"))]
    results: list[Message] = [
        ToolResult(
            call_id=string(part.get("id")),
            content=_text(part.get("response", part.get("result"))),
        )
        for part in parts
        if part.get("type") == "tool_call_response"
    ]
    return [*results, User(text)] if text or not results else results


def _call(part: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        id=string(part.get("id")),
        name=string(part.get("name")),
        arguments=arguments_of(part.get("arguments")),
    )


def _texts(parts: object) -> Iterable[str]:
    return (string(part.get("content")) for part in dicts(parts) if part.get("type") == "text")


def _document(value: object) -> object:
    """An attribute that holds a document: as JSON, or as it is."""
    if isinstance(value, str):
        return decoded(value.encode("utf-8", "surrogatepass"))
    return list(value) if isinstance(value, tuple) else value


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return encoded(value).decode("utf-8", "replace") if value is not None else ""
