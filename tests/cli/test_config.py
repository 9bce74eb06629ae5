"""`paceline config`: what holds, and where it came from."""

from __future__ import annotations

import json

from paceline.settings import SETTINGS
from tests.cli.conftest import Shell


def test_every_setting_is_shown_with_its_value_and_its_origin(shell: Shell) -> None:
    shell.write("paceline.toml", "timeout = '5m'\n")
    told = shell.types("config", "--repeat", "3", PACELINE_ORDER="given")
    assert told.exit_code == 0
    rows = {line.split()[0]: line for line in told.stdout.splitlines()}
    assert {setting.name for setting in SETTINGS} < set(rows)
    assert rows["timeout"].split()[1:3] == ["5m", "paceline.toml:1"]
    assert rows["order"].split()[1:3] == ["given", "PACELINE_ORDER"]
    assert rows["repeat"].split()[1:4] == ["3", "flag", "--repeat"]
    assert rows["seed"].split()[1:3] == ["0", "default"]


def test_a_suite_brings_its_own_settings(shell: Shell) -> None:
    shell.write("suite.yaml", "dataset: cases.csv\nsettings:\n  timeout: 7s\n")
    document = json.loads(shell.types("config", "suite.yaml", "--json").stdout)
    assert document["settings"]["timeout"]["value"] == 7.0
    assert document["settings"]["timeout"]["origin"] == "suite.yaml:3"
    assert document["settings"]["timeout"]["env"] == "PACELINE_TIMEOUT"
    assert document["file"] is None


def test_an_unknown_variable_is_a_warning(shell: Shell) -> None:
    told = shell.types("config", PACELINE_TIMEUOT="3")
    assert told.exit_code == 0
    assert "warning: PACELINE_TIMEUOT is set and means nothing; did you mean PACELINE_TIMEOUT?" in told.stderr


def test_a_mistake_in_the_file_is_wrong_usage(shell: Shell) -> None:
    shell.write("paceline.toml", "timeuot = 3")
    told = shell.types("config")
    assert (told.exit_code, told.stdout) == (2, "")
    assert "error: paceline.toml:1: there is no setting 'timeuot'; did you mean timeout?" in told.stderr
