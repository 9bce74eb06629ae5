"""What evaluators said of a case over several processes: report, ledger and event tell the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline import Case, Dataset, Report
from paceline.engine.events import CaseFinished
from paceline.evaluators import EqualsExpected
from paceline.journal import Ledger
from paceline.journal.records import OutcomeLine, ScoresLine
from paceline.report.results import Telling, merged
from tests.report.journals import failed, mute, scored, told, yes

ORDER = ["Equals", "Judge"]


def lines(*tellings: Any) -> list[Telling]:
    assert all(isinstance(each, ScoresLine | OutcomeLine) for each in tellings)
    return list(tellings)


def test_an_evaluator_that_had_nothing_to_say_when_asked_again_has_not_failed() -> None:
    first = failed("a", "evaluator_error", scores=[yes()], failures=[mute("Judge")])
    results = merged(lines(first, scored("a", answer=None)), ORDER)
    assert [score.by for score in results.scores] == ["Equals"]
    assert results.failures == []


@pytest.mark.parametrize("again", ["outcome", "scores"])
def test_an_evaluator_that_failed_again_is_told_once_and_by_its_last_failure(again: str) -> None:
    first = failed("a", "evaluator_error", failures=[mute("Judge")])
    later = mute("Judge", message="still down")
    if again == "outcome":
        rest = [failed("a", "evaluator_error", failures=[later])]
    else:
        rest = [told("a", failures=(later,)), failed("a", "evaluator_error")]
    assert merged(lines(first, *rest), ORDER).failures == [later]


def test_event_ledger_and_report_agree_on_a_case_whose_failed_evaluator_says_nothing(tmp_path: Path) -> None:
    down = True
    finished: list[CaseFinished] = []

    def judge(output: int) -> dict[str, bool]:
        if down:
            raise OSError("the judge is down")
        return {}

    def listen(event: object) -> None:
        if isinstance(event, CaseFinished):
            finished.append(event)

    dataset: Dataset[int, int, Any] = Dataset(
        cases=[Case(name="a", inputs=1, expected_output=1)], evaluators=[EqualsExpected(), judge]
    )
    options: Any = {
        "journal": tmp_path / "run",
        "progress": False,
        "on_event": listen,
        "retry_evaluators": False,
    }
    assert dataset.evaluate_sync(lambda x: x, **options).exit_code() == 1
    down = False
    dataset.evaluate_sync(lambda x: x, **options)
    report = Report.read(tmp_path / "run")
    assert [event.passed for event in finished] == [False, True]
    assert Ledger.read(tmp_path / "run").tally().passed == 1
    assert (report.figures.n_passed, report.figures.n_not_passed) == (1, 0)
    assert report.cases[0].passed
    assert report.cases[0].evaluator_failures == []
