"""`paceline view`: says where it is, answers there, and ends when it is told to."""

from __future__ import annotations

import json
import signal
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Shell


def test_the_list_of_runs_is_printed_as_json_without_serving_anything(shell: Shell, suite: Path) -> None:
    shell.types("run", "doubles.py", WRONG="1")
    shell.types("run", "doubles.py", "-o", "elsewhere/out")
    (listed,) = json.loads(shell.types("view", "--json").stdout)
    assert (listed["suite"], listed["state"], listed["keys"], listed["passed"]) == (
        "doubles",
        "complete",
        6,
        5,
    )
    assert listed["pass_rate"] == pytest.approx(5 / 6)
    assert listed["interval"]["low"] < 5 / 6
    (other,) = json.loads(shell.types("view", "elsewhere", "--json").stdout)
    assert other["passed"] == 6


def test_a_folder_that_is_not_there_is_said(shell: Shell) -> None:
    told = shell.types("view", "nowhere")
    assert told.exit_code == 2
    assert "there is no folder nowhere" in told.stderr


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended(shell: Shell, suite: Path, number: signal.Signals) -> None:
    shell.types("run", "doubles.py")
    with shell.starts("view", "--no-open", "--port", "0") as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        with urllib.request.urlopen(f"{url}api/runs", timeout=30) as answer:
            (listed,) = json.load(answer)
        with urllib.request.urlopen(f"{url}run/{listed['id']}", timeout=30) as answer:
            assert b"<!doctype html>" in answer.read()
        process.send_signal(number)
        assert process.wait(30) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("flags", "opens"), [((), True), (("--no-open",), False)])
def test_it_opens_the_browser_unless_told_not_to(shell: Shell, flags: tuple[str, ...], opens: bool) -> None:
    (shell.folder / "runs").mkdir()
    opener = shell.write("opener.sh", '#!/bin/sh\necho "$1" > opened.txt\n')
    opener.chmod(0o755)
    environ = {"BROWSER": f"{opener} %s"}
    with shell.starts("view", "--port", "0", *flags, environ=environ) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    opened = shell.folder / "opened.txt"
    assert (opened.read_text().strip() if opened.exists() else "") == (url if opens else "")
