"""Where the trajectory of a case comes from: what is on record of it, or messages in its output.

What was seen, told or traced while the task ran is on record (`paceline.trajectory`); a resume and a rescore
find it there. An output is looked into where that says nothing, or says nothing of tools: an agent elsewhere
returns its messages.

Knows contexts of evaluators. Raises `NoTrajectory` where nobody knows what was asked for: that is no pass and
no zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.plain import plain
from paceline.evaluators.trajectories.calls import Called, calls_in
from paceline.models.messages import Assistant
from paceline.tasks.failures import TaskFailure
from paceline.trajectory.listed import Step, steps_in

NOBODY_KNOWS = (
    # Reports show the first 200 characters, the evaluator's name included.
    "no trajectory is known. Model calls through httpx2, httpx or the gateway tell it, or "
    "paceline.tool_call(), OpenAI or Anthropic messages in the output, OpenTelemetry spans"
)


class NoTrajectory(TaskFailure):
    """What was to be looked at is not known of this case."""


def tool_calls(ctx: EvaluatorContext[Any, Any, Any]) -> tuple[Called, ...]:
    """The tools that a case has called, in their order. Raises `NoTrajectory` where that is not known."""
    steps = _steps(ctx)
    unread = next((step for step in steps if step.unread), None)
    if unread is not None:
        which = f"of model call {unread.call}" if unread.call else "of a model call"
        raise NoTrajectory(
            f"the answer {which} is not known, so there may be more tool calls than are on record: it was "
            "broken off, was too long to be kept, has a span without content, or asks for a tool in a form "
            "that cannot be read"
        )
    return calls_in(steps)


def model_requests(ctx: EvaluatorContext[Any, Any, Any]) -> int:
    """How often a model was asked. Raises `NoTrajectory` where that is not known."""
    counted = ctx.metrics.get("requests")
    if counted is not None:
        return int(counted)
    said = [step for step in _steps(ctx) if isinstance(step.message, Assistant) and not step.given]
    numbered = {step.call for step in said if step.call}
    if numbered:
        return len(numbered)
    if ctx.trajectory is not None and _on_record(ctx) is not None:
        raise NoTrajectory(
            "it is known which tools were called, and not how often a model was asked: count that in the "
            "task with paceline.increment_eval_metric('requests', 1)"
        )
    return len(said)


def _steps(ctx: EvaluatorContext[Any, Any, Any]) -> Sequence[Step]:
    """The trajectory: what is on record, unless that tells of no tool and the output does."""
    recorded = _on_record(ctx)
    if recorded is not None and (not recorded or calls_in(recorded)):
        return recorded  # an empty one says itself that there was nothing
    found = _in_output(ctx)
    if found is None:
        if recorded is None:
            raise NoTrajectory(NOBODY_KNOWS)
        return recorded
    # A conversation that was begun before quotes its old calls in the output, too.
    known = {(call.id, call.name) for call in calls_in(step._replace(given=False) for step in recorded or ())}
    tells_more = any((call.id, call.name) not in known for call in calls_in(found))
    return found if recorded is None or tells_more else recorded


def _on_record(ctx: EvaluatorContext[Any, Any, Any]) -> list[Step] | None:
    trajectory = ctx.trajectory
    if trajectory is None:
        return None
    return steps_in(trajectory) if trajectory else []


def _in_output(ctx: EvaluatorContext[Any, Any, Any]) -> list[Step] | None:
    """The messages that the task has returned. Those that it was given come first, and are marked."""
    found = steps_in(plain(ctx.output))
    if found is None:
        return None
    given = steps_in(plain(ctx.inputs)) or []
    asked = [step.message for step in given]
    if asked and [step.message for step in found[: len(asked)]] == asked:
        found = [step._replace(given=True) for step in found[: len(asked)]] + found[len(asked) :]
    # Messages in which no model says anything, a prompt say, tell nothing of what one has asked for.
    said = any(isinstance(step.message, Assistant) and not step.given for step in found)
    return found if said or any(step.unread for step in found) else None
