"""`LLMJudge`: a model says whether the output meets a rubric, or how well.

The arguments and the names of results are those of Pydantic Evals. What is added: several votes, a scale, a
judge that is not the model under test, a certificate of calibration, and a cache of verdicts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, Asks, EvaluationReason, EvaluationScalar, Evaluator, Spared
from paceline.evaluators.judges.asking import Judgement, ask_judge
from paceline.evaluators.judges.cache import cache_of
from paceline.evaluators.judges.choosing import Which, judge_model
from paceline.evaluators.judges.fingerprint import fingerprint_of
from paceline.evaluators.judges.questions import Form, Question, Scale
from paceline.evaluators.judges.self_grading import refuse_own_answer
from paceline.evaluators.judges.settings import settings_for, written_model
from paceline.evaluators.judges.votes import Counted, counted
from paceline.evaluators.verdicts import digest_of

MOST_VOTES = 99


class OutputConfig(TypedDict, total=False):
    """How a result of a judge is given."""

    evaluation_name: str
    """What it is called; the judge's own name by default."""
    include_reason: bool
    """Whether it says why."""


def _with_reason() -> OutputConfig:
    return {"include_reason": True}


@dataclass
class LLMJudge(Evaluator[object, object, object]):
    """A model judges the output by a rubric.

    `assertion` asks whether it passes, `score` how good it is, on `scale`; False leaves one out. With several
    `votes` the majority decides, scores are averaged, and how far the votes agree is a result of its own.
    """

    rubric: str
    model: Any = None
    """By name, with options, or an object; None: the default one (`judge_model`)."""
    include_input: bool = False
    include_expected_output: bool = False
    model_settings: Mapping[str, Any] | None = None
    """Options of the model for this judge: `{"temperature": 0}`."""
    score: OutputConfig | Literal[False] = False
    assertion: OutputConfig | Literal[False] = field(default_factory=_with_reason)
    votes: int = field(default=1, kw_only=True)
    scale: Sequence[float] = field(default=(0.0, 1.0), kw_only=True)
    """The lowest and the highest score. Whole ones more than 1 apart are a scale of levels: (1, 5)."""
    allow_self_grading: bool = field(default=False, kw_only=True)
    calibration: str | None = field(default=None, kw_only=True)
    """The certificate that says how far this judge agrees with people."""
    cache: bool | str = field(default=False, kw_only=True)
    """Whether what it has said before about the same counts: True for all runs, or a folder that keeps it."""
    evaluation_name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.score is False and self.assertion is False:
            raise UsageError(
                "a judge with neither score nor assertion says nothing",
                hint="LLMJudge(rubric) asserts; LLMJudge(rubric, score={}, assertion=False) scores",
            )
        if type(self.votes) is not int or not 1 <= self.votes <= MOST_VOTES:
            raise UsageError(f"{self.votes!r} is no number of votes", hint=f"1 to {MOST_VOTES}")
        self._scale = scale_of(self.scale)
        self._question({"output": ""})  # says what is wrong with a rubric

    # What it is

    def judge(self) -> Any:
        """The model that judges."""
        return judge_model(self.model)

    @property
    def settings(self) -> Mapping[str, Any]:
        """How it is asked, in our words."""
        return settings_for(self.judge(), self.model_settings)

    @property
    def fingerprint(self) -> str:
        """Prompt, model, settings and votes as one digest: what a certificate names."""
        shown = dict.fromkeys(self._shown_names(), "")
        one = fingerprint_of(self.judge(), self._question(shown), self.settings)
        return one if self.votes == 1 else digest_of(one, self.votes)

    def asks(self) -> tuple[Asks, ...]:
        return (Asks(self.judge(), self.allow_self_grading, calls=self.votes),)

    def get_evaluator_version(self) -> str:
        """The fingerprint, and in words which model that is: a change of it is a change of the suite."""
        return f"{self.fingerprint} {self.judge().version}"

    def build_serialization_arguments(self) -> dict[str, Any]:
        arguments = super().build_serialization_arguments()
        if "model" in arguments:
            arguments["model"] = written_model(self.model)
        if arguments.get("assertion") == _with_reason():
            del arguments["assertion"]
        if "scale" in arguments:
            arguments["scale"] = list(self.scale)
        return arguments

    # What it does

    async def evaluate(self, ctx: AnyContext) -> dict[str, EvaluationScalar | EvaluationReason]:
        model, settings = self.judge(), self.settings
        if not self.allow_self_grading:
            refuse_own_answer(model, ctx)
        question, cache = self._question(self._shown(ctx)), cache_of(self.cache)

        async def vote(number: int) -> Judgement:
            return await ask_judge(model, question, settings, part=f"vote {number}", cache=cache)

        numbers = range(1, self.votes + 1)
        # All of them come to their end, whatever becomes of one: what is answered is on record, and paid for.
        answers = await asyncio.gather(*map(vote, numbers), return_exceptions=True)
        votes = all_or_error(answers)
        return self._results(counted(votes), spared=sum(vote.cached for vote in votes))

    def _shown_names(self) -> list[str]:
        return [
            *(["input"] if self.include_input else []),
            "output",
            *(["expected_output"] if self.include_expected_output else []),
        ]

    def _shown(self, ctx: AnyContext) -> dict[str, object]:
        parts = {"input": ctx.inputs, "output": ctx.output, "expected_output": ctx.expected_output}
        return {name: parts[name] for name in self._shown_names()}

    def _question(self, shown: Mapping[str, object]) -> Question:
        form: Form = "assertion" if self.score is False else "score" if self.assertion is False else "both"
        return Question(rubric=self.rubric, shown=shown, answer=form, scale=self._scale)

    def _results(self, said: Counted, *, spared: int) -> dict[str, EvaluationScalar | EvaluationReason]:
        name = self.get_default_evaluation_name()
        both = self.score is not False and self.assertion is not False
        results: dict[str, EvaluationScalar | EvaluationReason] = {}
        reason = _with_flags(said)
        if self.score is not False:
            assert said.score is not None
            _put(results, self.score, f"{name}_score" if both else name, said.score, reason, spared)
        if self.assertion is not False:
            assert said.passed is not None
            called = f"{name}_pass" if both else name
            _put(results, self.assertion, called, said.passed, reason, 0 if both else spared)
        if self.votes > 1:
            if said.agreement is not None:
                results[f"{name}_agreement"] = said.agreement
            if said.spread is not None:
                results[f"{name}_spread"] = said.spread
        return results


def all_or_error(answers: Sequence[Judgement | BaseException]) -> list[Judgement]:
    """The judgements, if they are all there; else the first error."""
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return [answer for answer in answers if isinstance(answer, Judgement)]


def _put(
    results: dict[str, EvaluationScalar | EvaluationReason],
    config: OutputConfig,
    default_name: str,
    value: bool | float,
    reason: str,
    spared: int,
) -> None:
    name = config.get("evaluation_name") or default_name
    told = reason if config.get("include_reason") else None
    results[name] = Spared(value, told, spared) if spared or told is not None else value


def _with_flags(said: Counted) -> str:
    if not said.flags:
        return said.reason
    return f"{said.reason} [what was judged tries to steer the judge: {'; '.join(said.flags)}]".strip()


def scale_of(bounds: Sequence[float]) -> Scale:
    """A scale from its lowest and highest score."""
    try:
        low, high = bounds
        levels = type(low) is int and type(high) is int and high - low > 1
        return Scale(float(low), float(high), whole=levels)
    except (TypeError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(
            f"{bounds!r:.100} is no scale", hint="the lowest and the highest score: (0.0, 1.0), or (1, 5)"
        ) from None


__all__ = ["LLMJudge", "OutputConfig", "Which", "scale_of"]
