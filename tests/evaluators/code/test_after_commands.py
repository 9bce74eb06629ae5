"""Evaluators of code on what command tasks have left behind: in the run, and when it is scored again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask, Dataset, rescore
from paceline.evaluators import CommandPasses, FilesChanged, TestsPass

TESTS = "from app import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"


def dataset_of(*evaluators: Any) -> Dataset[Any, Any, Any]:
    return Dataset(
        cases=[
            Case(name="right", inputs={"sign": "+"}, metadata={"FAIL_TO_PASS": ["test_app.py::test_add"]}),
            Case(name="wrong", inputs={"sign": "-"}, metadata={"FAIL_TO_PASS": ["test_app.py::test_add"]}),
        ],
        evaluators=list(evaluators),
    )


def results(report: Any) -> dict[str, dict[str, Any]]:
    assert report.verdict == "complete", report.render()
    return {
        row.name: {name: found.value for name, found in {**row.assertions, **row.scores}.items()}
        for row in report.cases
    }


@pytest.fixture
def task(tmp_path: Path) -> CommandTask:
    template = tmp_path / "template"
    template.mkdir()
    (template / "app.py").write_text("def add(a, b):\n    return 0\n")
    return CommandTask(
        [
            "sh",
            "-c",
            "printf 'def add(a, b):\\n    return a %s b\\n' \"$1\" > app.py",
            "-",
            "{{ inputs.sign }}",
        ],
        workspace={"template": str(template)},
    )


EVALUATORS = (
    FilesChanged(only=["app.py"]),
    CommandPasses(["grep", "-q", "return a", "app.py"]),
    TestsPass(files={"test_app.py": TESTS}),
)
TOLD = {
    "right": {"FilesChanged": True, "CommandPasses": True, "TestsPass": True, "TestsPass_share": 1.0},
    "wrong": {"FilesChanged": True, "CommandPasses": True, "TestsPass": False, "TestsPass_share": 0.0},
}


@pytest.mark.slow
def test_the_workspace_that_an_agent_has_left_is_judged(task: CommandTask, tmp_path: Path) -> None:
    report = dataset_of(*EVALUATORS).evaluate_sync(task, journal=tmp_path / "run", progress=False)
    assert results(report) == TOLD


@pytest.mark.slow
def test_it_is_judged_again_when_it_is_gone(task: CommandTask, tmp_path: Path) -> None:
    first = dataset_of(FilesChanged()).evaluate_sync(task, journal=tmp_path / "run", progress=False)
    assert results(first) == {"right": {"FilesChanged": True}, "wrong": {"FilesChanged": True}}
    again = rescore(tmp_path / "run", evaluators=EVALUATORS, journal=tmp_path / "again", progress=False)
    assert results(again) == TOLD


def test_a_workspace_that_cannot_be_made_again_is_an_error_and_no_fail(
    task: CommandTask, tmp_path: Path
) -> None:
    dataset_of(FilesChanged()).evaluate_sync(task, journal=tmp_path / "run", progress=False)
    (tmp_path / "template" / "app.py").write_text("something else\n")
    again = rescore(tmp_path / "run", evaluators=[CommandPasses("true")], journal=False, progress=False)
    assert again.verdict == "errors"
    assert {failure.error_type for row in again.cases for failure in row.evaluator_failures} == {"NotJudged"}
