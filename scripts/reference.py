"""The parts of the manual that the code itself knows best, written from it.

    .venv/bin/python scripts/reference.py           write them anew
    .venv/bin/python scripts/reference.py --check   change nothing; exit 1 if a page is not up to date

Each stands between `<!-- reference:NAME -->` and `<!-- /reference:NAME -->`; all else on a page is left as it
is. `tests/test_reference.py` holds the pages to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click

import paceline.cli
from paceline.cli.group import COMMANDS
from paceline.cli.group import paceline as program
from paceline.cli.options import NOT_FOR_RUNS
from paceline.report.document import KEYS
from paceline.settings import BY_NAME, SETTINGS, Setting, as_written

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = ("docs/settings.md", "docs/reference/cli.md", "docs/reference/report-json.md")
PLACE: Final = re.compile(r"<!-- reference:(?P<name>[\w-]+) -->\n.*?<!-- /reference:(?P=name) -->", re.DOTALL)
EXIT_CODE: Final = re.compile(r"^    (\d+) +(.+)$", re.MULTILINE)


def page_with(page: str, parts: Mapping[str, str]) -> str:
    """The page with these parts in their places."""

    def written(place: re.Match[str]) -> str:
        name = place["name"]
        return f"<!-- reference:{name} -->\n{parts[name]}\n<!-- /reference:{name} -->"

    return PLACE.sub(written, page)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


# Settings -----------------------------------------------------------------------------------------


def settings() -> str:
    """Every setting, how it is written, its default and what it means."""
    rows = (
        (_names(setting), f"`{setting.kind.metavar}`", _default(setting), setting.help)
        for setting in SETTINGS
    )
    return table(("setting", "value", "default", "means"), rows)


def _names(setting: Setting) -> str:
    return f"`{setting.name}` (`{setting.short}`)" if setting.short else f"`{setting.name}`"


def _default(setting: Setting) -> str:
    written = as_written(setting, setting.default)
    return f"`{written}`" if written else "none"


def without_flag() -> str:
    """The settings that no flag sets."""
    names = [f"`{name}`" for name in NOT_FOR_RUNS]
    return f"{' and '.join(names)} have no flag: they belong to a place rather than to a call."


# The command line ---------------------------------------------------------------------------------


def exit_codes() -> str:
    """What each exit code means, as the room of the command line says it."""
    found = EXIT_CODE.findall(paceline.cli.__doc__ or "")
    return table(("code", "means"), ((code, meaning) for code, meaning in found))


def commands() -> str:
    """Every command, with its arguments and options."""
    group = click.Context(program, info_name="paceline")
    parts = []
    for name in COMMANDS:
        command = program.get_command(group, name)
        assert command is not None
        parts.append("\n\n".join(_command(command, click.Context(command, info_name=name, parent=group))))
    return "\n\n".join(parts)


def _command(command: click.Command, ctx: click.Context) -> Iterator[str]:
    yield f"## {ctx.command_path}"
    yield f"    {' '.join([ctx.command_path, *command.collect_usage_pieces(ctx)])}"
    yield "\n\n".join(" ".join(each.split()) for each in (command.help or "").split("\n\n"))
    options = [param for param in command.params if isinstance(param, click.Option)]
    own = [option for option in options if option.name not in BY_NAME]
    if own:
        yield table(("option", "means"), (_option(option) for option in own))
    if len(own) < len(options):
        yield "And the flag of every [setting](../settings.md)."


def _option(option: click.Option) -> tuple[str, str]:
    value = "" if option.is_flag else f" {option.metavar or 'N'}"
    default = f" [{option.default}]" if option.show_default else ""
    return f"`{', '.join(option.opts)}{value}`", f"{option.help}{default}"


# The report ---------------------------------------------------------------------------------------


def report_keys() -> str:
    """Every key of a report in JSON."""
    return table(("key", "means"), ((f"`{key}`", meaning) for key, meaning in KEYS.items()))


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "settings": settings,
    "settings-without-flag": without_flag,
    "exit-codes": exit_codes,
    "commands": commands,
    "report-keys": report_keys,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or say which of them are old."""
    parts = {name: part() for name, part in PARTS.items()}
    old = []
    for page in PAGES:
        path = ROOT / page
        before = path.read_text(encoding="utf-8")
        after = page_with(before, parts)
        if after != before:
            old.append(page)
            if "--check" not in arguments:
                path.write_text(after, encoding="utf-8")
    print("\n".join(old) or "up to date")
    return int("--check" in arguments and bool(old))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
