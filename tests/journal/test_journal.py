"""Creating and opening journals, and what lies where."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import paceline.journal
from paceline.errors import JournalBroken, JournalError
from paceline.journal import Journal, Recorded, Redactor, locate, read_lines
from paceline.journal.records import FORMAT, RunLine
from tests.journal.disks import RecordingDisk
from tests.journal.lines import begin, outcome, run_line

PLAIN = Redactor()


def test_a_run_directory_holds_its_journal_and_a_single_file_has_its_parts_beside_it(tmp_path: Path) -> None:
    directory, file = locate(tmp_path / "run"), locate(tmp_path / "run.jsonl")
    assert directory.journal == tmp_path / "run" / "journal.jsonl"
    assert directory.blobs == tmp_path / "run" / "blobs"
    assert file.journal == tmp_path / "run.jsonl"
    assert [path.name for path in (file.blobs, file.lock, file.damaged, file.next_torn())] == [
        "run.jsonl.blobs",
        "run.jsonl.lock",
        "run.jsonl.damaged",
        "run.jsonl.torn-1",
    ]


def test_the_first_line_is_on_disk_when_create_returns_and_every_new_name_is_synced(tmp_path: Path) -> None:
    disk = RecordingDisk()
    with Journal.create(tmp_path / "a" / "b", run_line(format=0), redactor=PLAIN, disk=disk) as journal:
        assert journal.committed == 1
        (entry,) = read_lines(tmp_path / "a" / "b")
        assert isinstance(entry, Recorded)
        assert isinstance(entry.line, RunLine)
        assert entry.line.format == FORMAT
        assert disk.done == [
            ("make directory", "a"),
            ("sync directory", tmp_path.name),
            ("make directory", "b"),
            ("sync directory", "a"),
            ("sync", "journal.jsonl"),
            ("sync directory", "b"),
            ("write", "journal.jsonl"),
            ("sync", "journal.jsonl"),
        ]


def test_a_run_that_is_there_is_opened_not_created(tmp_path: Path) -> None:
    Journal.create(tmp_path / "run", run_line(), redactor=PLAIN).close()
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    with pytest.raises(JournalError, match="a run at") as refused:
        Journal.create(tmp_path / "run", run_line())
    assert "paceline resume" in refused.value.hint
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before
    with Journal.open(tmp_path / "run", redactor=PLAIN) as journal:
        assert journal.append(begin("a")) == 1  # numbers count what this process appends
    assert len(list(read_lines(tmp_path / "run"))) == 2


def test_a_directory_with_other_things_in_it_can_hold_a_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert not Journal.exists(tmp_path)
    Journal.create(tmp_path, run_line(), redactor=PLAIN).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_opening_syncs_what_the_process_before_has_left_in_the_cache(tmp_path: Path) -> None:
    Journal.create(tmp_path / "run.jsonl", run_line(), redactor=PLAIN, durability="os").close()
    disk = RecordingDisk()
    with Journal.open(tmp_path / "run.jsonl", redactor=PLAIN, disk=disk):
        assert disk.done == [("sync", "run.jsonl"), ("sync directory", tmp_path.name)]


def test_a_run_that_is_not_there_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="no run at"):
        Journal.open(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_place_that_must_not_be_written_is_refused_in_our_words(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(JournalBroken, match="Permission denied"):
        Journal.create(tmp_path / "run", run_line())


def test_a_name_that_is_too_long_is_refused_in_our_words(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="File name too long"):
        Journal.create(tmp_path / ("x" * 300), run_line())


def test_an_error_in_the_body_still_commits_and_frees(tmp_path: Path) -> None:
    def write_and_fail() -> None:
        with Journal.create(tmp_path / "run", run_line(), redactor=PLAIN) as journal:
            journal.append(outcome("a"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_and_fail()
    assert len(list(read_lines(tmp_path / "run"))) == 2
    Journal.open(tmp_path / "run", redactor=PLAIN).close()


def test_every_public_name_is_there() -> None:
    for name in paceline.journal.__all__:
        assert getattr(paceline.journal, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        paceline.journal.nonsense  # noqa: B018


def test_importing_the_room_loads_nothing_heavy() -> None:
    probe = "import sys, paceline.journal.records; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", probe], text=True).split()
    assert "paceline.journal.records" in loaded
    assert {"paceline.journal.writer", "hashlib", "logging", "asyncio"}.isdisjoint(loaded)
