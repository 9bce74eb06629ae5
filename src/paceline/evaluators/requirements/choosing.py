"""Who is asked, and how: what the arguments of `Requirements` and `score_requirements` come to."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from paceline.errors import UsageError
from paceline.evaluators.requirements.calling import ANSWER, ByName, by_name
from paceline.evaluators.requirements.checking import Checks, Function
from paceline.evaluators.wording import brief
from paceline.pace.turns import Turns

if TYPE_CHECKING:
    from paceline.models import Model

Step: TypeAlias = Callable[..., Any]
"""An async function whose parameters say what it wants to see."""

TIMEOUT_S: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The arguments, looked at once. Which model judges is settled as late as can be."""

    scorer: ByName | None
    """None: a judge."""
    before: ByName | None
    confirm: ByName | bool
    """True: a judge."""
    model: Any
    """The one that judges; None: the default one."""
    settings: Mapping[str, Any]
    sees: frozenset[str]
    """What a judge is shown."""
    turns: Turns | None
    timeout: float | None

    @property
    def needs_judge(self) -> bool:
        """Whether a model of ours to ask is needed."""
        return self.scorer is None or self.confirm is True

    def judge(self) -> Model:
        """The model that judges; a UsageError where none is set."""
        from paceline.evaluators.judges.choosing import judge_model

        return judge_model(self.model)

    def checks(self) -> Checks:
        """Who is asked; a UsageError where a judge is needed and no model is set to judge with."""
        scorer: Function | None = self.scorer
        confirm: Function | None = self.confirm if isinstance(self.confirm, ByName) else None
        if self.needs_judge:
            from paceline.evaluators.judges.settings import settings_for
            from paceline.evaluators.requirements.judging import CoverageJudge, Judge

            model = self.judge()
            settings = settings_for(model, self.settings)
            scorer = scorer or Judge(model=model, settings=settings, asks_for=self.sees)
            if self.confirm is True:
                confirm = CoverageJudge(model=model, settings=settings)
        assert scorer is not None
        return Checks(
            scorer=scorer, before=self.before, confirm=confirm, turns=self.turns, timeout=self.timeout
        )


def choice_of(
    *,
    scorer: Step | None,
    before: Step | None,
    confirm_coverage: Step | bool,
    max_concurrency: int | None,
    timeout: float | None,
    model: Any,
    model_settings: Mapping[str, Any] | None,
    include_input: bool,
    include_expected_output: bool,
) -> Choice:
    """The arguments as a choice; a UsageError says what is wrong with them."""
    confirm = _confirm(confirm_coverage)
    for_a_judge = {
        "model": model is not None,
        "model_settings": model_settings is not None,
        "include_input": include_input,
        "include_expected_output": include_expected_output,
    }
    if scorer is not None and confirm is not True and any(for_a_judge.values()):
        said = ", ".join(name for name, is_said in for_a_judge.items() if is_said)
        raise UsageError(
            f"{said} is for the built-in judge, and here a scorer is asked instead",
            hint="leave one of them out; a scorer gets what its parameters ask for, such as inputs",
        )
    sees = {"inputs": include_input, "expected_output": include_expected_output, "review": before is not None}
    about = ("answer", "requirement")
    return Choice(
        scorer=None if scorer is None else by_name(scorer, role="scorer", about=about, above_all=about[1]),
        before=None if before is None else by_name(before, role="before", about=(ANSWER,)),
        confirm=confirm,
        model=model,
        settings=dict(model_settings or {}),
        sees=frozenset({ANSWER, *(name for name, is_seen in sees.items() if is_seen)}),
        turns=_turns(max_concurrency),
        timeout=_seconds(timeout),
    )


def _confirm(given: object) -> ByName | bool:
    if given is None or isinstance(given, bool):
        return bool(given)
    return by_name(given, role="confirm_coverage", about=("answer", "results"))


def _turns(limit: object) -> Turns | None:
    if limit is None:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise UsageError(
            f"max_concurrency={brief(limit)} for requirements",
            hint="how many calls may be in flight at once, 1 or more; None for as many as there are",
        )
    return Turns(limit)


def _seconds(given: object) -> float | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given < math.inf:
        raise UsageError(
            f"timeout={brief(given)} for requirements", hint="seconds above 0, or None for no deadline"
        )
    return given


__all__ = ["TIMEOUT_S", "Choice", "Step", "choice_of"]
