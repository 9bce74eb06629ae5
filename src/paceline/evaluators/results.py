"""What an evaluator has said, as a row of a report shows it; the names are those of Pydantic Evals.

Ours beside theirs: `by` and `seconds`, and the type of an error.
"""

from __future__ import annotations

from dataclasses import dataclass

from paceline.dataset.spec import EvaluatorSpec
from paceline.evaluators.base import EvaluationScalar


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResult:
    """One result of one evaluator."""

    name: str
    value: EvaluationScalar
    reason: str | None = None
    source: EvaluatorSpec
    """The evaluator as a file would write it."""
    evaluator_version: str | None = None
    by: str = ""
    """Its label, unique among the evaluators of the case."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluatorFailure:
    """An evaluator that could not say anything."""

    name: str
    error_message: str
    error_stacktrace: str
    error_type: str | None = None
    source: EvaluatorSpec
    evaluator_version: str | None = None
    by: str = ""
    seconds: float = 0.0
