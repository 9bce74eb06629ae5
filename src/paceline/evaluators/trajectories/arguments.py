"""ArgumentCorrectness: one call of a tool had these arguments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.structure import as_json, differences
from paceline.evaluators.trajectories.calls import Called
from paceline.evaluators.trajectories.sources import NoTrajectory, tool_calls
from paceline.evaluators.wording import brief

MatchMode = Literal["subset", "exact"]
DIFFERENCES_TOLD = 5


def told_arguments(call: Called) -> dict[str, Any] | str:
    """The arguments of a call; an error where nobody has told them."""
    if call.arguments is None:
        raise NoTrajectory(
            f"which arguments {call.name!r} was called with is not known: its span does not tell them. "
            "Have content captured where spans are made"
        )
    return call.arguments


@dataclass
class ArgumentCorrectness(Evaluator[object, object, object]):
    """A call of `tool_name` had these arguments: among others, or with `match_mode='exact'` no others.

    `occurrence` says which call of it: the first, the last, or a number from 0. Values are compared as JSON:
    1 is 1.0 and is not true.
    """

    tool_name: str
    expected_arguments: dict[str, Any]
    match_mode: MatchMode = "subset"
    occurrence: Literal["first", "last"] | int = "first"
    include_failed: bool = False
    """Whether calls that failed count as calls."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.expected_arguments, Mapping):
            raise UsageError(
                f"ArgumentCorrectness takes arguments by name, not {brief(self.expected_arguments)}",
                hint='ArgumentCorrectness("search", {"query": "x"})',
            )
        self._expected = as_json(dict(self.expected_arguments))
        if self.match_mode not in ("subset", "exact"):
            raise UsageError(
                f"ArgumentCorrectness has no match_mode {brief(self.match_mode)}",
                hint="one of: subset, exact",
            )
        which = self.occurrence
        counted = isinstance(which, int) and not isinstance(which, bool) and which >= 0
        if which not in ("first", "last") and not counted:
            raise UsageError(
                f"ArgumentCorrectness has no occurrence {brief(which)}",
                hint="first, last, or the number of a call, from 0",
            )

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        named = [call for call in tool_calls(ctx) if call.name == self.tool_name]
        calls = [call for call in named if self.include_failed or not call.failed]
        if not calls:
            why = "was never called" if not named else f"failed each of the {len(named)} times it was called"
            return EvaluationReason(False, f"{self.tool_name!r} {why}")
        call = self._chosen(calls)
        if call is None:
            times = f"{len(calls)} time{'s' if len(calls) > 1 else ''}"
            return EvaluationReason(
                False, f"{self.tool_name!r} was called {times}, so there is no call {self.occurrence}"
            )
        return self._compared(told_arguments(call))

    def _chosen(self, calls: Sequence[Called]) -> Called | None:
        match self.occurrence:
            case "first":
                return calls[0]
            case "last":
                return calls[-1]
            case number:
                return calls[number] if number < len(calls) else None

    def _compared(self, actual: dict[str, Any] | str) -> EvaluationReason:
        if isinstance(actual, str):
            return EvaluationReason(
                False, f"the arguments of {self.tool_name!r} are no JSON object: {brief(actual)}"
            )
        told = list(itertools.islice(self._differences(actual), DIFFERENCES_TOLD + 1))
        if not told:
            return EvaluationReason(True)
        more = ["and more"] if len(told) > DIFFERENCES_TOLD else []
        return EvaluationReason(False, "; ".join(told[:DIFFERENCES_TOLD] + more))

    def _differences(self, actual: dict[str, Any]) -> Iterator[str]:
        expected = self._expected
        if self.match_mode == "subset":
            # Of the arguments themselves only: a value has to be the same throughout.
            actual = {name: value for name, value in actual.items() if name in expected}
        return differences(actual, expected, self.tool_name)
