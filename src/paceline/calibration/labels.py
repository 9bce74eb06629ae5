"""Labels: a file of items that people have scored, read with care.

JSON (an array of objects), JSONL, CSV or TSV. Each row is an item with what people said of it, in one column
or, where several people did, in several; a judge's scores may stand beside them. Whatever cannot be taken for
what it is meant to be is told with its row and a remedy, all of it at once. What may be meant, but would make
the figures look better or surer than they are, is noted.

Knows files and rows. Knows nothing of statistics, and of judges only that they are not people.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Final

from paceline.calibration.columns import NOTHING, as_number, check_column, reach, without
from paceline.dataset.fields import ALIASES, Refused, Row
from paceline.dataset.problems import Problems, kind_of
from paceline.dataset.streams import Format, read_rows
from paceline.errors import DatasetError, UsageError

DECLARED_IN: Final = "labelled_by"
"""The field of a row that says who gave its labels: `human`, or `human: anna`."""
_FORMATS: Final[dict[str, Format]] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns are what."""

    human: tuple[str, ...]
    judge: str | None = None
    """Where a judge's scores stand; None where a judge is to be asked."""
    cluster: str | None = None
    levels: Mapping[str, float] = field(default_factory=dict)
    """Words in place of numbers."""

    @property
    def scores(self) -> tuple[str, ...]:
        """All columns with scores of people and of the judge."""
        return (*self.human, *((self.judge,) if self.judge is not None else ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A thing that people have scored."""

    where: str
    """Its file and line, or its number in the file."""
    row: Row
    humans: tuple[float | None, ...]
    """What each of them said."""
    judge: float | None = None
    cluster: str | None = None

    @property
    def human(self) -> float:
        """What people said of it: the mean of those who said anything."""
        return fmean(label for label in self.humans if label is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What a file of labels holds."""

    path: Path
    digest: str
    """Of the file's bytes."""
    columns: Columns
    items: tuple[Item, ...]
    """Those with a label of some person, at least."""
    rows: int
    """All there are."""
    notes: tuple[str, ...]
    undeclared: str
    """Why these labels are not known to be people's; empty where every row says so."""


def read_labels(path: Path, columns: Columns) -> Labels:
    """The labelled items of a file; a UsageError that names what is wrong and where."""
    if len(set(columns.scores)) != len(columns.scores):
        twice = next(name for name in columns.scores if columns.scores.count(name) > 1)
        raise UsageError(
            f"the column {twice!r} is named twice",
            hint="the judge and each person have their own",
        )
    rows = list(_rows_of(path))
    if not rows:
        raise UsageError(f"{path} has no rows", hint="write an item in each, with the label of a person")
    for column, option in _named(columns):
        check_column(column, option, rows, path)
    problems = Problems()
    items = [item for item in (_item(where, row, columns, problems) for where, row in rows) if item]
    problems.raise_any()
    if not items:
        raise UsageError(
            f"{path}: {', '.join(columns.human)} is empty in every row", hint="label some of the items"
        )
    return Labels(
        path=path,
        digest=hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest(),
        columns=columns,
        items=tuple(items),
        rows=len(rows),
        notes=tuple(_notes(items, len(rows), columns)),
        undeclared=_undeclared(items),
    )


def _named(columns: Columns) -> Iterator[tuple[str, str]]:
    for column in columns.human:
        yield column, "--human-column"
    if columns.judge is not None:
        yield columns.judge, "--judge-column"
    if columns.cluster is not None:
        yield columns.cluster, "--cluster"


def _rows_of(path: Path) -> Iterator[tuple[str, Row]]:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if suffix == ".json":
        yield from _array(path)
        return
    if suffix not in _FORMATS:
        raise UsageError(
            f"{path} does not say what it is by its name", hint="labels end in .json, .jsonl, .csv or .tsv"
        )
    for line, row in read_rows(path, _FORMATS[suffix]):
        if isinstance(row, Refused):
            raise DatasetError(f"{path}:{line}: {row.what}", hint=row.hint)
        yield f"{path}:{line}", row


def _array(path: Path) -> Iterator[tuple[str, Row]]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file", hint=f"looked in {path.parent.absolute()}")
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}", hint="a file that can be read is needed")
    except UnicodeDecodeError:
        raise DatasetError(f"{path}: not UTF-8", hint="save the file as UTF-8")
    except json.JSONDecodeError as error:
        raise DatasetError(
            f"{path}:{error.lineno}: not JSON: {error.msg}, column {error.colno}",
            hint="an array of objects: [{...}, {...}]; one object on each line is .jsonl",
        )
    except RecursionError:
        raise DatasetError(f"{path}: nested too deep to be read", hint="put deep data into a string")
    if not isinstance(found, list):
        raise DatasetError(
            f"{path} holds {kind_of(found)}, not a list",
            hint="labels are an array: [{...}, {...}]",
        )
    for number, row in enumerate(found, start=1):
        where = f"{path}, item {number}"
        if not isinstance(row, dict):
            raise DatasetError(f"{where} is {kind_of(row)}, not an object", hint='such as {"human": 4}')
        yield where, row


def _item(where: str, row: Row, columns: Columns, problems: Problems) -> Item | None:
    """A row as an item; None where no person has said anything of it, or where it has a problem."""

    def number(column: str) -> float | None:
        value = reach(row, column)
        try:
            return None if value is NOTHING else as_number(value, columns.levels)
        except Refused as refused:
            problems.add(where, f"{column} {refused.what}", refused.hint)
            return None

    if problems.full:
        return None
    humans = tuple(map(number, columns.human))
    judge = number(columns.judge) if columns.judge is not None else None
    if all(label is None for label in humans):
        return None
    cluster = None
    if columns.cluster is not None:
        found = reach(row, columns.cluster)
        if found is NOTHING or found is None or found == "":
            problems.add(where, f"{columns.cluster} is empty", "say for every item which cluster it is in")
        cluster = json.dumps(found, sort_keys=True, default=str) if found is not NOTHING else None
    return Item(where=where, row=row, humans=humans, judge=judge, cluster=cluster)


def _notes(items: Sequence[Item], rows: int, columns: Columns) -> Iterator[str]:
    if len(items) < rows:
        yield (
            f"{rows - len(items):,} of {rows:,} rows have no human label and are left out: label them, and "
            "not only those that are easy"
        )
    yield from _shared(items, has_clusters=columns.cluster is not None)
    yield from _twice(items, columns)


def _twice(items: Sequence[Item], columns: Columns) -> Iterator[str]:
    """Items that are there again make the figures surer than they are."""
    first: dict[str, str] = {}
    twice = []
    for item in items:
        about = without(item.row, (*columns.scores, DECLARED_IN))
        if not any(isinstance(value, str) for value in about.values()):
            continue  # numbers alone do not say what they are about
        content = json.dumps(about, sort_keys=True, default=str)
        if (before := first.setdefault(content, item.where)) != item.where:
            twice.append((before, item.where))
    if twice:
        before, again = twice[0]
        more = f", and so are {len(twice) - 1:,} more" if len(twice) > 1 else ""
        yield (
            f"{_short(again)} is the item of {before} again{more}: leave one; labels of several people go "
            "into columns of one row"
        )


def _shared(items: Sequence[Item], *, has_clusters: bool) -> Iterator[str]:
    """Items that answer the same question hang together, and are worth less than as many others."""
    for column in () if has_clusters else (*ALIASES["name"], *ALIASES["inputs"]):
        values = [json.dumps(item.row.get(column), sort_keys=True, default=str) for item in items]
        if (different := len(set(values))) < len(values) and all(column in item.row for item in items):
            yield (
                f"the {len(values):,} items have {different:,} different values of {column!r}: items that "
                f"share one are not independent, so say --cluster {column}"
            )
            return


def _short(where: str) -> str:
    """Where it is, without the file."""
    return where.rpartition(", ")[2] if ", item " in where else f"line {where.rpartition(':')[2]}"


def _undeclared(items: Sequence[Item]) -> str:
    for item in items:
        said = item.row.get(DECLARED_IN)
        if said is None:
            return f"{item.where} does not say who has labelled it"
        if not isinstance(said, str) or said.partition(":")[0].strip().lower() != "human":
            return f"{item.where} was labelled by {said!r:.60}"
    return ""


__all__ = ["DECLARED_IN", "Columns", "Item", "Labels", "read_labels"]
