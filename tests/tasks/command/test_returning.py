"""Whoever scores a case finds the workspace that its command has left, also where it is gone by then."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask, Evaluator, rescore, workspace_of
from paceline.evaluators import CommandPasses, FilesChanged
from paceline.workspaces.sources import WorkspaceError
from tests.tasks.command.commands import elsewhere, grounds, run_of
from tests.workspaces.repositories import repository, shown, write

__all__ = ["elsewhere"]


@dataclass
class Sees(Evaluator[Any, Any, Any]):
    """Notes where the workspace was, and what was in it."""

    def evaluate(self, ctx: Any) -> dict[str, str]:
        with workspace_of(ctx) as folder:
            return {"where": str(folder), "what": repr(sorted(shown(folder).items()))}


class Bare:
    """What a task that knows nothing of workspaces leaves."""

    @property
    def attributes(self) -> dict[str, Any]:
        return {}


def seen(report: Any) -> tuple[str, str]:
    (row,) = report.rows
    assert not getattr(row, "evaluator_failures", None), row.evaluator_failures
    return row.labels["where"].value, row.labels["what"].value


CASE: Case[Any, Any, Any] = Case(name="a", inputs={"note": "of the case"})


def sources(elsewhere: Path) -> list[Any]:
    repository(elsewhere / "repo", {"a.txt": "one\n", "b.txt": "b\n"})
    write(elsewhere / "suite/template", {"a.txt": "one\n", "b.txt": "b\n"})
    return [{"repository": str(elsewhere / "repo")}, {"template": "template"}, "empty"]


PROGRAM = "echo two >> a.txt; rm -f b.txt; cat made NOTE.md > new.txt"


@pytest.mark.parametrize("which", [0, 1, 2])
def test_it_is_the_one_that_is_there_and_later_the_same_made_anew(elsewhere: Path, which: int) -> None:
    task = CommandTask(
        PROGRAM,
        workspace=sources(elsewhere)[which],
        files={"NOTE.md": "{{ inputs.note }}"},
        setup="echo made by setup > made",
    )
    there = seen(run_of(elsewhere, task, CASE, evaluators=[Sees()]))
    assert "of the case" in there[1]
    assert "made by setup" in there[1]
    assert "'b.txt'" not in there[1]
    anew = seen(rescore(elsewhere / "run", evaluators=[Sees()], journal=elsewhere / "again"))
    assert anew[1] == there[1]
    assert anew[0] != there[0]
    assert grounds(elsewhere) == []


def test_commands_that_judge_work_in_it_then_and_later(elsewhere: Path) -> None:
    task = CommandTask("echo 42 > answer", workspace={"template": "template"})
    sources(elsewhere)
    judges = [CommandPasses("test $(cat answer) = 42 && test -f a.txt"), FilesChanged(only=["answer"])]
    report = run_of(elsewhere, task, CASE, evaluators=judges)
    again = rescore(elsewhere / "run", evaluators=judges, journal=elsewhere / "again")
    for each in (report, again):
        row: Any
        (row,) = each.rows
        assert {name: result.value for name, result in row.assertions.items()} == {
            "CommandPasses": True,
            "FilesChanged": True,
        }
    assert grounds(elsewhere) == []


def failure_of(report: Any) -> str:
    (row,) = report.rows
    (failure,) = row.evaluator_failures
    return str(failure.error_message)


def test_what_cannot_be_made_again_as_it_was_is_refused(elsewhere: Path) -> None:
    sources(elsewhere)
    run_of(elsewhere, CommandTask("echo x > x", workspace={"template": "template"}), CASE)
    write(elsewhere / "suite/template", {"a.txt": "changed since"})
    said = failure_of(rescore(elsewhere / "run", evaluators=[Sees()], journal=elsewhere / "one"))
    assert "is not what it was when the case was run" in said
    for patch in (elsewhere / "run").rglob("*.patch"):
        patch.unlink()
    said = failure_of(rescore(elsewhere / "run", evaluators=[Sees()], journal=elsewhere / "two"))
    assert "the workspace is gone, and so is" in said


def test_without_a_workspace_that_is_said(elsewhere: Path) -> None:
    run_of(elsewhere, CommandTask("true", workspace="none"), CASE)
    said = failure_of(rescore(elsewhere / "run", evaluators=[Sees()], journal=elsewhere / "one"))
    assert "this case has no workspace" in said

    with pytest.raises(WorkspaceError, match="no workspace"), workspace_of(Bare()):
        pass


def test_a_run_directory_may_be_read_only_for_whoever_scores(elsewhere: Path) -> None:
    """Nothing is written into the run that is scored again."""
    sources(elsewhere)
    run_of(elsewhere, CommandTask("echo x > x", workspace={"template": "template"}), CASE)
    before = shown(elsewhere / "run")
    rescore(elsewhere / "run", evaluators=[Sees()], journal=elsewhere / "again")
    assert shown(elsewhere / "run") == before
    shutil.rmtree(elsewhere / "again")
