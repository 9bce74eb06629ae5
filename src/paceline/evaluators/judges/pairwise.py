"""`Pairwise`: which of two answers is the better one, judged in both orders.

Judges prefer what they read first, or last. So each pair is judged twice, the second time the other way
round; where the two verdicts disagree, nothing is known but that, and it is a tie. How often they agree is
told for each case as a score of its own, whose mean is the judge's position consistency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from paceline.errors import UsageError
from paceline.evaluators.base import AnyContext, Asks, EvaluationReason, EvaluationScalar, Evaluator, Spared
from paceline.evaluators.judges.asking import Judgement, ask_judge
from paceline.evaluators.judges.cache import cache_of
from paceline.evaluators.judges.choosing import judge_model
from paceline.evaluators.judges.fencing import told
from paceline.evaluators.judges.fingerprint import fingerprint_of
from paceline.evaluators.judges.llm_judge import all_or_error
from paceline.evaluators.judges.questions import Question
from paceline.evaluators.judges.self_grading import refuse_own_answer
from paceline.evaluators.judges.settings import settings_for, written_model

Winner = Literal["win", "tie", "loss"]
FIRST: Final = "first"
SECOND: Final = "second"
NEITHER: Final = "neither"
IN_ORDER: Final[Mapping[str, str]] = {"output first": FIRST, "output second": SECOND}
"""The two questions about a pair, and the choice in each that is the output."""
SCORES: Final[Mapping[Winner, float]] = {"win": 1.0, "tie": 0.5, "loss": 0.0}
_RUBRIC: Final = """\
Two answers to the same are shown, the first and the second. Choose the one that does better by what \
follows, and "neither" where they do equally well. Which of them is shown first means nothing.

{rubric}"""


@dataclass
class Pairwise(Evaluator[object, object, object]):
    """A model says whether the output is better than another answer, asked in both orders.

    The score is 1 for a win, 0 for a loss and 0.5 for a tie; two verdicts that disagree are a tie.
    """

    rubric: str
    model: Any = None
    """By name, with options, or an object; None: the default one (`judge_model`)."""
    against: str = "expected_output"
    """The other answer: `expected_output`, or a key of the case's metadata as `metadata.KEY`."""
    include_input: bool = False
    model_settings: Mapping[str, Any] | None = None
    passes: Literal["win", "tie"] | None = field(default=None, kw_only=True)
    """What passes: a win only, or a tie as well; None: it scores, and asserts nothing."""
    allow_self_grading: bool = field(default=False, kw_only=True)
    calibration: str | None = field(default=None, kw_only=True)
    """The certificate that says how far this judge agrees with people."""
    cache: bool | str = field(default=False, kw_only=True)
    """Whether what it has said before about the same counts: True for all runs, or a folder that keeps it."""
    evaluation_name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        where, dot, key = self.against.partition(".")
        if self.against != "expected_output" and not (where == "metadata" and dot and key):
            raise UsageError(
                f"{self.against!r} is nothing to compare with",
                hint="against='expected_output', or against='metadata.KEY'",
            )
        if self.passes not in (None, "win", "tie"):
            raise UsageError(f"passes is {self.passes!r}", hint="passes='win', passes='tie', or leave it out")
        self._question("", "", None)  # says what is wrong with a rubric

    # What it is

    @property
    def settings(self) -> Mapping[str, Any]:
        """How its model is asked, in our words."""
        return settings_for(judge_model(self.model), self.model_settings)

    @property
    def fingerprint(self) -> str:
        """Prompt, model and settings as one digest: what a certificate names."""
        return fingerprint_of(judge_model(self.model), self._question("", "", None), self.settings)

    def asks(self) -> tuple[Asks, ...]:
        return (Asks(judge_model(self.model), self.allow_self_grading, calls=2),)

    def get_evaluator_version(self) -> str:
        """The fingerprint, and in words which model that is."""
        return f"{self.fingerprint} {judge_model(self.model).version}"

    def build_serialization_arguments(self) -> dict[str, Any]:
        arguments = super().build_serialization_arguments()
        if "model" in arguments:
            arguments["model"] = written_model(self.model)
        return arguments

    # What it does

    async def evaluate(self, ctx: AnyContext) -> dict[str, EvaluationScalar | EvaluationReason]:
        model, settings = judge_model(self.model), self.settings
        if not self.allow_self_grading:
            refuse_own_answer(model, ctx)
        other = self._other(ctx)
        if told(ctx.output) == told(other):
            return self._results("tie", "both are the same", spared=2)
        cache = cache_of(self.cache)

        async def judged(first: object, second: object, part: str) -> Judgement:
            question = self._question(first, second, ctx.inputs)
            return await ask_judge(model, question, settings, part=part, cache=cache)

        both = await asyncio.gather(
            judged(ctx.output, other, "output first"),
            judged(other, ctx.output, "output second"),
            return_exceptions=True,
        )
        ahead, behind = all_or_error(both)
        one, two = _said(ahead, output=FIRST), _said(behind, output=SECOND)
        spared = ahead.cached + behind.cached
        if one == two:
            return self._results(one, ahead.reason, consistent=True, spared=spared)
        why = f"in one order a {one}, in the other a {two}: which was shown first has decided"
        return self._results("tie", why, consistent=False, spared=spared)

    def _other(self, ctx: AnyContext) -> object:
        _, dot, key = self.against.partition(".")
        if not dot:
            other: object = ctx.expected_output
        else:
            metadata = ctx.metadata
            other = metadata.get(key) if isinstance(metadata, Mapping) else getattr(metadata, key, None)
        if other is None:
            raise ValueError(f"the case has no {self.against} to compare the output with")
        return other

    def _question(self, first: object, second: object, inputs: object) -> Question:
        before = {"input": inputs} if self.include_input else {}
        return Question(
            rubric=_RUBRIC.format(rubric=self.rubric.strip()) if self.rubric.strip() else "",
            shown={**before, FIRST: first, SECOND: second},
            answer="choice",
            choices=(FIRST, SECOND, NEITHER),
        )

    def _results(
        self, winner: Winner, reason: str, *, consistent: bool | None = None, spared: int = 0
    ) -> dict[str, EvaluationScalar | EvaluationReason]:
        name = self.get_default_evaluation_name()
        results: dict[str, EvaluationScalar | EvaluationReason] = {
            name: Spared(SCORES[winner], f"{winner}: {reason}", spared)
        }
        if consistent is not None:
            # A number and no assertion: a judge that wavers is no failure of the output.
            results[f"{name}_consistency"] = float(consistent)
        if self.passes is not None:
            results[f"{name}_pass"] = winner in ("win", self.passes)
        return results


def _said(judgement: Judgement, *, output: str) -> Winner:
    """What a verdict says of the output, which was shown in this place."""
    if judgement.choice == NEITHER:
        return "tie"
    return "win" if judgement.choice == output else "loss"


__all__ = ["Pairwise"]
