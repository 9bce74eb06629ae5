"""Files of others: results that another harness has written, and answers that people expect.

What cannot be understood is refused with file and line, before anything is scored: a row that is passed over,
or taken for another, would be a figure made up.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from paceline.dataset.case import Case
from paceline.dataset.fields import ALIASES, Refused, Row
from paceline.dataset.streams import Format, read_rows
from paceline.engine.ports import Stored
from paceline.errors import DatasetError, JournalForeign
from paceline.journal.journal import Journal
from paceline.journal.records import ErrorFacts

NAMES: Final = (*ALIASES["name"], "case")
OUTPUTS: Final = ("output", "prediction", "response", "completion", "answer")
EXPECTED: Final = (*ALIASES["expected_output"], "gold")
SECONDS: Final = ("latency_s", "seconds", "duration")

_TABLES: Final[dict[str, Format]] = {".csv": "csv", ".tsv": "tsv"}


class Result(NamedTuple):
    """What another harness says of a case."""

    name: str
    case: Case[Any, Any, Any]
    stored: Stored


def is_foreign(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a file of results that no Paceline wrote."""
    file = Path(path)
    if not file.is_file():
        return False
    try:
        return not Journal.exists(file)
    except JournalForeign:
        return True


def read_results(path: str | os.PathLike[str]) -> list[Result]:
    """The rows of a results file, which is JSONL: an id, an output or an error, and how long it took."""
    return [_result(name, row, where) for name, row, where in _named_rows(Path(path), "jsonl")]


def _result(name: str, row: Row, where: str) -> Result:
    error, output = row.get("error"), _first(row, OUTPUTS)
    failed = error is not None or row.get("ok") is False
    if output is None and not failed:
        raise DatasetError(
            f"{where}: there is no output", hint=f"a row has one of {', '.join(OUTPUTS)}, or an error"
        )
    expected = _first(row, [field for field in EXPECTED if field not in OUTPUTS])
    stored = Stored(
        output=None if failed else output,
        error=ErrorFacts(type="Recorded", message=str(error or "not ok")) if failed else None,
        seconds=_seconds(row, where),
        on_record=False,
    )
    return Result(
        name, Case(name=name, inputs=_first(row, ALIASES["inputs"]), expected_output=expected), stored
    )


def _seconds(row: Row, where: str) -> float:
    field = next((field for field in SECONDS if row.get(field) is not None), None)
    if field is None:
        return 0.0
    match row[field]:
        case int() | float() as seconds if not isinstance(seconds, bool) and 0 <= seconds < math.inf:
            return float(seconds)
        case other:
            raise DatasetError(
                f"{where}: {field} is {other!r:.60}", hint="write seconds, as a number: 1.25; or leave it out"
            )


def read_expected(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Expected answers by case name: rows of JSONL, CSV or TSV, or one JSON object `{"name": expected}`."""
    file = Path(path)
    fmt = _TABLES.get(file.suffix.lower(), "jsonl")
    gold = _one_object(file) if fmt == "jsonl" else None
    if gold is None:
        gold = {name: _expected(row, where) for name, row, where in _named_rows(file, fmt)}
    if not gold:
        raise DatasetError(f"{path} expects nothing", hint='its rows look like {"id": "a", "expected": "4"}')
    return gold


def _one_object(file: Path) -> dict[str, Any] | None:
    """The file as one JSON object of names; None where it holds rows, be it a single one."""
    try:
        found = msgspec.json.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None  # whoever reads it as rows says what is wrong
    is_row = not isinstance(found, dict) or (_has(found, NAMES) and _has(found, EXPECTED))
    return None if is_row else found


def _expected(row: Row, where: str) -> Any:
    if not _has(row, EXPECTED):
        raise DatasetError(f"{where}: nothing is expected", hint=f"a row has one of {', '.join(EXPECTED)}")
    return _first(row, EXPECTED)


def _named_rows(file: Path, fmt: Format) -> Iterator[tuple[str, Row, str]]:
    """Each row with its name and where it stands; no name stands twice."""
    lines: dict[str, int] = {}
    for number, row in read_rows(file, fmt):
        where = f"{file}:{number}"
        if isinstance(row, Refused):
            raise DatasetError(f"{where}: {row.what}", hint=row.hint)
        name = _name(row, where)
        if (before := lines.setdefault(name, number)) != number:
            raise DatasetError(
                f"{where}: {name!r} stands in line {before} already", hint="keep one of the two rows"
            )
        yield name, row, where


def _name(row: Row, where: str) -> str:
    match _first(row, NAMES):
        case str(name) if name:
            return name
        case int(number) if not isinstance(number, bool):
            return str(number)
        case None | "":
            raise DatasetError(f"{where}: there is no name", hint=f"a row has one of {', '.join(NAMES)}")
        case other:
            raise DatasetError(
                f"{where}: its name is {other!r:.60}", hint="a name is text, or a whole number"
            )


def _has(row: Mapping[str, Any], fields: Sequence[str]) -> bool:
    return any(field in row for field in fields)


def _first(row: Mapping[str, Any], fields: Sequence[str]) -> Any:
    return next((row[field] for field in fields if row.get(field) is not None), None)
