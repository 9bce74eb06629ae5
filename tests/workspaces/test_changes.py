"""What an attempt has changed is a patch that makes the same of the same workspace, and a list of files."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.workspaces import changes as changes_module
from paceline.workspaces import git as git_module
from paceline.workspaces.changes import Changed
from paceline.workspaces.ground import Ground
from paceline.workspaces.sources import Nothing, Repository, Source, Template, WorkspaceGone
from paceline.workspaces.workspace import Workspace, finish, make, remake
from tests.workspaces.repositories import elsewhere, git, repository, shown, write

__all__ = ["elsewhere"]

BEFORE: dict[str, str | bytes] = {
    "a.txt": "one\ntwo\nthree\n",
    "sub/b.bin": bytes(range(256)),
    "sub/deep/c": "c",
    "crlf": "a\r\nb\r\n",
}


def made(elsewhere: Path, source: Source, files: dict[str, bytes] | None = None) -> tuple[Ground, Workspace]:
    ground = Ground(elsewhere / "grounds", "run")
    return ground, make(ground, "case/1", source, files or {})


def sources(folder: Path) -> list[Source]:
    if not (folder / "repo").exists():
        repository(folder / "repo", BEFORE)
    write(folder / "template", BEFORE)
    return [Repository(str(folder / "repo")), Template(folder / "template"), Nothing()]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_changes_are_told_and_their_patch_makes_them_again(elsewhere: Path, which: int) -> None:
    source = sources(elsewhere)[which]
    ground, workspace = made(elsewhere, source)
    work = workspace.path
    assert shown(work) == ({} if which == 2 else {**shown(elsewhere / "template")})
    write(work, {"new/file.txt": "new\n", "a.txt": "one\nTWO\nthree\n", 'ünïcode "quoted"\n': "odd"})
    (work / "sub").mkdir(exist_ok=True)
    (work / "sub/link").symlink_to("/etc/passwd")
    (work / "a.txt").chmod(0o755)
    shutil.rmtree(work / "sub/deep", ignore_errors=True)
    (work / "sub/b.bin").write_bytes(b"\0\1\2")
    changes = workspace.changes(elsewhere / "patch")
    kinds = {each.path: each.kind for each in changes.files}
    was_there = "modified" if which < 2 else "added"
    expected = {
        "a.txt": was_there,
        "new/file.txt": "added",
        "sub/b.bin": was_there,
        "sub/link": "added",
        'ünïcode "quoted"\n': "added",
    }
    assert kinds == expected | ({"sub/deep/c": "deleted"} if which < 2 else {})
    again = remake(ground, "again/1", workspace.record, None)
    finish(again, changes.patch)
    assert shown(again.path) == shown(work)


def test_no_change_is_no_patch(elsewhere: Path) -> None:
    for source in sources(elsewhere):
        _ground, workspace = made(elsewhere, source)
        for path in workspace.path.rglob("*"):
            os.utime(path)  # touched, and the same
        assert workspace.changes(elsewhere / "patch") == changes_module.Changes()
        assert not (elsewhere / "patch").exists()


def test_commits_stashes_and_resets_of_the_agent_make_no_difference(elsewhere: Path) -> None:
    _ground, workspace = made(elsewhere, sources(elsewhere)[0])
    work = workspace.path
    write(work, {"a.txt": "committed\n", "new": "committed\n"})
    git(work, "checkout", "--quiet", "-b", "fix")
    git(work, "add", "--all")
    git(work, "commit", "--quiet", "-m", "fixed")
    changes = workspace.changes(elsewhere / "patch")
    assert changes.files == (Changed("modified", "a.txt"), Changed("added", "new"))
    shutil.rmtree(work / ".git")
    assert workspace.changes(elsewhere / "patch").files == changes.files


def test_what_the_agent_tells_its_git_to_run_is_not_run_by_ours(elsewhere: Path) -> None:
    """A monitor, a filter, a diff program, a hook: each is a command that git would run for whoever asks."""
    _ground, workspace = made(elsewhere, sources(elsewhere)[0])
    work = workspace.path
    trap = elsewhere / "sprung"
    program = write(elsewhere / "bin", {"trap": f"#!/bin/sh\ntouch {trap}\ncat\n"}) / "trap"
    program.chmod(0o755)
    for name in (
        "core.fsmonitor",
        "filter.x.clean",
        "diff.x.command",
        "diff.x.textconv",
        "diff.external",
        "core.pager",
    ):
        git(work, "config", name, str(program))
    write(
        work,
        {
            ".gitattributes": "* filter=x diff=x\n",
            "a.txt": "changed\n",
            ".git/hooks/post-checkout": "#!/bin/sh\n",
        },
    )
    assert len(workspace.changes(elsewhere / "patch").files) == 2
    assert not trap.exists()


def test_what_gitignore_names_is_left_out(elsewhere: Path) -> None:
    _ground, workspace = made(elsewhere, Nothing())
    write(workspace.path, {".gitignore": "node_modules\n", "node_modules/x/y.js": "", "app.js": ""})
    assert [each.path for each in workspace.changes(elsewhere / "patch").files] == [".gitignore", "app.js"]


def test_files_of_the_case_are_not_the_agents_doing(elsewhere: Path) -> None:
    for source in sources(elsewhere):
        _ground, workspace = made(elsewhere, source, {"task/prompt.md": b"do it", "a.txt": b"of the case"})
        assert (workspace.path / "a.txt").read_text() == "of the case"
        assert workspace.changes(elsewhere / "patch").files == ()
        write(workspace.path, {"a.txt": "of the agent"})
        assert workspace.changes(elsewhere / "patch").files == (Changed("modified", "a.txt"),)


def test_what_settles_is_not_the_agents_doing(elsewhere: Path) -> None:
    for source in sources(elsewhere):
        _ground, workspace = made(elsewhere, source)
        write(workspace.path, {"build/out": "built"})
        (workspace.path / "a.txt").unlink(missing_ok=True)
        workspace.settle()
        assert workspace.changes(elsewhere / "patch").files == ()


def test_what_a_patch_cannot_hold_is_listed_and_said(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_module, "BIGGEST", 1_000)
    _ground, workspace = made(elsewhere, Nothing())
    write(workspace.path, {"big": "x" * 1_001, "small": "x"})
    repository(workspace.path / "nested", {"inner": "1"})
    os.mkfifo(workspace.path / "pipe")
    changes = workspace.changes(elsewhere / "patch")
    assert [each.path for each in changes.files] == ["big", "nested/", "small"]
    assert changes.left_out == ("big: it has 1,001 bytes", "nested/: it is a repository of its own")
    assert changes.patch is not None
    assert b"nested" not in changes.patch.read_bytes()


def test_a_file_in_place_of_a_folder_and_the_other_way_round(elsewhere: Path) -> None:
    ground, workspace = made(elsewhere, sources(elsewhere)[1])
    shutil.rmtree(workspace.path / "sub")
    (workspace.path / "a.txt").unlink()
    write(workspace.path, {"sub": "a file now", "a.txt/inside": "a folder now"})
    changes = workspace.changes(elsewhere / "patch")
    again = remake(ground, "again/1", workspace.record, None)
    finish(again, changes.patch)
    assert shown(again.path) == shown(workspace.path)


def comes_again(elsewhere: Path, ground: Ground, workspace: Workspace) -> changes_module.Changes:
    """The changes of a workspace, once it is seen that their patch makes the same of a fresh one."""
    changes = workspace.changes(elsewhere / "patch")
    again = remake(ground, "again/1", workspace.record, None)
    finish(again, changes.patch)
    assert shown(again.path) == shown(workspace.path)
    return changes


@pytest.mark.parametrize("which", [0, 1])
def test_a_link_in_place_of_a_folder(elsewhere: Path, which: int) -> None:
    ground, workspace = made(elsewhere, sources(elsewhere)[which])
    shutil.rmtree(workspace.path / "sub")
    (workspace.path / "sub").symlink_to("elsewhere")
    changes = comes_again(elsewhere, ground, workspace)
    kinds = {"sub": "added", "sub/b.bin": "deleted", "sub/deep/c": "deleted"}
    assert {each.path: each.kind for each in changes.files} == kinds


@pytest.mark.parametrize("name", ["git~1", ".git.", "sub/.git::$INDEX_ALLOCATION", "a\\b", "..\\..\\up"])
def test_names_that_mean_something_elsewhere_are_names_here(elsewhere: Path, name: str) -> None:
    for which, source in enumerate(sources(elsewhere)):
        ground, workspace = made(elsewhere / str(which), source)
        write(workspace.path, {name: "x"})
        assert comes_again(elsewhere, ground, workspace).files == (Changed("added", name),)


def test_a_name_that_git_refuses_is_told_and_left_out(elsewhere: Path) -> None:
    _ground, workspace = made(elsewhere, Nothing())
    write(workspace.path, {".GIT/config": "x"})
    (workspace.path / ".gitmodules").symlink_to("/etc/passwd")
    changes = workspace.changes(elsewhere / "patch")
    assert changes.files == (Changed("added", ".GIT/config"), Changed("added", ".gitmodules"))
    assert changes.patch is None
    assert [each.partition(":")[0] for each in changes.left_out] == [".GIT/config", ".gitmodules"]


@pytest.mark.parametrize(
    "attributes",
    ["* text=auto eol=crlf", "* ident", "*.txt working-tree-encoding=UTF-16LE", "* -text -diff filter=x"],
)
def test_how_the_agent_would_have_files_written_makes_no_difference(elsewhere: Path, attributes: str) -> None:
    for which, source in enumerate(sources(elsewhere)):
        ground, workspace = made(elsewhere / str(which), source)
        write(
            workspace.path,
            {".gitattributes": f"{attributes}\n", "w.txt": "a\r\nb\n$Id: x $", "odd": "\n\r\n"},
        )
        changes = comes_again(elsewhere, ground, workspace)
        assert {each.path for each in changes.files} == {".gitattributes", "odd", "w.txt"}


@pytest.mark.parametrize("which", [0, 1])
def test_files_that_are_written_otherwise_than_they_are_kept_come_again(elsewhere: Path, which: int) -> None:
    """Line ends of Windows, as `.gitattributes` of the repository or template would have them."""
    before = {".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\r\ntwo\r\n", "b.txt": "b\r\n"}
    repository(elsewhere / "repo", before)
    write(elsewhere / "template", before)
    source = (Repository(str(elsewhere / "repo")), Template(elsewhere / "template"))[which]
    ground, workspace = made(elsewhere, source)
    assert (workspace.path / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
    write(workspace.path, {"a.txt": "one\r\nTWO\r\n", "new.txt": "new\r\n"})
    changes = comes_again(elsewhere, ground, workspace)
    assert changes.files == (Changed("modified", "a.txt"), Changed("added", "new.txt"))


@pytest.mark.parametrize("name", [".gitignore", "sub/.gitattributes", "new/.gitignore"])
def test_a_pipe_that_git_would_open_keeps_nobody_waiting(
    elsewhere: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module, "LOCAL_S", 10.0)
    for which, source in enumerate(sources(elsewhere)):
        _ground, workspace = made(elsewhere / str(which), source)
        (workspace.path / name).parent.mkdir(exist_ok=True)
        os.mkfifo(workspace.path / name)
        write(workspace.path, {"x": "x"})
        changes = workspace.changes(elsewhere / "patch")
        assert changes.files == (Changed("added", "x"),)
        assert changes.left_out == (f"{name}: it was no plain file",)


def test_what_hides_other_files_is_not_hidden_itself(elsewhere: Path) -> None:
    for which, source in enumerate(sources(elsewhere)):
        _ground, workspace = made(elsewhere / str(which), source)
        write(workspace.path, {".gitignore": "*\n", "conftest.py": "", "build/.gitignore": "*\n"})
        assert workspace.changes(elsewhere / "patch").files == (Changed("added", ".gitignore"),)


def test_a_workspace_that_was_removed_or_replaced_is_said_to_be_gone(elsewhere: Path) -> None:
    for which, source in enumerate(sources(elsewhere)):
        _ground, workspace = made(elsewhere / str(which), source)
        shutil.rmtree(workspace.path)
        with pytest.raises(WorkspaceGone, match="not there any more"):
            workspace.changes(elsewhere / "patch")
        workspace.path.symlink_to(elsewhere)
        with pytest.raises(WorkspaceGone, match="not there any more"):
            workspace.changes(elsewhere / "patch")


NAMES = st.sampled_from(
    ["a.txt", "sub/b.bin", "sub/deep/c", "crlf", "new", "sub/new", "deep/er/new", "sp ace"]
)
EDITS = st.dictionaries(
    NAMES, st.one_of(st.none(), st.binary(max_size=40), st.text("ab\r\n", max_size=30)), max_size=6
)


@settings(max_examples=25)
@given(edits=EDITS)
def test_a_patch_makes_whatever_was_made(edits: dict[str, bytes | str | None]) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as shell:
        base = Path(folder)
        shell.setenv("PACELINE_CACHE", str(base / "cache"))
        write(base / "template", BEFORE)
        ground, workspace = made(base, Template(base / "template"))
        for name, content in edits.items():
            if content is None:
                (workspace.path / name).unlink(missing_ok=True)
            else:
                write(workspace.path, {name: content})
        changes = workspace.changes(base / "patch")
        again = remake(ground, "again/1", workspace.record, None)
        finish(again, changes.patch)
        assert shown(again.path) == shown(workspace.path)
