"""Flags that several commands share; those of settings are made from the table of settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from paceline.errors import UsageError
from paceline.setting_kinds import TRUTH
from paceline.settings import BY_NAME, SETTINGS, Setting, as_written

CommandT = TypeVar("CommandT", bound=Callable[..., Any])

NOT_FOR_RUNS = ("redact", "runs")
"""Settings of a place rather than of a run: they are set in files and in the environment only."""


def setting_flags(command: CommandT) -> CommandT:
    """One flag for each setting of a run. Values arrive as they were written; `effective` reads them."""
    return setting_flags_but()(command)


def setting_flags_but(*names: str) -> Callable[[CommandT], CommandT]:
    """The same without some that mean nothing to a command."""

    def add(command: CommandT) -> CommandT:
        for setting in reversed(SETTINGS):
            if setting.name not in (*NOT_FOR_RUNS, *names):
                command = _flag(setting)(command)
        return command

    return add


def _flag(setting: Setting) -> Callable[[CommandT], CommandT]:
    default = as_written(setting, setting.default)
    text = f"{setting.help}  [{default}]"
    if setting.kind is TRUTH:
        both = f"{setting.flag}/--no-{setting.flag.removeprefix('--')}"
        return click.option(both, setting.name, default=None, help=setting.help)
    names = (setting.short, setting.flag) if setting.short else (setting.flag,)
    return click.option(*names, setting.name, metavar=setting.kind.metavar, help=text)


def settings_among(params: dict[str, Any]) -> dict[str, Any]:
    """Take the values of settings out of the parameters of a command."""
    return {name: params.pop(name) for name in list(params) if name in BY_NAME}


def selection_flags(command: CommandT) -> CommandT:
    """Which cases to run."""
    options = (
        click.option("--filter", "filter_", metavar="REGEX", help="Only cases whose name matches."),
        click.option(
            "--sample", type=click.IntRange(min=1), metavar="N", help="Only N cases drawn with --seed."
        ),
        click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N cases."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def view_flags(command: CommandT) -> CommandT:
    """What is shown, and where."""
    options = (
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
        click.option("-q", "--quiet", is_flag=True, help="No progress and no report."),
        click.option("-v", "--verbose", is_flag=True, help="Print a line for each case."),
        click.option(
            "--debug", is_flag=True, help="One case at a time, full tracebacks, a debugger on errors."
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


json_flag = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout.")


def read_map(pairs: tuple[str, ...]) -> dict[str, str]:
    """`--map inputs=question` says that our `inputs` is their field `question`."""
    mapped: dict[str, str] = {}
    for pair in pairs:
        ours, equals, theirs = (part.strip() for part in pair.partition("="))
        if not (ours and equals and theirs):
            raise UsageError(f"--map {pair!r} maps nothing", hint="write ours=theirs: --map inputs=question")
        mapped[ours] = theirs
    return mapped
