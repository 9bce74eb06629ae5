"""A warden sees to one command after the other, and nothing of one is left for the next."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from paceline.processes import warden as warden_module
from paceline.processes.launch import Launch
from paceline.processes.line import FILES, LENGTH
from paceline.processes.running import close, run, run_blocking
from tests.processes.remains import linux

WARDEN = ("sh", "-c", "ps -o ppid= -p $$")
"""Prints whose child it is."""


def launched(*argv: str) -> Launch:
    return Launch(argv=argv, cwd=Path("/"), env={"PATH": os.environ["PATH"]})


def its_warden() -> int:
    return int(run_blocking(launched(*WARDEN)).stdout.read())


def test_the_next_command_has_the_same_warden() -> None:
    close()
    assert its_warden() == its_warden()


def test_commands_at_the_same_time_have_one_each() -> None:
    async def three() -> set[bytes]:
        asking = (run(launched("sh", "-c", "ps -o ppid= -p $$; sleep 0.3")) for _ in range(3))
        return {each.stdout.read() for each in await asyncio.gather(*asking)}

    assert len(asyncio.run(three())) == 3


def test_a_loop_and_a_thread_take_turns_with_one() -> None:
    close()
    for _ in range(2):
        here = its_warden()
        assert int(asyncio.run(run(launched(*WARDEN))).stdout.read()) == here


@linux
def test_no_open_file_is_left_of_a_command_however_it_has_ended() -> None:
    close()
    number = its_warden()
    before = len(os.listdir(f"/proc/{number}/fd"))  # noqa: PTH208
    for argv in (("no-such-program",), ("true",), ("sh", "-c", "kill -9 $$"), ("sh", "-c", "sleep 9 & echo")):
        run_blocking(launched(*argv))
    run_blocking(
        Launch(argv=("true",), cwd=Path("/"), env={"PATH": os.environ["PATH"]}, finally_run=("true",))
    )
    assert its_warden() == number
    assert len(os.listdir(f"/proc/{number}/fd")) == before  # noqa: PTH208


def test_what_one_was_told_too_late_is_not_for_the_next() -> None:
    """A cancellation that crosses the end of its command on the line."""

    async def cancelled() -> None:
        for moment in range(60):
            task = asyncio.create_task(run(launched("true")))
            await asyncio.sleep(moment / 10_000)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert (await run(launched("echo", "here"))).stdout.read() == b"here\n"

    asyncio.run(cancelled())


def asked(said: bytes, files: int = FILES, ended: bool = True) -> warden_module.Asked | None:
    """What a warden makes of what it is told."""
    ours, its = socket.socketpair()
    signals, wake = os.pipe()
    os.write(wake, bytes([signal.SIGCHLD]))  # of the command before
    os.set_blocking(signals, False)
    nothing = os.open(os.devnull, os.O_RDWR)
    with ours, its:
        if said:
            socket.send_fds(ours, [said], [nothing] * files)
        if ended:
            ours.shutdown(socket.SHUT_WR)
        try:
            return warden_module._asked(its, signals, -1)
        finally:
            for fd in (signals, wake, nothing):
                os.close(fd)


def test_a_warden_takes_a_whole_request_with_its_files() -> None:
    request = asked(LENGTH.pack(2) + b"{}")
    assert request is not None
    for fd in request[1:]:
        os.close(fd)


@pytest.mark.parametrize(("said", "files"), [(b"T", 0), (b"", 0), (LENGTH.pack(9) + b"{}", FILES)])
def test_anything_else_is_the_end_of_it(said: bytes, files: int) -> None:
    assert asked(said, files) is None


def test_a_warden_that_nobody_needs_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warden_module, "IDLE_S", 0.01)
    assert asked(b"", ended=False) is None
