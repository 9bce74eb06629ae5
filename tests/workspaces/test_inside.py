"""What is written and read below a folder stays below it, whatever paths say and wherever links lead."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.workspaces.inside import parts_of, read, remove, write
from paceline.workspaces.sources import WorkspaceError

PARTS = st.sampled_from(["..", ".", "", "a", "b c", ".git", "a\0b", "...", "é"])


@given(st.lists(PARTS, max_size=6).map("/".join))
def test_a_path_is_refused_or_stays_below(path: str) -> None:
    try:
        parts = parts_of(path)
    except WorkspaceError:
        return
    assert os.path.normpath("/".join(("/work", *parts))).startswith("/work/")
    assert ".git" not in parts


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../up", "a/../../up", "", "a\0b", ".git/config", "sub/.GIT/hooks/x"]
)
def test_paths_that_lead_elsewhere_are_refused_with_the_reason(path: str, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no path of a file in a workspace: "):
        write(tmp_path, path, b"")


def test_a_file_is_written_with_the_folders_it_needs(tmp_path: Path) -> None:
    write(tmp_path, "a/b/c.txt", b"one")
    write(tmp_path, "a/b/c.txt", b"two")
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"two"


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (outside / "precious").write_text("precious")
    (work / "folder").symlink_to(outside)
    (work / "file").symlink_to(outside / "precious")
    with pytest.raises(WorkspaceError, match="leads through folder"):
        write(work, "folder/new", b"")
    write(work, "file", b"replaces the link")
    assert [each.name for each in outside.iterdir()] == ["precious"]
    assert (outside / "precious").read_text() == "precious"
    assert not (work / "file").is_symlink()


def test_nothing_is_read_through_a_link_nor_from_what_would_wait(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "secret").write_text("secret")
    (work / "link").symlink_to(tmp_path / "secret")
    (work / "up").symlink_to(tmp_path)
    os.mkfifo(work / "pipe")
    for path, why in {
        "link": "is a link",
        "up/secret": "leads through up",
        "pipe": "not a plain file",
    }.items():
        with pytest.raises(WorkspaceError, match=why):
            read(work, path, most=1_000)
    with pytest.raises(FileNotFoundError):
        read(work, "gone", most=1_000)
    write(work, "big", b"x" * 11)
    with pytest.raises(WorkspaceError, match="11 bytes"):
        read(work, "big", most=10)


def test_a_folder_is_removed_also_where_nobody_may_write(tmp_path: Path) -> None:
    work = tmp_path / "work"
    write(work_made(work), "a/b/c", b"")
    (work / "a/b").chmod(0o500)
    (work / "a").chmod(0)
    (work / "link").symlink_to(tmp_path)
    remove(work)
    assert not work.exists()
    assert tmp_path.exists()
    remove(work)  # what is not there is no trouble


def test_a_folder_deeper_than_paths_are_long_is_removed(tmp_path: Path) -> None:
    work = tmp_path / "work"
    here = os.open(work_made(work), os.O_RDONLY)
    for _ in range(1_200):
        os.mkdir("deeper", dir_fd=here)
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(work)
    assert not work.exists()


def work_made(folder: Path) -> Path:
    folder.mkdir()
    return folder
