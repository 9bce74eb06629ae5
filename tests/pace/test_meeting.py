"""Where processes meet: one is elected, the lock dies with its owner, and nobody else can come in."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paceline.pace.desk import Desk
from paceline.pace.meeting import LONGEST_NAME, Meeting
from paceline.pace.sharing import open_desk

NOBODY = 65_534
CONNECT = """
import os, socket, sys
os.setgid({nobody}); os.setuid({nobody})
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
except PermissionError:
    sys.exit(7)
"""


def test_one_is_elected_and_the_next_when_that_one_has_gone(tmp_path: Path) -> None:
    first, second = Meeting(tmp_path), Meeting(tmp_path)
    lock = first.elect()
    assert lock is not None
    assert second.elect() is None
    lock.close()
    lock.close()
    successor = second.elect()
    assert successor is not None
    successor.close()


def test_who_dies_holds_the_lock_no_longer_and_a_child_that_was_forked_does_not_either(
    tmp_path: Path,
) -> None:
    """A task may start what outlives its run: that must not keep the desk from everybody."""
    code = (
        "import os, sys, time; from pathlib import Path; from paceline.pace.meeting import Meeting\n"
        "lock = Meeting(Path(sys.argv[1])).elect()\n"
        "assert lock is not None\n"
        "child = os.fork()\n"
        "if child == 0:\n    time.sleep(60)\n"
        "print(child, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert ended.stdout is not None
    child = int(ended.stdout.readline())
    try:
        assert ended.wait(30) == -9
        meeting, until = Meeting(tmp_path), time.monotonic() + 30
        while (lock := meeting.elect()) is None and time.monotonic() < until:
            time.sleep(0.001)  # the child may not have come to life yet
        os.kill(child, 0)  # it lives on
        assert lock is not None
        lock.close()
    finally:
        os.kill(child, 9)
        ended.stdout.close()


def test_whoever_listens_is_found_and_what_a_dead_one_left_is_in_nobodys_way(tmp_path: Path) -> None:
    meeting = Meeting(tmp_path)
    assert meeting.connect(timeout_s=1.0) is None
    meeting.listen().close()  # as a process does that is killed: the name stays
    assert meeting.socket_path.exists()
    assert meeting.connect(timeout_s=1.0) is None
    listener = meeting.listen()
    found = meeting.connect(timeout_s=1.0)
    assert found is not None
    found.close()
    listener.close()


def test_a_deep_directory_has_its_socket_in_a_short_one(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    meeting = Meeting(deep)
    assert len(os.fsencode(meeting.socket_path)) <= LONGEST_NAME
    assert Meeting(deep).socket_path == meeting.socket_path
    assert Meeting(tmp_path / ("d" * 60) / ("f" * 60)).socket_path != meeting.socket_path
    meeting.listen().close()
    meeting.socket_path.unlink()
    meeting.socket_path.parent.rmdir()


def test_nobody_else_may_read_or_enter(tmp_path: Path) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o777)
    state.chmod(0o777)
    meeting = Meeting(state)
    listener = meeting.listen()
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE(meeting.socket_path.stat().st_mode) == 0o600
    listener.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_another_user_cannot_connect(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)  # so that it is the directory's own rights that keep them out
    meeting = Meeting(tmp_path / "state")
    with meeting.listen():
        code = CONNECT.format(nobody=NOBODY)
        for rights in (0o700, 0o711):
            meeting.socket_path.parent.chmod(rights)
            ended = subprocess.run([sys.executable, "-c", code, str(meeting.socket_path)], check=False)
            assert ended.returncode == 7


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_directory_of_somebody_else_is_no_place_to_meet(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, NOBODY, NOBODY)
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        Meeting(theirs)
    desk = open_desk(state=theirs)
    assert type(desk) is Desk, "a run works alone then"
    desk.close()


def test_where_a_file_stands_in_the_way_a_run_works_alone(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    desk = open_desk(state=tmp_path / "state")
    assert type(desk) is Desk
    desk.close()


@pytest.mark.parametrize("how", [{"share": False}, {"adaptive": False}])
def test_who_does_not_want_to_share_does_not(tmp_path: Path, how: dict[str, bool]) -> None:
    desk = open_desk(state=tmp_path, **how)  # type: ignore[arg-type]  # which of them is for the parameters
    assert type(desk) is Desk
    desk.close()


def test_a_system_without_such_sockets_has_plain_desks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    desk = open_desk(state=tmp_path)
    assert type(desk) is Desk
    desk.close()
