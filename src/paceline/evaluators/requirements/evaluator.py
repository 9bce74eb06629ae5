"""Requirements: the answer of each case against its requirements, those of all cases at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from paceline.evaluators.base import AnyContext, Asks, EvaluationReason, Evaluator
from paceline.evaluators.requirements.calling import seen_in
from paceline.evaluators.requirements.checking import check
from paceline.evaluators.requirements.choosing import TIMEOUT_S, Step, choice_of
from paceline.evaluators.requirements.given import requirements_in, requirements_of
from paceline.evaluators.requirements.results import RequirementResult, RequirementScores


class RequirementsUnchecked(ExceptionGroup[Exception]):
    """Nothing can be said of a case: nobody answers, or none of its requirements could be checked."""


@dataclass
class Requirements(Evaluator[object, object, object]):
    """The output fulfils each of several requirements, each checked by a call of its own, all together.

    Beside the assertion there is the share of requirements that are fulfilled, as a score under the name of
    the evaluator with `_share`, and what was said of each, as a label under the name with its id.
    """

    keeps_time: ClassVar[bool] = True
    """By `timeout`, for each call."""

    requirements: str | Sequence[str | Mapping[str, str | int]] = "requirements"
    """The same for all cases; or the key under which the metadata of each case has its own."""
    model: Any = None
    """Who judges, where no scorer does; None: the default judge model."""
    include_input: bool = False
    include_expected_output: bool = False
    model_settings: dict[str, Any] | None = None
    max_concurrency: int | None = None
    """Calls in flight, over all cases at once; None: as many as there are."""
    scorer: Step | None = None
    """An async function of yours that checks one requirement."""
    before: Step | None = None
    """One that is called first, once for each case."""
    confirm_coverage: Step | bool = False
    """One that is called where all are fulfilled, and says whether they are enough; True: the judge."""
    timeout: float | None = TIMEOUT_S
    """Seconds of work for each call; waiting for a limit does not count."""
    allow_self_grading: bool = False
    """Let the judge be the model under test."""
    evaluation_name: str | None = None

    def __post_init__(self) -> None:
        of_each_case = isinstance(self.requirements, str)
        self._given = None if of_each_case else requirements_of(self.requirements)
        self._choice = choice_of(
            scorer=self.scorer,
            before=self.before,
            confirm_coverage=self.confirm_coverage,
            max_concurrency=self.max_concurrency,
            timeout=self.timeout,
            model=self.model,
            model_settings=self.model_settings,
            include_input=self.include_input,
            include_expected_output=self.include_expected_output,
        )

    def asks(self) -> tuple[Asks, ...]:
        return (Asks(self._choice.judge(), self.allow_self_grading),) if self._choice.needs_judge else ()

    def get_evaluator_version(self) -> str | None:
        """What decides its verdicts, as far as that is known: a change of it is a change of the suite."""
        checks = self._choice.checks()
        known = (each.version for each in (checks.before, checks.scorer, checks.confirm) if each is not None)
        judge = self._choice.judge().version if self._choice.needs_judge else None
        return " ".join(version for version in (*known, judge) if version is not None) or None

    def build_serialization_arguments(self) -> dict[str, Any]:
        arguments = super().build_serialization_arguments()
        if "model" in arguments:
            from paceline.evaluators.judges.settings import written_model

            arguments["model"] = written_model(self.model)
        return arguments

    async def evaluate(self, ctx: AnyContext) -> dict[str, EvaluationReason]:
        given = self._given or requirements_in(ctx.metadata, str(self.requirements))
        if self._choice.needs_judge and not self.allow_self_grading:
            from paceline.evaluators.judges.self_grading import refuse_own_answer

            refuse_own_answer(self._choice.judge(), ctx)
        scores = await check(given, self._choice.checks(), seen_in(ctx))
        _refuse_ignorance(scores)
        return dict(self._said(scores))

    def _said(self, scores: RequirementScores) -> Iterator[tuple[str, EvaluationReason]]:
        name = self.get_default_evaluation_name()
        number = len(scores.results)
        unchecked = scores.unchecked
        yield name, EvaluationReason(scores.passed, scores.summary + _flagged(scores))
        fulfilled = f"{number - len(scores.unfulfilled)} of {number} are fulfilled"
        unknown = f", {len(unchecked)} could not be checked" if unchecked else ""
        yield f"{name}_share", EvaluationReason(scores.share, fulfilled + unknown)
        if unchecked:
            errors = "; ".join(f"{each.id}: {each.error}" for each in unchecked)
            yield f"{name}_unchecked", EvaluationReason(len(unchecked), errors)
        if scores.coverage is not None:
            yield f"{name}_coverage", _label(scores.coverage)
        for result in scores.results:
            yield f"{name}.{result.id}", _label(result)


def _label(result: RequirementResult) -> EvaluationReason:
    said = f": {result.feedback}" if result.feedback else ""
    return EvaluationReason(result.status, f"{result.text}{said}")


def _flagged(scores: RequirementScores) -> str:
    flags = {flag: None for result in scores.results for flag in result.flags}
    return f" [what was judged tries to steer the judge: {'; '.join(flags)}]" if flags else ""


def _refuse_ignorance(scores: RequirementScores) -> None:
    """Raise where a verdict on the answer would be one on the provider: a resume asks again."""
    unchecked = scores.unchecked
    if any(each.turned_away for each in unchecked) or all(each.error for each in scores.results):
        errors = [_as_exception(each) for each in unchecked]
        raise RequirementsUnchecked(
            f"{len(unchecked)} of {len(scores.results)} requirements could not be checked", errors
        )


def _as_exception(result: RequirementResult) -> Exception:
    error = result.exception
    # `SystemExit` and the like stand in no group of plain errors.
    return error if isinstance(error, Exception) else RuntimeError(result.error)


__all__ = ["Requirements", "RequirementsUnchecked"]
