"""A glimpse of a small folder sees what git would list, and leaves the rest to git."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.workspaces import glimpse
from paceline.workspaces.git import git
from paceline.workspaces.glimpse import files_in
from tests.workspaces.repositories import elsewhere, repository, write

__all__ = ["elsewhere"]

PARTS = st.sampled_from([b"a", b"b c", b"\xff\xfe", b".hidden", b"new\nline", b"-v", b"a.gitignore"])
PATHS = st.lists(PARTS, min_size=1, max_size=3).map(b"/".join)
KINDS = st.sampled_from(["file", "empty", "folder", "link", "dangling", "pipe"])


def listed_by_git(folder: Path) -> set[bytes]:
    git("init", "--quiet", folder.parent / "repository")
    env = {"GIT_DIR": str(folder.parent / "repository/.git"), "GIT_WORK_TREE": str(folder)}
    said = git("-C", folder, "ls-files", "-z", "--others", "--exclude-standard", env=env)
    return {path for path in said.split(b"\0") if path}


def put(path: bytes, kind: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  # a path of bytes
    match kind:
        case "file" | "empty":
            with open(path, "wb") as file:
                file.write(b"x" if kind == "file" else b"")
        case "folder":
            os.mkdir(path)  # noqa: PTH102
        case "link" | "dangling":
            os.symlink(b"." if kind == "link" else b"nowhere", path)  # noqa: PTH211
        case "pipe":
            os.mkfifo(path)


@settings(max_examples=40)
@given(st.dictionaries(PATHS, KINDS, max_size=8))
def test_it_sees_what_git_lists(entries: dict[bytes, str]) -> None:
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "work"
        folder.mkdir()
        for path, kind in entries.items():
            try:
                put(os.fsencode(folder) + b"/" + path, kind)
            except OSError:
                continue  # something else has its name, or that of a folder above it
        there = files_in(os.fsencode(folder))
        assert there is not None
        assert set(there) == listed_by_git(folder)
        assert len(set(there)) == len(there)


@pytest.mark.parametrize("name", [".gitignore", "sub/.gitignore", "sub/.GIT/x"])
def test_what_git_would_look_into_is_left_to_git(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"a": "", name: ""})
    assert files_in(os.fsencode(tmp_path)) is None


def test_a_repository_within_is_left_to_git(tmp_path: Path) -> None:
    repository(tmp_path / "nested", {"a": ""})
    assert files_in(os.fsencode(tmp_path)) is None


def test_many_files_are_left_to_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glimpse, "FEW", 3)
    write(tmp_path, {"a": "", "sub/b": ""})
    assert files_in(os.fsencode(tmp_path)) == [b"a", b"sub/b"]
    write(tmp_path, {"c": ""})
    assert files_in(os.fsencode(tmp_path)) is None


def test_a_folder_that_cannot_be_looked_into_is_left_to_git(tmp_path: Path) -> None:
    assert files_in(os.fsencode(tmp_path / "gone")) is None
