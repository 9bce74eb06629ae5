"""`paceline demo`: a run, a kill, the resume; and that the demo would notice if it were not so."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shell


@pytest.mark.slow
def test_the_demo_kills_a_run_resumes_it_and_runs_nothing_twice(shell: Shell) -> None:
    ended = shell.runs("demo", "--fast", "-o", "kept")
    assert ended.returncode == 0, ended.stderr
    assert "Killed with SIGKILL" in ended.stdout
    assert "0 were run again" in ended.stdout
    assert "nothing is wrong" in ended.stdout
    assert (shell.folder / "kept" / "run" / "journal.jsonl").exists()
    calls = (shell.folder / "kept" / "calls.log").read_text().split()
    assert len(set(calls)) == 200
    assert "COMPLETE  SIMULATED  all 200 cases were scored" in ended.stdout
    assert "50 at a time" in ended.stderr


@pytest.mark.slow
def test_a_demo_leaves_nothing_behind_unless_it_is_asked_to(shell: Shell) -> None:
    temporary = shell.folder / "tmp"
    temporary.mkdir()
    ended = shell.runs("demo", "--fast", environ={"TMPDIR": str(temporary)})
    assert ended.returncode == 0, ended.stderr
    assert list(temporary.iterdir()) == []


def test_a_demo_is_not_laid_over_another_one(shell: Shell) -> None:
    (shell.folder / "kept" / "run").mkdir(parents=True)
    told = shell.types("demo", "-o", "kept")
    assert told.exit_code == 2
    assert "choose another -o" in told.stderr
