"""Which of several accounts of one attempt is its trajectory.

    told      by the task itself, `paceline.tool_call`
    traced    spans of OpenTelemetry
    seen      model calls, as they went through a door

One of them is taken as a whole: put together they would tell of the same call twice. The task's own account
goes first. Spans tell which tools have run and which have failed, calls tell what the model has asked for; so
spans go before calls, unless they lack something: a tool that has answered, or the arguments of one.

Knows trajectories as they are recorded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

Messages = Sequence[dict[str, Any]]


def chosen(
    told: list[dict[str, Any]] | None,
    traced: list[dict[str, Any]] | None,
    seen: list[dict[str, Any]] | None,
) -> list[dict[str, Any]] | None:
    """The trajectory of an attempt; None where nobody knows anything of it."""
    if told is not None:
        return told
    if seen is None or traced is None:
        return traced if seen is None else seen
    return traced if _calls_in(traced) and not _lacks(traced, seen) else seen


def _lacks(traced: Messages, seen: Messages) -> bool:
    """Whether spans leave out something that calls tell."""
    run = _calls_in(traced)
    if any(call.get("arguments") is None for call in run):
        return True
    answered = {message.get("tool_call_id") for message in seen if message.get("role") == "tool"}
    known = Counter(call["name"] for call in _calls_in(seen) if call["id"] in answered)
    return bool(known - Counter(call["name"] for call in run))


def _calls_in(messages: Messages) -> list[dict[str, Any]]:
    """Tool calls that were made in the attempt."""
    return [call for each in messages if not each.get("given") for call in each.get("tool_calls", ())]
