"""How a command has failed is told apart, in words that say what to do about it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from paceline import Case, CommandTask
from paceline.engine.failures import classify, describe
from paceline.tasks.command import failures
from paceline.tasks.failures import TaskFailure
from tests.processes.remains import linux
from tests.tasks.command.commands import called, elsewhere, grounds, python, run_of

__all__ = ["elsewhere"]

OUTCOMES: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (["no-such-agent"], {}, failures.ProgramNotFound, "there is no program no-such-agent"),
    (["/etc/passwd"], {}, failures.NotStarted, "is it executable?"),
    (["true", "x" * 4_000_000], {}, failures.NotStarted, "give long values by `stdin:` or in `files:`"),
    (["sh", "-c", "echo why >&2; exit 3"], {}, failures.NonZeroExit, "sh exited with code 3; it said: why"),
    (
        "no-such-agent",
        {},
        failures.NonZeroExit,
        "code 127: the shell found no such program; it said: .*not found",
    ),
    (["sh", "-c", "kill -SEGV $$"], {}, failures.KilledBySignal, "sh was killed by SIGSEGV"),
    (
        "sh -c 'kill -KILL $$'; exit $?",
        {},
        failures.KilledBySignal,
        "SIGKILL, as the system does where memory",
    ),
    (["yes"], {"output_limit": 1_000}, failures.OutputFlood, "yes printed .* bytes and more, and was ended"),
    ("seq 1 1000", {"output_limit": 1_000}, failures.OutputFlood, "its answer is on stdout, .* it was cut"),
    (
        "seq 1 1000 > big",
        {"output": "diff", "output_limit": 1_000},
        failures.OutputFlood,
        "its answer is its diff, and has",
    ),
    (["sleep", "60"], {"timeout": 0.2}, failures.CommandTimeout, "sleep took longer than 0.2 s"),
    ("true", {"output": {"file": "a.txt"}}, failures.NoAnswer, "it has not written a.txt"),
    ("echo no", {"output": {"json": "a"}}, failures.NoAnswer, "stdout is not JSON"),
    ("true", {"output": {"json": "a"}}, failures.NoAnswer, "stdout is not JSON .*, it is empty"),
    (
        "echo '{\"b\": 1}'",
        {"output": {"json": "a"}},
        failures.NoAnswer,
        "was to be at answer.a, and answer has b",
    ),
    ('rm -r "$PACELINE_WORKSPACE"', {}, failures.WorkspaceRemoved, "is not there any more"),
    (
        'rm -r "$PACELINE_WORKSPACE"; ln -s /etc "$PACELINE_WORKSPACE"',
        {"output": {"file": "hostname"}},
        failures.WorkspaceRemoved,
        "is not there any more",
    ),
    ("ln -s /etc/passwd a", {"output": {"file": "a"}}, failures.NoAnswer, "is a link"),
    (
        "true",
        {"setup": "echo broken >&2; false"},
        failures.SetupFailed,
        "setup 1 exited with code 1; it said: broken",
    ),
    (
        "true",
        {"setup": ["true", "sleep 60"], "setup_timeout": 0.2},
        failures.SetupFailed,
        "setup 2 took longer",
    ),
    ("true", {"workspace": {"repository": "nowhere"}}, failures.WorkspaceFailed, "cannot be fetched"),
    ("true", {"files": {"../up": ""}}, failures.BadFiles, "leads upwards"),
    (
        ["sh", "-c", "while :; do :; done"],
        {"limits": {"cpu": "1s"}},
        failures.CpuExceeded,
        "more than 1 s of CPU",
    ),
    (
        "head -c 100000 /dev/zero > a",
        {"limits": {"file_size": "10k"}},
        failures.FileSizeExceeded,
        "more than 10,240",
    ),
]


@pytest.mark.parametrize(("command", "more", "kind", "why"), OUTCOMES)
def test_failures_are_told_apart(elsewhere: Path, command: Any, more: Any, kind: Any, why: str) -> None:
    with pytest.raises(kind, match=why):
        called(command, **more)
    assert grounds(elsewhere) == []


@linux
def test_limits_that_are_watched_are_told_apart(elsewhere: Path) -> None:
    program = python("import time; data = b'x' * (100 << 20); time.sleep(60)")
    with pytest.raises(failures.MemoryExceeded, match="more than 52,428,800 bytes"):
        called(program, limits={"memory": "50MiB"})
    with pytest.raises(failures.ProcessesExceeded, match="more than 3 processes"):
        called("for i in 1 2 3 4 5; do sleep 60 & done; wait", limits={"processes": 3})


def test_what_is_about_the_machine_is_infrastructure_and_the_rest_is_the_programs_own() -> None:
    about_the_machine = {"SetupFailed", "WorkspaceFailed", "EngineFailed", "CommandLost"}
    kinds = [
        kind for kind in vars(failures).values() if isinstance(kind, type) and issubclass(kind, TaskFailure)
    ]
    for kind in kinds:
        expected = "infrastructure" if kind.__name__ in about_the_machine else "permanent"
        expected = "timeout" if kind is failures.CommandTimeout else expected
        assert classify(kind("...")) == expected
    facts = describe(failures.NonZeroExit("words"))
    assert (facts.type, facts.message, facts.trace) == ("NonZeroExit", "words", "")


def test_exit_codes_that_are_no_failure_are_said(elsewhere: Path) -> None:
    assert called("echo found; exit 1", exit_codes=[0, 1]) == "found"
    assert called("echo found; exit 77", exit_codes="any") == "found"
    with pytest.raises(failures.NonZeroExit):
        called("true", exit_codes=[1])


PYTHONS = """Traceback (most recent call last):
  File "agent.py", line 25, in work
    client = openai.OpenAI()
openai.OpenAIError: The api_key client option must be set
"""
NODES = """/app/agent.js:3
    throw new TypeError("no such tool");
    ^

TypeError: no such tool
    at work (/app/agent.js:3:11)
    at main (/app/agent.js:9:5)

Node.js v18.19.0
"""
RUSTS = "   Compiling agent v0.1.0\n\nerror[E0308]: mismatched types\n --> src/main.rs:4:5\n  |\n4 | x\n"


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        (PYTHONS, "openai.OpenAIError: The api_key client option must be set"),
        (NODES, "TypeError: no such tool"),
        (RUSTS, "error[E0308]: mismatched types"),
        ("fatal: not a git repository\n", "fatal: not a git repository"),
        ("one\ntwo\n", "one\ntwo"),
        ("1\n2\n3\n4\n5\n\n", "5"),
        ("", ""),
    ],
)
def test_of_many_lines_the_one_is_shown_that_tells_the_trouble(printed: str, told: str) -> None:
    assert failures.telling(printed) == told


def test_in_a_run_each_is_the_outcome_of_its_case(elsewhere: Path) -> None:
    task = CommandTask("eval {{ inputs }}", timeout=3.0, grace=0.2)
    cases = {
        "fine": "echo fine",
        "code": "exit 3",
        "late": "sleep 60",
        "lost": "false",
        "signal": "kill -SEGV $$",
    }
    report = run_of(elsewhere, task, *(Case(name=name, inputs=inputs) for name, inputs in cases.items()))
    outcomes = {row.name: row.outcome for row in report.rows}
    assert outcomes["fine"] == "scored"
    assert outcomes["late"] == "timeout"
    assert {outcomes[name] for name in ("code", "lost", "signal")} == {"task_error"}
    assert grounds(elsewhere) == []


def test_a_cancelled_call_leaves_no_workspace(elsewhere: Path) -> None:
    async def cancelled() -> None:
        call = asyncio.create_task(CommandTask(["sleep", "60"])(""))
        await asyncio.sleep(0.3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    assert grounds(elsewhere) == []
