"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paceline.errors import UsageError
from paceline.files import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "report.md"
    file.write_text("old")
    file.chmod(0o640)
    with file.open() as reader:
        write_whole(file, b"new")
        assert reader.read() == "old", "whoever reads the old one still does"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
    assert [each.name for each in tmp_path.iterdir()] == ["report.md"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_whole(tmp_path / "link", b"text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"text"


def test_a_device_stays_one() -> None:
    write_whole(Path(os.devnull), b"text")
    assert Path(os.devnull).is_char_device()


def test_a_pipe_is_written_to_by_its_name() -> None:
    reading, writing = os.pipe()
    write_whole(Path(f"/dev/fd/{writing}"), b"text")
    assert os.read(reading, 100) == b"text"
    os.close(reading)
    os.close(writing)


def test_what_cannot_be_written_is_said_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "no" / "file", tmp_path / "folder"):
        with pytest.raises(UsageError, match="cannot be written"):
            write_whole(place, b"text")
    assert [each.name for each in tmp_path.iterdir()] == ["folder"]
