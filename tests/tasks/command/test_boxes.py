"""A command in bubblewrap sees its workspace and the system, and not what is ours."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask
from paceline.containment import means
from paceline.errors import UsageError
from paceline.tasks.command import failures
from tests.processes.remains import Mark, linux
from tests.tasks.command.commands import called, elsewhere, grounds, run_of
from tests.workspaces.repositories import repository

__all__ = ["elsewhere"]

contained = pytest.mark.skipif(means().way != "bubblewrap", reason=f"no bubblewrap here: {means().why_not}")


@contained
def test_it_writes_into_its_workspace_and_nowhere_else(elsewhere: Path) -> None:
    (elsewhere / "secret").write_text("secret")
    program = (
        f"echo kept > kept.txt; cat {elsewhere}/secret || echo unseen; echo x > {elsewhere}/reached; "
        "echo x > /usr/reached || echo closed; echo tmp > $TMPDIR/x && echo home > $HOME/y && echo own"
    )
    task = CommandTask(program, bubblewrap=True)
    report: Any = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = report.rows
    assert row.output.split() == ["unseen", "closed", "own"]
    assert row.attributes["changed_files"] == [{"path": "kept.txt", "kind": "added"}]
    assert not (elsewhere / "reached").exists()  # it went into a folder of its own, and is gone
    assert grounds(elsewhere) == []


@contained
def test_it_sees_what_it_is_given_by_name(elsewhere: Path) -> None:
    (elsewhere / "suite/config").write_text("settings")
    (elsewhere / "suite/cache").mkdir()
    box = {"readable": ["config"], "writable": ["cache"]}
    said = called(
        "cat {{ suite }}/config; echo x > {{ suite }}/cache/x; echo x > {{ suite }}/config || echo closed",
        bubblewrap=box,
    )
    assert said == "settingsclosed"
    assert (elsewhere / "suite/cache/x").read_text() == "x\n"


@contained
def test_a_repository_can_be_worked_with_in_it(elsewhere: Path) -> None:
    repository(elsewhere / "repo", {"a": "1"}, {"a": "2"})
    commit = "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m more"
    said = called(
        f"git log --oneline | wc -l; {commit} && git log --oneline | wc -l",
        workspace={"repository": str(elsewhere / "repo")},
        bubblewrap=True,
    )
    assert said.split() == ["2", "3"]


@contained
def test_a_program_of_the_suite_runs_in_it(elsewhere: Path) -> None:
    program = elsewhere / "suite/agent"
    program.write_text("#!/bin/sh\necho agent of the suite\n")
    program.chmod(0o755)
    assert called(["./agent"], bubblewrap={"readable": ["agent"]}) == "agent of the suite"


@contained
@linux
def test_its_deadline_ends_everything_in_it(elsewhere: Path) -> None:
    mark = Mark()
    program = "trap '' TERM; setsid sleep 60 & (sleep 61 &) ; while :; do sleep 1; done"
    with pytest.raises(failures.CommandTimeout):
        called(program, bubblewrap=True, timeout=0.7, grace=0.2, env={"MARK": mark.value})
    mark.wait_gone()


@contained
def test_without_network_there_is_none(elsewhere: Path) -> None:
    look = "cat /proc/net/dev | grep -c : || true"
    assert int(called(look, bubblewrap={"network": False})) == 1
    assert int(called(look, bubblewrap=True)) >= 1


def test_where_it_cannot_be_used_the_remedy_is_told(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (elsewhere / "bin").mkdir()
    for program in ("git", "true"):
        found = shutil.which(program)
        assert found is not None
        (elsewhere / "bin" / program).symlink_to(found)
    monkeypatch.setenv("PATH", str(elsewhere / "bin"))
    means.cache_clear()
    try:
        with pytest.raises(UsageError, match="bubblewrap cannot be used on this machine") as refused:
            CommandTask(["true"], bubblewrap=True).check_ready()
        assert "apt-get install bubblewrap" in refused.value.hint
    finally:
        monkeypatch.undo()
        means.cache_clear()
