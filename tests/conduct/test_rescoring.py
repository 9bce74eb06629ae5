"""Rescoring: what is scored, by whom, against what, and what is never made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, rescore
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import Equals, EqualsExpected, Evaluator, EvaluatorContext, IsInstance
from paceline.journal import locate
from paceline.tasks import ModelTask


def doubled(n: int) -> int:
    return 2 * n


def run_of(place: Path, *cases: Case[int, int, Any]) -> Path:
    dataset = Dataset(name="doubles", cases=list(cases), evaluators=[EqualsExpected()])
    dataset.evaluate_sync(doubled, journal=place, progress=False)
    return place


def doubles(number: int) -> list[Case[int, int, Any]]:
    return [Case(name=f"case-{n}", inputs=n, expected_output=2 * n) for n in range(number)]


def rescored(place: Path, **asked: Any) -> Report[Any, Any, Any]:
    return rescore(place, journal=False, progress=False, **asked)


def killed(place: Path, *, after: int) -> None:
    """Leave of a journal what a run that was killed had written when so many cases were done."""
    journal = locate(place).journal
    kept, done = b"", 0
    for line in journal.read_bytes().splitlines(keepends=True):
        done += b'"kind":"outcome"' in line
        if done > after:
            break
        kept += line
    journal.write_bytes(kept)


def results(place: Path, *rows: Mapping[str, Any]) -> Path:
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


# What there is to score


def test_the_rescoring_of_an_unfinished_run_is_as_incomplete_as_the_run(tmp_path: Path) -> None:
    place = run_of(tmp_path / "run", *doubles(5))
    killed(place, after=3)
    with pytest.warns(UserWarning, match="2 of its 5 cases have no answer"):
        report = rescored(place)
    assert (report.n_expected, report.n_scored, report.n_open) == (5, 3, 2)
    assert (report.verdict, report.exit_code()) == ("incomplete", 4)


def test_once_the_run_is_finished_its_rescoring_can_be_finished_too(tmp_path: Path) -> None:
    place = run_of(tmp_path / "run", *doubles(5))
    whole = locate(place).journal.read_bytes()
    killed(place, after=3)
    with pytest.warns(UserWarning, match="is not finished"):
        rescore(place, journal=tmp_path / "new", progress=False)
    locate(place).journal.write_bytes(whole)
    report = rescore(place, journal=tmp_path / "new", progress=False)
    assert (report.n_expected, report.n_scored, report.verdict) == (5, 5, "complete")


# Evaluators of single cases


def test_the_evaluators_that_a_case_has_of_its_own_are_asked_again(tmp_path: Path) -> None:
    wrong = Case(name="wrong", inputs=2, evaluators=[Equals(2), IsInstance("int")])
    place = run_of(tmp_path / "run", wrong, *doubles(1))
    report = rescore(place, journal=tmp_path / "new", progress=False)
    assert report.pass_rate == 0.5
    assert list(report.cases[0].assertions) == ["Equals", "IsInstance"]
    assert rescored(tmp_path / "new").pass_rate == 0.5, "a rescoring has them on record as well"


def test_named_evaluators_stand_in_place_of_the_case_s_own_too(tmp_path: Path) -> None:
    place = run_of(tmp_path / "run", Case(name="wrong", inputs=2, evaluators=[Equals(2)]))
    report = rescored(place, evaluators=[IsInstance("int")])
    assert list(report.cases[0].assertions) == ["IsInstance"]


@pytest.mark.parametrize(
    "own",
    [lambda output: output > 0, Equals((1, 2)), Equals(date(2026, 11, 18))],
    ids=["a function", "a tuple", "a date"],
)
def test_a_case_s_own_evaluator_that_a_journal_cannot_hold_is_never_left_out(
    tmp_path: Path, own: object
) -> None:
    place = run_of(tmp_path / "run", Case(name="odd", inputs=2, expected_output=4, evaluators=[own]))
    with pytest.raises(UsageError, match="case 'odd' has evaluators of its own") as refused:
        rescored(place)
    assert "name the suite" in refused.value.hint
    assert rescored(place, evaluators=[EqualsExpected()]).passed


def test_a_class_that_is_not_built_in_is_asked_for(tmp_path: Path) -> None:
    @dataclass
    class Even(Evaluator[Any, Any, Any]):
        def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> bool:
            return bool(ctx.output % 2 == 0)

    place = run_of(tmp_path / "run", Case(name="odd", inputs=2, evaluators=[Even()]))
    with pytest.raises(UsageError, match="Even") as refused:
        rescored(place)
    assert "name the suite" in refused.value.hint


# Files of others


def test_a_row_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    place = results(tmp_path / "theirs.jsonl", {"id": "a", "output": 1}, {"id": "a", "output": 2})
    with pytest.raises(DatasetError, match=r"theirs\.jsonl:2: 'a' stands in line 1 already"):
        rescored(place, evaluators=[EqualsExpected()])


@pytest.mark.parametrize("seconds", ["fast", True, -1, "1.5"])
def test_a_latency_that_is_none_is_refused_with_its_line(tmp_path: Path, seconds: object) -> None:
    place = results(tmp_path / "theirs.jsonl", {"id": "a", "output": 1, "latency_s": seconds})
    with pytest.raises(DatasetError, match=r"theirs\.jsonl:1: latency_s is"):
        rescored(place, evaluators=[EqualsExpected()])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("gold.jsonl", '{"id": "case-0", "expected": 7}\n\n{"task_id": "case-1", "target": 2}\n'),
        ("one.jsonl", '{"id": "case-0", "expected": 7}'),
        ("gold.json", '{\n  "case-0": 7,\n  "case-1": 2\n}\n'),
        ("one.json", '{"case-0": 7}'),
        ("gold.csv", "name,gold\ncase-0,7\ncase-1,2\n"),
        ("gold.tsv", "name\tgold\ncase-0\t7\n"),
    ],
)
def test_what_is_expected_may_be_rows_or_one_object(tmp_path: Path, name: str, text: str) -> None:
    place = run_of(tmp_path / "run", *doubles(2))
    (tmp_path / name).write_text(text)
    told = {row.name: row.expected_output for row in rescored(place, expected=tmp_path / name).cases}
    assert str(told["case-0"]) == "7"
    assert str(told["case-1"]) == "2"


def test_a_row_that_expects_nothing_is_refused(tmp_path: Path) -> None:
    place = run_of(tmp_path / "run", *doubles(2))
    gold = results(tmp_path / "gold.jsonl", {"id": "case-0", "expectd": 7}, {"id": "case-1", "expected": 2})
    with pytest.raises(DatasetError, match=r"gold\.jsonl:1: nothing is expected"):
        rescored(place, expected=gold)


def test_expectations_that_meet_no_case_are_told(tmp_path: Path) -> None:
    place = run_of(tmp_path / "run", *doubles(2))
    with pytest.warns(UserWarning, match=r"no case 'case-9': 1 expected in vain"):
        report = rescored(place, expected={"case-0": 0, "case-9": 18})
    assert report.passed
    for expected in ({"Case-0": 0}, results(tmp_path / "gold.jsonl", {"id": "x", "expected": 1})):
        with pytest.raises(UsageError, match="nothing that is expected is about a case"):
            rescored(place, expected=expected)
    theirs = results(tmp_path / "theirs.jsonl", {"id": "a", "output": 1})
    with pytest.raises(UsageError, match="nothing that is expected is about a case"):
        rescored(theirs, evaluators=[EqualsExpected()], expected={"b": 1})


def test_what_a_simulated_provider_has_answered_is_no_result_either_when_it_is_scored_again(
    tmp_path: Path,
) -> None:
    dataset = Dataset(name="sums", cases=[Case(name="a", inputs="What is 1 + 1?", expected_output="2")])
    dataset.evaluate_sync(ModelTask("sim"), journal=tmp_path / "run")
    for source, place in (("run", "again"), ("again", "thrice")):
        report = rescore(
            tmp_path / source, evaluators=[EqualsExpected()], journal=tmp_path / place, progress=False
        )
        assert report.pass_rate == 1.0
        assert report.figures.is_simulated
        assert report.to_dict()["simulated"] is True
        assert "SIMULATED" in report.render()
        assert "not a result: the outputs come from a rehearsal" in " ".join(report.render().split())
