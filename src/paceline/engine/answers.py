"""A task's answer as those see it who come after it: evaluators, and a run that has it on record already."""

from __future__ import annotations

from typing import Any

from paceline import values
from paceline.engine.ports import Attempted, Stored, Turn
from paceline.evaluators.base import EvaluatorContext
from paceline.journal.records import ErrorFacts


def context_of(turn: Turn, attempted: Attempted) -> EvaluatorContext[Any, Any, Any]:
    """What evaluators see of a case."""
    case = turn.case
    return EvaluatorContext(
        name=turn.key.case,
        key=turn.key,
        inputs=case.inputs,
        metadata=case.metadata,
        expected_output=case.expected_output,
        output=attempted.output,
        duration=attempted.seconds,
        attributes=attempted.attributes,
        metrics=attempted.metrics,
        trajectory=attempted.trajectory,
    )


def stored_answer(stored: Stored) -> Attempted:
    """An answer that is there already, as if the task had just given it."""
    return Attempted(
        output=stored.output,
        error=stored.error,
        error_class=stored.error_class,
        seconds=stored.seconds,
        waited=stored.waited,
        metrics=stored.metrics,
        attributes=stored.attributes,
        trajectory=stored.trajectory,
    )


def lost_answer(ctx: EvaluatorContext[Any, Any, Any]) -> ErrorFacts | None:
    """Why a stored output cannot be scored, if it cannot: evaluators would not see what the task returned."""
    opaque = values.first_opaque(ctx.output) or values.first_opaque(ctx.expected_output)
    if opaque is None:
        return None
    return ErrorFacts(
        type="OutputLost",
        message=f"there is a {opaque.type_name} on record that cannot be made again here: "
        "name the suite that defines it, so that its class is loaded",
        stage="evaluator",
    )
