"""`score_requirements`: the same outside of a run, such as in the inner loop of a tree search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paceline.errors import UsageError
from paceline.evaluators.base import EvaluatorContext
from paceline.evaluators.requirements.calling import seen_in
from paceline.evaluators.requirements.checking import check
from paceline.evaluators.requirements.choosing import TIMEOUT_S, Step, choice_of
from paceline.evaluators.requirements.given import requirements_of
from paceline.evaluators.requirements.results import RequirementScores


async def score_requirements(
    answer: object,
    requirements: Iterable[object],
    *,
    model: Any = None,
    scorer: Step | None = None,
    before: Step | None = None,
    confirm_coverage: Step | bool = False,
    max_concurrency: int | None = None,
    timeout: float | None = TIMEOUT_S,  # noqa: ASYNC109  # of each call, which stands still while one waits
    inputs: object = None,
    expected_output: object = None,
    metadata: object = None,
    include_input: bool = False,
    include_expected_output: bool = False,
    model_settings: Mapping[str, Any] | None = None,
) -> RequirementScores:
    """Check an answer against each requirement, all of them together; results are in the given order.

    Each is asked of a model, with `model_settings`, or of `scorer`, an async function of your own. The judge
    sees the answer, `inputs` with `include_input`, `expected_output` likewise, and what `before` has said.

    A requirement whose call fails is not fulfilled, and its result says why. `before` is called first, and
    what it raises is raised; `confirm_coverage` is called at the end, if all are fulfilled. At most
    `max_concurrency` calls of this answer are in flight; a `slot` in the scorer bounds those of several.
    """
    choice = choice_of(
        scorer=scorer,
        before=before,
        confirm_coverage=confirm_coverage,
        max_concurrency=max_concurrency,
        timeout=timeout,
        model=model,
        model_settings=model_settings,
        include_input=include_input,
        include_expected_output=include_expected_output,
    )
    given = requirements_of(requirements)
    if confirm_coverage is True and inputs is None:
        raise UsageError(
            "nobody can say whether an answer covers what was asked for without having seen that",
            hint="score_requirements(..., inputs=...)",
        )
    ctx = EvaluatorContext(
        name="", inputs=inputs, output=answer, expected_output=expected_output, metadata=metadata
    )
    return await check(given, choice.checks(), seen_in(ctx))


__all__ = ["score_requirements"]
