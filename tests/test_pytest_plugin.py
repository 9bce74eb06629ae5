"""The pytest plugin, in runs of pytest as its users start them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.pytest_runs import SUITE, Pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def inner(tmp_path: Path) -> Pytest:
    return Pytest(tmp_path)


MARKED = """
import pytest

@pytest.mark.paceline("suite.py", min_pass_rate=0.9)
def test_doubles():
    pass
"""


def test_a_suite_that_keeps_its_rules_is_a_test_that_passes(inner: Pytest) -> None:
    inner.write("test_it.py", MARKED)
    ended = inner.runs("-q")
    assert ended.returncode == 0, ended.stdout
    assert "1 passed" in ended.stdout


def test_a_suite_that_does_not_fails_and_every_failing_case_is_named(inner: Pytest) -> None:
    inner.write("test_it.py", MARKED)
    ended = inner.runs("-q", WORKS="1")
    assert ended.returncode == 1
    assert "1 failed" in ended.stdout
    assert "pass_rate >= 90.0%  it is 10.0%" in ended.stdout
    for number in range(1, 10):
        assert f"case-{number}  task_error  ValueError: no idea of {number}" in ended.stdout
    assert "run: runs/doubles/" in ended.stdout
    assert "Traceback" not in ended.stdout


def test_all_of_many_failing_cases_are_named(inner: Pytest) -> None:
    inner.write("suite.py", SUITE.replace("range(10)", "range(60)"))
    inner.write("test_it.py", MARKED)
    ended = inner.runs("-q", WORKS="1")
    assert all(f"case-{number} " in ended.stdout for number in range(1, 60))


def test_it_works_with_several_workers(inner: Pytest) -> None:
    inner.write("test_it.py", MARKED + MARKED.replace("test_doubles", "test_again"))
    # Without the summary, which tells failures once more where the variable CI is set.
    ended = inner.runs("-q", "-rN", "-p", "xdist", "-n", "2", WORKS="1")
    assert ended.returncode == 1
    assert "2 failed" in ended.stdout
    assert ended.stdout.count("case-9  task_error") == 2


def test_the_report_is_a_fixture(inner: Pytest) -> None:
    inner.write(
        "test_it.py",
        """
import pytest

@pytest.mark.paceline("suite.py")
def test_report(paceline_report):
    assert paceline_report.n_expected == 10
    assert paceline_report.pass_rate == 1.0, "no rule is needed: the test says what has to be so"

def test_run(paceline_run):
    assert paceline_run("suite.py", limit=3, max_concurrency=1).n_expected == 3
""",
    )
    ended = inner.runs("-q")
    assert ended.returncode == 0, ended.stdout


def test_the_gate_comes_before_the_code_of_the_test(inner: Pytest) -> None:
    inner.write("test_it.py", MARKED.replace("pass\n", 'raise AssertionError("reached")\n'))
    assert "reached" in inner.runs("-q").stdout
    red = inner.runs("-q", WORKS="1").stdout
    assert "reached" not in red
    assert "red: doubles" in red


def test_rules_of_the_suite_hold_and_those_of_the_mark_go_first(inner: Pytest) -> None:
    inner.write("suite.py", SUITE + '\ncheck = {"min": {"pass_rate": 0.9}, "max": {"p95": "30s"}}\n')
    inner.write("test_it.py", MARKED.replace(", min_pass_rate=0.9", ""))
    assert inner.runs("-q", WORKS="5").returncode == 1
    inner.write("test_it.py", MARKED.replace("0.9", "0.5"))
    assert inner.runs("-q", WORKS="5").returncode == 0


def test_two_marks_are_two_suites_that_both_have_to_be_green(inner: Pytest) -> None:
    inner.write("other.py", SUITE.replace('"doubles"', '"other"').replace("2 * n\n", "n\n"))
    second = '@pytest.mark.paceline("suite.py", min_pass_rate=0.9)\n'
    first = '@pytest.mark.paceline("other.py", min_pass_rate=0.9)\n'
    for marks in (first + second, second + first):
        inner.write("test_it.py", f"import pytest\n{marks}def test_both(): pass\n")
        ended = inner.runs("-q")
        assert ended.returncode == 1
        assert "red: other" in ended.stdout


@pytest.mark.parametrize(
    ("mark", "says"),
    [
        ('"suite.py"', "there is no rule"),
        ('"suite.py", min_passrate=0.9', "did you mean pass_rate?"),
        ('"suite.py", max_error_rate=2', "a rate lies between 0 and 1"),
        ('"suite.py", timeuot=3, min_pass_rate=0.9', "timeuot"),
        ('"nowhere.py", min_pass_rate=0.9', "nowhere.py"),
        ("", "a mark names one suite"),
        ("3, min_pass_rate=0.9", "no suite"),
    ],
)
def test_a_mark_that_says_nothing_fails_and_says_why(inner: Pytest, mark: str, says: str) -> None:
    inner.write("test_it.py", MARKED.replace('"suite.py", min_pass_rate=0.9', mark))
    ended = inner.runs("-q")
    assert ended.returncode == 1
    assert says in ended.stdout
    assert "1 failed" in ended.stdout


def test_a_suite_lies_beside_its_test(inner: Pytest) -> None:
    inner.write("evals/suite.py", SUITE)
    inner.write("evals/test_it.py", MARKED)
    (inner.folder / "suite.py").unlink()
    assert inner.runs("-q").returncode == 0


def test_a_run_without_cases_fails(inner: Pytest) -> None:
    inner.write("test_it.py", MARKED.replace("min_pass_rate=0.9", 'max_error_rate=0.5, filter="nothing"'))
    assert inner.runs("-q").returncode == 1


def test_tests_without_a_mark_load_nothing_of_it(inner: Pytest) -> None:
    inner.write(
        "test_it.py",
        """
import sys

def test_light():
    ours = {name for name in sys.modules if name.startswith("paceline")}
    assert ours == {"paceline", "paceline.pytest_plugin"}
    assert not {"msgspec", "numpy", "scipy", "rich", "click"} & set(sys.modules)
""",
    )
    ended = inner.runs("-q")
    assert ended.returncode == 0, ended.stdout


def test_pytest_finds_it_wherever_the_package_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"paceline": "paceline.pytest_plugin"}
