"""One writer for a journal, whoever the others are, and no lock that outlives its owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import paceline
from paceline.errors import JournalBusy, JournalError
from paceline.journal import Journal, Ledger, Recorded, locate, read_lines
from paceline.journal.lock import acquire, owner_of
from paceline.journal.records import Key
from paceline.journal.redaction import Redactor
from paceline.journal.states import Done, New
from tests.journal.lines import begin, run_line

PLAIN = Redactor()
SOURCE = Path(paceline.__file__).parents[1]
PRELUDE = """
import os, sys
from paceline.journal import Journal, Redactor
from paceline.journal.records import *
path = sys.argv[1]
plain = Redactor()
def say(*words): print(*words, flush=True)
def run_line(): return RunLine(run_id="r", suite="s", started=1.0, fingerprint={})
def outcome(case): return OutcomeLine(case=case, at=2.0, outcome="scored")
"""


@contextmanager
def program(text: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A Python process that runs this, killed at the end if need be."""
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + text, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


HOLD = """
journal = Journal.create(path, run_line(), redactor=plain)
say("holding")
sys.stdin.read()
journal.close()
"""


@pytest.mark.parametrize("name", ["run", "run.jsonl"])
def test_a_second_process_is_refused_and_told_who_the_first_is(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    with program(HOLD, place) as first:
        assert heard(first) == "holding"
        content = locate(place).journal.read_bytes()
        with pytest.raises(JournalBusy, match=f"process {first.pid} on {os.uname().nodename}") as refused:
            Journal.open(place)
        assert "another `-o`" in refused.value.hint
        assert str(locate(place).journal) in str(refused.value)
        owner = owner_of(locate(place).lock)
        assert owner is not None
        assert owner.pid == first.pid
        with pytest.raises(JournalError, match="a run at"):
            Journal.create(place, run_line())
        assert locate(place).journal.read_bytes() == content
        first.communicate("")
    assert not locate(place).lock.exists()
    with Journal.open(place, redactor=PLAIN) as journal:
        assert journal.recovery.lines == 1


def test_two_processes_that_open_at_the_same_moment_never_both_write(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    Journal.create(place, run_line(), redactor=PLAIN).close()
    text = """
from paceline.errors import JournalBusy
say("ready")
sys.stdin.readline()
for turn in range(200):
    try:
        with Journal.open(path, redactor=plain) as journal:
            start = os.path.getsize(path)
            journal.append(outcome(f"{os.getpid()} {turn}"))
            journal.flush()
            journal.append(outcome(f"{os.getpid()} {turn}"))
            journal.flush()
            both = open(path, "rb").read()[start:]
            assert both.count(b"\\n") == 2 and both.count(f'"{os.getpid()} '.encode()) == 2, both
    except JournalBusy:
        pass
say("fine")
"""
    with program(text, place) as one, program(text, place) as other:
        for process in (one, other):
            assert heard(process) == "ready"
        for process in (one, other):
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        assert [heard(one), heard(other)] == ["fine", "fine"]
    assert all(isinstance(entry, Recorded) for entry in read_lines(place))


def test_kill_minus_nine_frees_the_lock_and_loses_nothing_that_was_reported(tmp_path: Path) -> None:
    place = tmp_path / "run"
    text = """
journal = Journal.create(path, run_line(), redactor=plain)
journal.on_commit = lambda number: say(number)
while True:
    journal.append(outcome(f"case {journal.committed}"))
    journal.flush()
"""
    with program(text, place) as writer:
        last = [heard(writer) for _ in range(20)][-1]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate()
    reported = int((rest.split() or [last])[-1])
    assert locate(place).lock.exists()  # its file is left behind, and does no harm
    assert owner_of(locate(place).lock) is None
    with Journal.open(place, redactor=PLAIN) as journal:
        assert journal.recovery.lines >= reported
    assert not locate(place).lock.exists()


def test_a_forked_child_does_not_keep_the_lock_of_its_killed_parent(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    text = """
journal = Journal.create(path, run_line(), redactor=plain)
child = os.fork()
if child == 0:
    while True:
        os.read(0, 1) or os._exit(0)
say(child)
sys.stdin.read()
"""
    with program(text, place) as parent:
        child = int(heard(parent))
        with pytest.raises(JournalBusy):
            Journal.open(place)
        os.kill(parent.pid, signal.SIGKILL)
        parent.wait()
        os.kill(child, 0)  # it lives
        with Journal.open(place, redactor=PLAIN) as journal:
            assert journal.recovery.lines == 1


def test_a_forked_child_cannot_write_and_its_end_changes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    text = """
journal = Journal.create(path, run_line(), redactor=plain)
journal.append(outcome("before"))
child = os.fork()
if child == 0:
    try:
        journal.append(outcome("child"))
    except Exception as error:
        say(type(error).__name__, error)
    journal.close()
    sys.exit(0)
os.waitpid(child, 0)
journal.append(outcome("after"))
from paceline.journal.lock import owner_of
from paceline.journal import locate
say(owner_of(locate(path).lock).pid == os.getpid())
sys.stdin.read()
"""
    with program(text, place) as parent:
        assert "belongs to the process that opened it" in heard(parent)
        assert heard(parent) == "True"
        with pytest.raises(JournalBusy):
            Journal.open(place)
        parent.communicate("")  # ends without closing: what has gathered is committed all the same
    ledger = Ledger.read(place)
    assert [type(ledger.state(Key(case))) for case in ("before", "child", "after")] == [Done, New, Done]


LOOK = """
from paceline.journal import locate
from paceline.journal.lock import owner_of
say(owner_of(locate(path).lock).pid)
try:
    Journal.open(path)
except Exception as error:
    say(type(error).__name__)
"""


def test_one_process_cannot_open_a_journal_twice_and_looking_does_not_free_it(tmp_path: Path) -> None:
    place = tmp_path / "run.jsonl"
    with Journal.create(place, run_line(), redactor=PLAIN):
        for _ in range(2):
            with pytest.raises(JournalBusy, match=f"process {os.getpid()}"):
                Journal.open(place)
            owner = owner_of(locate(place).lock)
            assert owner is not None
            assert owner.pid == os.getpid()
        with program(LOOK, place) as other:
            assert heard(other) == str(os.getpid())
            assert heard(other) == "JournalBusy"
    with Journal.open(place, redactor=PLAIN):
        pass


def test_a_lock_file_removed_by_hand_is_not_removed_twice(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = acquire(path)
    path.unlink()
    second = acquire(path)
    first.release()
    assert path.exists()
    owner = owner_of(path)
    assert owner is not None
    assert json.loads(path.read_bytes())["pid"] == os.getpid()
    second.release()
    assert not path.exists()


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="file"):
        Journal.create(tmp_path / "file" / "run", run_line())
    journal = Journal.create(tmp_path / "run.jsonl", run_line(), redactor=PLAIN)
    journal.append(begin("a"))
    journal.close()


def test_a_lock_file_holds_no_arguments_for_they_may_be_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/opt/tools/judge.py", "--api-key", "s3cr3t-of-mine"])
    lock = acquire(tmp_path / "run.lock")
    try:
        written = lock.path.read_text()
        assert set(json.loads(written)) == {"pid", "host", "since", "program"}
        assert "judge.py" in written
        assert "s3cr3t" not in written
    finally:
        lock.release()
