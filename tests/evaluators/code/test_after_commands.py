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


ISSUE = """\
diff --git a/test_app.py b/test_app.py
--- a/test_app.py
+++ b/test_app.py
@@ -1,5 +1,9 @@
 from app import add


 def test_zero():
     assert add(0, 0) == 0
+
+
+def test_sum():
+    assert add(1, 2) == 3
diff --git a/test_new.py b/test_new.py
new file mode 100644
--- /dev/null
+++ b/test_new.py
@@ -0,0 +1,4 @@
+from app import add
+
+def test_more():
+    assert add(2, 2) == 4
"""
AGENT = """\
printf 'def add(a, b):\\n    return a %s b\\n' "$1" > app.py
echo 'def test_zero(): pass' > test_app.py
echo 'def test_more(): pass' > test_new.py
"""


@pytest.mark.slow
def test_a_patch_of_tests_prevails_over_what_the_agent_has_made_of_them(tmp_path: Path) -> None:
    """As in SWE-bench: the row's lists and patch, and an agent that has written tests of the same names."""
    template = tmp_path / "template"
    template.mkdir()
    (template / "app.py").write_text("def add(a, b):\n    return 0\n")
    tests = "from app import add\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
    (template / "test_app.py").write_text(tests)
    row = {
        "test_patch": ISSUE,
        "FAIL_TO_PASS": '["test_app.py::test_sum", "test_new.py::test_more"]',
        "PASS_TO_PASS": '["test_app.py::test_zero"]',
    }
    dataset: Dataset[Any, Any, Any] = Dataset(
        cases=[
            Case(name="right", inputs={"sign": "+"}, metadata=row),
            Case(name="wrong", inputs={"sign": "-"}, metadata=row),
        ],
        evaluators=[TestsPass(), TestsPass(evaluation_name="again")],
    )
    task = CommandTask(["sh", "-c", AGENT, "-", "{{ inputs.sign }}"], workspace={"template": str(template)})
    report = dataset.evaluate_sync(task, journal=tmp_path / "run", progress=False)
    told = {
        "right": {"TestsPass": True, "TestsPass_share": 1.0, "again": True, "again_share": 1.0},
        "wrong": {"TestsPass": False, "TestsPass_share": 1 / 3, "again": False, "again_share": 1 / 3},
    }
    assert results(report) == told
    again = rescore(tmp_path / "run", evaluators=dataset.evaluators, journal=False, progress=False)
    assert results(again) == told


def test_a_deadline_of_the_run_is_not_that_of_a_command(tmp_path: Path) -> None:
    """A command that judges has a `timeout` of its own."""
    dataset: Dataset[str, str, None] = Dataset(
        cases=[Case(inputs="a")], evaluators=[CommandPasses("sleep 0.4", cwd=str(tmp_path), timeout=30)]
    )
    report = dataset.evaluate_sync(lambda text: text, journal=False, progress=False, evaluator_timeout=0.1)
    assert report.passed
