"""Which tools were called, whatever with: ToolCorrectness, ForbiddenTools, CalledBefore, NoFailedTools.

A call counts as failed where the trajectory says so: Anthropic's `is_error`, an `error=` that the task told,
the status of a span. OpenAI's messages cannot say it, so there a call counts as one that has not failed,
except for `NoFailedTools`, whose whole question it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.trajectories.calls import Called, names_of
from paceline.evaluators.trajectories.sources import NoTrajectory, tool_calls
from paceline.evaluators.wording import brief


def checked_names(names: object, evaluator: str, field: str) -> list[str]:
    """Names of tools, as a list; a text would be read letter by letter."""
    if isinstance(names, Iterable) and not isinstance(names, str | bytes):
        listed = list(names)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise UsageError(
        f"{evaluator} takes a list of names for {field}, not {brief(names)}",
        hint=f'{evaluator}(["search", "fetch"])',
    )


@dataclass
class ToolCorrectness(Evaluator[object, object, object]):
    """These tools were called, each as often as it is named, in any order; others only with `allow_extra`."""

    expected_tools: list[str]
    allow_extra: bool = False
    include_failed: bool = False
    """Whether calls that failed count as calls."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        self.expected_tools = checked_names(self.expected_tools, "ToolCorrectness", "expected_tools")

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        actual = Counter(names_of(tool_calls(ctx), include_failed=self.include_failed))
        expected = Counter(self.expected_tools)
        problems = _counted("missing tools", expected - actual)
        if not self.allow_extra:
            problems += _counted("unexpected tools", actual - expected)
        return EvaluationReason(False, "; ".join(problems)) if problems else EvaluationReason(True)


def _counted(what: str, names: Counter[str]) -> list[str]:
    told = ", ".join(f"{name!r} (x{count})" for name, count in sorted(names.items()))
    return [f"{what}: {told}"] if names else []


@dataclass
class ForbiddenTools(Evaluator[object, object, object]):
    """None of these tools was called, not even in vain."""

    tools: list[str]
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        self.tools = checked_names(self.tools, "ForbiddenTools", "tools")
        if not self.tools:
            raise UsageError(
                "ForbiddenTools without any name can never fail", hint='ForbiddenTools(["delete_file"])'
            )

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        called = Counter(names_of(tool_calls(ctx), include_failed=True))
        used = Counter({name: called[name] for name in self.tools if called[name]})
        return EvaluationReason(not used, "; ".join(_counted("forbidden tools", used)) or None)


@dataclass
class CalledBefore(Evaluator[object, object, object]):
    """The tool `first` was called, with success, before `then` was called at all.

    Without a call of `then` it fails, or says nothing with `only_if_called`.
    """

    first: str
    then: str
    only_if_called: bool = False
    include_failed: bool = False
    """Whether a failed call of `first` will do."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        for name in (self.first, self.then):
            if not isinstance(name, str):
                raise UsageError(
                    f"CalledBefore takes the names of two tools, not {brief(name)}",
                    hint='CalledBefore("read_file", "edit_file")',
                )

    def evaluate(self, ctx: AnyContext) -> Verdict:
        calls = tool_calls(ctx)
        place = next((place for place, call in enumerate(calls) if call.name == self.then), None)
        if place is None:
            return {} if self.only_if_called else EvaluationReason(False, f"{self.then!r} was never called")
        before = [call for call in calls[:place] if call.name == self.first]
        if any(self.include_failed or not call.failed for call in before):
            return EvaluationReason(True)
        if before:
            return EvaluationReason(False, f"{self.first!r} had only failed when {self.then!r} was called")
        later = "only later" if any(call.name == self.first for call in calls) else "never"
        return EvaluationReason(False, f"{self.then!r} was called, and {self.first!r} {later}")


@dataclass
class NoFailedTools(Evaluator[object, object, object]):
    """No tool has failed; of `tools`, where these are named.

    `failed_when` lists texts: a result that holds one of them has failed, too. Where a trajectory cannot say
    whether a tool has failed, as OpenAI's messages cannot, nothing is known without it, and that is an error.
    """

    tools: list[str] | None = None
    failed_when: list[str] | None = None
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        if self.tools is not None:
            self.tools = checked_names(self.tools, "NoFailedTools", "tools")
        if self.failed_when is not None:
            self.failed_when = checked_names(self.failed_when, "NoFailedTools", "failed_when")
            if not self.failed_when or "" in self.failed_when:
                raise UsageError(
                    "an empty text says nothing of a failure", hint='NoFailedTools(failed_when=["Error"])'
                )

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        calls = [call for call in tool_calls(ctx) if self.tools is None or call.name in self.tools]
        failed = [call for call in calls if self._has_failed(call)]
        if failed:
            told = ", ".join(f"{call.name} ({brief(call.result)})" for call in failed[:3])
            more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
            return EvaluationReason(False, f"{len(failed)} of {len(calls)} calls failed: {told}{more}")
        # A call without a result was asked for, and nobody has run it.
        unknown = [call for call in calls if call.failed is None and call.result is not None]
        if unknown and self.failed_when is None:
            raise NoTrajectory(
                f"whether {unknown[0].name!r} has failed is not known: OpenAI's messages have no word for "
                "it. Say how failures read, NoFailedTools(failed_when=['Error']), or tell calls with "
                "paceline.tool_call(..., error=...)"
            )
        return EvaluationReason(True)

    def _has_failed(self, call: Called) -> bool:
        return bool(call.failed) or any(text in (call.result or "") for text in self.failed_when or ())
