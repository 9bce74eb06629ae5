"""Several judgements of the same thing as one: the majority of verdicts, the mean of scores, and the spread.

A tie is no majority, so it does not pass. Knows judgements. Knows nothing of how they came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

from paceline.evaluators.judges.asking import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What came of the votes."""

    passed: bool | None
    score: float | None
    reason: str
    agreement: float | None
    """The share of votes that say what most say; None where they were not about passing."""
    spread: float | None
    """The standard deviation of the scores; None where there are none."""
    flags: tuple[str, ...]


def counted(votes: Sequence[Judgement]) -> Counted:
    """All votes as one."""
    verdicts = [vote.passed for vote in votes if vote.passed is not None]
    scores = [vote.score for vote in votes if vote.score is not None]
    passed = 2 * sum(verdicts) > len(verdicts) if verdicts else None
    return Counted(
        passed=passed,
        score=fmean(scores) if scores else None,
        reason=_reason(votes, passed),
        agreement=max(sum(verdicts), len(verdicts) - sum(verdicts)) / len(verdicts) if verdicts else None,
        spread=pstdev(scores) if scores else None,
        flags=tuple(dict.fromkeys(flag for vote in votes for flag in vote.flags)),
    )


def _reason(votes: Sequence[Judgement], passed: bool | None) -> str:
    """What the first of those says that have decided, and how the votes went where there are several."""
    deciding = [vote for vote in votes if vote.passed == passed] or list(votes)
    if len(votes) == 1:
        return deciding[0].reason
    if passed is None:
        return f"mean of {len(votes)}: {', '.join(f'{vote.score:g}' for vote in votes)}. {deciding[0].reason}"
    yes = sum(vote.passed is True for vote in votes)
    tie = ", a tie, which is no majority" if 2 * yes == len(votes) else ""
    return f"{yes} of {len(votes)} votes to pass{tie}. {deciding[0].reason}"


__all__ = ["Counted", "counted"]
