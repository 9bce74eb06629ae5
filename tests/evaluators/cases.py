"""Finished cases for evaluators to look at."""

from __future__ import annotations

from typing import Any

from paceline.evaluators import EvaluationReason, EvaluatorContext
from paceline.evaluators.prepare import prepare, scores_of


def finished(output: Any = None, expected: Any = None, **known: Any) -> EvaluatorContext[Any, Any, Any]:
    """A case whose task has returned `output`."""
    return EvaluatorContext(
        **{"name": "a case", "inputs": "a question", **known}, output=output, expected_output=expected
    )


def asked(evaluator: object, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, Any]:
    """What a sync evaluator says about a case, as it would be recorded: values by name."""
    (prepared,) = prepare([evaluator])
    return {score.name: score.value for score in scores_of(prepared, prepared.call(ctx), seconds=0)}


def passes(evaluator: Any, output: Any, expected: Any = None) -> bool | None:
    """Its assertion about an output; None where it says nothing."""
    said = evaluator.evaluate(finished(output, expected))
    if said == {}:
        return None
    value = said.value if isinstance(said, EvaluationReason) else said
    assert isinstance(value, bool)
    return value


def reason(evaluator: Any, output: Any, expected: Any = None) -> str:
    """Why it does not pass."""
    said = evaluator.evaluate(finished(output, expected))
    assert isinstance(said, EvaluationReason)
    assert said.value is False
    assert said.reason is not None
    return said.reason
