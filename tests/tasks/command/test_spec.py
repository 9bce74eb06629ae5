"""What cannot be meant is refused when the task is made, with what to write in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline import CommandTask
from paceline.errors import UsageError
from paceline.tasks.command.output import output_of
from tests.tasks.command.commands import elsewhere

__all__ = ["elsewhere"]

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"command": ""}, "command wants a text"),
    ({"command": []}, "command wants a text"),
    ({"command": ["a", None]}, "command wants a text"),
    ({"command": "a {{ question }}"}, "nothing but `inputs`, `workspace`, `suite`, `case`"),
    ({"timeout": "soon"}, "timeout wants a duration"),
    ({"stdin": 5}, "stdin wants a text"),
    ({"env": ["A=1"]}, "env wants names with values"),
    ({"env": {"A=B": "1"}}, "no name of a variable"),
    ({"env": {"A": None}}, "A wants a text"),
    ({"output": "answer.txt"}, "output cannot be"),
    ({"output": {"fiel": "a"}}, "no key 'fiel'"),
    ({"output": {"file": "../up"}}, "leads upwards"),
    ({"output": {"json": "a..b"}}, "output"),
    ({"exit_codes": [256]}, "exit_codes wants"),
    ({"workspace": {"git": "x"}}, "no key 'git'"),
    ({"workspace": {"template": "a", "archive": "b"}}, "made from one thing"),
    ({"workspace": {"template": "a", "commit": "b"}}, "a commit is of a repository"),
    ({"workspace": {"archive": "a", "strip": -1}}, "strip wants"),
    ({"workspace": "none", "output": "diff"}, "without a workspace"),
    ({"workspace": "none", "keep": "failed"}, "without a workspace"),
    ({"files": "{{ inputs.a }} and more"}, "files wants names"),
    ({"files": {"a": 5}}, "wants a text, or a file to copy"),
    ({"files": {"a": {"copy": "nowhere"}}}, "there is no file"),
    ({"keep": "sometimes"}, "keep cannot be"),
    ({"limits": {"ram": "1g"}}, "limits has no key 'ram'"),
    ({"limits": {"memory": "much"}}, "limits.memory wants a size"),
    ({"limits": {"processes": 0}}, "limits.processes wants a number"),
    ({"allow": {"callz": 5}}, "allow has no key 'callz'; did you mean calls"),
    ({"allow": {"calls": "many"}}, "allow: "),
    ({"docker": {"mounts": []}}, "docker wants an image"),
    ({"docker": {"image": "a", "gpu": True}}, "docker has no key 'gpu'"),
    ({"docker": {"image": "a", "mounts": ["a"]}}, "is no mount"),
    ({"docker": "a", "podman": "b"}, "runs in one place"),
    ({"bubblewrap": "yes"}, "bubblewrap cannot be"),
    ({"bubblewrap": {"readable": ["nowhere"]}}, "there is no"),
]


@pytest.mark.parametrize(("said", "why"), WRONG)
def test_what_cannot_be_meant_is_refused_with_what_to_write(
    elsewhere: Path, said: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why) as refused:
        CommandTask(**{"command": ["true"], **said})
    assert refused.value.hint or "leave them out" in str(refused.value)


@pytest.mark.parametrize(
    ("said", "size"), [("512", 512), ("64KiB", 64 * 1024), ("1.5 GB", 3 * 2**29), ("2g", 2**31), (7, 7)]
)
def test_sizes_are_powers_of_1024(said: Any, size: int) -> None:
    assert CommandTask("true", limits={"memory": size}).spec.limits.memory == size
    assert CommandTask("true", output_limit=said).spec.kept == size


def test_what_is_said_is_the_version_and_a_resume_notices_a_change() -> None:
    one = CommandTask(["agent", "{{ inputs }}"], env={"A": "1"})
    assert one.version == CommandTask(["agent", "{{ inputs }}"], env={"A": "1"}).version
    assert one.version != CommandTask(["agent", "{{ inputs }}"], env={"A": "2"}).version
    assert one.version != CommandTask(["agent", "{{ inputs.task }}"], env={"A": "1"}).version


def test_reports_call_it_by_its_program() -> None:
    assert CommandTask(["/opt/bin/agent", "-v"]).__qualname__ == "agent"
    assert CommandTask("cd src && agent -v").__qualname__ == "cd"


def test_an_output_path_goes_through_lists_and_odd_names() -> None:
    assert output_of({"json": 'runs[0]["a b"].text'}).path is not None
    assert output_of({"json": ""}).path is not None


def test_what_is_not_there_is_told_before_anything_starts(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no program no-such-agent"):
        CommandTask(["no-such-agent"]).check_ready()
    with pytest.raises(UsageError, match="no program /opt/no/agent"):
        CommandTask(["/opt/no/agent"]).check_ready()
    with pytest.raises(UsageError, match="NO_SUCH_KEY is not set here"):
        CommandTask(["true"], pass_env=["NO_SUCH_KEY", "AWS_*"]).check_ready()
    with pytest.raises(UsageError, match="no folder"):
        CommandTask(["true"], workspace={"template": "gone"}).check_ready()
    CommandTask(["true"], workspace={"template": "{{ inputs.folder }}"}).check_ready()
    CommandTask(["./in-the-workspace"]).check_ready()
    monkeypatch.setenv("PATH", str(elsewhere))
    with pytest.raises(UsageError, match="no git"):
        CommandTask("true").check_ready()
    CommandTask("true", workspace="none").check_ready()
