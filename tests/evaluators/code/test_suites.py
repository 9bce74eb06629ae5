"""TestsPass: a test suite in a workspace, and what it says when it is lied to."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from paceline.containment import Means
from paceline.errors import UsageError
from paceline.evaluators import EvaluationReason, NotJudged, TestsPass
from paceline.workspaces.sources import WorkspaceError
from tests.evaluators.cases import finished

APP = "def add(a, b):\n    return a + b\n"
TESTS = """\
import pytest
from app import add


def test_small():
    assert add(1, 2) == 3


@pytest.mark.parametrize("more", [1, 2])
def test_more(more):
    assert add(more, more) == 2 * more


class TestBig:
    def test_big(self):
        assert add(10**9, 1) == 10**9 + 1
"""
ALL = ["test_app.py::test_small", "test_app.py::test_more[1]", "test_app.py::test_more[2]"]
ALL += ["test_app.py::TestBig::test_big"]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "app.py").write_text(APP)
    (folder / "test_app.py").write_text(TESTS)
    return folder


def judged(workspace: Path, *, metadata: Any = None, **given: Any) -> dict[str, EvaluationReason]:
    evaluator = TestsPass(**{"cwd": str(workspace), "timeout": 60.0, **given})
    return asyncio.run(evaluator.evaluate(finished("", metadata=metadata)))


def verdict(workspace: Path, **given: Any) -> EvaluationReason:
    return judged(workspace, **given)["TestsPass"]


def why_not(workspace: Path, **given: Any) -> str:
    found = verdict(workspace, **given)
    assert found.value is False
    return str(found.reason)


def test_a_suite_whose_tests_all_pass_passes(workspace: Path) -> None:
    assert verdict(workspace).value is True


def test_one_in_which_a_test_fails_says_which(workspace: Path) -> None:
    (workspace / "app.py").write_text("def add(a, b):\n    return a * b + 1\n")
    assert why_not(workspace).startswith("1 of 4 tests failed: test_app::test_more[2]")


def test_of_lists_those_have_to_pass_and_no_others(workspace: Path) -> None:
    (workspace / "test_other.py").write_text("def test_broken(): assert False\n")
    said = judged(workspace, fail_to_pass=ALL[:1], pass_to_pass=ALL[1:])
    assert said["TestsPass"].value is True
    assert said["TestsPass_share"].value == 1.0
    said = judged(workspace, fail_to_pass=[*ALL, "test_other.py::test_broken", "test_app.py::test_no"])
    assert said["TestsPass"].value is False
    told = "test_other.py::test_broken did not pass; there are no results for test_app.py::test_no"
    assert said["TestsPass"].reason == f"4 of 6 passed; {told}"
    assert said["TestsPass_share"].value == pytest.approx(4 / 6)


@pytest.mark.parametrize("as_text", [True, False])
def test_lists_are_taken_from_the_metadata_as_swe_bench_has_them(workspace: Path, as_text: bool) -> None:
    lists = {"FAIL_TO_PASS": ALL[:1], "PASS_TO_PASS": ["test_app.py::test_gone"]}
    metadata = {name: json.dumps(tests) for name, tests in lists.items()} if as_text else lists
    assert "there are no results for test_app.py::test_gone" in why_not(workspace, metadata=metadata)


@pytest.mark.parametrize(
    "metadata",
    [
        {"FAIL_TO_PASS": [], "PASS_TO_PASS": "[]"},
        {"FAIL_TO_PASS": "all"},
        {"FAIL_TO_PASS": [1]},
        {"test_files": []},
    ],
    ids=repr,
)
def test_lists_that_say_nothing_are_an_error(workspace: Path, metadata: Any) -> None:
    with pytest.raises(NotJudged):
        verdict(workspace, metadata=metadata)


def test_hidden_tests_are_written_over_what_the_agent_made_of_them(workspace: Path) -> None:
    (workspace / "app.py").write_text("def add(a, b):\n    return 3\n")
    (workspace / "test_app.py").write_text("def test_small(): pass\n")
    assert verdict(workspace).value is True
    assert "3 of 4 tests failed" in why_not(workspace, files={"test_app.py": TESTS})
    assert "3 of 4 tests failed" in why_not(workspace, metadata={"test_files": {"test_app.py": TESTS}})


def test_what_pytest_prints_is_read_where_no_file_is_named(workspace: Path) -> None:
    said = judged(workspace, command="python -m pytest -q -rA -p no:cacheprovider", fail_to_pass=ALL)
    assert said["TestsPass"].value is True
    assert "names no tests" in why_not(workspace, command="python -m pytest -q -p no:cacheprovider")


def test_a_file_that_the_suite_writes_into_the_workspace_is_read(workspace: Path) -> None:
    command = "python -m pytest -q -p no:cacheprovider --junit-xml=out/results.xml"
    assert verdict(workspace, command=command, junit="out/*.xml").value is True


FORGED = '<testsuite><testcase classname="test_app" name="test_small"/></testsuite>'


def test_results_that_were_there_before_are_not_those_of_the_suite(workspace: Path) -> None:
    (workspace / "out").mkdir()
    (workspace / "out" / "results.xml").write_text(FORGED)
    assert "there are no results" in why_not(workspace, command="true", junit="out/*.xml")


def test_results_are_not_removed_through_a_link(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "results.xml").write_text(FORGED)
    (workspace / "out").symlink_to(outside)
    (workspace / "linked.xml").symlink_to(outside / "results.xml")
    assert "there are no results" in why_not(workspace, command="true", junit="**/*.xml")
    assert (outside / "results.xml").read_text() == FORGED


@pytest.mark.parametrize(
    "harm",
    [
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "print('4 passed in 0.01s')\nimport os\nos._exit(0)\n",
    ],
    ids=["ends the process", "exits", "prints that all passed"],
)
def test_code_that_ends_the_suite_has_not_passed_it(workspace: Path, harm: str) -> None:
    (workspace / "app.py").write_text(APP + harm)
    assert verdict(workspace).value is False
    assert verdict(workspace, fail_to_pass=ALL).value is False


def test_a_suite_without_tests_does_not_pass(workspace: Path) -> None:
    (workspace / "test_app.py").write_text("")
    assert "no test has passed" in why_not(workspace)


def test_a_suite_in_which_all_is_left_out_does_not_pass(workspace: Path) -> None:
    (workspace / "test_app.py").write_text("import pytest\npytest.skip('later', allow_module_level=True)\n")
    assert "no test has passed" in why_not(workspace)


def test_a_suite_that_takes_too_long_is_ended(workspace: Path) -> None:
    (workspace / "app.py").write_text("import time\ntime.sleep(1000)\n")
    assert why_not(workspace, timeout=2.0) == "it took longer than 2 s"


def test_a_suite_that_fails_after_its_tests_does_not_pass(workspace: Path) -> None:
    command = "python -m pytest -q -p no:cacheprovider --junit-xml={junit}; exit 9"
    assert why_not(workspace, command=command).startswith("its tests passed, and it ended with 9")


def test_a_python_without_pytest_is_an_error_and_no_fail(workspace: Path) -> None:
    with pytest.raises(NotJudged, match="there is no pytest"):
        verdict(workspace, command="python -I -S -m pytest --junit-xml={junit}")


def test_a_contained_suite_is_judged_like_any(way: Means, workspace: Path) -> None:
    found = verdict(workspace, contained=True, processes=64)
    assert found.value is True, found.reason
    (workspace / "app.py").write_text("def add(a, b):\n    return open('/etc/shadow').read()\n")
    assert "4 of 4 tests failed" in why_not(workspace, contained=True)


@pytest.mark.parametrize(
    "wrong", [{"command": "pytest --junit-xml={junit}", "junit": "out.xml"}, {"command": ""}]
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="TestsPass"):
        TestsPass(**wrong)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", ".git/config"])
def test_files_outside_of_the_workspace_are_refused(path: str) -> None:
    with pytest.raises(WorkspaceError, match="no path of a file in a workspace"):
        TestsPass(files={path: "text"})
