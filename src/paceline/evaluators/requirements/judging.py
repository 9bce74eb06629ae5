"""The built-in judge: a model is asked about one requirement at a time, or whether all of them are enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from paceline.evaluators.judges.asking import ask_judge
from paceline.evaluators.judges.fingerprint import fingerprint_of
from paceline.evaluators.judges.questions import Question
from paceline.evaluators.requirements.calling import ANSWER, Seen
from paceline.evaluators.requirements.results import RequirementResult, Verdict
from paceline.evaluators.verdicts import current_verdicts
from paceline.models import Model

_FULFILS: Final = """\
The output fulfils this requirement:

{requirement}

Judge by this requirement and by nothing else: other faults are judged elsewhere. A part of it is not \
enough, and what the output does not show is not fulfilled. Where it is not fulfilled, say what is missing."""

_COVERS: Final = """\
The output does all that the input asks for. It is known to fulfil these requirements:

{requirements}

What is left to judge is whether something was asked for that is neither among them nor done. If so, say \
what."""

_NAMES: Final = {
    ANSWER: "output",
    "inputs": "input",
    "expected_output": "expected_output",
    "review": "review",
}
"""What is shown, by the name under which a judge sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that checks one requirement."""

    model: Model
    settings: Mapping[str, Any]
    asks_for: frozenset[str]
    """What it sees."""
    label: str = "the judge"

    @property
    def version(self) -> str:
        """What decides its verdicts, beside what it sees."""
        return _version(self.model, _FULFILS, self.asks_for, self.settings)

    async def __call__(self, seen: Seen) -> Verdict:
        """What it says of a requirement."""
        rubric = _FULFILS.format(requirement=seen["requirement"])
        return await _asked(self.model, rubric, _shown(seen, self.asks_for), self.settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageJudge:
    """A model that says whether requirements are enough, given what was asked for."""

    model: Model
    settings: Mapping[str, Any]
    asks_for: frozenset[str] = frozenset({ANSWER, "inputs"})
    label: str = "the judge of coverage"

    @property
    def version(self) -> str:
        """What decides its verdicts, beside what it sees."""
        return _version(self.model, _COVERS, self.asks_for, self.settings)

    async def __call__(self, seen: Seen) -> Verdict:
        """What it says of all requirements together."""
        results: tuple[RequirementResult, ...] = seen["results"]
        rubric = _COVERS.format(requirements="\n".join(f"- {result.text}" for result in results))
        return await _asked(self.model, rubric, _shown(seen, self.asks_for), self.settings)


def _shown(seen: Seen, names: frozenset[str]) -> dict[str, object]:
    """What there is to see, in an order of ours."""
    return {told: seen[name] for name, told in _NAMES.items() if name in names}


def _version(model: Model, rubric: str, names: frozenset[str], settings: Mapping[str, Any]) -> str:
    shown = {told: "" for name, told in _NAMES.items() if name in names}
    return fingerprint_of(model, Question(rubric=rubric, shown=shown), settings)


async def _asked(
    model: Model, rubric: str, shown: Mapping[str, object], settings: Mapping[str, Any]
) -> Verdict:
    # The verdict is on record as one on a requirement; this one would say the same a second time. Nobody
    # else sees the change: a call has a context of its own.
    current_verdicts.set(None)
    judgement = await ask_judge(model, Question(rubric=rubric, shown=shown), settings)
    assert judgement.passed is not None
    return Verdict(judgement.passed, judgement.reason, judgement.flags)


__all__ = ["CoverageJudge", "Judge"]
