"""TrajectoryMatch: how far the sequence of tools that were called is the expected one, from 0 to 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.trajectories.calls import names_of
from paceline.evaluators.trajectories.sources import tool_calls
from paceline.evaluators.trajectories.tools import checked_names
from paceline.evaluators.wording import brief

Order = Literal["exact", "in_order", "any_order"]

LONGEST = 20_000_000
"""Product of the lengths of two sequences that are compared in order: seconds of work."""


def in_common(actual: Sequence[str], expected: Sequence[str], order: Order) -> int:
    """How many calls are in both: at the same places, in the same order, or in any."""
    match order:
        case "exact":
            return len(expected) if list(actual) == list(expected) else 0
        case "in_order":
            return _common_subsequence(actual, expected)
        case "any_order":
            return (Counter(actual) & Counter(expected)).total()


def f1(common: int, actual: int, expected: int) -> float:
    """Harmonic mean of precision and recall; nothing expected and nothing done is a match."""
    return 2 * common / (actual + expected) if actual or expected else 1.0


def _common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Length of the longest common subsequence: a row of the table is one integer (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for place, name in enumerate(left):
        places[name] = places.get(name, 0) | 1 << place
    every = row = (1 << len(left)) - 1
    for name in right:
        met = row & places.get(name, 0)
        row = ((row + met) | (row - met)) & every
    return len(left) - row.bit_count()


@dataclass
class TrajectoryMatch(Evaluator[object, object, object]):
    """How far the tools that were called are the expected ones: a score from 0 to 1.

    `exact` is 1 or 0; `in_order` and `any_order` are the F1 of calls that are in both. With a `threshold`
    there is an assertion besides, under the name of the evaluator with `_pass`.
    """

    expected_trajectory: list[str]
    order: Order = "in_order"
    include_failed: bool = False
    """Whether calls that failed count as calls."""
    evaluation_name: str | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        self.expected_trajectory = checked_names(
            self.expected_trajectory, "TrajectoryMatch", "expected_trajectory"
        )
        if self.order not in get_args(Order):
            raise UsageError(
                f"TrajectoryMatch has no order {brief(self.order)}",
                hint=f"one of: {', '.join(get_args(Order))}",
            )
        limit: object = self.threshold
        if limit is None:
            return
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit <= 1:
            raise UsageError(
                f"the threshold of TrajectoryMatch is from 0 to 1, not {brief(limit)}",
                hint='TrajectoryMatch(["search", "fetch"], threshold=1)',
            )

    def evaluate(self, ctx: AnyContext) -> EvaluationReason | dict[str, EvaluationReason]:
        score = self._score(names_of(tool_calls(ctx), include_failed=self.include_failed))
        if self.threshold is None:
            return score
        name = self.get_default_evaluation_name()
        return {name: score, f"{name}_pass": EvaluationReason(score.value >= self.threshold, score.reason)}  # type: ignore[operator]  # it is a float

    def _score(self, actual: list[str]) -> EvaluationReason:
        expected = self.expected_trajectory
        if self.order == "exact":
            same = actual == expected
            words = "is" if same else "is not"
            return EvaluationReason(float(same), f"{_listed(actual)} {words} {_listed(expected)}")
        if self.order == "in_order" and len(actual) * len(expected) > LONGEST:
            raise ValueError(
                f"{len(actual)} calls are too many to compare in order with {len(expected)}; "
                "order='any_order' takes any number"
            )
        common = in_common(actual, expected, self.order)
        score = f1(common, len(actual), len(expected))
        reason = (
            f"{common} in common, of {len(actual)} called and {len(expected)} expected (F1 {score:.3f}): "
            f"{_listed(actual)}, expected {_listed(expected)}"
        )
        return EvaluationReason(score, reason)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:20])
    return f"[{shown}, ...]" if len(names) > 20 else f"[{shown}]"
