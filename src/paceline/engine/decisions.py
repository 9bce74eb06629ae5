"""What follows from how an attempt went. Functions of values; the engine only carries out what they say."""

from __future__ import annotations

from typing import Final

from paceline.engine.ports import Attempted, Work
from paceline.journal.records import ErrorClass, ErrorFacts, OutcomeKind

OUTCOME_OF_ERROR: Final[dict[ErrorClass, OutcomeKind]] = {
    "permanent": "task_error",
    "timeout": "timeout",
    "cancelled": "cancelled",
    # Nobody's answer was wrong here: a resume asks again.
    "rate_limited": "infra_error",
    "transient": "infra_error",
    "infrastructure": "infra_error",
}


def outcome_of(attempted: Attempted) -> OutcomeKind:
    """How a key ends that ends with this attempt, unless its evaluators have trouble."""
    return "scored" if attempted.error is None else OUTCOME_OF_ERROR[attempted.error_class]


def is_owed(failed: Attempted, work: Work | None) -> bool:
    """Whether the tape that a failed attempt had been given is the next one's, too.

    It is where nobody's answer was wrong and nothing was asked beside the tape: what is on it was paid for.
    """
    return failed.error_class == "infrastructure" and (work is None or not work.live)


def timed_out(
    seconds: float, *, stage: str, limit: float | None, waited: float = 0.0, abandoned: bool = False
) -> Attempted:
    """An attempt that did not end before its deadline."""
    what = {"task": "the attempt", "case": "the case"}.get(stage, f"the hook `{stage}`")
    text = f"{what} took longer than {limit:g} s" if limit is not None else f"{what} took too long"
    if abandoned:
        text += ", ignored its cancellation and was left behind"
    return Attempted(
        error=ErrorFacts(type="Timeout", message=text, stage="task" if stage == "case" else stage),
        error_class="timeout",
        seconds=seconds,
        waited=waited,
        abandoned=int(abandoned),
    )


def cancelled(
    seconds: float,
    *,
    stage: str = "task",
    metrics: dict[str, int | float] | None = None,
    abandoned: bool = False,
) -> Attempted:
    """An attempt that was cut off because the run is being cancelled."""
    return Attempted(
        error=ErrorFacts(type="Cancelled", message="the run was cancelled", stage=stage),
        error_class="cancelled",
        seconds=seconds,
        metrics=metrics or {},
        abandoned=int(abandoned),
    )


def skipped(reason: str) -> Attempted:
    """A key that was never begun, because the budget had run out."""
    return Attempted(
        error=ErrorFacts(type="Budget", message=reason, stage="engine"),
        error_class="cancelled",
    )
