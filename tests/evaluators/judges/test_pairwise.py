"""`Pairwise`: asked in both orders; where the orders disagree it is a tie, and that is told."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.dataset.spec import EvaluatorSpec
from paceline.errors import UsageError
from paceline.evaluators import Pairwise
from paceline.evaluators.judges.asking import JudgeUnreadable
from paceline.evaluators.judges.self_grading import SelfGrading
from paceline.evaluators.registry import build, spec_of
from tests.evaluators.judges.stage import Said, judged
from tests.evaluators.test_verdicts import kept


def says(choice: str) -> dict[str, str]:
    return {"reason": f"{choice} it is", "choice": choice}


def pair(*said: Any, **more: Any) -> dict[str, Any]:
    return judged(Pairwise("It is right.", Said(*said), **more), "mine", "theirs")


@pytest.mark.parametrize(
    ("ahead", "behind", "score", "consistency"),
    [
        ("first", "second", 1.0, 1.0),
        ("second", "first", 0.0, 1.0),
        ("neither", "neither", 0.5, 1.0),
        ("first", "first", 0.5, 0.0),
        ("second", "second", 0.5, 0.0),
        ("first", "neither", 0.5, 0.0),
        ("neither", "first", 0.5, 0.0),
    ],
)
def test_both_orders_have_to_agree(ahead: str, behind: str, score: float, consistency: float) -> None:
    found = pair(says(ahead), says(behind))
    assert (found["Pairwise"][0], found["Pairwise_consistency"]) == (score, consistency)


def test_the_second_time_it_is_asked_the_other_way_round() -> None:
    said = Said(says("first"), says("second"))
    judged(Pairwise("It is right.", said, include_input=True), "mine", "theirs", inputs="the question")
    ahead, behind = (str(messages[1].content) for messages in said.asked)
    assert ahead.index("mine") < ahead.index("theirs")
    assert behind.index("theirs") < behind.index("mine")
    assert "the question" in ahead


def test_a_judge_that_always_takes_the_first_wins_nobody_anything() -> None:
    assert pair(says("first"))["Pairwise"] == (
        0.5,
        "tie: in one order a win, in the other a loss: which was shown first has decided",
    )


@pytest.mark.parametrize(("passes", "passed"), [("win", [True, False, False]), ("tie", [True, True, False])])
def test_it_asserts_only_what_it_is_told_to(passes: Any, passed: list[bool]) -> None:
    assert "Pairwise_pass" not in pair(says("first"), says("second"))
    outcomes = [("first", "second"), ("neither", "neither"), ("second", "first")]
    found = [pair(says(one), says(other), passes=passes)["Pairwise_pass"] for one, other in outcomes]
    assert found == passed


def test_the_same_answer_is_a_tie_and_nobody_is_asked() -> None:
    said = Said(says("first"))
    found = judged(Pairwise("r", said), {"a": 1}, {"a": 1})
    assert found == {"Pairwise": (0.5, "tie: both are the same")}
    assert said.asked == []


def test_the_other_answer_may_stand_in_the_metadata() -> None:
    said = Said(says("first"), says("second"))
    judged(Pairwise("r", said, "metadata.before"), "mine", metadata={"before": "what it said last week"})
    assert "what it said last week" in str(said.asked[0][1].content)
    with pytest.raises(ValueError, match=r"no metadata\.before"):
        judged(Pairwise("r", said, "metadata.before"), "mine", metadata={})
    with pytest.raises(ValueError, match="no expected_output"):
        judged(Pairwise("r", said), "mine")


def test_an_order_that_fails_is_asked_for_again_and_the_other_is_not() -> None:
    said = Said(says("first"), "gibberish", says("second"))
    judge = Pairwise("r", said)
    with kept():
        with pytest.raises(JudgeUnreadable):
            judged(judge, "mine", "theirs")
        assert judged(judge, "mine", "theirs")["Pairwise"][0] == 1.0
    assert len(said.asked) == 3


def test_a_judge_on_the_model_that_has_answered_is_refused() -> None:
    with pytest.raises(SelfGrading):
        judged(Pairwise("r", Said(called="small")), "a", "b", attributes={"model": "small"})


@pytest.mark.parametrize(
    "wrong", [{"against": "output"}, {"against": "metadata"}, {"passes": "loss"}, {"rubric": ""}]
)
def test_what_cannot_be_is_refused_when_it_is_made(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as refused:
        Pairwise(**{"rubric": "r", **wrong})
    assert refused.value.hint


def test_it_is_written_to_a_file_and_made_of_it_again() -> None:
    written = spec_of(Pairwise("r", "sim", "metadata.before", passes="tie"))
    assert written == {
        "Pairwise": {"rubric": "r", "model": "sim", "against": "metadata.before", "passes": "tie"}
    }
    assert spec_of(build(EvaluatorSpec.parse(written))) == written
