"""Settings: everything that may be set about a run, in one table, and where each value came from.

The more specific place wins:

    a flag                          this one call
    PACELINE_TIMEOUT=5m             this shell, or this CI job
    [suite.NAME] in paceline.toml   this suite, as this machine or team wants it
    the suite itself                what its author knows about it
    paceline.toml                   all suites below that folder
    the default                     what the table says

`paceline.toml` is looked for in the current directory and upwards, no further than the root of a
repository. A key that nobody knows is an error there, with its line: a misspelt deadline must not go
unnoticed. An unknown PACELINE_* variable is a warning only, since an environment is shared.

Knows names, values and origins. Knows nothing of what a setting does; files are read only to find values.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Protocol, get_args

from paceline.errors import SettingsError
from paceline.setting_kinds import (
    ALIASES,
    COUNT,
    DEADLINE,
    DOLLARS,
    DURATION,
    LIMIT,
    LIMITS,
    MODEL,
    NAMES,
    NUMBER,
    PATH,
    PATTERNS,
    PRICES,
    RATE,
    TRUTH,
    UNITS,
    WIDTH,
    Kind,
    one_of,
)

TOML: Final = "paceline.toml"
PREFIX: Final = "PACELINE_"
NO_SETTINGS: Final = frozenset(
    {
        *("PACELINE_STATE", "PACELINE_CACHE", "PACELINE_WORKSPACES"),  # where things are kept
        # What a command is told of its attempt: it may be one of ours.
        *("PACELINE_RUN_ID", "PACELINE_SUITE", "PACELINE_WORKSPACE", "PACELINE_CASE"),
        *("PACELINE_CASE_REPEAT", "PACELINE_CASE_VARIANT", "PACELINE_CASE_ATTEMPT"),
    }
)
"""Variables of ours that set nothing."""

Order = Literal["auto", "given", "longest", "shuffle"]
Isolation = Literal["thread", "process"]
Durability = Literal["disk", "os"]
Replay = Literal["off", "resume", "record", "always"]


# The table ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that may be set: its name everywhere, how it is written, its default and what it means."""

    name: str
    kind: Kind
    default: Any
    help: str
    short: str = ""

    @property
    def flag(self) -> str:
        """The flag that sets it."""
        return "--" + self.name.replace("_", "-")

    @property
    def env(self) -> str:
        """The environment variable that sets it."""
        return PREFIX + self.name.upper()

    def read(self, given: object, origin: str) -> Any:
        """The value behind what somebody wrote at `origin`."""
        try:
            return self.kind.read(given)
        except (ValueError, TypeError, OverflowError):
            raise SettingsError(
                f"{origin}: {self.name} is {_shown(given)}, and wants {self.kind.wants}",
                hint=f"{self.name}: {self.help}",
            ) from None


SETTINGS: Final = (
    Setting("max_concurrency", WIDTH, "auto", "Cases in progress at once, setup to teardown.", short="-j"),
    Setting("judge_model", MODEL, None, "The model that judges where no other is named."),
    Setting(
        "judge_aliases",
        ALIASES,
        {},
        "Other names of models that judge: turing_flash, turing_small, turing_large, or any of your own.",
    ),
    Setting("evaluator_concurrency", LIMIT, None, "Evaluator calls at once; none: as many as cases."),
    Setting("repeat", COUNT, 1, "How often each case is run.", short="-k"),
    Setting("window", LIMIT, None, "Calls in flight at most to each model; none: as many as it bears."),
    Setting("rps", RATE, None, "Calls per second at most to each model."),
    Setting("rpm", RATE, None, "Calls per minute at most to each model."),
    Setting("tpm", RATE, None, "Tokens per minute at most to each model."),
    Setting("limits", LIMITS, {}, "The same for single models, by pool: openai:gpt-5, openai:*."),
    Setting("prices", PRICES, {}, "What models cost, in dollars for a million tokens, before other lists."),
    Setting("pace_http", TRUTH, True, "Pace, count and price calls of models that tasks make."),
    Setting("share_pools", TRUTH, True, "Share pools with other runs of yours on this machine."),
    Setting(
        "replay",
        one_of(*get_args(Replay)),
        "resume",
        "Calls of models: answer again those of an attempt that was cut off, only keep them, answer all from "
        "a recording, or none of it.",
    ),
    Setting("replay_ignore", PATTERNS, (), "Regular expressions for what is new in a request each time."),
    Setting("timeout", DEADLINE, 1800.0, "Deadline of one attempt; waiting for limits does not count."),
    Setting("case_timeout", DEADLINE, None, "Deadline of a case from setup to output, retries included."),
    Setting("evaluator_timeout", DEADLINE, 600.0, "Deadline of one evaluator call."),
    Setting("hook_timeout", DEADLINE, 300.0, "Deadline of each lifecycle hook."),
    Setting("drain_timeout", DURATION, 60.0, "How long an interrupted run lets finish what is in flight."),
    Setting("retries", NUMBER, 2, "Tries after the first, where another try can help."),
    Setting("budget_usd", DOLLARS, None, "Stop when the run has cost this much, resumes included."),
    Setting("budget_tokens", LIMIT, None, "Stop when the run has used this many tokens, resumes included."),
    Setting("budget_time", DEADLINE, None, "Stop when the run has worked this long, resumes included."),
    Setting("budget_failures", LIMIT, None, "Stop when this many cases have failed, resumes included."),
    Setting("fail_fast", TRUTH, False, "Stop at the first case that does not pass."),
    Setting("order", one_of(*get_args(Order)), "auto", "In which order cases start."),
    Setting("seed", NUMBER, 0, "Seed of all that is drawn at random: samples, shuffles, jitter."),
    Setting(
        "isolation",
        one_of(*get_args(Isolation)),
        "thread",
        "Where sync tasks run; in a process, a deadline really ends them.",
    ),
    Setting(
        "durability",
        one_of(*get_args(Durability)),
        "disk",
        "What counts as written: synced to the disk, or handed to the operating system.",
    ),
    Setting(
        "fail_on",
        one_of("any", "errors", "none"),
        "errors",
        "What makes the exit code 1: any case that does not pass, only cases without a score, or nothing.",
    ),
    Setting(
        "progress",
        one_of("auto", "bar", "plain", "none"),
        "auto",
        "How progress is shown; auto: a bar on a terminal, else a line now and then.",
    ),
    Setting(
        "redact",
        NAMES,
        (),
        "Fields and variables whose values never enter the journal, beside what looks like a key.",
    ),
    Setting("runs", PATH, "runs", "The directory that run directories are made in."),
)

BY_NAME: Final = {setting.name: setting for setting in SETTINGS}


# Where values come from ---------------------------------------------------------------------------


class Written(NamedTuple):
    """A value as somebody wrote it, where, and what a relative path in it is relative to."""

    value: object
    origin: str
    base: Path | None = None


class Chosen(NamedTuple):
    """The value that holds, and where it came from."""

    value: Any
    origin: str


class SettingsOfSuite(Protocol):
    """What is asked of a suite here: its name, and the settings that it brings along."""

    @property
    def name(self) -> str: ...
    def written_settings(self) -> Mapping[str, Written]: ...


class Effective(Mapping[str, Any]):
    """The settings that hold for a run; `origin` tells for each where it came from."""

    def __init__(self, chosen: Mapping[str, Chosen], warnings: tuple[str, ...] = ()) -> None:
        self._chosen = dict(chosen)
        self.warnings = warnings

    def __getitem__(self, name: str) -> Any:
        return self._chosen[name].value

    def __iter__(self) -> Iterator[str]:
        return iter(self._chosen)

    def __len__(self) -> int:
        return len(self._chosen)

    def origin(self, name: str) -> str:
        """Where a value came from: `flag --timeout`, `PACELINE_TIMEOUT`, `paceline.toml:7`, `default`."""
        return self._chosen[name].origin

    def is_default(self, name: str) -> bool:
        """Whether nobody has set it."""
        return self._chosen[name].origin == "default"


def effective(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    suite: SettingsOfSuite | None = None,
) -> Effective:
    """The settings that hold here, most specific place first; a flag that is None was not given."""
    cwd = Path.cwd() if cwd is None else cwd
    environ = os.environ if environ is None else environ
    general, of_suites = _from_toml(cwd)
    from_environ, warnings = _from_environ(environ)
    places: tuple[Mapping[str, Written], ...] = (
        _from_flags(flags or {}),
        from_environ,
        of_suites.get(suite.name, {}) if suite is not None else {},
        suite.written_settings() if suite is not None else {},
        general,
    )
    return Effective({setting.name: _choose(setting, places, cwd) for setting in SETTINGS}, warnings)


def _choose(setting: Setting, places: Iterable[Mapping[str, Written]], cwd: Path) -> Chosen:
    for place in places:
        if (written := place.get(setting.name)) is not None:
            value = setting.read(written.value, written.origin)
            if setting.kind is PATH and written.base is not None and written.base.resolve() != cwd.resolve():
                value = str(written.base / value)
            return Chosen(value, written.origin)
    return Chosen(setting.default, "default")


def _from_flags(flags: Mapping[str, object]) -> dict[str, Written]:
    check_names(flags, "flags")
    return {
        name: Written(given, f"flag {BY_NAME[name].flag}")
        for name, given in flags.items()
        if given is not None
    }


def _from_environ(environ: Mapping[str, str]) -> tuple[dict[str, Written], tuple[str, ...]]:
    known = {setting.env: setting for setting in SETTINGS}
    written: dict[str, Written] = {}
    warnings: list[str] = []
    for variable in sorted(environ):
        if variable in known:
            written[known[variable].name] = Written(environ[variable], variable)
        elif variable.startswith(PREFIX) and variable not in NO_SETTINGS:
            warnings.append(f"{variable} is set and means nothing{nearest(variable, known)}")
    return written, tuple(warnings)


def find_toml(cwd: Path) -> Path | None:
    """The `paceline.toml` that holds in a directory: there or above, up to the repository's root."""
    cwd = cwd.resolve()
    for folder in (cwd, *cwd.parents):
        if (found := folder / TOML).is_file():
            return found
        if (folder / ".git").exists():
            return None
    return None


def cache_root() -> Path:
    """Where things are kept that can be had again: PACELINE_CACHE, else XDG_CACHE_HOME or ~/.cache."""
    if given := os.environ.get("PACELINE_CACHE"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paceline"


def _from_toml(cwd: Path) -> tuple[dict[str, Written], dict[str, dict[str, Written]]]:
    """What `paceline.toml` says for all suites, and for single ones by their names."""
    path = find_toml(cwd)
    if path is None:
        return {}, {}
    shown = os.path.relpath(path, cwd)
    text, tables = _read_toml(path, shown)
    suites = tables.pop("suite", {})
    if not isinstance(suites, dict) or not all(isinstance(table, dict) for table in suites.values()):
        raise SettingsError(
            f"{shown}: `suite` holds one table for each suite",
            hint="write [suite.NAME] and settings below it",
        )

    def written(table: Mapping[str, object], *header: str) -> dict[str, Written]:
        lines = {name: line_of_key(text, name, header) for name in table}
        check_names(table, shown, lines=lines)
        return {name: Written(value, at(shown, lines[name]), path.parent) for name, value in table.items()}

    of_suites = {name: written(table, "suite", name) for name, table in suites.items()}
    return written(tables), of_suites


def _read_toml(path: Path, shown: str) -> tuple[str, dict[str, Any]]:
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{shown} cannot be read: {error}", hint="it is a text file in UTF-8")
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{shown} is not TOML: {error}", hint='text wants quotes: order = "given"')


_HEADER: Final = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]\s*(?:#.*)?")
_KEY: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|([\w-]+))\s*[=.]""")
_PARTS: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^.\s]+))\s*(?:\.|$)""")


def line_of_key(text: str, name: str, header: tuple[str, ...] = ()) -> int:
    """The line of a key below a table's header, counted from 1; 0 where it is written in some other way.

    `tomllib` tells no lines. Looking for `key =` finds every key that is written the plain way.
    """
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _HEADER.fullmatch(line):
            table = tuple("".join(part) for part in _PARTS.findall(found[1]))
        elif table == header and (found := _KEY.match(line)) and name in found.groups():
            return number
    return 0


# Saying what is wrong -----------------------------------------------------------------------------


def check_names(given: Iterable[str], place: str, *, lines: Mapping[str, int] | None = None) -> None:
    """Refuse settings that do not exist, with the line they stand on and the nearest one that does."""
    for name in given:
        if name not in BY_NAME:
            where = at(place, (lines or {}).get(name, 0))
            raise SettingsError(
                f"{where}: there is no setting {name!r}{nearest(name, BY_NAME)}",
                hint="`paceline config` lists all settings",
            )


def nearest(name: str, known: Iterable[str]) -> str:
    """A question that names what was probably meant, or nothing."""
    import difflib

    close = difflib.get_close_matches(name.replace("-", "_"), list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def at(place: str, line: int) -> str:
    """A place as people and editors write it."""
    return f"{place}:{line}" if line else place


def as_written(setting: Setting, value: object) -> str:
    """A value as it could be written in a file."""
    if value is None:
        return "none"
    if setting.kind in (DURATION, DEADLINE) and isinstance(value, float):
        return _as_duration(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value)
    return ",".join(value) if isinstance(value, tuple) else f"{value}"


def _as_duration(seconds: float) -> str:
    for unit in ("d", "h", "m"):
        if seconds >= UNITS[unit] and seconds % UNITS[unit] == 0:
            return f"{seconds / UNITS[unit]:g}{unit}"
    return f"{seconds:g}s"


def _shown(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"{text[:57]}..."
