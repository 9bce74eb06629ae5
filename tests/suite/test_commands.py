"""Commands in a suite.yaml: what stands at the top, what variants say otherwise, what is refused where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from paceline.errors import SuiteError
from paceline.suite import load_suite, suite_schema
from paceline.tasks.command import CommandTask

CASES = "cases: [{inputs: 1}]\n"


def loaded(tmp_path: Path, text: str) -> Any:
    (tmp_path / "suite.yaml").write_text(CASES + text)
    return load_suite(str(tmp_path / "suite.yaml"))


def test_a_command_is_the_task_of_its_suite(tmp_path: Path) -> None:
    (tmp_path / "template").mkdir()
    suite = loaded(
        tmp_path,
        """
command: [my-agent, "{{ inputs }}"]
stdin: "{{ inputs }}"
env: {MODEL: m}
pass_env: [MY_KEY]
cwd: src
setup: [make, make deps]
timeout: 20m
setup_timeout: 5m
grace: 10s
output: {file: out.json, json: answer}
exit_codes: [0, 2]
workspace: {template: template}
files: {a: b}
keep: failed
limits: {memory: 2GiB}
output_limit: 1MiB
gateway: true
allow: {calls: 50}
bubblewrap: true
""",
    )
    task = suite.task
    assert isinstance(task, CommandTask)
    assert (task.folder, task.timeout, task.grace) == (tmp_path, 1200.0, 10.0)
    assert task.spec.setup_timeout == 300
    assert len(task.spec.setup) == 2
    assert task.wants_gateway


def test_variants_have_in_common_what_stands_at_the_top(tmp_path: Path) -> None:
    suite = loaded(
        tmp_path,
        """
command: [my-agent]
env: {MODEL: small}
timeout: 1m
variants:
  small: {}
  large: {env: {MODEL: large}}
  other: {command: other-agent}
""".replace("  small: {}\n", "  small: {timeout: 2m}\n"),
    )
    small, large, other = (suite.variants[name] for name in ("small", "large", "other"))
    assert (small.timeout, large.timeout, other.timeout) == (120.0, 60.0, 60.0)
    assert [each.spec.env["MODEL"].source for each in (small, large, other)] == ["small", "large", "small"]
    assert other.spec.program == "other-agent"
    assert suite.task is None


def test_commands_and_models_may_stand_side_by_side(tmp_path: Path) -> None:
    suite = loaded(
        tmp_path, "variants: {agent: {command: [my-agent]}, model: {model: sim, prompt: '{{ inputs }}'}}\n"
    )
    assert isinstance(suite.variants["agent"], CommandTask)
    assert type(suite.variants["model"]).__name__ == "ModelTask"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("command: [true]\ntask: app.py:answer\n", 2, "there is a task, and there is a command"),
        ("command: [true]\nmodel: sim\n", 2, "there is a model, and there is a command"),
        ("stdin: a\ntask: app.py:answer\n", 2, "stdin is for a command, and none is named"),
        ("command: []\n", 2, "command wants a text"),
        ("command: [true]\n", 2, "one of its words is True"),
        ("command: [sleep, 5]\n\ntimeout: soon\n", 4, "timeout wants a duration"),
        ("command: [agent]\nworkspace: {folder: a}\n", 3, "workspace has no key 'folder'"),
        ("command: [agent]\nvariants: {a: {retries: 3}}\n", 3, "variant 'a' has no 'retries'"),
        ("command: [agent]\ncommands: 1\n", 3, "no key 'commands'; did you mean command"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, why: str
) -> None:
    with pytest.raises(SuiteError) as refused:
        loaded(tmp_path, text)
    assert why in str(refused.value)
    assert f"suite.yaml:{line}" in str(refused.value)
    assert refused.value.hint


def test_editors_are_told_of_every_key() -> None:
    import inspect

    said = set(inspect.signature(CommandTask.__init__).parameters) - {"self", "folder"}
    assert said <= set(suite_schema()["properties"])
