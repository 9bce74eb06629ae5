"""NumericClose: the number in an answer is the expected one, within a tolerance.

Answers come as text: `The total is $1,234.50.`, `#### 18`, `\\boxed{\\frac{3}{4}}`. Fixed rules say where the
number stands: after GSM8K's `####`, else in the last `\\boxed{}`, else it is the last number in the text. A
percentage may be meant as written or as a fraction (`45%` is close to 45 and to 0.45), unless both sides are
percentages.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from decimal import Decimal

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator, Verdict
from paceline.evaluators.wording import brief


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it was found."""

    value: float
    is_percentage: bool = False

    def __str__(self) -> str:
        return f"{self.value:.12g}{'%' if self.is_percentage else ''}"


_NUMBER = re.compile(
    r"""
    (?<![A-Za-z0-9/])                               # not in the middle of a word, a number, a date or a path
    (?P<sign>[-+−])? (?:\\?[$€£¥₹][ \u00a0]?)? (?P<late_sign>[-−])?
    (?:
        \\[dt]?frac \{(?P<above>\d+)\} \{(?P<below>\d+)\}
      |
        (?P<digits> (?: \d{1,3}(?:,\d{3})+(?!\d) | \d+ ) (?:\.\d+)? | \.\d+ )
        (?:
            [eE](?P<exponent>[-+]?\d+)(?![A-Za-z0-9])
          | [ \u00a0]?(?:×|\\times|\\cdot|[x*])[ \u00a0]?10(?:\^\{?|\*\*)(?P<power>[-+−]?\d+)\}?
          | /(?P<over>\d+)(?![\d/])
        )?
    )
    (?P<percent>[ \u00a0]?(?:\\?%|percent\b|per[ ]cent\b))?
    """,
    re.VERBOSE,
)
_GSM8K = "####"
_BOXED = "\\boxed{"


def number_in(text: str) -> Number | None:
    """The number that a text gives as its answer."""
    text = text.replace("{,}", ",").replace("\\,", "")
    _, marked, rest = text.rpartition(_GSM8K)
    if marked:
        line = rest.lstrip().partition("\n")[0].strip(" \r\t*.")
        # A heading of Markdown begins the same way; it is more than a number.
        if (alone := _NUMBER.fullmatch(line)) and (answer := _read(alone)):
            return answer
    boxed = _last_boxed(text)
    # What is boxed is the answer, even if that is not a number.
    return _last_number(text if boxed is None else boxed)


def _last_number(text: str) -> Number | None:
    # Line by line from the end: no number goes over the end of a line, and the answer is mostly in the last.
    for line in reversed(text.splitlines()):
        if read := [number for match in _NUMBER.finditer(line) if (number := _read(match))]:
            return read[-1]
    return None


def _last_boxed(text: str) -> str | None:
    start = text.rfind(_BOXED)
    if start < 0:
        return None
    start += len(_BOXED)
    depth = 1
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : start + brace.start()]
    return text[start:]


def _read(match: re.Match[str]) -> Number | None:
    """The value of a match; None where it has none, as with a division by zero."""
    numerator = match["above"] or match["digits"].replace(",", "")
    denominator = float(match["below"] or match["over"] or 1)
    if denominator == 0:
        return None
    power = (match["exponent"] or match["power"] or "0").replace("−", "-")
    value = float(f"{numerator}e{power}") / denominator
    negative = (match["sign"] or match["late_sign"] or "+") in "-−"
    return Number(-value if negative else value, match["percent"] is not None)


@dataclass
class NumericClose(Evaluator[object, object, object]):
    """The number in the output is `value`, or the one in the expected output, within a tolerance.

    Close is what differs by no more than `rel_tol` of the larger of both, or no more than `abs_tol`.
    """

    value: float | str | None = None
    rel_tol: float = 1e-6
    abs_tol: float = 1e-9
    evaluation_name: str | None = None

    instant = True

    def __post_init__(self) -> None:
        if not (0 <= self.rel_tol < math.inf and 0 <= self.abs_tol < math.inf):
            raise UsageError(
                f"NumericClose cannot have the tolerances {self.rel_tol} and {self.abs_tol}",
                hint="NumericClose(rel_tol=0.01) for one per cent, NumericClose(abs_tol=0.5) for a half",
            )
        if self.value is not None and not _is_finite(number_of(self.value)):
            raise UsageError(f"there is no number in {brief(self.value)}", hint="NumericClose(42)")

    def evaluate(self, ctx: AnyContext) -> Verdict:
        given = ctx.expected_output if self.value is None else self.value
        if given is None:
            return {}
        wanted = number_of(given)
        if wanted is None or not _is_finite(wanted):
            raise ValueError(f"there is no number in what is expected: {brief(given)}")
        found = number_of(ctx.output)
        if found is None or not _is_finite(found):
            return EvaluationReason(False, f"there is no number in {brief(ctx.output)}; {wanted} is expected")
        if self._are_close(found, wanted):
            return EvaluationReason(True)
        return EvaluationReason(False, f"{found} is not close to {wanted}")

    def _are_close(self, found: Number, wanted: Number) -> bool:
        readings = [found.value]
        # In the unit of what is wanted, for that is the unit of the tolerance.
        if found.is_percentage and not wanted.is_percentage:
            readings.append(found.value / 100)
        if wanted.is_percentage and not found.is_percentage:
            readings.append(found.value * 100)
        return any(
            math.isclose(reading, wanted.value, rel_tol=self.rel_tol, abs_tol=self.abs_tol)
            for reading in readings
        )


def number_of(value: object) -> Number | None:
    """The number that a value is, or that is found in it if it is text."""
    if isinstance(value, str):
        return number_in(value)
    if isinstance(value, bool):
        # Python counts it among the integers; nobody else does.
        return None
    return Number(float(value)) if isinstance(value, numbers.Real | Decimal) else None


def _is_finite(number: Number | None) -> bool:
    return number is not None and math.isfinite(number.value)
