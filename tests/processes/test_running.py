"""A command is started as it is said, and how it ended is told apart."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from paceline.processes.launch import MIB, Ended, Launch, Limits
from paceline.processes.running import run, run_blocking
from tests.processes.remains import Mark, linux

PYTHON = sys.executable


def launched(*argv: str, cwd: Path = Path("/"), env: dict[str, str] | None = None, **more: Any) -> Launch:
    return Launch(argv=argv, cwd=cwd, env={"PATH": os.environ["PATH"]} if env is None else env, **more)


def ended(*argv: str, **more: Any) -> Ended:
    return run_blocking(launched(*argv, **more))


def test_what_it_prints_and_its_exit_code_are_told() -> None:
    how = ended("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (how.how, how.code, how.signal) == ("exited", 3, None)
    assert (how.stdout.read(), how.stderr.read()) == (b"out\n", b"err\n")
    assert not how.ok


def test_a_coroutine_has_the_same_from_it() -> None:
    how = asyncio.run(run(launched("sh", "-c", "echo out")))
    assert how.ok
    assert how.stdout.read() == b"out\n"


def test_its_output_is_kept_in_files_where_they_are_named(tmp_path: Path) -> None:
    out, err = tmp_path / "out", tmp_path / "err"
    out.write_text("what an earlier one has left, and longer")
    how = ended("sh", "-c", "echo out; echo err >&2", stdout=out, stderr=err)
    assert (out.read_bytes(), err.read_bytes()) == (b"out\n", b"err\n")
    assert how.stdout.path == out
    assert how.stdout.read() == b"out\n"


def test_a_file_for_its_output_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "out").symlink_to("precious")
    with pytest.raises(OSError, match="out"):
        ended("echo", "no", stdout=tmp_path / "out")
    assert (tmp_path / "precious").read_text() == "precious"


def test_it_reads_what_it_is_given_and_nothing_else() -> None:
    assert ended("cat").stdout.read() == b""
    assert ended("cat", stdin=b"a\0b" * 1_000_000).stdout.size == 3_000_000


def test_its_environment_is_what_is_said_and_nothing_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OURS", "secret")
    said = {"A": "1", "ODD": "\udcff"}
    how = ended("/usr/bin/env", env=said)
    assert sorted(how.stdout.read().splitlines()) == [b"A=1", b"ODD=\xff"]


def test_it_has_no_open_files_of_ours_but_its_three(tmp_path: Path) -> None:
    with (tmp_path / "ours").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)
        how = ended(PYTHON, "-c", "import os; print(sorted(map(int, os.listdir('/dev/fd')))[:-1])")
    assert how.stdout.read() == b"[0, 1, 2]\n"


def test_it_works_where_it_is_told_to(tmp_path: Path) -> None:
    assert ended("pwd", "-P", cwd=tmp_path).stdout.read().decode().strip() == str(tmp_path.resolve())


def test_a_program_that_is_not_there_is_told_apart() -> None:
    how = ended("no-such-program", "--help")
    assert how.how == "not found"
    assert "no-such-program" in how.error


def test_a_program_that_may_not_be_started_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "agent").write_text("#!/bin/sh\n")
    how = ended(str(tmp_path / "agent"))
    assert how.how == "not started"
    assert "Permission denied" in how.error


def test_a_directory_that_is_not_there_is_not_a_missing_program(tmp_path: Path) -> None:
    how = ended("true", cwd=tmp_path / "gone")
    assert how.how == "not started"
    assert "gone" in how.error


def test_arguments_that_are_too_long_are_told_apart() -> None:
    how = ended("echo", "x" * 4 * MIB)
    assert how.how == "not started"
    assert "Argument list too long" in how.error


def test_a_signal_is_told_by_its_number() -> None:
    how = ended("sh", "-c", "kill -SEGV $$")
    assert (how.how, how.code, how.signal) == ("signalled", None, signal.SIGSEGV)


def test_what_it_used_is_told() -> None:
    how = ended(PYTHON, "-c", "data = bytearray(64 << 20)\nfor _ in range(2_000_000): pass")
    assert 64 * MIB < how.peak_memory < 512 * MIB
    assert 0.01 < how.cpu_s < 30
    assert how.cpu_s / 4 < how.seconds


def test_signals_are_what_a_program_expects_them_to_be() -> None:
    """Python ignores a few for itself, and what is ignored stays so in children."""
    how = ended("sh", "-c", "yes | head -1; trap")
    assert how.stdout.read() == b"y\n"
    assert how.stderr.read() == b""


def test_at_its_time_limit_it_is_asked_to_end_and_may_clear_up() -> None:
    how = ended("sh", "-c", "trap 'echo cleared; exit 4' TERM; sleep 60 & wait", timeout_s=0.2)
    assert (how.how, how.code) == ("timeout", 4)
    assert how.stdout.read() == b"cleared\n"


def test_what_does_not_heed_that_is_killed() -> None:
    how = ended("sh", "-c", "trap '' TERM; while true; do sleep 60; done", timeout_s=0.2, grace_s=0.2)
    assert (how.how, how.signal) == ("timeout", signal.SIGKILL)


def test_a_cancelled_call_ends_it_and_everything_of_it_before_it_returns() -> None:
    mark = Mark()
    heard: list[Ended] = []

    async def cancelled() -> None:
        task = asyncio.create_task(
            run(launched("sh", "-c", "sleep 60 & sleep 61", env=mark.environ), told=heard.append)
        )
        while len(mark.left()) < 3:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert mark.left() == []

    asyncio.run(cancelled())
    assert [each.how for each in heard] == ["stopped"]


def test_a_second_cancellation_does_not_wait_for_the_grace() -> None:
    mark = Mark()

    async def cancelled() -> None:
        stubborn = launched(
            "sh", "-c", "trap '' TERM; while :; do sleep 1; done", env=mark.environ, grace_s=600
        )
        task = asyncio.create_task(run(stubborn))
        while not mark.left():
            await asyncio.sleep(0.01)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert mark.left() == []

    asyncio.run(cancelled())


@linux
def test_what_it_leaves_running_ends_with_it_also_in_a_session_of_its_own() -> None:
    mark = Mark()
    program = "sleep 60 & setsid sleep 60 & (setsid sh -c 'sleep 60 & sleep 61' &) ; echo done"
    how = ended("sh", "-c", program, env=mark.environ)
    assert how.ok
    assert how.outlived_by >= 3
    assert mark.left() == []


@linux
def test_a_crowd_that_ignores_every_wish_is_ended_whole() -> None:
    mark = Mark()
    program = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(6): os.fork()\n"  # 64 of them
        "os.setsid() if os.getpid() != os.getpgrp() else None\n"
        "time.sleep(60)\n"
    )
    how = ended(PYTHON, "-c", program, env=mark.environ, timeout_s=1.0, grace_s=0.1)
    assert how.how == "timeout"
    assert mark.left() == []


@linux
def test_more_memory_than_it_may_have_ends_it() -> None:
    how = ended(
        PYTHON,
        "-c",
        "import time; data = b'x' * (200 << 20); time.sleep(60)",
        limits=Limits(memory=100 * MIB),
    )
    assert how.how == "memory"


@linux
def test_memory_that_processes_share_counts_once() -> None:
    program = (
        "import os, time\ndata = b'x' * (60 << 20)\n"
        "for _ in range(4):\n    if os.fork() == 0:\n        time.sleep(0.6)\n        os._exit(0)\n"
        "time.sleep(0.6)\n"
    )
    assert ended(PYTHON, "-c", program, limits=Limits(memory=200 * MIB)).how == "exited"


@linux
def test_more_processes_than_it_may_have_end_it() -> None:
    mark = Mark()
    program = "for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait"
    how = ended("sh", "-c", program, env=mark.environ, limits=Limits(processes=5))
    assert how.how == "processes"
    assert mark.left() == []


def test_limits_that_the_kernel_keeps_are_told_by_its_signals(tmp_path: Path) -> None:
    busy = ended("sh", "-c", "while :; do :; done", limits=Limits(cpu_s=1))
    assert (busy.how, busy.signal) == ("signalled", signal.SIGXCPU)
    big = ended(
        "sh", "-c", "exec head -c 100000 /dev/zero > big", cwd=tmp_path, limits=Limits(file_size=10_000)
    )
    assert (big.how, big.signal) == ("signalled", signal.SIGXFSZ)
    assert (tmp_path / "big").stat().st_size == 10_000


def test_a_limit_on_files_is_not_one_on_what_is_printed() -> None:
    how = ended("head", "-c", "100000", "/dev/zero", limits=Limits(file_size=1_000))
    assert how.ok
    assert how.stdout.size == 100_000


def test_of_much_output_the_beginning_and_the_end_are_kept() -> None:
    how = ended("sh", "-c", "echo first; seq 1 10000; echo last", kept=1_000)
    printed = how.stdout.read()
    assert how.ok
    assert how.stdout.cut
    assert printed.startswith(b"first\n1\n2\n")
    assert printed.endswith(b"10000\nlast\n")
    assert f"[... {how.stdout.size - 1_000} bytes left out ...]".encode() in printed


def test_endless_output_ends_it() -> None:
    how = ended("yes", kept=1_000)
    assert how.how == "flood"
    assert len(how.stdout.read()) < 2_000


def test_a_thousandth_of_a_second_is_enough_to_say_something() -> None:
    """What is in the pipe when a command ends is not lost."""
    for _ in range(20):
        assert ended("echo", "something").stdout.read() == b"something\n"


def test_threads_start_commands_at_the_same_time() -> None:
    said: list[bytes] = []

    def one(number: int) -> None:
        said.append(ended("sh", "-c", f"echo {number}; sleep 0.1").stdout.read())

    threads = [threading.Thread(target=one, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(said) == sorted(f"{number}\n".encode() for number in range(20))


def test_a_command_at_the_end_is_run_however_it_ends(tmp_path: Path) -> None:
    after = ("sh", "-c", f"echo over >> {tmp_path}/after")
    for program in ("true", "kill -9 $$", "sleep 60"):
        ended("sh", "-c", program, finally_run=after, timeout_s=0.3)
    assert (tmp_path / "after").read_text() == "over\n" * 3
