"""Matches: a regular expression that cannot hang the process.

Where it is tried is decided by what it may cost (see `patterns`): in place with `re` where that is a few
milliseconds at worst; with RE2, whose time is linear, where that is installed and known to read pattern and
text as `re` does; else in a child process with a deadline (see `apart`). The answer is the same in all three.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.apart import TookTooLong, matches_apart
from paceline.evaluators.base import AnyContext, EvaluationReason, Evaluator
from paceline.evaluators.patterns import bound
from paceline.evaluators.wording import brief, kind_of

LONGEST_TIMEOUT_S = 3600.0


class PatternTooSlow(Exception):
    """A pattern did not come to an end in time: whether it matches is not known."""


class Pattern:
    """A compiled pattern whose every use ends in bounded time."""

    def __init__(self, pattern: str, *, whole: bool, ignore_case: bool = False, timeout: float = 1.0) -> None:
        if not 0 < timeout <= LONGEST_TIMEOUT_S:
            raise UsageError(f"a pattern cannot have {timeout} s of time", hint="give it a second or two")
        self._pattern, self._whole, self._timeout = pattern, whole, timeout
        self._flags = int(re.IGNORECASE) if ignore_case else 0
        compiled = _compiled(pattern, self._flags)
        self._in_place = compiled.fullmatch if whole else compiled.search
        cost = bound(pattern, self._flags, whole=whole)
        self.is_linear = cost.is_linear
        self.is_bounded = cost.is_finite
        self._longest_in_place = cost.longest_in_place
        self._linear = None if self.is_linear else _linear_engine(pattern, self._flags, whole=whole)

    def __reduce__(self) -> tuple[object, ...]:
        # What is compiled cannot go to another process.
        return _again, (self._pattern, self._whole, bool(self._flags), self._timeout)

    def matches(self, text: str) -> bool:
        """Whether it matches; PatternTooSlow if that could not be told in time."""
        if len(text) <= self._longest_in_place:
            return self._in_place(text) is not None
        if self._linear is not None and _reads_alike(text):
            return self._linear(text) is not None
        try:
            return matches_apart(self._pattern, self._flags, text, whole=self._whole, timeout=self._timeout)
        except TookTooLong:
            raise PatternTooSlow(
                f"pattern {brief(self._pattern)} took longer than {self._timeout:g} s on {len(text)} "
                "characters: its repeats, in or next to each other, share them in too many ways"
            ) from None


def _again(pattern: str, whole: bool, ignore_case: bool, timeout: float) -> Pattern:
    return Pattern(pattern, whole=whole, ignore_case=ignore_case, timeout=timeout)


def _compiled(pattern: Any, flags: int) -> re.Pattern[str]:
    try:
        if not isinstance(pattern, str):
            raise TypeError("it has to be text")
        return re.compile(pattern, flags)
    except (re.error, OverflowError, RecursionError, TypeError) as error:
        raise UsageError(
            f"{brief(pattern)} is not a regular expression: {error}",
            hint="the syntax is that of Python's `re`, with \\ before a sign that is meant as itself",
        ) from error


def _linear_engine(pattern: str, flags: int, *, whole: bool) -> Callable[[str], object] | None:
    """RE2's match or search, where it is installed, takes the pattern, and means the same by it."""
    if not pattern.isascii() or any(spelling in pattern for spelling in _READ_DIFFERENTLY):
        return None
    try:
        import re2
    except ImportError:
        return None
    if not hasattr(re2, "Options"):
        # Another package of that name, which falls back to backtracking.
        return None
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not flags
    try:
        compiled: Any = re2.compile(pattern, options)
    except re2.error:
        return None
    engine: Callable[[str], object] = compiled.fullmatch if whole else compiled.search
    return engine


_READ_DIFFERENTLY = ("[:", "{,", r"\B", *(f"\\{digit}" for digit in range(10)))
"""Classes by name, repeats without a lower end, an empty text's inside, octal signs and references."""

_SPACE_ONLY_FOR_RE = re.compile("[\x0b\x1c-\x1f]")


def _reads_alike(text: str) -> bool:
    # Beyond ASCII, what a letter, a digit and an upper case is differs; so does `$` before a last newline.
    return text.isascii() and not text.endswith("\n") and not _SPACE_ONLY_FOR_RE.search(text)


@dataclass
class Matches(Evaluator[object, object, object]):
    """The output is text that `pattern` matches: somewhere in it, or all of it with `full_match`.

    The syntax is that of Python's `re`. A pattern that takes longer than `timeout` seconds is an error of the
    evaluator, never a pass.
    """

    pattern: str
    full_match: bool = False
    ignore_case: bool = False
    timeout: float = 1.0
    evaluation_name: str | None = None
    # Told by the pattern here, and by the class elsewhere.
    instant: bool = field(init=False, repr=False, compare=False, default=False)  # type: ignore[misc]

    def __post_init__(self) -> None:
        self._bounded = Pattern(
            self.pattern, whole=self.full_match, ignore_case=self.ignore_case, timeout=self.timeout
        )
        self.instant = self._bounded.is_linear

    def evaluate(self, ctx: AnyContext) -> EvaluationReason:
        output = ctx.output
        if not isinstance(output, str):
            return EvaluationReason(False, f"the output is {kind_of(output)}, not text")
        if self._bounded.matches(output):
            return EvaluationReason(True)
        return EvaluationReason(False, f"{brief(output)} does not match {brief(self.pattern)}")
