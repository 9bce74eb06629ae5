"""The bar: a suite of ten cases of which nine crash is at 10 % and red, by every front door."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import paceline
from paceline.suite import load_suite
from tests.cli.conftest import Shell
from tests.pytest_runs import SUITE, Pytest
from tests.report.schema import validated


def test_nine_crashes_of_ten_are_ten_percent_and_red_by_every_front_door(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WORKS", "1")
    shell, inner = Shell(tmp_path), Pytest(tmp_path)
    shell.write("suite.py", SUITE)
    rule = ("--min", "pass_rate=0.9")

    # The library.
    suite = load_suite("suite.py")
    report = suite.dataset.evaluate_sync(suite.task, journal="runs/by-hand", progress=False)
    assert (report.pass_rate, report.n_failed, report.passed, report.exit_code()) == (0.1, 9, False, 1)
    verdict = paceline.check(report, min={"pass_rate": 0.9})
    assert (verdict.state, verdict.findings[1].value, verdict.n_failing) == ("red", 0.1, 9)
    assert not paceline.check("runs/by-hand", min={"pass_rate": 0.9})

    # The command line: run, run and check, check alone, the report.
    assert shell.types("run", "suite.py", "-q").exit_code == 1
    ended = shell.types("run", "suite.py", *rule, "--json")
    told = json.loads(ended.stdout)
    assert (ended.exit_code, told["pass_rate"], told["check"]["verdict"]) == (1, 0.1, "red")
    assert shell.types("check", *rule).exit_code == 1
    assert "Pass rate     10.0%" in shell.types("report").stdout
    assert json.loads(shell.types("report", "--json").stdout)["pass_rate"] == 0.1

    # pytest.
    inner.write(
        "test_it.py",
        'import pytest\n@pytest.mark.paceline("suite.py", min_pass_rate=0.9)\ndef test_it(): pass\n',
    )
    tested = inner.runs("-q")
    assert tested.returncode == 1
    assert "it is 10.0%" in tested.stdout
    assert all(f"case-{number} " in tested.stdout for number in range(1, 10))

    # What CI systems read.
    results = validated(shell.types("report", "--junit").stdout)
    assert (results.attrib["tests"], results.attrib["errors"]) == ("10", "9")
    assert "| Pass rate | 10.0% " in shell.types("report", "--markdown").stdout
    assert "## doubles: red" in shell.types("check", *rule, "--markdown").stdout
    rows = list(csv.DictReader(io.StringIO(shell.types("report", "--csv").stdout)))
    assert [row["passed"] for row in rows].count("false") == 9
