"""The real disk: what it calls safe, the operating system was asked to make safe.

Fakes stand in for it wherever a fault is to be shown, so nothing else would notice if it did nothing at all.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from paceline.journal import Journal
from paceline.journal.disk import OsDisk
from paceline.journal.redaction import Redactor
from tests.journal.lines import begin, run_line


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What the system was asked to sync: `file` or `directory`, and how many bytes were in it by then."""
    asked: list[tuple[str, int]] = []

    def spy(fd: int) -> None:
        seen = os.fstat(fd)
        asked.append(("directory" if stat.S_ISDIR(seen.st_mode) else "file", seen.st_size))

    def full_sync(fd: int, command: int, _argument: int = 0) -> int:
        spy(fd)
        return 0

    for name in ("fdatasync", "fsync"):
        if hasattr(os, name):
            monkeypatch.setattr(os, name, spy)
    if sys.platform == "darwin":
        import fcntl

        monkeypatch.setattr(fcntl, "fcntl", full_sync)
    return asked


def test_syncing_a_file_asks_the_system_for_it(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    disk = OsDisk()
    fd = disk.open_append(tmp_path / "file")
    disk.write(fd, b"12345")
    disk.sync(fd)
    disk.close(fd)
    assert synced == [("file", 5)]


def test_syncing_a_directory_asks_the_system_for_it(tmp_path: Path, synced: list[tuple[str, int]]) -> None:
    OsDisk().sync_directory(tmp_path)
    assert [kind for kind, _ in synced] == ["directory"]


def test_a_line_is_reported_when_the_system_has_synced_all_of_it(
    tmp_path: Path, synced: list[tuple[str, int]]
) -> None:
    place = tmp_path / "run.jsonl"
    told: list[tuple[int, int]] = []
    with Journal.create(place, run_line(), redactor=Redactor()) as journal:
        for number, case in enumerate("abc", start=2):
            journal.on_commit = lambda committed: told.append((committed, synced[-1][1]))
            journal.append(begin(case))
            journal.flush()
            assert synced[-1] == ("file", place.stat().st_size)
            assert told[-1] == (number, place.stat().st_size)


def test_a_directory_that_cannot_be_synced_is_an_error_and_one_that_knows_no_sync_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(number: int) -> None:
        def fsync(_fd: int) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, "fsync", fsync)

    refuse(errno.EINVAL)  # some network file systems
    OsDisk().sync_directory(tmp_path)
    refuse(errno.EIO)
    with pytest.raises(OSError, match=os.strerror(errno.EIO)):
        OsDisk().sync_directory(tmp_path)
