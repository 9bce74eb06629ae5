"""CommandPasses: a command in a workspace, carried out."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from paceline.containment import Means
from paceline.errors import UsageError
from paceline.evaluators import CommandPasses, EvaluationReason, NotJudged
from tests.evaluators.cases import finished


def passing(command: Any, cwd: Path | None, **more: Any) -> EvaluationReason:
    evaluator = CommandPasses(command, **{"timeout": 20.0, "cwd": None if cwd is None else str(cwd), **more})
    said = asyncio.run(evaluator.evaluate(finished("")))
    found = said["CommandPasses"] if isinstance(said, dict) else said
    assert isinstance(found, EvaluationReason)
    return found


def test_a_command_that_ends_with_0_passes(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("")
    assert passing("test -e made", tmp_path).value is True
    assert passing(["test", "-e", "made"], tmp_path).value is True
    assert passing([sys.executable, "-c", "print('ok')"], tmp_path).value is True


def test_one_that_does_not_says_how_it_ended_and_what_it_said(tmp_path: Path) -> None:
    found = passing("echo all is lost >&2; exit 3", tmp_path)
    assert (found.value, found.reason) == (False, "it ended with 3: all is lost")
    assert passing("kill -9 $$", tmp_path).reason == "it was ended by signal 9"


def test_it_runs_in_the_workspace_that_the_task_has_noted(tmp_path: Path) -> None:
    (tmp_path / "made").write_text("")
    ctx = finished("", attributes={"workspace": str(tmp_path)})
    said = asyncio.run(CommandPasses("test -e made").evaluate(ctx))
    assert isinstance(said, EvaluationReason)
    assert said.value is True


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (["no-such-program"], "was not carried out"),
        ("no-such-program --really", "not found"),
        ("./notes.txt", "was not carried out"),
    ],
)
def test_a_command_that_is_not_there_is_an_error_and_no_fail(tmp_path: Path, command: Any, why: str) -> None:
    (tmp_path / "notes.txt").write_text("text")
    with pytest.raises(NotJudged, match=why):
        passing(command, tmp_path)


def test_without_a_workspace_it_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotJudged, match="the case has no workspace"):
        passing("true", None)
    with pytest.raises(NotJudged, match="there is no folder"):
        passing("true", tmp_path / "gone")


def test_what_takes_too_long_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    found = passing("(while :; do echo > alive; sleep 0.01; done) & wait", tmp_path, timeout=0.5)
    assert (found.value, found.reason) == (False, "it took longer than 0.5 s")
    (tmp_path / "alive").unlink()
    assert list(tmp_path.iterdir()) == []


def test_endless_output_is_ended(tmp_path: Path) -> None:
    assert passing("yes", tmp_path).reason == "it printed without end"


def test_keys_of_ours_are_not_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert passing(
        'test -z "$OPENAI_API_KEY" && test -n "$PATH" && test "$OWN" = 1', tmp_path, env={"OWN": "1"}
    ).value


def test_commands_in_one_workspace_come_one_after_the_other(tmp_path: Path) -> None:
    command = "test ! -e busy && touch busy && sleep 0.05 && rm busy"
    evaluator = CommandPasses(command, cwd=str(tmp_path))

    async def all_at_once() -> list[Any]:
        return await asyncio.gather(*(evaluator.evaluate(finished("")) for _ in range(4)))

    assert [each.value for each in asyncio.run(all_at_once())] == [True] * 4


def test_a_contained_command_works_in_the_workspace_and_nowhere_else(way: Means, tmp_path: Path) -> None:
    workspace, beside = tmp_path / "workspace", tmp_path / "beside"
    workspace.mkdir()
    beside.mkdir()
    inside = "echo made > here && test -d /usr && ! cat ../beside/secret && ! touch ../beside/made"
    (beside / "secret").write_text("secret")
    found = passing(inside, workspace, contained=True)
    assert found.value is True, found.reason
    assert (workspace / "here").read_text() == "made\n"
    assert [each.name for each in beside.iterdir()] == ["secret"]


def test_a_contained_command_may_be_shown_more(way: Means, tmp_path: Path) -> None:
    workspace, beside = tmp_path / "workspace", tmp_path / "beside"
    workspace.mkdir()
    beside.mkdir()
    (beside / "tests").write_text("shown")
    shown = passing("cat ../beside/tests", workspace, contained=True, readable=[str(beside)])
    assert shown.value is True, shown.reason


def test_a_contained_command_reaches_no_network(way: Means, tmp_path: Path) -> None:
    reach = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=1)"
    found = passing([sys.executable, "-c", reach], tmp_path, contained=True)
    assert any(told in str(found.reason) for told in ("Network is unreachable", "Operation not permitted"))


def test_a_program_that_is_not_in_the_cell_is_an_error_and_no_fail(way: Means, tmp_path: Path) -> None:
    with pytest.raises(NotJudged, match="No such file"):
        passing(["no-such-program"], tmp_path, contained=True)


def test_where_it_cannot_be_contained_it_is_refused(only_limits: Means, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the command cannot be contained"):
        passing("true", tmp_path, contained=True)
    assert passing("true", tmp_path, contained=True, allow_uncontained=True).value is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": ""},
        {"command": []},
        {"command": [1]},
        {"command": "true", "timeout": 0},
        {"command": "true", "timeout": None},
        {"command": "true", "memory_mb": -1},
        {"command": "true", "processes": True},
    ],
    ids=repr,
)
def test_what_cannot_be_carried_out_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="CommandPasses cannot"):
        CommandPasses(**wrong)
