"""The parts of the manual that the code itself knows best, written from it.

    .venv/bin/python scripts/reference.py           write them anew
    .venv/bin/python scripts/reference.py --check   change nothing; exit 1 if a page is not up to date

Each stands between `<!-- reference:NAME -->` and `<!-- /reference:NAME -->`; all else on a page is left as it
is. `tests/test_manual.py` holds the pages to it.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import click
import msgspec

import paceline.cli
from paceline.cli.group import COMMANDS
from paceline.cli.group import paceline as program
from paceline.cli.options import NOT_FOR_RUNS
from paceline.comparison.document import KEYS as COMPARISON_KEYS
from paceline.evaluators.templates.listing import TemplateInfo, templates
from paceline.report.document import KEYS
from paceline.settings import BY_NAME, SETTINGS, Setting, as_written
from paceline.sim.builtin import SCENARIOS
from paceline.sim.scenario import GROUPS, MOST, Answers, Part, Rule, Scenario
from paceline.sim.tally import Seen

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = (
    "docs/settings.md",
    "docs/reference/cli.md",
    "docs/reference/report-json.md",
    "docs/reference/templates.md",
    "docs/how-to/comparing.md",
    "docs/how-to/simulated-provider.md",
)
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


def comparison_keys() -> str:
    """Every key of a comparison as JSON."""
    return table(("key", "means"), ((f"`{key}`", meaning) for key, meaning in COMPARISON_KEYS.items()))


def report_keys() -> str:
    """Every key of a report in JSON."""
    return table(("key", "means"), ((f"`{key}`", meaning) for key, meaning in KEYS.items()))


# Templates ----------------------------------------------------------------------------------------


def _listed(judged_by: str) -> Iterator[TemplateInfo]:
    return (each for each in templates() if each.judged_by == judged_by)


def _arguments(info: TemplateInfo) -> str:
    required = [f"`{name}`" for name in info.required]
    optional = [f"`{name}`?" for name in info.optional]
    return ", ".join((*required, *optional))


def templates_of_code() -> str:
    """Every template that code judges."""
    rows = ((f"`{each.name}`", _arguments(each), each.output or "", each.about) for each in _listed("code"))
    return table(("template", "takes", "output", "says"), rows)


def templates_of_vectors() -> str:
    """Every template that a model of embeddings is asked for."""
    rows = (
        (f"`{each.name}`", _arguments(each), each.output or "", each.about) for each in _listed("vectors")
    )
    return table(("template", "takes", "output", "says"), rows)


def templates_of_judges() -> str:
    """Every template that a model judges, with its labels where it has some."""
    rows = []
    for each in _listed("model"):
        labels = f" One of: {', '.join(each.choices)}." if each.choices else ""
        rows.append((f"`{each.name}`", _arguments(each), each.output or "", f"{each.about}{labels}"))
    return table(("template", "takes", "output", "says"), rows)


def templates_unsupported() -> str:
    """Every template that is known by name only."""
    rows = (
        (f"`{each.name}`", each.about.removeprefix("Not supported: ").removesuffix("."), each.instead)
        for each in _listed("nobody")
    )
    return table(("template", "is not supported because", "instead"), rows)


# Scenarios of the simulated provider --------------------------------------------------------------


def scenarios() -> str:
    """The scenarios that have names."""
    rows = ((f"`{name}`", str(fields["about"])) for name, fields in SCENARIOS.items())
    return table(("scenario", "is"), rows)


def scenario_fields() -> str:
    """Every field of a scenario, and those of its groups."""
    parts = [_scenario_fields(Scenario)]
    for name, group in GROUPS.items():
        opening = (inspect.getdoc(group) or "").replace("\n", " ")
        parts += [f"### `{name}`", opening, _scenario_fields(group)]
        if group is Answers:
            parts += ["Each of the `rules`:", _scenario_fields(Rule)]
    return "\n\n".join(parts)


def _scenario_fields(kind: type[Part]) -> str:
    meanings = _meanings(kind)
    hints = get_type_hints(kind, include_extras=True)
    rows = (
        (f"`{field.name}`", _values(hints[field.name]), _default_of(field), meanings[field.name])
        for field in msgspec.structs.fields(kind)
    )
    return table(("field", "value", "default", "means"), rows)


def stats() -> str:
    """What the simulated provider tells that it has seen."""
    rows = []
    for name, meaning in _meanings(Seen).items():
        rows.append((f"`{name}`", meaning))
        inside = get_type_hints(Seen)[name]
        if isinstance(inside, type) and issubclass(inside, msgspec.Struct):
            rows += [(f"`{name}.{each}`", of_it) for each, of_it in _meanings(inside).items()]
    return table(("key", "means"), rows)


def _meanings(kind: type[msgspec.Struct]) -> dict[str, str]:
    """What stands below each field in the source: nothing is left unexplained."""
    (parsed,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(parsed, ast.ClassDef)
    found = {}
    for field, below in zip(parsed.body, [*parsed.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(field.target, ast.Name)
            name = field.target.id
            assert isinstance(below, ast.Expr), f"{kind.__name__}.{name} is not explained"
            assert isinstance(below.value, ast.Constant)
            found[name] = inspect.cleandoc(str(below.value.value)).replace("\n", " ")
    return found


_SIMPLE: Final = {str: "text", bool: "`true` or `false`", int: "whole number", float: "number"}


def _values(hint: Any) -> str:
    """What a field may be, in words."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return f"{_values(inside[0])} {_bounds(inside[1])}"
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in inside)
    if origin is UnionType or origin is Union:
        return " or ".join("nothing" if each is NoneType else _values(each) for each in inside)
    if origin is tuple:
        return "list of texts" if inside[0] is str else "list of mappings"
    return _SIMPLE.get(hint, "mapping")


def _bounds(of: msgspec.Meta) -> str:
    low = f"> {of.gt:g}" if of.gt is not None else f"≥ {of.ge:g}"
    return low if of.le is None or of.le >= MOST else f"{low}, ≤ {of.le:g}"


def _default_of(field: msgspec.structs.FieldInfo) -> str:
    match field.default:
        case None | "" | ():
            return "none"
        case Part():
            return "see there"
        case bool() as truth:
            return f"`{str(truth).lower()}`"
        case int() | float() as number:
            return f"`{number:g}`"
        case str() as text:
            return f"`{text}`"
        case _:
            return "has to be there"


PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "settings": settings,
    "settings-without-flag": without_flag,
    "exit-codes": exit_codes,
    "commands": commands,
    "report-keys": report_keys,
    "comparison-keys": comparison_keys,
    "templates-of-code": templates_of_code,
    "templates-of-judges": templates_of_judges,
    "templates-of-vectors": templates_of_vectors,
    "templates-unsupported": templates_unsupported,
    "scenarios": scenarios,
    "scenario-fields": scenario_fields,
    "sim-stats": stats,
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
