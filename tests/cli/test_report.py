"""`paceline report` in other forms: what is printed, what is written, what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Shell
from tests.report.schema import validated


def test_each_form_is_printed(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    assert shell.types("report", "--markdown").stdout.startswith("## doubles: errors\n")
    assert validated(shell.types("report", "--junit").stdout).attrib["errors"] == "1"
    assert len(list(csv.reader(io.StringIO(shell.types("report", "--csv").stdout)))) == 7


def test_each_form_is_written_whole(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    for form in ("markdown", "junit", "csv", "json"):
        ended = shell.types("report", f"--{form}", "-o", f"report.{form}")
        assert (ended.exit_code, ended.stdout) == (0, "")
    assert json.loads((shell.folder / "report.json").read_text())["n"] == 6
    validated((shell.folder / "report.junit").read_text())
    assert list(shell.folder.glob(".*")) == [], "nothing is left beside them"


@pytest.mark.parametrize(
    "typed",
    [
        ["--markdown", "--junit"],
        ["--csv", "--json"],
        ["--csv", "--failures"],
        ["-o", "report.txt"],
        ["--markdown", "-o", "no/such/folder/report.md"],
    ],
)
def test_what_cannot_be_is_refused(shell: Shell, suite: Path, typed: list[str]) -> None:
    shell.types("run", "doubles.py", "-q")
    ended = shell.types("report", *typed)
    assert ended.exit_code == 2
    assert ended.stdout == ""


def test_a_gate_tells_its_verdict_and_the_report_in_markdown(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-q", RAISES="3")
    ended = shell.types("check", "--min", "pass_rate=0.9", "--markdown")
    assert ended.exit_code == 1
    assert ended.stdout.startswith("## doubles: red\n")
    assert "\n## doubles: errors\n" in ended.stdout
