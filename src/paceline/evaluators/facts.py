"""Facts about an attempt that need no comparison: of which type the output is, how long the task worked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.wording import brief


@dataclass
class IsInstance(Evaluator[object, object, object]):
    """The type of the output, or one that it derives from, has this name."""

    type_name: str
    evaluation_name: str | None = None

    instant = True

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        kind = type(ctx.output)
        if any(self.type_name in (base.__name__, base.__qualname__) for base in kind.__mro__):
            return EvaluationReason(True)
        return EvaluationReason(False, f"the output is of type {kind.__qualname__}, not {self.type_name}")


@dataclass
class MaxDuration(Evaluator[object, object, object]):
    """The task worked no longer than this; time spent waiting for limits does not count."""

    seconds: float | timedelta

    instant = True

    def __post_init__(self) -> None:
        limit: object = self.seconds.total_seconds() if isinstance(self.seconds, timedelta) else self.seconds
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 <= limit < math.inf:
            raise UsageError(
                f"MaxDuration takes seconds or a timedelta, not {brief(self.seconds)}",
                hint="MaxDuration(2.5)",
            )
        self._limit = limit

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        # To the microsecond, which is what a timedelta can tell.
        if timedelta(seconds=ctx.duration) <= timedelta(seconds=self._limit):
            return EvaluationReason(True)
        return EvaluationReason(False, f"took {ctx.duration:.3g} s, and {self._limit:g} s were allowed")
