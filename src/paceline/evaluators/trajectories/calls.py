"""Tool calls in one form, whichever provider's messages, spans or words of a task they come from.

Knows messages. Knows nothing of where they were found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from paceline.models.messages import Assistant, ToolResult
from paceline.trajectory.listed import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool that was called, and what came of it."""

    name: str
    arguments: dict[str, Any] | str | None
    """Text where what the model wrote is no JSON object; None where nobody has told them."""
    id: str = ""
    result: str | None = None
    """None where the call was never answered."""
    failed: bool | None = None
    """None where that is not known: OpenAI's messages have no word for it."""


def calls_in(steps: Iterable[Step]) -> tuple[Called, ...]:
    """The tool calls of a trajectory in their order, each with its result; none that it was only given."""
    calls: list[Called] = []
    open_calls: dict[str, list[int]] = {}
    for step in steps:
        match step.message:
            case Assistant(tool_calls=asked) if not step.given:
                for call in asked:
                    open_calls.setdefault(call.id, []).append(len(calls))
                    arguments = None if call.id in step.bare else call.arguments
                    calls.append(Called(name=call.name, arguments=arguments, id=call.id))
            case ToolResult(call_id=called, content=result, is_error=failed):
                # Ids are not always new ones: the first call that waits has the first result.
                if waiting := open_calls.get(called):
                    place = waiting.pop(0)
                    calls[place] = replace(calls[place], result=result, failed=failed)
            case _:
                pass
    return tuple(calls)


def names_of(calls: Iterable[Called], *, include_failed: bool) -> list[str]:
    """The names of tools as they were called, those that failed left out unless they count."""
    return [call.name for call in calls if include_failed or not call.failed]
