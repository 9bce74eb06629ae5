"""Where a key stands, by what a journal says of it; each state carries what a resume needs to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from paceline.journal.records import OutcomeKind

Verdict = Literal["passed", "failed", "unasserted"]


@dataclass(frozen=True, slots=True)
class New:
    """Nothing is on record."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """Attempts were started, and none has come to an end that counts."""

    attempts: int


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing is left to do."""

    outcome: OutcomeKind
    verdict: Verdict | None = None
    """For a scored key: whether it passed."""


@dataclass(frozen=True, slots=True)
class Changed:
    """On record is another content of the case: it has to run again, whatever is on record."""

    attempts: int


@dataclass(frozen=True, slots=True)
class ToScore:
    """The output is on record, some of its scores are not. The task must not run again."""

    attempts: int
    output: int
    """Offset of the line that holds the output: an `OutputLine` or an `OutcomeLine`."""
    scores: tuple[int, ...]
    """Offsets of the lines that hold scores which have landed: `ScoresLine` or `OutcomeLine`."""
    outcome: OutcomeKind | None = None
    """How scoring ended before; None where it was cut off."""
    verdicts: tuple[int, ...] = ()
    """Offsets of the lines that hold what evaluators have concluded in part (`VerdictLine`)."""


@dataclass(frozen=True, slots=True)
class OpenAgain:
    """It came to an end that a resume does not leave at that."""

    outcome: OutcomeKind
    attempts: int


KeyState: TypeAlias = New | Interrupted | Done | Changed | ToScore | OpenAgain
