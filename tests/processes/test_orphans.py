"""No command outlives whoever asked for it, whichever of the processes between them is killed."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from paceline.processes.launch import Launch
from paceline.processes.running import close, run, run_blocking
from tests.processes.remains import PATIENCE_S, Mark, linux

pytestmark = linux

RESTLESS = (
    "trap '' TERM HUP INT; sleep 600 & setsid sleep 601 & (setsid sh -c 'sleep 602' &); "
    "while :; do sleep 1; done"
)
"""An agent that heeds no signal, with children in its group, in sessions of their own, and orphaned."""
OF_EACH = 5
"""Its processes, at least."""


def harness(tmp_path: Path, program: str) -> subprocess.Popen[bytes]:
    path = tmp_path / "harness.py"
    path.write_text(textwrap.dedent(program))
    return subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE)


STARTING = """
    import asyncio, os, time
    from pathlib import Path
    from paceline.processes.launch import Launch
    from paceline.processes.running import run

    async def main():
        env = {{"PATH": os.environ["PATH"], "MARK": {mark!r}}}
        one = Launch(argv=("sh", "-c", {restless!r}), env=env, cwd=Path("/"), grace_s=60.0,
                     finally_run=("sh", "-c", "echo over >> {after}"))
        tasks = [asyncio.create_task(run(one)) for _ in range(3)]
        while not Path({after!r}).with_name("there").exists():
            await asyncio.sleep(0.01)
        {then}
        await asyncio.gather(*tasks)

    asyncio.run(main())
"""


def started(tmp_path: Path, mark: Mark, then: str = "print(flush=True)") -> subprocess.Popen[bytes]:
    """A harness with three commands under way, that has just done `then`."""
    after = str(tmp_path / "after")
    process = harness(tmp_path, STARTING.format(mark=mark.value, restless=RESTLESS, after=after, then=then))
    mark.wait_there(3 * OF_EACH)
    (tmp_path / "there").touch()
    assert process.stdout is not None
    process.stdout.readline()
    return process


def killed(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def test_a_killed_harness_leaves_nothing_running(tmp_path: Path) -> None:
    mark = Mark()
    killed(started(tmp_path, mark))
    mark.wait_gone()
    until = time.monotonic() + PATIENCE_S
    after = tmp_path / "after"
    while not after.exists() or after.read_text() != "over\n" * 3:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_nor_does_one_whose_forked_child_lives_on_with_its_open_files(tmp_path: Path) -> None:
    mark = Mark()
    child = "os.fork() or (os.close(1), time.sleep(60), os._exit(0)); print(flush=True)"
    process = started(tmp_path, mark, then=child)
    (pid,) = (each for each in children_of(process.pid) if not children_of(each))
    killed(process)
    mark.wait_gone()
    os.kill(pid, signal.SIGKILL)  # raises where it is gone already: then nothing was tested


def test_nor_does_one_that_just_ends(tmp_path: Path) -> None:
    mark = Mark()
    process = started(tmp_path, mark, then="os._exit(0)")
    killed(process)
    mark.wait_gone()


def test_ctrl_c_is_for_the_harness_and_not_for_its_commands(tmp_path: Path) -> None:
    """The terminal sends it to a whole group of processes, of which commands are none."""
    mark = Mark()
    process = started(tmp_path, mark)
    group = os.getpgid(process.pid)
    assert all(os.getpgid(pid) != group for pid in mark.left())
    killed(process)
    mark.wait_gone()


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in listed.stdout.split()]


def wardens() -> list[int]:
    """The wardens that work for this process, or are free to."""
    (keeper,) = (each for each in children_of(os.getpid()) if children_of(each))
    return children_of(keeper)


def test_a_killed_warden_is_told_and_its_command_ends() -> None:
    mark = Mark()
    close()  # with wardens that other tests have left free

    async def killed() -> None:
        one = Launch(argv=("sh", "-c", RESTLESS), env=mark.environ, cwd=Path("/"))
        task = asyncio.create_task(run(one))
        while len(mark.left()) < 5:
            await asyncio.sleep(0.01)
        (warden,) = wardens()
        os.kill(warden, signal.SIGKILL)
        how = await task
        assert how.how == "lost"
        assert "killed" in how.error

    asyncio.run(killed())
    mark.wait_gone()


def test_a_killed_keeper_costs_nothing_but_another_one() -> None:
    mark = Mark()

    async def killed() -> bytes:
        one = Launch(argv=("sh", "-c", "sleep 0.5; echo done"), env=mark.environ, cwd=Path("/"))
        task = asyncio.create_task(run(one))
        while not mark.left():
            await asyncio.sleep(0.01)
        (keeper,) = (each for each in children_of(os.getpid()) if children_of(each))
        os.kill(keeper, signal.SIGKILL)
        assert (await run(one)).ok
        return (await task).stdout.read()

    assert asyncio.run(killed()) == b"done\n"


def test_a_killed_warden_that_was_free_costs_nothing_but_another_one() -> None:
    close()
    one = Launch(argv=("echo", "here"), env={"PATH": os.environ["PATH"]}, cwd=Path("/"))
    assert run_blocking(one).ok
    (warden,) = wardens()
    os.kill(warden, signal.SIGKILL)
    assert run_blocking(one).stdout.read() == b"here\n"
    assert warden not in wardens()


def test_wardens_that_are_free_are_gone_with_their_harness(tmp_path: Path) -> None:
    process = harness(
        tmp_path,
        """
        import os, subprocess, time
        from pathlib import Path
        from paceline.processes.launch import Launch
        from paceline.processes.running import run_blocking

        def children_of(pid):
            listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
            return [int(word) for word in listed.stdout.split()]

        assert run_blocking(Launch(argv=("true",), env={"PATH": os.environ["PATH"]}, cwd=Path("/"))).ok
        (keeper,) = (each for each in children_of(os.getpid()) if children_of(each))
        print(keeper, *children_of(keeper), flush=True)
        time.sleep(60)
        """,
    )
    assert process.stdout is not None
    there = [int(word) for word in process.stdout.readline().split()]
    assert len(there) == 2
    killed(process)
    until = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{pid}").exists() for pid in there):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_forked_child_starts_commands_of_its_own(tmp_path: Path) -> None:
    one = Launch(argv=("echo", "here"), env={"PATH": os.environ["PATH"]}, cwd=Path("/"))
    assert run_blocking(one).ok
    process = harness(
        tmp_path,
        """
        import os
        from pathlib import Path
        from paceline.processes.launch import Launch
        from paceline.processes.running import run_blocking

        one = Launch(argv=("echo", "here"), env={"PATH": os.environ["PATH"]}, cwd=Path("/"))
        for _ in range(2):
            assert run_blocking(one).ok
            if (child := os.fork()) == 0:
                print(run_blocking(one).stdout.read().decode(), end="", flush=True)
                os._exit(0)
            os.waitpid(child, 0)
        print(run_blocking(one).stdout.read().decode(), end="", flush=True)
        """,
    )
    out, _err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, b"here\n" * 3)
