"""`paceline config`: all settings, their values here and now, and where each came from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from paceline.cli.options import json_flag, setting_flags, settings_among
from paceline.cli.verb import Verb, say, say_json, table, warn


@click.command("config", cls=Verb)
@click.argument("suite", required=False)
@setting_flags
@json_flag
def command(suite: str | None, as_json: bool, **flags: Any) -> int:
    """Show all settings as they hold here, or for SUITE, and where each value came from.

    Flags are those of `run`, so what a call would do can be seen before it is made.
    """
    from paceline.settings import SETTINGS, as_written, effective, find_toml
    from paceline.suite import load_suite

    loaded = None if suite is None else load_suite(suite, needs_task=False)
    chosen = effective(settings_among(flags), suite=loaded)
    for warning in chosen.warnings:
        warn(f"warning: {warning}")
    if as_json:
        toml = find_toml(Path.cwd())
        say_json(
            {
                "file": None if toml is None else str(toml),
                "settings": {
                    setting.name: {
                        "value": chosen[setting.name],
                        "origin": chosen.origin(setting.name),
                        "flag": setting.flag,
                        "env": setting.env,
                        "help": setting.help,
                    }
                    for setting in SETTINGS
                },
                "warnings": list(chosen.warnings),
            }
        )
    else:
        rows = [
            (
                setting.name,
                as_written(setting, chosen[setting.name]),
                chosen.origin(setting.name),
                setting.help,
            )
            for setting in SETTINGS
        ]
        say(table(rows, head=("SETTING", "VALUE", "FROM", "MEANING")))
    return 0
