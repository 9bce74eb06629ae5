"""Verdicts: what a gate has found, rule by rule, and how it is told: plain data, text, Markdown.

Green is what is known to hold. Red is what does not hold, or cannot be known to. A run that is not whole is
neither: it is incomplete, and never green.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from paceline.report.text import clean

State = Literal["green", "red", "incomplete"]
EXIT_CODES: Final[dict[State, int]] = {"green": 0, "red": 1, "incomplete": 4}
FORMAT: Final = 1
SHOWN_FAILING: Final = 10
_MARKS: Final[dict[State, str]] = {"green": "ok", "red": "RED", "incomplete": "open"}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one rule."""

    rule: str
    """As it reads: `pass_rate >= 0.9`."""
    figure: str
    """The path of what it is about in the report's JSON; for other rules, their name."""
    value: float | None
    """None where it is not known."""
    bound: float | None
    interval: tuple[float | None, float | None] | None
    """Where the true value is likely to lie; None of what is counted and not estimated."""
    verdict: State
    why: str
    """In a sentence."""


class Failing(msgspec.Struct, frozen=True, kw_only=True):
    """A key that has not passed."""

    key: str
    outcome: str
    why: str


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate has found. It is true where it is green."""

    state: State
    findings: tuple[Finding, ...]
    confidence: float
    name: str
    run_id: str
    path: str | None
    failing: tuple[Failing, ...] = ()
    """The first keys that have not passed."""
    n_failing: int = 0

    def __bool__(self) -> bool:
        return self.green

    @property
    def green(self) -> bool:
        return self.state == "green"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.state]

    @property
    def red(self) -> Sequence[Finding]:
        """The rules that do not hold."""
        return [each for each in self.findings if each.verdict != "green"]

    def to_dict(self) -> dict[str, Any]:
        """As plain data: `docs/how-to/gates.md` says what the keys mean."""
        return {
            "format": FORMAT,
            "verdict": self.state,
            "exit_code": self.exit_code,
            "confidence": self.confidence,
            "findings": msgspec.to_builtins(self.findings),
            "n_failing": self.n_failing,
            "failing": msgspec.to_builtins(self.failing),
            "name": self.name,
            "run_id": self.run_id,
            "path": self.path,
        }

    def to_markdown(self) -> str:
        """As GitHub shows it, less than a megabyte."""
        from paceline.report.markdown import shown, table

        rows = (
            [_MARKS[each.verdict], shown(each.rule), shown(each.why, limit=600)] for each in self.findings
        )
        lines = table(("", "Rule", "Why"), rows, of=len(self.findings), things="rules")
        return "\n".join((f"## {shown(self.name)}: {self.state}", "", *lines, ""))

    def __str__(self) -> str:
        rules = [clean(each.rule, limit=60) for each in self.findings]
        width = max(map(len, rules), default=0)
        lines = [
            f"  {_MARKS[each.verdict]:4}  {rule:{width}}  {clean(each.why, limit=600)}"
            for rule, each in zip(rules, self.findings, strict=True)
        ]
        if self.failing:
            lines += ["", f"  not passed: {self.n_failing:,}"]
            lines += [
                f"    {clean(each.key, limit=60)}  {each.outcome}  {clean(each.why, limit=120)}".rstrip()
                for each in self.failing
            ]
            if (more := self.n_failing - len(self.failing)) > 0:
                lines.append(f"    and {more:,} more")
        return "\n".join((f"{self.state}: {clean(self.name, limit=80)}", *lines))


__all__ = ["EXIT_CODES", "FORMAT", "Failing", "Finding", "State", "Verdict"]
