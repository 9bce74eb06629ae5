"""The program as a whole: its help is there at once, and its errors are messages."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from paceline.cli.group import COMMANDS, LazyGroup
from paceline.cli.group import paceline as program
from paceline.cli.options import NOT_FOR_RUNS
from paceline.settings import SETTINGS
from tests.cli.conftest import Shell

HEAVY = {
    "asyncio",
    "msgspec",
    "rich",
    "yaml",
    "dataclasses",
    "paceline.settings",
    "paceline.api",
    "paceline.engine",
}


def modules_after(program: str) -> set[str]:
    probe = f"import sys\ntry:\n    {program}\nexcept SystemExit: pass\nprint('MODULES', *sys.modules)"
    told = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout
    return set(told.rpartition("MODULES")[2].split())


def test_help_loads_nothing_but_click() -> None:
    loaded = modules_after("sys.argv = ['paceline', '--help']; from paceline.cli import main; main()")
    assert "click" in loaded
    bare = modules_after("import click; click.command()(lambda: None).main(['--help'])")
    assert not (loaded - bare) & HEAVY


def test_help_names_every_command_and_what_it_is_for(shell: Shell) -> None:
    told = shell.types("--help")
    assert told.exit_code == 0
    for name, meaning in COMMANDS.items():
        assert name in told.stdout
        assert meaning in told.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_can_be_loaded_and_explains_itself(name: str, shell: Shell) -> None:
    assert isinstance(import_module(f"paceline.cli.{name}").command, click.Command)
    told = shell.types(name, "--help")
    assert told.exit_code == 0, told.output
    assert f"Usage: paceline {name}" in told.stdout


def test_every_setting_of_a_run_has_its_flag() -> None:
    context = click.Context(program)
    assert isinstance(program, LazyGroup)
    for command in ("run", "resume"):
        loaded = program.get_command(context, command)
        assert loaded is not None
        flags = {flag for parameter in loaded.params for flag in parameter.opts}
        assert {setting.flag for setting in SETTINGS if setting.name not in NOT_FOR_RUNS} <= flags


@pytest.mark.parametrize("arguments", [["nonsense"], ["run", "--nonsense"], ["run", "a", "b", "c"], ["rm"]])
def test_wrong_usage_ends_with_2(shell: Shell, arguments: list[str]) -> None:
    told = shell.types(*arguments)
    assert told.exit_code == 2
    assert "Usage: paceline" in told.stderr


def test_an_error_of_ours_is_a_message_and_a_hint_and_its_exit_code(shell: Shell) -> None:
    told = shell.types("run", "nowhere.yaml")
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr.startswith("error: there is no file nowhere.yaml\nhint: ")


def test_with_json_an_error_is_a_document_too(shell: Shell) -> None:
    import json

    told = shell.types("run", "nowhere.yaml", "--json")
    assert told.exit_code == 2
    assert json.loads(told.stdout) == {
        "error": {
            "kind": "SuiteError",
            "message": "there is no file nowhere.yaml",
            "hint": json.loads(told.stdout)["error"]["hint"],
        },
        "exit_code": 2,
    }


def test_the_version_is_told(shell: Shell) -> None:
    import paceline

    assert paceline.__version__ in shell.types("--version").stdout


def test_a_defect_ends_with_3_and_a_short_trace_and_a_long_one_on_demand(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    import paceline.suite

    def deep(depth: int) -> None:
        if depth:
            deep(depth - 1)
        raise RuntimeError("a defect")

    monkeypatch.setattr(paceline.suite, "load_suite", lambda *_, **__: deep(20))
    short, long = shell.types("run", "x.py"), shell.types("run", "x.py", "--debug")
    assert short.exit_code == long.exit_code == 3
    for told in (short, long):
        assert "RuntimeError: a defect" in told.stderr
        assert "this should not have happened" in told.stderr
    assert "--debug to see the whole" in short.stderr
    assert long.stderr.count("\n") > short.stderr.count("\n")


def test_a_directory_that_is_gone_is_told_and_no_traceback(shell: Shell) -> None:
    gone = shell.folder / "gone"
    gone.mkdir()
    typed = f"cd {gone} && rmdir {gone} && exec {sys.executable} -m paceline.cli ls"
    done = subprocess.run(["sh", "-c", typed], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "the current directory cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("rnu", "Did you mean `paceline run`?"),
        ("doubles.py", "`paceline run doubles.py` runs it."),
        ("frobnicate", "No such command 'frobnicate'."),
    ],
)
def test_a_word_that_is_no_command_is_answered_with_what_was_meant(
    shell: Shell, suite: Path, written: str, told: str
) -> None:
    result = shell.types(written)
    assert result.exit_code == 2
    assert told in result.stderr
