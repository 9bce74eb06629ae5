"""`paceline rescore`: other evaluators or other expectations for outputs that are there already."""

from __future__ import annotations

import json
from pathlib import Path

from paceline.runs import first_line
from tests.cli.conftest import Shell


def test_stored_outputs_are_scored_anew_without_a_call_and_the_old_record_stays_as_it_was(
    shell: Shell, suite: Path
) -> None:
    shell.types("run", "doubles.py", "-o", "old", WRONG="1")
    before = (shell.folder / "old" / "journal.jsonl").read_bytes()
    suite.unlink()
    told = shell.types("rescore", "old", "-o", "new", "--evaluator", "IsInstance: int", "--json")
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    assert (document["n"], document["n_passed"]) == (6, 6)
    assert list(document["assertions"]) == ["IsInstance"]
    assert len(shell.calls) == 6
    assert (shell.folder / "old" / "journal.jsonl").read_bytes() == before


def test_the_evaluators_of_the_run_are_used_if_none_are_named(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "old", WRONG="1")
    shell.write("gold.jsonl", '{"id": "case-1", "expected": 0}\n')
    told = shell.types("rescore", "old", "--expected", "gold.jsonl", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["n_passed"] == 6


def test_the_evaluators_of_a_suite_can_be_taken(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "old")
    shell.write(
        "strict.py",
        """
        from paceline import Dataset
        def is_small(output): return output < 5
        dataset = Dataset(cases=[], evaluators=[is_small])
        def task(x): ...
        """,
    )
    document = json.loads(shell.types("rescore", "old", "--suite", "strict.py", "--json").stdout)
    assert document["assertions"]["is_small"]["n_true"] == 3


def test_results_of_another_harness_are_scored_and_never_written_to(shell: Shell, suite: Path) -> None:
    results = shell.write(
        "results.jsonl", '{"id": "a", "output": "Paris"}\n{"id": "b", "ok": false, "error": "lost"}\n'
    )
    before = results.read_bytes()
    refused = shell.types("run", "doubles.py", "-o", "results.jsonl")
    assert refused.exit_code == 2
    assert "paceline rescore" in refused.stderr
    told = shell.types("rescore", "results.jsonl", "--evaluator", "Contains: Paris", "--json")
    assert told.exit_code == 1, "one of them is an error"
    document = json.loads(told.stdout)
    assert (document["n_passed"], document["n_failed"]) == (1, 1)
    assert results.read_bytes() == before


def test_a_rescoring_is_a_run_that_resumes(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "old")
    shell.types("rescore", "old", "-o", "new", "--evaluator", "EqualsExpected")
    told = shell.types("resume", "new", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["n"] == 6
    assert len(shell.calls) == 6


def test_functions_cannot_be_had_back_from_a_record(shell: Shell) -> None:
    shell.write(
        "own.py",
        """
        from paceline import Case, Dataset
        def mine(output): return True
        dataset = Dataset(cases=[Case(inputs=1)], evaluators=[mine])
        def task(x): return x
        """,
    )
    shell.types("run", "own.py", "-o", "old")
    told = shell.types("rescore", "old")
    assert told.exit_code == 2
    assert "mine" in told.stderr
    assert shell.types("rescore", "old", "--suite", "own.py").exit_code == 0


def test_a_resumed_rescoring_scores_the_run_that_it_was_started_for(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", WRONG="1")
    (scored,) = (shell.folder / "runs" / "doubles").iterdir()
    shell.types("rescore", "--evaluator", "IsInstance: int")
    told = shell.types("resume", "--json")
    assert told.exit_code == 0, told.output
    document = json.loads(told.stdout)
    line = first_line(Path(document["path"]))
    assert line is not None
    assert line.rescored_from == str(scored), "the latest run is the rescoring itself by now"
    assert (document["n"], document["n_passed"]) == (6, 6)


def test_a_run_that_is_not_finished_is_told_to_be_so(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "old", "-j", "1", "--budget-failures", "1", WRONG="2")
    told = shell.types("rescore", "old", "--json")
    assert told.exit_code == 4, told.output
    assert json.loads(told.stdout)["n_expected"] == 6
    assert "warning: " in told.stderr
    assert "have no answer" in told.stderr
    assert "paceline resume old" in told.stderr


def test_with_a_suite_its_cases_bring_their_own_evaluators(shell: Shell) -> None:
    shell.write(
        "own.py",
        """
        from paceline import Case, Dataset
        from paceline.evaluators import Equals, EqualsExpected
        def small(output): return output < 5
        cases = [
            Case(name="a", inputs=1, expected_output=1, evaluators=[small]),
            Case(name="b", inputs=9, expected_output=9, evaluators=[small]),
            Case(inputs=3, expected_output=3, evaluators=[small]),
            Case(name="d", inputs=4, expected_output=4, evaluators=[Equals(5)]),
        ]
        dataset = Dataset(cases=cases, evaluators=[EqualsExpected()])
        def task(x): return x
        """,
    )
    shell.types("run", "own.py", "-o", "old")
    refused = shell.types("rescore", "old")
    assert refused.exit_code == 2
    assert "case 'a' has evaluators of its own" in refused.stderr
    document = json.loads(shell.types("rescore", "old", "--suite", "own.py", "--json").stdout)
    assert (document["n"], document["n_passed"]) == (4, 2)
    assert document["assertions"]["small"]["n_true"] == 2
