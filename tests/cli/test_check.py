"""`paceline check`, and `run --check`: what is typed, what is said, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

WITH_RULES = """
    from doubles import dataset, task

    check = {"min": {"pass_rate": 0.9}, "max": {"error_rate": "2%"}}
"""


@pytest.fixture
def guarded(shell: Shell, suite: Path) -> Path:
    """The same suite with rules."""
    return shell.write("guarded.py", WITH_RULES)


def test_a_run_is_green_or_red_and_the_exit_code_says_so(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    green = shell.types("check", "--min", "pass_rate=0.8", "--max", "error_rate=20%")
    red = shell.types("check", "--min", "pass_rate=0.9")
    assert (green.exit_code, red.exit_code) == (0, 1)
    assert green.stdout.startswith("green: doubles\n")
    assert red.stdout.startswith("red: doubles\n")
    assert "case-3  task_error  ValueError: odd" in red.stdout


def test_json_is_one_document_with_a_finding_for_each_rule(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    told = json.loads(shell.types("check", "--min", "pass_rate=0.9", "--json").stdout)
    assert (told["verdict"], told["exit_code"], told["format"]) == ("red", 1, 1)
    assert [each["verdict"] for each in told["findings"]] == ["green", "red"]
    assert told["findings"][1]["value"] == pytest.approx(5 / 6)
    assert told["failing"] == [{"key": "case-3", "outcome": "task_error", "why": "ValueError: odd"}]


@pytest.mark.parametrize(
    "typed",
    [
        [],
        ["--min", "passrate=0.9"],
        ["--min", "pass_rate"],
        ["--max", "error_rate=2"],
        ["--confidence", "95", "--min", "pass_rate=0.9"],
        ["--no-regression", "nowhere.json"],
    ],
)
def test_a_rule_that_says_nothing_is_wrong_usage(shell: Shell, suite: Path, typed: list[str]) -> None:
    shell.types("run", "doubles.py", "-q")
    ended = shell.types("check", *typed)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "hint:" in ended.stderr


def test_rules_of_the_suite_hold_for_its_runs_without_the_suite(shell: Shell, guarded: Path) -> None:
    shell.types("run", "guarded.py", "-q", RAISES="3")
    guarded.unlink()
    assert shell.types("check").exit_code == 1
    assert shell.types("check", "--min", "pass_rate=0.8", "--max", "error_rate=0.5").exit_code == 0


def test_rules_of_another_suite_take_their_place(shell: Shell, guarded: Path) -> None:
    shell.types("run", "guarded.py", "-q", RAISES="3")
    shell.write("lax.yaml", "dataset: x.jsonl\ncheck:\n  min: {pass_rate: 0.5}\n")
    assert shell.types("check", "--suite", "lax.yaml").exit_code == 0


def test_a_suite_in_yaml_has_rules_too_and_a_mistake_has_its_line(shell: Shell, suite: Path) -> None:
    document = """\
        cases: [{name: a, inputs: 1, expected_output: 2}]
        evaluators: [EqualsExpected]
        task: doubles.py:task
        check:
          min: {pass_rate: 90%}
          max: {p95: 30s}
    """
    shell.write("suite.yaml", document)
    assert shell.types("run", "suite.yaml", "-q", "--check").exit_code == 0
    shell.write("suite.yaml", document.replace("pass_rate", "passrate"))
    ended = shell.types("run", "suite.yaml", "-q")
    assert ended.exit_code == 2
    assert "suite.yaml:4: there is no figure 'passrate'; did you mean pass_rate?" in ended.stderr


def test_the_rules_of_a_run_hold_for_its_new_scores(shell: Shell, guarded: Path) -> None:
    shell.types("run", "guarded.py", "-q", "-o", "runs/x/first")
    shell.types("rescore", "first", "-q", "-o", "runs/x/second", "--evaluator", "Equals: 4")
    assert shell.types("check", "first").exit_code == 0
    assert shell.types("check", "second").exit_code == 1
    shell.write("lax.py", "from doubles import dataset, task\ncheck = {'min': {'pass_rate': 0.1}}\n")
    shell.types("rescore", "first", "-q", "-o", "runs/x/third", "--suite", "lax.py")
    assert "pass_rate >= 10.0%" in shell.types("check", "third").stdout


# Run and check -----------------------------------------------------------------------------------------


def test_run_and_check_does_both(shell: Shell, guarded: Path) -> None:
    green = shell.types("run", "guarded.py", "--check")
    red = shell.types("run", "guarded.py", "--check", RAISES="3")
    assert (green.exit_code, red.exit_code) == (0, 1)
    assert "Pass rate" in red.stdout
    assert "\nred: doubles\n" in red.stdout


def test_what_a_failure_means_is_for_the_rules_to_say(shell: Shell, suite: Path) -> None:
    assert shell.types("run", "doubles.py", "-q", RAISES="3").exit_code == 1
    lax = ("--min", "pass_rate=0.5")
    assert shell.types("run", "doubles.py", "-q", *lax, RAISES="3").exit_code == 0
    assert shell.types("run", "doubles.py", "-q", *lax, WRONG="3").exit_code == 0
    assert shell.types("run", "doubles.py", "-q", "--min", "pass_rate=0.9", WRONG="3").exit_code == 1


def test_run_and_check_prints_one_document(shell: Shell, guarded: Path) -> None:
    told = json.loads(shell.types("run", "guarded.py", "--check", "--json", WRONG="1").stdout)
    assert told["pass_rate"] == pytest.approx(5 / 6)
    assert told["check"]["verdict"] == "red"


@pytest.mark.parametrize("typed", [["--check"], ["--min", "passrate=1"], ["--no-regression", "nowhere.json"]])
def test_a_mistake_in_the_rules_is_told_before_anything_is_run(
    shell: Shell, suite: Path, typed: list[str]
) -> None:
    ended = shell.types("run", "doubles.py", *typed)
    assert ended.exit_code == 2
    assert shell.calls == []


def test_a_run_that_ran_out_of_its_budget_is_incomplete(shell: Shell, guarded: Path) -> None:
    ended = shell.types("run", "guarded.py", "-q", "--check", "--fail-fast", "-j", "1", RAISES="0")
    assert ended.exit_code == 4
    assert "incomplete: doubles" in ended.stdout
    assert shell.types("check").exit_code == 4


def test_a_resumed_run_is_checked_as_the_whole_run_would(shell: Shell, guarded: Path) -> None:
    shell.types("run", "guarded.py", "-q", "--check", "--fail-fast", "-j", "1", RAISES="0")
    resumed = shell.types("resume", "-q", "--retry-errors", "--no-fail-fast")
    assert resumed.exit_code == 0
    assert resumed.stdout.startswith("green: doubles")


# Baselines -----------------------------------------------------------------------------------------


def test_a_baseline_is_saved_and_held_against(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", "-o", "runs/x/first")
    assert shell.types("check", "--save-baseline", "baseline.json").exit_code == 0
    shell.write("bad.py", "from doubles import dataset\ndef task(n): raise ValueError(n)\n")
    shell.types("run", "bad.py", "-q", "-o", "runs/x/second")
    for baseline in ("baseline.json", "runs/x/first", "first"):
        ended = shell.types("check", "second", "--no-regression", baseline)
        assert ended.exit_code == 1, ended.stderr
        assert "significantly worse on the 6 keys" in ended.stdout


def test_a_run_can_be_checked_and_saved_at_once(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    ended = shell.types("check", "--min", "pass_rate=0.9", "--save-baseline", "baseline.json")
    assert ended.exit_code == 1
    assert (shell.folder / "baseline.json").exists()
