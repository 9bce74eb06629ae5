"""What came of checking requirements: verdict by verdict, and together.

A requirement that could not be checked is not fulfilled, and is told apart from one that was found not to be:
its `error` says why nothing is known. Nothing that is unknown makes an answer pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from paceline.evaluators.wording import brief

Status = Literal["fulfilled", "unfulfilled", "unchecked"]

COVERAGE: Final = "coverage"
"""What the confirmation at the end is called among the results."""


class Verdict(msgspec.Struct, frozen=True):
    """What a call has said of a requirement; this is what goes on record."""

    fulfilled: bool
    feedback: str = ""
    flags: tuple[str, ...] = ()
    """Attempts to steer the judge that stand in the answer. They change no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementResult:
    """What is known of one requirement."""

    id: str
    text: str
    fulfilled: bool
    feedback: str = ""
    """What was said of it; where it could not be checked, that, and why."""
    error: str | None = None
    """Why it could not be checked: the type and the message of what was raised."""
    flags: tuple[str, ...] = ()
    """Attempts to steer a judge that stand in the answer. They change no verdict."""
    exception: BaseException | None = field(default=None, repr=False, compare=False)
    turned_away: bool = field(default=False, repr=False)
    """Whether nobody was asked, and nobody will be for now: the money is spent, the key is refused, or the
    run is ending."""

    @property
    def status(self) -> Status:
        """`fulfilled`, `unfulfilled`, or `unchecked`, of which nothing is known."""
        if self.error is not None:
            return "unchecked"
        return "fulfilled" if self.fulfilled else "unfulfilled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementScores:
    """What is known of an answer: a result for each requirement, in the order in which they were given."""

    results: tuple[RequirementResult, ...]
    review: Any = None
    """What `before` has returned."""
    coverage: RequirementResult | None = None
    """What `confirm_coverage` has said; None where it was not asked."""

    @property
    def passed(self) -> bool:
        """All are fulfilled, and whoever was asked to confirm that they are enough has done so."""
        return self.all_fulfilled and (self.coverage is None or self.coverage.fulfilled)

    @property
    def all_fulfilled(self) -> bool:
        """Whether each requirement was checked, and is fulfilled."""
        return all(result.fulfilled for result in self.results)

    @property
    def share(self) -> float:
        """The share of requirements that are known to be fulfilled."""
        return sum(result.fulfilled for result in self.results) / len(self.results)

    @property
    def unfulfilled(self) -> tuple[RequirementResult, ...]:
        """Those that are not fulfilled, unchecked ones included."""
        return tuple(result for result in self.results if not result.fulfilled)

    @property
    def unchecked(self) -> tuple[RequirementResult, ...]:
        """Those that could not be checked; the confirmation at the end is among them where it failed."""
        asked = (*self.results, *((self.coverage,) if self.coverage is not None else ()))
        return tuple(result for result in asked if result.error is not None)

    @property
    def feedback(self) -> str:
        """What is missing, a line for each requirement, for whoever is to write a better answer."""
        if not self.unfulfilled:
            whole = _all_are(len(self.results))
            return whole if self.coverage is None else f"{whole}\n{_line(self.coverage)}"
        head = f"{len(self.unfulfilled)} of {len(self.results)} requirements are not fulfilled:"
        return "\n".join([head, *map(_line, self.unfulfilled)])

    @property
    def summary(self) -> str:
        """The same in one line, for reports."""
        if self.passed:
            return _all_are(len(self.results))
        if self.coverage is not None and not self.unfulfilled:
            return f"{_all_are(len(self.results))}, but {_told(self.coverage)}"
        missing = "; ".join(f"{brief(each.text)}: {_told(each)}" for each in self.unfulfilled)
        return f"{len(self.unfulfilled)} of {len(self.results)} not fulfilled: {missing}"


def _all_are(number: int) -> str:
    return f"all {number} requirements are fulfilled" if number > 1 else "the requirement is fulfilled"


def _line(result: RequirementResult) -> str:
    return f"- {result.text}: {_told(result)}"


def _told(result: RequirementResult) -> str:
    return result.feedback.strip() or ("confirmed" if result.fulfilled else "not fulfilled")


__all__ = ["RequirementResult", "RequirementScores", "Status", "Verdict"]
