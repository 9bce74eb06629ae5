"""Equality: the output is this value, the expected one, or one of several.

Instant. What `==` raises is the evaluator's error, and so is an answer that is neither true nor false,
as arrays give: an evaluator that cannot tell must not pass.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.wording import brief, kind_of


def equal(left: object, right: object) -> bool:
    """Whether `left == right`; TypeError where that is not a yes or no."""
    try:
        same: Any = left == right
    except ValueError as error:
        if "ambiguous" not in str(error):
            raise
        # A container that holds an array.
        raise _no_answer(left, right) from error
    if same is True or same is False:
        return bool(same)
    if getattr(same, "shape", None) == () and callable(getattr(same, "item", None)):
        return bool(same.item())
    raise _no_answer(left, right)


def _no_answer(left: object, right: object) -> TypeError:
    return TypeError(
        f"{kind_of(left)} == {kind_of(right)} is neither true nor false; compare them in a function of "
        "your own, such as `lambda output, expected: (output == expected).all()`"
    )


@dataclass
class Equals(Evaluator[object, object, object]):
    """The output equals `value`."""

    value: Any
    evaluation_name: str | None = None

    instant = True

    def evaluate(self, ctx: AnyContext) -> bool:
        return equal(ctx.output, self.value)


@dataclass
class EqualsExpected(Evaluator[object, object, object]):
    """The output equals the expected output; without an expected output it says nothing."""

    evaluation_name: str | None = None

    instant = True

    def evaluate(self, ctx: AnyContext) -> bool | dict[str, bool]:
        if ctx.expected_output is None:
            return {}
        return equal(ctx.output, ctx.expected_output)


@dataclass
class OneOf(Evaluator[object, object, object]):
    """The output equals one of `values`; without these, one of those in the expected output (a list, or one).

    For text, `strip` looks past space around it, and `case_sensitive=False` past upper and lower case.
    """

    values: list[Any] | None = None
    case_sensitive: bool = True
    strip: bool = False
    evaluation_name: str | None = None

    instant = True

    def __post_init__(self) -> None:
        values: object = self.values
        if values is None:
            return
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise UsageError(f"OneOf takes a list, not {brief(values)}", hint="OneOf(['yes', 'no'])")
        self.values = list(values)
        if not self.values:
            raise UsageError("OneOf without any value can never pass", hint="OneOf(['yes', 'no'])")

    def evaluate(self, ctx: AnyContext) -> Verdict:
        allowed = _listed(ctx.expected_output) if self.values is None else self.values
        if allowed is None:
            return {}
        output = self._seen(ctx.output)
        if any(equal(output, self._seen(value)) for value in allowed):
            return EvaluationReason(True)
        return EvaluationReason(False, f"{brief(ctx.output)} is none of {brief(allowed)}")

    def _seen(self, value: object) -> object:
        if not isinstance(value, str):
            return value
        text = value.strip() if self.strip else value
        return text if self.case_sensitive else text.casefold()


def _listed(expected: object) -> list[object] | None:
    if expected is None:
        return None
    return list(expected) if isinstance(expected, list | tuple | set | frozenset) else [expected]
