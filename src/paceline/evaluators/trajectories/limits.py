"""How often tools and models were asked, at most: MaxToolCalls and MaxModelRequests."""

from __future__ import annotations

from dataclasses import dataclass

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.trajectories.calls import names_of
from paceline.evaluators.trajectories.sources import model_requests, tool_calls
from paceline.evaluators.wording import brief


def _checked(limit: object, evaluator: str) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        raise UsageError(f"{evaluator} takes a whole number, not {brief(limit)}", hint=f"{evaluator}(5)")


@dataclass
class MaxToolCalls(Evaluator[object, object, object]):
    """At most so many tool calls; those that failed count, unless `include_failed=False`."""

    max_calls: int
    include_failed: bool = True
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        _checked(self.max_calls, "MaxToolCalls")

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        count = len(names_of(tool_calls(ctx), include_failed=self.include_failed))
        return EvaluationReason(count <= self.max_calls, f"{count} tool call(s), at most {self.max_calls}")


@dataclass
class MaxModelRequests(Evaluator[object, object, object]):
    """A model was asked at most so often. What the pace sends again is one request."""

    max_requests: int
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        _checked(self.max_requests, "MaxModelRequests")

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        count = model_requests(ctx)
        return EvaluationReason(
            count <= self.max_requests, f"{count} model request(s), at most {self.max_requests}"
        )
