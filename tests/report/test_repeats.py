"""Repeats, as reports tell of them."""

from __future__ import annotations

from typing import Any

import pytest

from paceline import Case, Dataset


def answering(repeats: dict[str, list[str]]) -> Dataset[str, str, None]:
    dataset: Dataset[str, str, None] = Dataset(cases=[Case(name=name, inputs=name) for name in repeats])
    dataset.add_evaluator(lambda output: output == "right")
    return dataset


def report_of(repeats: dict[str, list[str]], repeat: int) -> Any:
    left = {name: list(answers) for name, answers in repeats.items()}

    def task(name: str) -> str:
        answer = left[name].pop(0)
        if answer == "breaks":
            raise RuntimeError(answer)
        return answer

    return answering(repeats).evaluate_sync(task, journal=False, repeat=repeat)


def test_a_report_tells_it_where_cases_repeat() -> None:
    report = report_of({"a": ["right", "wrong"], "b": ["wrong", "wrong"]}, 2)
    assert report.pass_at_k(1) == pytest.approx(0.25)
    assert report.pass_at_k(2) == pytest.approx(0.5)
    assert report.pass_at_k(3) is None
    assert [(each["k"], each["value"]) for each in report.to_dict()["pass_at_k"]] == [(1, 0.25), (2, 0.5)]
    assert "pass@1 25.0%, pass@2 50.0%: at least one of k tries passes, over 2 cases" in _one_line(report)


def _one_line(report: Any) -> str:
    return " ".join(report.render().split())


def test_a_try_that_broke_has_not_passed() -> None:
    report = report_of({"a": ["right", "breaks"]}, 2)
    assert report.pass_at_k(1) == pytest.approx(0.5)


def test_without_repeats_a_report_says_nothing_of_it() -> None:
    report = report_of({"a": ["right"]}, 1)
    assert report.pass_at_k(1) == 1.0
    assert report.to_dict()["pass_at_k"] == []
    assert "pass@" not in report.render()
