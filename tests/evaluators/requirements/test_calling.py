"""Functions of the user's get what their parameters ask for; what a scorer says is yes, no, or an error."""

from __future__ import annotations

import asyncio
import functools
from dataclasses import dataclass
from typing import Any, NamedTuple
from unittest.mock import AsyncMock

import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.errors import UsageError
from paceline.evaluators import EvaluationReason, EvaluatorContext
from paceline.evaluators.requirements.calling import by_name, seen_in, verdict_of
from paceline.evaluators.requirements.results import Verdict

CTX: EvaluatorContext[Any, Any, Any] = EvaluatorContext(
    name="a case", inputs="a question", output="an answer", expected_output="another", metadata={"m": 1}
)
SEEN = {**seen_in(CTX), "requirement": "is polite", "review": "looks good"}


def called(function: Any, *, role: str = "scorer") -> Any:
    about = {"scorer": ("answer", "requirement"), "before": ("answer",), "confirm": ("answer", "results")}[
        role
    ]
    above_all = "requirement" if role == "scorer" else "answer"
    found = by_name(function, role=role, about=about, above_all=above_all)
    return asyncio.run(found({**SEEN, "results": ("r",)}))


async def both(answer: Any, requirement: Any) -> Any:
    return answer, requirement


async def by_other_names(code: Any, wanted: Any) -> Any:
    return code, wanted


async def the_other_way_round(requirement: Any, output: Any) -> Any:
    return output, requirement


async def one_by_name(text: Any, answer: Any) -> Any:
    return answer, text


async def keywords_only(*, answer: Any, requirement: Any) -> Any:
    return answer, requirement


async def with_defaults(answer: Any, requirement: Any, temperature: float = 0.0) -> Any:
    return answer, requirement


async def everything(*arguments: Any) -> Any:
    return arguments


class Agent:
    async def __call__(self, answer: Any, requirement: Any) -> Any:
        return answer, requirement

    async def check(self, answer: Any, requirement: Any) -> Any:
        return answer, requirement


async def bound(model: str, answer: Any, requirement: Any) -> Any:
    return answer, requirement


@pytest.mark.parametrize(
    "scorer",
    [
        both,
        by_other_names,
        the_other_way_round,
        one_by_name,
        keywords_only,
        with_defaults,
        everything,
        Agent(),
        Agent().check,
        functools.partial(bound, "small"),
        functools.partial(bound, model="small"),
        lambda answer, requirement: both(answer, requirement),  # noqa: PLW0108  # what a lambda is called with
        AsyncMock(side_effect=both),
    ],
)
def test_a_scorer_gets_the_answer_and_the_requirement_however_it_is_written(scorer: Any) -> None:
    assert called(scorer) == ("an answer", "is polite")


def test_a_lone_parameter_is_the_requirement() -> None:
    async def closed_over(wanted: Any) -> Any:
        return wanted

    assert called(closed_over) == "is polite"


def test_further_parameters_get_what_they_are_called() -> None:
    async def check(
        answer: Any, requirement: Any, inputs: Any, expected: Any, metadata: Any, review: Any, ctx: Any
    ) -> Any:
        return inputs, expected, metadata, review, ctx

    assert called(check) == ("a question", "another", {"m": 1}, "looks good", CTX)


def test_a_step_before_and_one_at_the_end_get_the_answer() -> None:
    async def review(code: Any) -> Any:
        return code

    async def confirm(answer: Any, results: Any) -> Any:
        return answer, results

    async def confirm_all(results: Any, code: Any) -> Any:
        return code, results

    assert called(review, role="before") == "an answer"
    assert called(review, role="confirm") == "an answer"
    assert called(confirm, role="confirm") == ("an answer", ("r",))
    assert called(confirm_all, role="confirm") == ("an answer", ("r",))


async def asks_for_more(answer: Any, requirement: Any, temperature: float) -> bool:
    return True


async def never_looks(answer: Any) -> bool:
    return True


async def takes_nothing() -> bool:
    return True


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (asks_for_more, "asks for 'temperature', which nobody can give it"),
        (never_looks, "never asks for the requirement"),
        (takes_nothing, "never asks for the requirement"),
        (Agent, "cannot be called"),
        ("checks.py:score", "cannot be called"),
        (3, "cannot be called"),
    ],
)
def test_a_scorer_that_cannot_be_one_is_refused_before_anything_runs(wrong: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        by_name(wrong, role="scorer", about=("answer", "requirement"), above_all="requirement")
    assert refused.value.hint


def test_a_scorer_that_is_not_async_would_hold_up_the_others_and_is_an_error() -> None:
    def check(answer: Any, requirement: Any) -> bool:
        return True

    with pytest.raises(TypeError, match="check has to be async: it returned a bool"):
        called(check)


@dataclass
class Scored:
    fulfilled: bool
    feedback: str | None = None


class Structured(pydantic.BaseModel):
    feedback: str
    fulfilled: bool


class Standalone:
    passed = False
    reason = "no source"


class Pair(NamedTuple):
    fulfilled: bool
    feedback: str


@pytest.mark.parametrize(
    ("returned", "verdict"),
    [
        (True, Verdict(True)),
        (False, Verdict(False)),
        (np.bool_(True), Verdict(True)),
        ((False, "no source"), Verdict(False, "no source")),
        ((False, None), Verdict(False)),
        (Pair(False, "no source"), Verdict(False, "no source")),
        (EvaluationReason(False, "no source"), Verdict(False, "no source")),
        (EvaluationReason(True), Verdict(True)),
        ({"fulfilled": False, "feedback": "no source"}, Verdict(False, "no source")),
        ({"passed": False, "reason": "no source"}, Verdict(False, "no source")),
        (Scored(True), Verdict(True)),
        (Structured(fulfilled=False, feedback="no source"), Verdict(False, "no source")),
        (Standalone(), Verdict(False, "no source")),
        (Verdict(False, "no source"), Verdict(False, "no source")),
    ],
)
def test_a_verdict_may_be_given_in_these_forms(returned: Any, verdict: Verdict) -> None:
    assert verdict_of(returned) == verdict


@pytest.mark.parametrize(
    "returned",
    [
        *(None, "yes", "no", "", 1, 0, 0.5, 1.0, [], [True], {}, (), (True,), (True, "a", "b"), object()),
        *(("no", "no source"), {"fulfilled": "no"}, {"fulfilled": 1}, {"verdict": True}, {"passed": None}),
        *(EvaluationReason(1), EvaluationReason("yes"), Scored("no"), Verdict("no"), np.float64(1.0)),  # type: ignore[arg-type]  # what is refused
    ],
)
def test_what_is_no_plain_yes_or_no_is_an_error(returned: Any) -> None:
    with pytest.raises(TypeError, match="a scorer says True or False"):
        verdict_of(returned)


def test_feedback_is_a_text() -> None:
    with pytest.raises(TypeError, match="feedback is a text"):
        verdict_of((True, 3))


@given(st.booleans(), st.text(st.characters()))
def test_feedback_comes_through_as_text_that_can_be_written(fulfilled: bool, feedback: str) -> None:
    verdict = verdict_of((fulfilled, feedback))
    assert verdict.fulfilled is fulfilled
    verdict.feedback.encode()
    if feedback.isascii():
        assert verdict.feedback == feedback
