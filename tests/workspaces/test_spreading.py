"""Workspaces lie apart on a disk that can be told so; any other disk takes no harm."""

from __future__ import annotations

import array
import fcntl
import os
import sys
from pathlib import Path

import pytest

from paceline.workspaces import spreading
from paceline.workspaces.ground import Ground
from paceline.workspaces.spreading import spread_out


def is_top(folder: Path) -> bool:
    """Whether a folder is said to be the top of hierarchies; skips where no file system says such things."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        flags = array.array("I", [0, 0])
        fcntl.ioctl(opened, spreading._GET_FLAGS, flags)
    except OSError as error:
        pytest.skip(f"this file system keeps no flags of folders: {error.strerror}")
    finally:
        os.close(opened)
    return bool(flags[0] & spreading._TOP)


@pytest.mark.skipif(sys.platform != "linux", reason="a flag of Linux's file systems")
def test_a_ground_has_its_workspaces_lie_apart(tmp_path: Path) -> None:
    is_top(tmp_path)
    spread_out(tmp_path)
    if not is_top(tmp_path):
        pytest.skip("this file system has other flags")
    ground = Ground(tmp_path / "grounds", "run")
    ground.claim()
    assert is_top(ground.path)
    assert not is_top(ground.place("case"))
    ground.close()


def test_a_file_system_without_flags_takes_no_harm() -> None:
    spread_out(Path("/proc/self"))
    spread_out(Path("/there/is/no/such/folder"))
