"""Asking a template: by code, or by one question to a judge.

What is found has the same form either way. A judge that cannot be reached, or whose answer cannot be read,
is an error, and so is a figure that does not exist: neither is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paceline.evaluators.judges.asking import ask_judge
from paceline.evaluators.judges.questions import Form, Question
from paceline.evaluators.templates.entries import Computed, Judged
from paceline.evaluators.templates.findings import Finding, OutputType, holds, scored
from paceline.evaluators.templates.given import Given

if TYPE_CHECKING:
    from paceline.evaluators.judges.asking import Judgement
    from paceline.models import Model

_FORMS: Mapping[OutputType, Form] = {"Pass/Fail": "assertion", "Score": "score", "Choices": "choice"}


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge has found, and what there is to know of how."""

    finding: Finding
    judgement: Judgement


def compute(template: Computed, given: Given) -> Finding:
    """What code finds."""
    return template.compute(**given.inputs, **given.parameters)


def question_of(template: Judged, given: Given) -> Question:
    """What a judge is asked."""
    choices = tuple(given.parameters.get("choices", template.choices))
    return Question(
        rubric=given.parameters.get("rule_prompt", template.rubric),
        shown=given.inputs,
        answer=_FORMS[template.output],
        choices=choices,
    )


async def ask(
    template: Judged, given: Given, model: Model, settings: Mapping[str, Any] | None = None
) -> Said:
    """What a judge finds."""
    judgement = await ask_judge(model, question_of(template, given), settings, part=template.name)
    return Said(_finding(template, judgement), judgement)


def _finding(template: Judged, judgement: Judgement) -> Finding:
    if judgement.passed is not None:
        return holds(judgement.passed, judgement.reason)
    if judgement.score is not None:
        return scored(judgement.score, judgement.reason)
    assert judgement.choice is not None, "one of the three was asked for, and nothing else is read"
    ranks = dict(zip(template.choices, template.ranks, strict=False))  # some have choices and no ranks
    return Finding(value=judgement.choice, score=ranks.get(judgement.choice), reason=judgement.reason)
