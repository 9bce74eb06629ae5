"""Rescoring: what is scored, by whom, against what, and what is never made up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report, rescore
from paceline.errors import DatasetError, UsageError
from paceline.evaluators import Equals, EqualsExpected, IsInstance
from paceline.journal import locate
from paceline.journal.encoding import encode_line, seal


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
    with pytest.warns(UserWarning):
        rescore(place, journal=tmp_path / "new", progress=False)
    locate(place).journal.write_bytes(whole)
    report = rescore(place, journal=tmp_path / "new", progress=False)
    assert (report.n_expected, report.n_scored, report.verdict) == (5, 5, "complete")
