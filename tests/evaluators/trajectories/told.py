"""Cases of which a trajectory is known, for evaluators to look at."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from paceline.evaluators import EvaluationReason, EvaluatorContext
from tests.evaluators.cases import finished


class Call(NamedTuple):
    """A tool call and what came of it."""

    name: str
    arguments: Any = None
    result: str | None = "done"
    failed: bool = False


def of(*calls: Call | str) -> list[Call]:
    return [Call(each) if isinstance(each, str) else each for each in calls]


def openai(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """A message list of OpenAI's chat."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, call in enumerate(calls):
        function = {"name": call.name, "arguments": _text(call.arguments)}
        asked = {"id": f"c{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        if call.result is not None:
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": call.result})
    return [*messages, {"role": "assistant", "content": "Done."}]


def responses(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Items of OpenAI's responses."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, call in enumerate(calls):
        asked = {"call_id": f"c{number}", "name": call.name, "arguments": _text(call.arguments)}
        items.append({"type": "function_call", **asked})
        if call.result is not None:
            items.append({"type": "function_call_output", "call_id": f"c{number}", "output": call.result})
    return [*items, {"type": "message", "role": "assistant", "content": "Done."}]


def anthropic(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Messages of Anthropic's."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for number, call in enumerate(calls):
        asked = {"type": "tool_use", "id": f"c{number}", "name": call.name, "input": call.arguments or {}}
        messages.append({"role": "assistant", "content": [asked]})
        if call.result is not None:
            result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": call.result}
            failed = {"is_error": True} if call.failed else {}
            messages.append({"role": "user", "content": [{**result, **failed}]})
    return [*messages, {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}]


def gemini(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """Contents of Gemini's."""
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Go."}]}]
    for call in calls:
        asked = {"functionCall": {"name": call.name, "args": call.arguments or {}}}
        contents.append({"role": "model", "parts": [asked]})
        if call.result is not None:
            response = {"error" if call.failed else "result": call.result}
            told = {"functionResponse": {"name": call.name, "response": response}}
            contents.append({"role": "user", "parts": [told]})
    return [*contents, {"role": "model", "parts": [{"text": "Done."}]}]


def recorded(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """A trajectory as a run records it."""
    messages: list[dict[str, Any]] = []
    for number, call in enumerate(calls):
        asked = {"id": f"c{number}", "name": call.name, "arguments": call.arguments or {}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [asked], "call": number + 1})
        if call.result is not None:
            result = {"role": "tool", "tool_call_id": f"c{number}", "content": call.result}
            messages.append({**result, "is_error": call.failed})
    return messages


FORMS: Mapping[str, Callable[[Sequence[Call]], list[dict[str, Any]]]] = {
    "openai": openai,
    "responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "recorded": recorded,
}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {})


def after(*calls: Call | str, **known: Any) -> EvaluatorContext[Any, Any, Any]:
    """A case that has called these tools, as its record tells."""
    return finished(trajectory=recorded(of(*calls)), **known)


def said(evaluator: Any, ctx: EvaluatorContext[Any, Any, Any]) -> tuple[Any, str]:
    """The value of an evaluator's only result, and why."""
    found = evaluator.evaluate(ctx)
    assert isinstance(found, EvaluationReason)
    return found.value, found.reason or ""


def holds(evaluator: Any, *calls: Call | str) -> bool:
    """Its assertion about a case that has called these tools."""
    value, _ = said(evaluator, after(*calls))
    assert isinstance(value, bool)
    return value
