"""The workflow of the manual: its steps are carried out, as a runner would."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.documents import blocks_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "ci.md"


def workflow(folder: Path, *, capital: str = "Paris") -> list[dict[str, Any]]:
    """The steps of the workflow; the files that stand beside it on the page are written."""
    steps: list[dict[str, Any]] = []
    for block in blocks_of(PAGE.read_text(encoding="utf-8")):
        if block.title and block.title.endswith("evals.yml"):
            steps = yaml.safe_load(block.text)["jobs"]["evals"]["steps"]
        elif block.title:
            text = block.text.replace('"France": "Paris"', f'"France": "{capital}"')
            (folder / block.title).write_text(text, encoding="utf-8")
    assert steps
    return steps


def carried_out(folder: Path, *, capital: str = "Paris") -> dict[str, int]:
    """The exit codes of the steps that call us; after a failure, only some of them run."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    environ = {**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    codes: dict[str, int] = {}
    for step in workflow(folder, capital=capital):
        left_out = any(codes.values()) and "cancelled" not in step.get("if", "")
        if left_out or "paceline" not in step.get("run", ""):
            continue
        command = ["bash", "-e", "-c", step["run"]]
        codes[step["name"]] = subprocess.run(command, cwd=folder, env=environ, check=False).returncode
    return codes


def test_a_green_run_of_main_saves_a_baseline_and_the_next_is_held_against_it(tmp_path: Path) -> None:
    assert carried_out(tmp_path) == {"Run": 0, "Gate": 0, "Reports": 0, "Save the baseline": 0}
    assert "no regression" not in (tmp_path / "summary.md").read_text()
    shutil.rmtree(tmp_path / "runs")  # the next job starts on a machine of its own
    assert carried_out(tmp_path)["Gate"] == 0
    assert "no regression" in (tmp_path / "summary.md").read_text()


def test_a_red_run_fails_at_the_gate_has_its_reports_and_saves_nothing(tmp_path: Path) -> None:
    assert carried_out(tmp_path, capital="Lyon") == {"Run": 0, "Gate": 1, "Reports": 0}
    assert "| RED | pass_rate" in (tmp_path / "summary.md").read_text()
    assert (tmp_path / "report.xml").exists()
    assert not (tmp_path / "baseline.json").exists()
