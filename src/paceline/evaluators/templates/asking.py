"""Asking a template: by code, by vectors, or by one question to a judge.

What is found has the same form either way. A judge that cannot be reached, or whose answer cannot be read,
is an error, and so is a figure that does not exist: neither is a finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from paceline.errors import UsageError
from paceline.evaluators.judges.asking import ask_judge
from paceline.evaluators.judges.questions import Form, Question
from paceline.evaluators.templates.entries import Computed, Embedded, Judged
from paceline.evaluators.templates.findings import Finding, OutputType, holds, scored
from paceline.evaluators.templates.given import Given
from paceline.evaluators.verdicts import concluded, digest_of
from paceline.models.embeddings import EXAMPLE, embedder

if TYPE_CHECKING:
    from paceline.evaluators.judges.asking import Judgement
    from paceline.models import Model
    from paceline.models.embeddings import Embedder, Vectors

_FORMS: Mapping[OutputType, Form] = {"Pass/Fail": "assertion", "Score": "score", "Choices": "choice"}


@dataclass(frozen=True, slots=True)
class Said:
    """What a judge has found, and what there is to know of how."""

    finding: Finding
    judgement: Judgement


class Located(NamedTuple):
    """What was found by vectors, and the last of them; none where it was on record, or none were needed."""

    finding: Finding
    vectors: Vectors | None


def compute(template: Computed, given: Given) -> Finding:
    """What code finds."""
    return template.compute(**given.inputs, **given.parameters)


def embedder_for(template: Embedded, which: Any) -> Embedder:
    """The model of embeddings that is named. There is no default: a judge is none."""
    if which is None:
        raise UsageError(
            f"{template.name} wants a model of embeddings",
            hint=f'model="{EXAMPLE}", or model="sim" to try it',
        )
    return embedder(which)


async def embed(template: Embedded, given: Given, embedder: Embedder) -> Located:
    """What is found by the vectors of texts. In a run it is on record as soon as it is there."""
    told: list[Vectors] = []

    async def find() -> Finding:
        asking = template.compute(**given.inputs, **given.parameters)
        try:
            texts = next(asking)
            while True:
                told.append(await embedder.embed(texts))
                texts = asking.send(told[-1].vectors)
        except StopIteration as ended:
            return cast("Finding", ended.value)

    seen = digest_of("vectors", embedder.version, dict(given.inputs), dict(given.parameters))
    return Located(await concluded(template.name, seen, find, Finding), told[-1] if told else None)


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
