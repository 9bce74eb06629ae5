"""Going on with a run: by the same command, or by `paceline resume`."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Shell

SLOW = """
    import asyncio
    from paceline import Case, Dataset
    from paceline.evaluators import EqualsExpected

    dataset = Dataset(
        name="slow",
        cases=[Case(name=f"case-{n}", inputs=n, expected_output=n) for n in range(8)],
        evaluators=[EqualsExpected()],
    )

    async def task(n):
        with open("calls.log", "a") as log:
            log.write(f"case-{n}\\n")
        if n >= 4:
            await asyncio.sleep(0 if __import__("os").path.exists("hurry") else 60)
        return n
"""


def wait_until(so: Callable[[], bool]) -> None:
    """Until something that another process does is so."""
    deadline = time.monotonic() + 30
    while not so():
        assert time.monotonic() < deadline, "the run does not come that far"
        time.sleep(0.02)


def wait_for_calls(shell: Shell, number: int) -> None:
    """Until the task was called so often."""
    wait_until(lambda: len(shell.calls) >= number)


def hurry(shell: Shell) -> None:
    """Let the task answer at once from now on."""
    shell.write("hurry", "")


def test_the_same_command_runs_only_what_failed_to_end(shell: Shell, suite: Path) -> None:
    assert shell.types("run", "doubles.py", "-o", "out", RAISES="2").exit_code == 1
    again = shell.types("run", "doubles.py", "-o", "out")
    assert again.exit_code == 1, "the exit code is the whole run's"
    assert len(shell.calls) == 6
    assert shell.types("run", "doubles.py", "-o", "out", "--retry-errors").exit_code == 0
    assert shell.calls[6:] == ["case-2"]


def test_after_a_kill_resume_runs_what_is_missing_from_anywhere(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shell.write("slow.py", SLOW)
    process = shell.starts("run", "slow.py", "--repeat", "1", "-j", "6", "-q")
    wait_for_calls(shell, 8)
    (run,) = (shell.folder / "runs" / "slow").iterdir()
    wait_until(lambda: (run / "journal.jsonl").read_text().count('"kind":"outcome"') == 4)
    process.kill()
    process.communicate()
    hurry(shell)
    elsewhere = shell.folder / "elsewhere"
    elsewhere.mkdir()
    ended = shell.runs("resume", str(run), "--json", cwd=elsewhere)
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["n"], document["n_passed"], document["n_open"]) == (8, 8, 0)
    assert sorted(shell.calls[8:]) == ["case-4", "case-5", "case-6", "case-7"]


def test_the_latest_run_is_resumed_if_none_is_named(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "--limit", "2", RAISES="1")
    told = shell.types("resume", "--retry-errors", "-q")
    assert told.exit_code == 0, told.output
    assert shell.calls == ["case-0", "case-1", "case-1"], "the selection of the first command holds"


def test_what_was_asked_for_once_is_not_asked_for_again_by_a_resume(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out", "--retry-errors", "--accept-changes", RAISES="1")
    assert shell.types("resume", "out", RAISES="1").exit_code == 1
    assert len(shell.calls) == 6
    suite.write_text(suite.read_text().replace("EqualsExpected()]", "EqualsExpected(), lambda output: True]"))
    assert shell.runs("resume", "out").returncode == 2, "a change has to be accepted by whoever sees it"
    assert shell.runs("resume", "out", "--accept-changes", "--retry-errors").returncode == 0
    assert shell.calls[6:] == ["case-1"]


def test_a_run_can_be_named_by_the_end_of_its_id(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py")
    (run,) = (shell.folder / "runs" / "doubles").iterdir()
    assert shell.types("resume", run.name[-6:]).exit_code == 0
    told = shell.types("resume", "nothing")
    assert told.exit_code == 2
    assert "there is no run 'nothing'" in told.stderr


def test_a_finished_run_resumes_to_its_own_exit_code_without_a_call(shell: Shell, suite: Path) -> None:
    for environ, code in (({}, 0), ({"RAISES": "1"}, 1)):
        (shell.folder / "calls.log").unlink(missing_ok=True)
        shell.types("run", "doubles.py", **environ)
        assert shell.types("resume").exit_code == code
        assert len(shell.calls) == 6


def test_another_suite_is_refused_with_the_difference_until_it_is_accepted(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    text = suite.read_text()
    suite.write_text(text.replace("EqualsExpected()]", "EqualsExpected(), lambda output: True]"))
    refused = shell.runs("run", "doubles.py", "-o", "out")
    assert refused.returncode == 2
    assert "evaluators" in refused.stderr
    assert "--accept-changes" in refused.stderr
    assert shell.runs("run", "doubles.py", "-o", "out", "--accept-changes").returncode == 0


def test_a_run_that_was_started_from_python_says_how_to_go_on(shell: Shell) -> None:
    shell.write(
        "program.py",
        """
        from paceline import Case, Dataset
        Dataset(cases=[Case(inputs=1)]).evaluate_sync(lambda x: x, journal="out", progress=False)
        """,
    )
    process = shell.python("program.py")
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    told = shell.types("resume", "out")
    assert told.exit_code == 2
    assert "was not started by `paceline run`" in told.stderr
    assert "program.py" in told.stderr


def test_a_suite_that_is_gone_is_named(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", "-o", "out")
    suite.unlink()
    del sys.modules["doubles"]
    told = shell.types("resume", "out")
    assert told.exit_code == 2
    assert "doubles.py: there is no such file" in told.stderr


# Interrupts


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_interrupt_lets_finish_what_is_in_flight_and_says_how_to_go_on(
    shell: Shell, number: signal.Signals
) -> None:
    shell.write("slow.py", SLOW)
    process = shell.starts("run", "slow.py", "-j", "2", "--drain-timeout", "1s", "-o", "out")
    wait_for_calls(shell, 6)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 4, err
    assert f"{number.name} received: finishing 2 in flight; Ctrl-C again to cancel" in err
    assert "go on with: paceline resume out" in err
    hurry(shell)
    assert shell.runs("resume", "out").returncode == 0


def test_the_second_interrupt_cancels_and_ends_with_130(shell: Shell) -> None:
    shell.write("slow.py", SLOW)
    process = shell.starts("run", "slow.py", "-j", "2", "-o", "out")
    wait_for_calls(shell, 6)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "finishing" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130


# Streams


def test_nobody_reading_stdout_changes_nothing(shell: Shell, suite: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for flags in ([], ["--json"]):
        process = shell.starts("run", "doubles.py", *flags, stdout=writing)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Traceback" not in err
        assert "Broken" not in err
    os.close(writing)


def test_nobody_reading_stderr_changes_nothing(shell: Shell, suite: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = shell.starts("run", "doubles.py", stderr=writing)
    os.close(writing)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "6 of 6" in out


def test_closed_standard_streams_do_not_reach_the_record(shell: Shell, suite: Path) -> None:
    """The next file opened gets the number of a closed stream: what is printed must not end up in it."""
    close_and_run = (
        "import os, sys; [os.close(number) for number in (0, 1, 2)]; "
        "os.execv(sys.executable, [sys.executable, '-m', 'paceline.cli', *sys.argv[1:]])"
    )
    process = shell.python("-c", close_and_run, "run", "doubles.py", "-o", "out")
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert shell.types("verify", "out").exit_code == 0
