"""Requirements are checked together, and what comes of it is what a loop over them would find."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import paceline
from paceline.errors import UsageError
from paceline.evaluators import RequirementScores, score_requirements
from paceline.evaluators.verdicts import current_verdicts
from tests.engine.stage import deaf, now, virtually
from tests.evaluators.requirements.scorers import Scorer, as_in_a_loop, in_a_loop
from tests.evaluators.test_verdicts import Kept


def scored(requirements: Any, scorer: Any, **how: Any) -> tuple[RequirementScores, float]:
    """What is found, and after how many seconds."""

    async def main() -> tuple[RequirementScores, float]:
        return await score_requirements("an answer", requirements, scorer=scorer, **how), now()

    return virtually(main)


# Together


def test_all_are_asked_at_once() -> None:
    scorer = Scorer()
    found, seconds = scored([f"r{n}" for n in range(8)], scorer)
    assert (seconds, scorer.peak, found.all_fulfilled, found.share) == (1.0, 8, True, 1.0)


def test_with_a_limit_never_more_are_in_flight_and_the_first_go_first() -> None:
    scorer = Scorer()
    _, seconds = scored([f"r{n}" for n in range(8)], scorer, max_concurrency=3)
    assert (seconds, scorer.peak) == (3.0, 3)
    assert [text for _, text in scorer.asked] == [f"r{n}" for n in range(8)]


@dataclass
class Whole:
    """Requirements, how long each takes, and what is said of it."""

    texts: list[str]
    seconds: dict[str, float]
    said: dict[str, Any]


@st.composite
def wholes(draw: st.DrawFn) -> Whole:
    texts = [f"requirement {n}" for n in range(draw(st.integers(1, 12)))]
    verdicts = st.tuples(st.booleans(), st.text("abc", max_size=3))
    errors = st.sampled_from(
        [ValueError("no"), ConnectionError(), RuntimeError("ü" * 3), TimeoutError("late")]
    )
    return Whole(
        texts,
        {text: draw(st.integers(0, 5)) / 2 for text in texts},
        {text: draw(verdicts | errors) for text in texts},
    )


@given(wholes(), st.none() | st.integers(1, 5))
def test_results_and_calls_are_those_of_a_loop_whatever_ends_first_and_whatever_fails(
    whole: Whole, limit: int | None
) -> None:
    together, one_by_one = (Scorer(whole.said, seconds=whole.seconds) for _ in range(2))
    found, seconds = scored(whole.texts, together, max_concurrency=limit)
    wanted = virtually(lambda: in_a_loop("an answer", whole.texts, one_by_one))
    assert as_in_a_loop(found.results) == wanted
    assert together.asked == one_by_one.asked
    assert found.all_fulfilled == all(fulfilled for _, _, fulfilled, _, _ in wanted)
    assert found.share == sum(fulfilled for _, _, fulfilled, _, _ in wanted) / len(wanted)
    assert together.peak <= (limit or len(whole.texts))
    assert together.inside == 0
    if limit is None:
        assert seconds == max(whole.seconds.values())


@given(wholes(), st.integers(1, 4), st.integers(1, 6))
def test_one_limit_holds_for_all_who_share_it(whole: Whole, limit: int, answers: int) -> None:
    scorer = Scorer(whole.said, seconds=whole.seconds)

    async def guarded(answer: str, requirement: str) -> Any:
        async with paceline.slot(f"shared-{limit}", limit):
            return await scorer(answer, requirement)

    async def main() -> list[RequirementScores]:
        return await asyncio.gather(
            *(score_requirements(f"answer {n}", whole.texts, scorer=guarded) for n in range(answers))
        )

    found = virtually(main)
    assert scorer.peak <= limit
    assert len(scorer.asked) == answers * len(whole.texts)
    assert len({tuple(as_in_a_loop(each.results)) for each in found}) == 1


def test_a_text_that_is_there_twice_is_asked_about_once_and_stands_at_both_places() -> None:
    scorer = Scorer({"a": (False, "no")})
    found, _ = scored(["a", "b", {"id": "again", "text": "a"}], scorer)
    assert [text for _, text in scorer.asked] == ["a", "b"]
    assert [(each.id, each.fulfilled) for each in found.results] == [
        ("1", False),
        ("2", True),
        ("again", False),
    ]
    assert found.share == pytest.approx(1 / 3)


# What fails


def test_a_call_that_fails_is_one_requirement_that_is_not_fulfilled_and_tells_its_error() -> None:
    found, seconds = scored(["a", "b", "c"], Scorer({"b": ValueError("no idea")}, seconds={"c": 9.0}))
    assert seconds == 9.0
    assert [each.status for each in found.results] == ["fulfilled", "unchecked", "fulfilled"]
    failed = found.results[1]
    assert (failed.fulfilled, failed.error) == (False, "ValueError: no idea")
    assert failed.feedback == "could not be checked: ValueError: no idea"
    assert isinstance(failed.exception, ValueError)
    assert (found.all_fulfilled, found.passed, found.share) == (False, False, 2 / 3)
    assert found.unchecked == found.unfulfilled == (failed,)


@pytest.mark.parametrize("error", [asyncio.CancelledError("of theirs"), SystemExit(3)])
def test_a_stray_cancellation_and_an_exit_are_data_too(error: BaseException) -> None:
    found, _ = scored(["a", "b", "c"], Scorer({"b": error}))
    assert [each.fulfilled for each in found.results] == [True, False, True]
    assert found.results[1].error is not None


def test_what_is_said_in_no_known_form_is_not_taken_for_a_yes() -> None:
    found, _ = scored(["a", "b"], Scorer({"a": "no"}))
    assert found.results[0].error == (
        "TypeError: a scorer says True or False, (True or False, feedback), an EvaluationReason, "
        "or something with `fulfilled` and `feedback`; this one said 'no'"
    )


class Rude(Exception):
    def __str__(self) -> str:
        raise SystemExit


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Rude(), "Rude: <no message: its __str__ raised SystemExit>"),
        (ValueError(), "ValueError"),
        (ValueError("\ud800"), "ValueError: \\ud800"),
        (ValueError("x" * 10_000_000), f"ValueError: {'x' * 999}…"),
    ],
    ids=["raises", "empty", "no text", "huge"],
)
def test_an_error_is_told_in_bounds_whatever_it_does(error: BaseException, told: str) -> None:
    found, _ = scored(["a"], Scorer({"a": error}))
    assert found.results[0].error == told


def test_a_call_that_hangs_is_one_requirement_that_is_not_fulfilled() -> None:
    found, seconds = scored(["a", "b"], Scorer(seconds={"a": 1e9}), timeout=30)
    assert seconds == 30.0
    assert found.results[0].error == "Overdue: it took longer than 30 s"
    assert found.results[1].fulfilled


def test_waiting_for_a_place_is_not_counted_as_the_work_of_a_call() -> None:
    found, seconds = scored([f"r{n}" for n in range(10)], Scorer(usual=8), max_concurrency=1, timeout=9)
    assert (found.all_fulfilled, seconds) == (True, 80.0)


def test_a_place_is_free_again_however_a_call_ends() -> None:
    said = {"a": ValueError(), "b": asyncio.CancelledError()}
    scorer = Scorer(said, seconds={"c": 1e9})
    found, _ = scored(["a", "b", "c", "d"], scorer, max_concurrency=1, timeout=5)
    assert [each.status for each in found.results] == ["unchecked"] * 3 + ["fulfilled"]


def test_a_call_that_does_not_listen_is_left_behind_and_its_place_is_free() -> None:
    async def check(answer: str, requirement: str) -> bool:
        if requirement == "a":
            await deaf(1_000)
        return True

    kept = Recorder()
    found = recorded(kept, ["a", "b"], check, max_concurrency=1, timeout=5)
    assert [each.status for each in found.results] == ["unchecked", "fulfilled"]
    assert kept.parts == ["requirement: b"], "an answer that came too late is no verdict"


# Cancellation


def test_a_cancellation_of_ours_ends_all_calls_and_is_not_swallowed() -> None:
    scorer = Scorer(seconds={"a": 1.0}, usual=100.0)

    async def main() -> float:
        scoring = asyncio.ensure_future(
            score_requirements("an answer", ["a", "b", "c"], scorer=scorer, max_concurrency=2)
        )
        await asyncio.sleep(3)
        scoring.cancel()
        with pytest.raises(asyncio.CancelledError):
            await scoring
        return now()

    assert virtually(main) == 3.0
    assert scorer.inside == 0
    assert [text for _, text in scorer.asked] == ["a", "b", "c"]


def test_a_time_limit_around_it_works_as_around_anything() -> None:
    scorer = Scorer(usual=100.0)

    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3):
                await score_requirements("an answer", ["a", "b"], scorer=scorer)

    virtually(main)
    assert scorer.inside == 0


def test_ctrl_c_in_a_call_is_for_whoever_called() -> None:
    async def check(answer: str, requirement: str) -> bool:
        if requirement == "a":
            raise KeyboardInterrupt
        return True

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(score_requirements("an answer", ["a", "b"], scorer=check))


# Before and after


def test_a_step_before_is_called_once_and_first_and_scorers_see_what_it_says() -> None:
    seen: list[Any] = []

    async def review(answer: str) -> str:
        seen.append("review")
        await asyncio.sleep(5)
        return f"{answer} has a bug"

    async def check(answer: str, requirement: str, review: str) -> bool:
        seen.append((requirement, review))
        return True

    found, seconds = scored(["a", "b"], check, before=review)
    assert seen == ["review", ("a", "an answer has a bug"), ("b", "an answer has a bug")]
    assert (found.review, seconds) == ("an answer has a bug", 5.0)


def test_what_a_step_before_raises_is_raised_and_nobody_else_is_asked() -> None:
    async def review(answer: str) -> str:
        raise ValueError("not reviewed")

    scorer = Scorer()
    with pytest.raises(ValueError, match="not reviewed"):
        scored(["a"], scorer, before=review)
    assert scorer.asked == []


class Confirm:
    def __init__(self, said: Any) -> None:
        self.said = said
        self.asked: list[Any] = []

    async def __call__(self, answer: str, results: Any) -> Any:
        self.asked.append([each.text for each in results])
        if isinstance(self.said, Exception):
            raise self.said
        return self.said


@pytest.mark.parametrize(
    ("said", "passed", "status"),
    [
        (True, True, "fulfilled"),
        ((False, "it never says when"), False, "unfulfilled"),
        (ValueError("no idea"), False, "unchecked"),
        ("yes", False, "unchecked"),
    ],
)
def test_where_all_are_fulfilled_somebody_may_be_asked_whether_they_are_enough(
    said: Any, passed: bool, status: str
) -> None:
    confirm = Confirm(said)
    found, _ = scored(["a", "b"], Scorer(), confirm_coverage=confirm)
    assert confirm.asked == [["a", "b"]]
    assert (found.all_fulfilled, found.passed) == (True, passed)
    assert found.coverage is not None
    assert found.coverage.status == status


@pytest.mark.parametrize("said", [(False, "no"), ValueError("no idea")])
def test_and_nobody_is_asked_that_where_one_is_not(said: Any) -> None:
    confirm = Confirm(True)
    found, _ = scored(["a", "b"], Scorer({"b": said}), confirm_coverage=confirm)
    assert confirm.asked == []
    assert found.coverage is None


def test_these_steps_are_bounded_as_the_others_are() -> None:
    scorer = Scorer()

    async def review(answer: str) -> None:
        await scorer("", "review")

    async def confirm(answer: str) -> bool:
        await scorer("", "confirm")
        return True

    async def main() -> float:
        how: Mapping[str, Any] = {"scorer": scorer, "before": review, "confirm_coverage": confirm}
        await score_requirements("an answer", ["a", "b"], max_concurrency=1, **how)
        return now()

    assert virtually(main) == 4.0
    assert scorer.peak == 1


# In words


def test_feedback_names_what_is_missing_for_whoever_writes_the_next_answer() -> None:
    found, _ = scored(
        ["names a source", "is short", "is true"],
        Scorer({"is short": (False, "400 words"), "is true": ValueError("no idea")}),
    )
    assert found.feedback == (
        "2 of 3 requirements are not fulfilled:\n"
        "- is short: 400 words\n"
        "- is true: could not be checked: ValueError: no idea"
    )
    assert found.summary == (
        "2 of 3 not fulfilled: 'is short': 400 words; 'is true': could not be checked: ValueError: no idea"
    )


def test_feedback_says_so_when_nothing_is_missing() -> None:
    assert scored(["a"], Scorer())[0].feedback == "the requirement is fulfilled"
    assert scored(["a", "b"], Scorer())[0].feedback == "all 2 requirements are fulfilled"
    assert scored(["a", "b"], Scorer({"a": (False, "")}))[0].feedback.endswith("\n- a: not fulfilled")


def test_feedback_says_what_is_missing_beyond_the_requirements() -> None:
    found, _ = scored(["a", "b"], Scorer(), confirm_coverage=Confirm((False, "it never says when")))
    assert found.feedback == (
        "all 2 requirements are fulfilled\n"
        "- fulfilled together, the requirements cover what was asked for: it never says when"
    )
    assert found.summary == "all 2 requirements are fulfilled, but it never says when"


def test_what_is_found_can_be_compared_and_sent_to_another_process() -> None:
    found, _ = scored(["a", "b"], Scorer({"a": ValueError("no idea")}))
    assert pickle.loads(pickle.dumps(found)) == found


# On record


class Recorder(Kept):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def keep(self, part: str, seen: str, value: Any) -> None:
        self.parts.append(part)
        super().keep(part, seen, value)


def recorded(
    kept: Kept, requirements: Any, scorer: Any, answer: Any = "an answer", **how: Any
) -> RequirementScores:
    """What is found where somebody keeps verdicts."""

    async def main() -> RequirementScores:
        current_verdicts.set(kept)
        return await score_requirements(answer, requirements, scorer=scorer, **how)

    return virtually(main)


def test_each_verdict_is_kept_as_soon_as_it_is_there() -> None:
    kept = Recorder()
    scorer = Scorer(seconds={"a": 3.0, "b": 1.0, "c": 2.0})
    recorded(kept, ["a", "b", "c"], scorer)
    assert kept.parts == ["requirement: b", "requirement: c", "requirement: a"]


def test_what_is_on_record_is_not_asked_for_and_takes_no_place() -> None:
    kept = Recorder()
    first = recorded(kept, ["a", "b"], Scorer({"b": (False, "no")}))
    scorer = Scorer(usual=1e6)
    again = recorded(kept, ["a", "b"], scorer, max_concurrency=1, timeout=1)
    assert scorer.asked == []
    assert again == first


def test_a_call_that_failed_is_not_on_record_and_is_made_again() -> None:
    kept = Recorder()
    recorded(kept, ["a", "b"], Scorer({"b": ValueError("no idea")}))
    assert kept.parts == ["requirement: a"]
    scorer = Scorer()
    found = recorded(kept, ["a", "b"], scorer)
    assert [text for _, text in scorer.asked] == ["b"]
    assert found.all_fulfilled


def test_a_verdict_stays_where_requirements_come_go_and_move() -> None:
    kept = Recorder()
    recorded(kept, ["a", "b", "c"], Scorer())
    scorer = Scorer()
    recorded(kept, ["new", "c", "a"], scorer)
    assert [text for _, text in scorer.asked] == ["new"]


async def other(answer: str, requirement: str) -> bool:
    return True


async def versioned(answer: str, requirement: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("change", "asked_again"),
    [
        ({}, 0),
        ({"answer": "another answer"}, 2),
        ({"requirements": ["a", {"id": "x", "text": "b, reworded"}]}, 1),
        ({"version": "2"}, 2),
        ({"inputs": "what the scorer does not see"}, 0),
    ],
)
def test_a_verdict_is_for_what_was_seen_and_for_nothing_else(
    change: dict[str, Any], asked_again: int
) -> None:
    kept = Recorder()
    usual: dict[str, Any] = {"answer": "an answer", "requirements": ["a", {"id": "x", "text": "b"}]}

    def ask(version: str = "1", **given: Any) -> int:
        scorer = Scorer()
        scorer.version = version  # type: ignore[attr-defined]  # what a scorer may declare
        recorded(kept, scorer=scorer, **{**usual, **given})
        return len(scorer.asked)

    assert ask() == 2
    assert ask(**change) == asked_again


def test_a_scorer_that_sees_the_question_is_asked_again_about_another() -> None:
    kept, asked = Recorder(), []

    async def check(answer: str, requirement: str, inputs: str) -> bool:
        asked.append(inputs)
        return True

    for inputs in ("a question", "another", "a question"):
        recorded(kept, ["a"], check, inputs=inputs)
    assert asked == ["a question", "another"]


@dataclass
class Bug:
    line: int


def test_what_the_step_before_has_said_is_on_record_as_what_it_was() -> None:
    kept, asked = Recorder(), []

    async def review(answer: str) -> list[Bug]:
        asked.append(answer)
        return [Bug(3)]

    for _ in range(2):
        assert recorded(kept, ["a"], Scorer(), before=review).review == [Bug(3)]
    assert asked == ["an answer"]


def test_what_it_says_is_asked_for_again_where_no_record_can_hold_it() -> None:
    kept, asked = Recorder(), []

    async def review(answer: str) -> object:
        asked.append(answer)
        return object()

    for _ in range(2):
        recorded(kept, ["a"], Scorer(), before=review)
    assert len(asked) == 2
    assert kept.parts == ["requirement: a"]


def test_the_confirmation_is_on_record_and_about_these_requirements() -> None:
    kept, confirm = Recorder(), Confirm((True, "it is all there"))
    for requirements in (["a", "b"], ["a", "b"], ["a"]):
        recorded(kept, requirements, Scorer(), confirm_coverage=confirm)
    assert confirm.asked == [["a", "b"], ["a"]]


def test_a_record_that_cannot_be_written_ends_it_all() -> None:
    class Broken(Kept):
        def keep(self, part: str, seen: str, value: Any) -> None:
            raise paceline.PacelineError("the disk is full")

    scorer = Scorer(seconds={"a": 1.0}, usual=100.0)
    with pytest.raises(paceline.PacelineError, match="the disk is full"):
        recorded(Broken(), ["a", "b"], scorer)
    assert scorer.inside == 0


# What is refused


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"max_concurrency": 0}, "max_concurrency=0"),
        ({"max_concurrency": True}, "max_concurrency=True"),
        ({"max_concurrency": 2.5}, "max_concurrency=2.5"),
        ({"timeout": 0}, "timeout=0"),
        ({"timeout": float("inf")}, "timeout=inf"),
        ({"timeout": float("nan")}, "timeout=nan"),
        ({"timeout": "5"}, "timeout='5'"),
        ({"before": "review"}, "before='review' cannot be called"),
        ({"confirm_coverage": "yes"}, "confirm_coverage='yes' cannot be called"),
        ({"scorer": 3}, "scorer=3 cannot be called"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anybody_is_asked(how: dict[str, Any], said: str) -> None:
    scorer = Scorer()
    with pytest.raises(UsageError, match=said) as refused:
        scored(["a"], **{"scorer": scorer, **how})
    assert refused.value.hint
    assert scorer.asked == []
