"""A command in a container: what the engine is told, what comes of it, and that nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask
from paceline.errors import UsageError
from paceline.tasks.command import failures
from tests.processes.remains import linux
from tests.tasks.command.commands import called, elsewhere, grounds, run_of
from tests.tasks.command.engine import FakeEngine

__all__ = ["elsewhere"]

IMAGE = "agents/mini:1"


@pytest.fixture
def engine(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeEngine]:
    with FakeEngine(elsewhere, monkeypatch) as engine:
        yield engine


def runs(engine: FakeEngine) -> list[list[str]]:
    return [argv for argv in engine.asked if argv[0] == "run"]


@pytest.mark.parametrize("name", ["docker", "podman"])
def test_it_runs_in_its_image_with_its_workspace_and_is_removed(
    elsewhere: Path, engine: FakeEngine, name: str
) -> None:
    box: dict[str, Any] = {name: IMAGE}
    task = CommandTask("cat; echo new > new.txt; echo $MODEL", stdin="hi ", env={"MODEL": "m"}, **box)
    report: Any = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = report.rows
    assert row.output == "hi m"
    assert row.attributes["changed_files"] == [{"path": "new.txt", "kind": "added"}]
    (argv,) = runs(engine)
    assert IMAGE in argv
    assert engine.there == []
    assert grounds(elsewhere) == []
    assert "cpu_s" not in row.metrics  # of the client, which says nothing


def test_values_of_variables_are_in_no_argument(
    elsewhere: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_LOGIN", "key-0123456789")
    monkeypatch.setenv("OURS_ONLY", "ours")
    said = called("env", docker=IMAGE, pass_env=["AGENT_LOGIN"], env={"HOME": "/home/agent"})
    assert "AGENT_LOGIN=key-0123456789" in said
    assert "HOME=/home/agent" in said
    assert "PACELINE_WORKSPACE=/workspace" in said
    assert "OURS_ONLY" not in said
    assert "DOCKER_HOST" not in said
    (argv,) = runs(engine)
    assert "key-0123456789" not in " ".join(argv)


def test_what_is_said_of_it_is_what_the_engine_is_told(elsewhere: Path, engine: FakeEngine) -> None:
    (elsewhere / "suite/fixtures").mkdir()
    container = {
        "image": "{{ inputs.image }}",
        "mounts": ["fixtures:/fixtures:ro", "cache:/cache"],
        "network": "none",
        "user": "1000:1000",
        "workdir": "/app",
        "cpus": 1.5,
        "options": ["--gpus=all"],
    }
    limits = {"memory": "1g", "processes": 50, "file_size": 1000, "cpu": "1m", "open_files": 99}
    assert (
        called("echo {{ workspace }}", {"image": "own:2"}, docker=container, limits=limits, cwd=None)
        == "/app"
    )
    (argv,) = runs(engine)
    told = " ".join(argv)
    for part in (
        f"--volume {elsewhere / 'suite/fixtures'}:/fixtures:ro --volume cache:/cache",
        *(
            "--network none",
            "--user 1000:1000",
            "--workdir /app",
            "--cpus 1.5",
            "--gpus=all own:2 /bin/sh -c",
        ),
        "--memory 1073741824 --memory-swap 1073741824 --pids-limit 50",
        "--ulimit cpu=60:60 --ulimit fsize=1000:1000 --ulimit nofile=99:99",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("code", "kind", "why"),
    [
        (125, failures.EngineFailed, "docker did not run the command; it said: as ordered"),
        (126, failures.NonZeroExit, "docker found a program that cannot be started"),
        (127, failures.NonZeroExit, "docker found no such program"),
        (137, failures.KilledBySignal, "SIGKILL, as the system does where memory runs out"),
        (3, failures.NonZeroExit, "exited with code 3"),
    ],
)
def test_what_the_engine_says_is_told_apart(
    elsewhere: Path, engine: FakeEngine, code: int, kind: type[Exception], why: str
) -> None:
    engine.exit_code = code
    with pytest.raises(kind, match=why):
        called(["agent"], docker=IMAGE)


def test_at_its_deadline_the_container_is_removed(elsewhere: Path, engine: FakeEngine) -> None:
    task = CommandTask(
        "trap '' TERM; echo begun; while :; do sleep 1; done", docker=IMAGE, timeout=0.7, grace=0.2
    )
    report: Any = run_of(elsewhere, task, Case(name="a", inputs=""))
    (row,) = report.rows
    assert row.outcome == "timeout"
    assert engine.there == []


def test_where_there_is_no_engine_the_remedy_is_told(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (elsewhere / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{elsewhere / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{elsewhere}/nowhere.sock")
    with pytest.raises(UsageError, match="there is no podman on this machine"):
        CommandTask("true", podman=IMAGE).check_ready()
    (elsewhere / "bin/podman").write_text("#!/bin/sh\necho 'Cannot connect' >&2; exit 1\n")
    (elsewhere / "bin/podman").chmod(0o755)
    with pytest.raises(UsageError, match="no podman engine answers: Cannot connect") as refused:
        CommandTask("true", podman=IMAGE).check_ready()
    assert "podman ps" in refused.value.hint


HARNESS = """
import sys
from paceline import Case, CommandTask, Dataset
task = CommandTask("echo begun; trap '' TERM; {{ inputs }}", docker="image", timeout=60)
cases = [Case(name=str(n), inputs="") for n in range(3)]
Dataset(name="c", cases=cases).evaluate_sync(task, journal=sys.argv[1], progress=False)
""".replace("{{ inputs }}", "test -e ../../../../../../go || sleep 60")


def started(elsewhere: Path, engine: FakeEngine, *, there: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HARNESS, str(elsewhere / "run")])
    until = time.monotonic() + 30
    while len(engine.running()) < there:
        assert time.monotonic() < until
        time.sleep(0.01)
    return process


@linux
@pytest.mark.slow
def test_a_killed_run_leaves_no_container(elsewhere: Path, engine: FakeEngine) -> None:
    process = started(elsewhere, engine, there=3)
    process.kill()
    process.wait()
    until = time.monotonic() + 5
    while engine.there:
        assert time.monotonic() < until
        time.sleep(0.01)


@linux
@pytest.mark.slow
def test_what_nobody_was_left_to_remove_the_resume_does(elsewhere: Path, engine: FakeEngine) -> None:
    process = started(elsewhere, engine, there=3)
    os.kill(process.pid, signal.SIGSTOP)
    everyone = (process.pid, *_all_below(process.pid))
    # All stand still before the first is gone, or those who watch it would have time to clear away.
    for how in (signal.SIGSTOP, signal.SIGKILL):
        for pid in everyone:
            os.kill(pid, how)
    process.wait()
    assert len(engine.running()) == 3
    (elsewhere / "go").touch()
    resumed = subprocess.run([sys.executable, "-c", HARNESS, str(elsewhere / "run")], check=False, timeout=60)
    assert resumed.returncode == 0
    assert engine.there == []
    assert grounds(elsewhere) == []
    outcomes = [json.loads(line) for line in (elsewhere / "run/journal.jsonl").read_text().splitlines()]
    assert sum(line["kind"] == "outcome" for line in outcomes) == 3


def _all_below(pid: int) -> list[int]:
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    children = [int(word) for word in listed.stdout.split()]
    return [each for child in children for each in (child, *_all_below(child))]
