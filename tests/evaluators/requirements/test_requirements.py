"""Requirements in runs: one limit over all cases, each verdict in the report, and none asked for twice."""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, rescore
from paceline.dataset.spec import EvaluatorSpec
from paceline.engine.retry import Retry
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import EvaluationReason, Requirements, RequirementsUnchecked
from paceline.evaluators.registry import build, schema_of, spec_of
from paceline.journal.records import VerdictLine
from paceline.pace.calls import Call, current_listener
from tests.engine.stage import Carried, cases, play
from tests.evaluators.cases import finished
from tests.evaluators.requirements.scorers import Scorer

EIGHT = [f"r{n}" for n in range(1, 9)]


async def echo(number: int) -> str:
    return f"answer {number}"


def values(carried: Carried, case: str = "case-0") -> dict[str, Any]:
    return {score.name: score.value for score in carried.outcomes[case].scores}


def reasons(carried: Carried, case: str = "case-0") -> dict[str, str | None]:
    return {score.name: score.reason for score in carried.outcomes[case].scores}


# Results


def test_a_case_passes_when_all_are_fulfilled_and_each_verdict_stands_in_the_report() -> None:
    carried = play(
        cases(1), echo, evaluators=[Requirements(["a", {"id": "b", "text": "is b"}], scorer=Scorer())]
    )
    assert values(carried) == {
        "Requirements": True,
        "Requirements_share": 1.0,
        "Requirements.1": "fulfilled",
        "Requirements.b": "fulfilled",
    }
    assert reasons(carried) == {
        "Requirements": "all 2 requirements are fulfilled",
        "Requirements_share": "2 of 2 are fulfilled",
        "Requirements.1": "a: a it is",
        "Requirements.b": "is b: is b it is",
    }


def test_a_requirement_whose_call_fails_is_not_fulfilled_and_what_is_unknown_is_told_as_such() -> None:
    scorer = Scorer({"b": (False, "no b"), "c": ValueError("no idea")})
    carried = play(cases(1), echo, evaluators=[Requirements(["a", "b", "c", "d"], scorer=scorer)])
    assert carried.ended == {"scored": 1}
    assert values(carried) == {
        "Requirements": False,
        "Requirements_share": 0.5,
        "Requirements_unchecked": 1,
        "Requirements.1": "fulfilled",
        "Requirements.2": "unfulfilled",
        "Requirements.3": "unchecked",
        "Requirements.4": "fulfilled",
    }
    told = reasons(carried)
    assert told["Requirements"] == (
        "2 of 4 not fulfilled: 'b': no b; 'c': could not be checked: ValueError: no idea"
    )
    assert told["Requirements_share"] == "2 of 4 are fulfilled, 1 could not be checked"
    assert told["Requirements_unchecked"] == "3: ValueError: no idea"
    assert told["Requirements.3"] == "c: could not be checked: ValueError: no idea"


def test_results_stand_in_the_given_order_under_the_name_that_was_given() -> None:
    scorer = Scorer(seconds={text: 9.0 - place for place, text in enumerate(EIGHT)})
    evaluator = Requirements(EIGHT, scorer=scorer, evaluation_name="complete")
    carried = play(cases(1), echo, evaluators=[evaluator])
    assert list(values(carried)) == ["complete", "complete_share", *(f"complete.{n}" for n in range(1, 9))]


@pytest.mark.parametrize(
    ("said", "passed", "label"),
    [(True, True, "fulfilled"), ((False, "not when"), False, "unfulfilled"), (None, False, "unchecked")],
)
def test_a_confirmation_at_the_end_decides_with_the_requirements(said: Any, passed: bool, label: str) -> None:
    async def confirm(answer: str, results: Any) -> Any:
        return said

    evaluator = Requirements(["a"], scorer=Scorer(), confirm_coverage=confirm)
    found = values(play(cases(1), echo, evaluators=[evaluator]))
    assert (found["Requirements"], found["Requirements_coverage"]) == (passed, label)
    assert found.get("Requirements_unchecked", 0) == (label == "unchecked")


def test_requirements_of_each_case_come_from_its_metadata() -> None:
    given: list[Case[Any, Any, Any]] = [
        Case(inputs=0, metadata={"requirements": ["a", "b"]}),
        Case(inputs=1, metadata={"requirements": [{"id": "x", "text": "c"}]}),
        Case(inputs=2, metadata={}),
        Case(inputs=3, metadata={"requirements": []}),
    ]
    scorer = Scorer()
    carried = play(given, echo, evaluators=[Requirements(scorer=scorer)])
    assert Counter(text for _, text in scorer.asked) == {"a": 1, "b": 1, "c": 1}
    assert carried.ended == {"scored": 2, "evaluator_error": 2}
    assert "Requirements.x" in values(carried, "case-1")
    (missing,), (empty,) = (carried.outcomes[f"case-{n}"].failures for n in (2, 3))
    assert missing.error.message == "the metadata of the case has no requirements under 'requirements'"
    assert empty.error.message == "there are no requirements: every answer would fulfil them"


def test_scorers_see_the_case_where_they_ask_for_it() -> None:
    seen: list[Any] = []

    async def check(requirement: str, output: str, inputs: int, ctx: Any) -> bool:
        seen.append((requirement, output, inputs, ctx.name))
        return True

    play(cases(1), echo, evaluators=[Requirements(["a"], scorer=check)])
    assert seen == [("a", "answer 0", 0, "case-0")]


# At once


def test_one_limit_holds_over_all_cases_and_is_made_full_use_of() -> None:
    for limit in (3, 40):
        scorer = Scorer()
        evaluator = Requirements(EIGHT, scorer=scorer, max_concurrency=limit)
        carried = play(cases(50), echo, evaluators=[evaluator], concurrency=50)
        assert carried.ended == {"scored": 50}
        assert (scorer.peak, len(scorer.asked)) == (limit, 400)
        assert carried.seconds == -(-400 // limit)


def test_without_a_limit_all_requirements_of_all_cases_are_asked_at_once() -> None:
    scorer = Scorer()
    carried = play(cases(50), echo, evaluators=[Requirements(EIGHT, scorer=scorer)], concurrency=50)
    assert (carried.seconds, scorer.peak) == (1.0, 400)


def test_waiting_for_a_place_is_neither_the_time_of_the_evaluator_nor_lateness() -> None:
    evaluator = Requirements(["a", "b"], scorer=Scorer(usual=3), max_concurrency=1, timeout=4)
    carried = play(cases(30), echo, evaluators=[evaluator], concurrency=30, evaluator_timeout=5, listens=True)
    assert carried.ended == {"scored": 30}
    # Its first call begins while the second one waits: what is counted is the time in which any goes on.
    assert carried.seconds == 180.0


def test_a_copy_has_a_limit_of_its_own() -> None:
    one = Requirements(["a"], scorer=Scorer(), max_concurrency=1)
    other = copy.deepcopy(one)
    carried = play(cases(1), echo, evaluators=[one, other])
    assert carried.seconds == 1.0
    assert one == Requirements(["a"], scorer=one.scorer, max_concurrency=1)


def test_one_failing_call_in_each_case_changes_nothing_else() -> None:
    def run(said: dict[str, Any]) -> list[dict[str, Any]]:
        evaluator = Requirements(EIGHT, scorer=Scorer(said), max_concurrency=40)
        carried = play(cases(50), echo, evaluators=[evaluator], concurrency=50)
        assert carried.ended == {"scored": 50}
        return [values(carried, f"case-{n}") for n in range(50)]

    failing = {"r5": ValueError("no idea")}
    for whole, broken in zip(run({}), run(failing), strict=True):
        changed = {name for name in whole | broken if whole.get(name) != broken.get(name)}
        assert changed == {"Requirements", "Requirements_share", "Requirements_unchecked", "Requirements.5"}


# What is not known


def test_where_none_could_be_checked_the_case_is_an_error_and_not_a_zero() -> None:
    scorer = Scorer(dict.fromkeys("ab", ValueError("no idea")))
    carried = play(cases(1), echo, evaluators=[Requirements(["a", "b"], scorer=scorer)])
    assert carried.ended == {"evaluator_error": 1}
    (failure,) = carried.outcomes["case-0"].failures
    assert failure.error.type.endswith("RequirementsUnchecked")
    assert failure.error.message.startswith("2 of 2 requirements could not be checked")
    assert "ValueError: no idea" in failure.error.message
    assert carried.outcomes["case-0"].scores == []


def test_what_another_try_could_help_is_tried_again_and_only_what_is_missing_is_asked() -> None:
    class Recovers(Scorer):
        async def __call__(self, answer: Any, requirement: str) -> Any:
            self.said = dict.fromkeys("ab", ConnectionError("gone")) if len(self.asked) < 2 else {}
            return await super().__call__(answer, requirement)

    scorer = Recovers()
    policy = Retry(attempts=2, base=0.0)
    carried = play(
        cases(1), echo, evaluators=[Requirements(["a", "b"], scorer=scorer)], retry_evaluators=policy
    )
    assert carried.ended == {"scored": 1}
    assert Counter(text for _, text in scorer.asked) == {"a": 2, "b": 2}


class TurnsAway(Scorer):
    """A provider that closes after so many calls: the money is spent, say."""

    def __init__(self, open_for: int) -> None:
        super().__init__()
        self.open_for = open_for

    async def __call__(self, answer: Any, requirement: str) -> Any:
        said = await super().__call__(answer, requirement)
        self.open_for -= 1
        if self.open_for < 0:
            listener = current_listener.get()
            assert listener is not None
            listener.begun()
            listener.ended(Call(at=0.0, pool="openai:m", outcome="fatal"))
            raise PermissionError("insufficient_quota")
        return said


def test_a_provider_that_answers_nobody_says_nothing_of_the_answer() -> None:
    carried = play(cases(1), echo, evaluators=[Requirements(EIGHT, scorer=TurnsAway(5))])
    assert carried.ended == {"evaluator_error": 1}
    (failure,) = carried.outcomes["case-0"].failures
    assert failure.error.message.startswith("3 of 8 requirements could not be checked")
    assert len(carried.of(VerdictLine)) == 5


def test_an_error_that_is_none_stands_in_words() -> None:
    scorer = Scorer(dict.fromkeys("a", SystemExit(3)))
    with pytest.raises(RequirementsUnchecked) as raised:
        asyncio.run(Requirements(["a"], scorer=scorer).evaluate(finished("x")))
    assert [repr(each) for each in raised.value.exceptions] == ["RuntimeError('SystemExit: 3')"]


# On record


def run(folder: Path, scorer: Scorer, requirements: Any = None) -> Report[Any, Any, Any]:
    """A run, or going on with it: two cases and four requirements."""
    dataset: Dataset[Any, Any, Any] = Dataset(
        name="requirements",
        cases=[Case(name=name, inputs=name) for name in "xy"],
        evaluators=[Requirements(requirements or ["a", "b", "c", "d"], scorer=scorer)],
    )
    return dataset.evaluate_sync(
        echo, journal=folder, progress=False, retry_evaluators=False, accept_changes=True
    )


def test_a_resume_asks_only_for_what_is_not_on_record(tmp_path: Path) -> None:
    report = run(tmp_path / "run", TurnsAway(5))
    assert (report.figures.outcomes["scored"], report.figures.outcomes["evaluator_error"]) == (1, 1)
    scorer = TurnsAway(100)
    report = run(tmp_path / "run", scorer)
    assert (report.pass_rate, len(scorer.asked)) == (1.0, 3)
    assert run(tmp_path / "run", scorer).pass_rate == 1.0
    assert len(scorer.asked) == 3


class Versioned(Scorer):
    version = "1"


@pytest.mark.parametrize(("kind", "asked"), [(Scorer, "abc" * 2 + "ee"), (Versioned, "b" + "ee")])
def test_a_rescoring_asks_a_scorer_again_unless_it_says_by_its_version_that_it_is_the_same(
    tmp_path: Path, kind: type[Scorer], asked: str
) -> None:
    class FailsOnce(kind):  # type: ignore[misc,valid-type]  # whatever it is
        async def __call__(self, answer: Any, requirement: str) -> Any:
            said = await super().__call__(answer, requirement)
            if (answer, requirement) == ("answer x", "b"):
                raise ValueError("no idea")
            return said

    FailsOnce.__name__ = kind.__name__
    report = run(tmp_path / "run", FailsOnce(usual=0.0))
    assert report.pass_rate == 0.5
    scorer = kind(usual=0.0)
    evaluators = [Requirements(["a", "b", "c", "e"], scorer=scorer)]
    again = rescore(tmp_path / "run", evaluators=evaluators, journal=tmp_path / "again", progress=False)
    assert again.pass_rate == 1.0
    assert sorted(text for _, text in scorer.asked) == sorted(asked)


# In files


def test_a_class_that_knows_its_scorer_can_be_named_in_files() -> None:
    class Polite(Requirements):
        def __init__(self, requirements: Any = "requirements", max_concurrency: int | None = None) -> None:
            super().__init__(requirements, max_concurrency=max_concurrency, scorer=Scorer())

    built = build(EvaluatorSpec.parse({"Polite": {"requirements": ["a"], "max_concurrency": 3}}), [Polite])
    assert isinstance(built, Polite)


def test_what_no_file_can_say_is_refused_in_one() -> None:
    with pytest.raises(UsageError, match="Requirements cannot be written to a file"):
        spec_of(Requirements(["a"], scorer=Scorer()))
    with pytest.raises(DatasetError, match=r"scorer='checks\.py:check' cannot be called"):
        build(EvaluatorSpec.parse({"Requirements": {"requirements": ["a"], "scorer": "checks.py:check"}}))


def test_editors_are_told_what_requirements_are() -> None:
    forms = [form for form in schema_of()["anyOf"] if "Requirements" in form.get("properties", {})]
    (by_keyword,) = (
        each for each in forms[0]["properties"]["Requirements"]["anyOf"] if each.get("type") == "object"
    )
    described = by_keyword["properties"]["requirements"]["anyOf"]
    assert {"type": "string"} in described


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"requirements": []}, "there are no requirements"),
        ({"requirements": ["a", ""]}, "requirement 2 is ''"),
        ({"requirements": ["a"], "max_concurrency": 0}, "max_concurrency=0"),
        ({"requirements": ["a"], "timeout": -1}, "timeout=-1"),
    ],
)
def test_what_cannot_be_meant_is_refused_when_it_is_written(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        Requirements(**{"scorer": Scorer(), **wrong})
    assert refused.value.hint


def test_its_answer_is_what_any_evaluator_gives() -> None:
    said = asyncio.run(Requirements(["a"], scorer=Scorer(usual=0.0)).evaluate(finished("x")))
    assert said["Requirements"] == EvaluationReason(True, "the requirement is fulfilled")
