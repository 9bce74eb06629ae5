"""What this machine can contain with is found out by trying."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from paceline.containment.means import found_out, means


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_bubblewrap_that_may_not_do_its_work_is_passed_over_and_says_why(tmp_path: Path) -> None:
    broken = script(tmp_path / "bwrap", "echo 'setting up uid map: Permission denied' >&2; exit 1")
    found = found_out(broken)
    assert found.way != "bubblewrap"
    assert found.why_not.endswith("(setting up uid map: Permission denied)")


def test_one_that_is_missing_is_told_as_that() -> None:
    assert found_out("").way != "bubblewrap"
    assert found_out("").why_not


def test_one_that_cannot_be_started_is_passed_over(tmp_path: Path) -> None:
    assert found_out(str(tmp_path / "bwrap")).way != "bubblewrap"


def test_without_landlock_there_are_only_limits() -> None:
    assert found_out("", landlock=0).way == "limits"


def test_an_old_landlock_lets_files_be_cut_short_and_is_not_used() -> None:
    assert found_out("", landlock=2).way == "limits"


def test_it_is_tried_once_for_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    means.cache_clear()
    first = means()
    monkeypatch.setenv("PATH", "")
    assert means() is first
    means.cache_clear()
