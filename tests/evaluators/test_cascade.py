"""Cascades: the cheap ones first, and a model only where they leave it open."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import Cascade, Contains, EqualsExpected, Evaluator, JSONEquals, LLMJudge
from paceline.evaluators.prepare import prepare, scores_of
from paceline.evaluators.registry import build, spec_of
from tests.evaluators.cases import finished
from tests.evaluators.judges.stage import Said, judged, no, yes


def spared(evaluator: object, output: Any, expected: Any = None) -> list[int]:
    import asyncio

    (prepared,) = prepare([evaluator])

    async def ask() -> object:
        returned: Any = prepared.call(finished(output, expected))
        return await returned

    return [score.spared for score in scores_of(prepared, asyncio.run(ask()), seconds=0)]


def test_the_first_that_passes_decides_and_nobody_after_it_is_asked() -> None:
    judge = Said(yes("in other words"))
    cascade = Cascade(EqualsExpected(), JSONEquals(), LLMJudge("r", judge))
    assert judged(cascade, "Paris", "Paris") == {"Cascade": (True, "by EqualsExpected")}
    assert judged(cascade, '{"a": 1}', '{"a":1}') == {"Cascade": (True, "by JSONEquals")}
    assert judge.asked == []
    assert judged(cascade, '"Paris it is"', '"Paris"') == {"Cascade": (True, "LLMJudge: in other words")}
    assert len(judge.asked) == 1


def test_what_none_but_the_last_has_passed_is_for_the_last_to_decide() -> None:
    assert judged(Cascade(EqualsExpected(), LLMJudge("r", Said(no("wrong")))), "a", "b") == {
        "Cascade": (False, "LLMJudge: wrong")
    }
    assert judged(Cascade(EqualsExpected(), Contains("x")), "a", "b")["Cascade"][0] is False


def test_an_evaluator_that_says_nothing_leaves_it_open() -> None:
    judge = Said(yes())
    assert judged(Cascade(EqualsExpected(), LLMJudge("r", judge)), "a", None)["Cascade"][0] is True
    assert len(judge.asked) == 1


def test_calls_that_were_not_made_are_told() -> None:
    cascade = Cascade(EqualsExpected(), LLMJudge("r", Said(yes()), votes=3), LLMJudge("s", Said(yes())))
    assert spared(cascade, "a", "a") == [4]
    assert spared(cascade, "a", "b")[0] == 1
    last = Cascade(EqualsExpected(), LLMJudge("r", Said(no())))
    assert spared(last, "a", "b") == [0]


def test_a_check_that_raises_has_passed_nothing_and_that_is_told() -> None:
    cascade = Cascade(EqualsExpected(), JSONEquals(), LLMJudge("r", Said(no("wrong"))))
    verdict, reason = judged(cascade, "Lyon", "Paris")["Cascade"]
    assert verdict is False
    assert reason.startswith("LLMJudge: wrong [JSONEquals could not tell: ")


def test_a_cheap_judge_that_fails_does_not_send_everything_to_the_dear_one() -> None:
    dear = Said(yes())
    with pytest.raises(ConnectionError):
        judged(Cascade(LLMJudge("r", Said(ConnectionError("gone"))), LLMJudge("r", dear)), "a")
    assert dear.asked == []


def test_an_error_of_the_last_is_an_error() -> None:
    with pytest.raises(ConnectionError):
        judged(Cascade(EqualsExpected(), LLMJudge("r", Said(ConnectionError("gone")))), "a", "b")


def test_each_is_asked_where_it_belongs() -> None:
    """A slow function on a thread, as outside of a cascade: the loop is not for it."""
    where: list[int] = []

    def slow(output: str) -> bool:
        where.append(threading.get_ident())
        return False

    assert judged(Cascade(slow, EqualsExpected()), "a", "a")["Cascade"][0] is True
    assert where != [threading.get_ident()]


def test_what_else_is_said_keeps_its_name() -> None:
    judge = LLMJudge("r", Said({"reason": "w", "pass": True, "score": 0.25}), score={})
    assert judged(Cascade(EqualsExpected(), judge), "a", "b") == {
        "Cascade": (True, "LLMJudge: w"),
        "LLMJudge_score": 0.25,
    }


@given(st.lists(st.sampled_from([True, False, None]), min_size=2, max_size=6))
def test_it_passes_where_any_has_passed_and_asks_nobody_beyond_that(said: list[bool | None]) -> None:
    asked: list[int] = []

    def stage(place: int, says: bool | None) -> Any:
        async def evaluate(output: str) -> Any:
            asked.append(place)
            return {} if says is None else says

        return evaluate

    result = judged(Cascade(*(stage(place, says) for place, says in enumerate(said))))
    upto = said.index(True) if True in said else len(said) - 1
    assert asked == list(range(upto + 1))
    assert [value for value, _ in result.values()] == ([said[upto]] if said[upto] is not None else [])


# What it is


def test_it_is_as_ready_as_those_in_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PACELINE_JUDGE_MODEL", raising=False)
    with pytest.raises(UsageError, match="no model is set"):
        prepare([Cascade(EqualsExpected(), LLMJudge("r"))])
    with pytest.raises(UsageError, match="at least two"):
        Cascade(EqualsExpected())


def test_its_version_is_that_of_all_in_it() -> None:
    def version(*these: Any) -> str | None:
        return Cascade(*these).get_evaluator_version()

    assert version(EqualsExpected(), JSONEquals()) is None
    one = version(EqualsExpected(), LLMJudge("r", "sim"))
    assert one == version(EqualsExpected(), LLMJudge("r", "sim"))
    assert one != version(EqualsExpected(), LLMJudge("another", "sim"))


def test_it_asks_what_those_in_it_ask() -> None:
    cascade = Cascade(EqualsExpected(), LLMJudge("r", "sim"), Cascade(JSONEquals(), LLMJudge("s", "sim")))
    assert [asked.model.name for asked in cascade.asks()] == ["sim", "sim"]


class Own(Evaluator[Any, Any, Any]):
    """One of a user's."""

    def evaluate(self, ctx: Any) -> bool:
        return False


@pytest.mark.parametrize(
    "written",
    [
        {"Cascade": ["EqualsExpected", "JSONEquals", {"LLMJudge": {"rubric": "r", "model": "sim"}}]},
        {"Cascade": {"evaluators": ["EqualsExpected", {"Contains": "x"}], "evaluation_name": "right"}},
        {"Cascade": ["Own", {"Cascade": ["EqualsExpected", {"Contains": {"value": "x"}}]}]},
    ],
)
def test_it_is_made_of_what_stands_in_a_file_and_written_to_one(written: Any) -> None:
    cascade = build(EvaluatorSpec.parse(written), [Own])
    assert isinstance(cascade, Cascade)
    again = build(EvaluatorSpec.parse(spec_of(cascade)), [Own])
    assert spec_of(again) == spec_of(cascade)
    assert [type(each) for each in again.evaluators] == [type(each) for each in cascade.evaluators]


def test_what_is_wrong_within_it_is_said_with_its_place() -> None:
    with pytest.raises(DatasetError, match=r"data\.yaml:3: there is no evaluator 'EqualExpected'"):
        build(EvaluatorSpec.parse({"Cascade": ["EqualExpected", "JSONEquals"]}), where="data.yaml:3")
