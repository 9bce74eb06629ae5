"""Rows: JSONL and CSV files, a case in each row, streamed.

A `RowFile` can be gone through any number of times and never holds more than a row: a million cases are no
more to it than ten. `check` goes through once before anything runs: every row can be read and has inputs, and
no name stands twice. It says all that is wrong at once, with file, line and remedy. Whoever goes through the
file afterwards can rely on that: a file that has changed since is an error.

JSONL: one JSON object on each line; blank lines are skipped, NaN is accepted as Python writes it. CSV: the
first row names the fields; cells are text, and an empty name or expected output is none. Both may be gzipped.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Final, TypeAlias

from paceline.dataset.fields import Plan, Refused, Shape, plan, read_mapping
from paceline.dataset.identity import TWICE_HINT, AnyCase, name_of_content, with_ordinal
from paceline.dataset.problems import Problems
from paceline.dataset.spec import EvaluatorSpec
from paceline.dataset.streams import Format, Stamp, Watch, read_rows, stamp_of
from paceline.errors import DatasetError

Progress: TypeAlias = Callable[[int, float], object]
"""Told the rows read, and the share of the file that is behind them."""

_SUFFIXES: Final[dict[str, Format]] = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
_PLANS_KEPT: Final = 1_000
_FIRST: Final = "map a field that the rows have, or leave the mapping out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSummary:
    """What there is in a file of rows."""

    n: int
    named: int
    """Cases with a name; the others are known by their content."""
    expected: int
    """Cases with an expected output."""
    digest: str
    """Of the content, uncompressed."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """A file as it was when it was checked."""

    stamp: Stamp
    summary: RowSummary
    repeated: frozenset[int]
    """Hashes of the names of contents that come more than once."""


def is_row_file(path: Path | str) -> bool:
    """Whether the name of a file says that it holds a case in each row."""
    return _format_told_by(Path(path)) is not None


def _format_told_by(path: Path) -> Format | None:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None


class RowFile:
    """The cases of a JSONL or CSV file, read anew each time one goes through them."""

    def __init__(
        self, path: Path | str, *, mapping: Mapping[str, str] | None = None, fmt: Format | None = None
    ) -> None:
        self.path = Path(path)
        self._at = self.path.absolute()  # a task that changes its directory does not lose it
        told = fmt or _format_told_by(self.path)
        if told not in ("jsonl", "csv", "tsv"):
            raise DatasetError(
                f"{path}: the name does not tell whether this is JSONL or CSV",
                hint='name it .jsonl or .csv, or say fmt="jsonl"; whole datasets go by .yaml and .json',
            )
        self.fmt: Format = told
        self.mapping = read_mapping(mapping)
        self._checked: _Checked | None = None

    def __repr__(self) -> str:
        return f"RowFile({str(self.path)!r})"

    def __len__(self) -> int:
        return self._as_checked().summary.n

    def __bool__(self) -> bool:
        return True  # there is no empty one: that is an error

    def __iter__(self) -> Iterator[AnyCase]:
        for line, found in self._read():
            if isinstance(found, Refused):
                raise DatasetError(f"{self.path}:{line}: {found.what}", hint=found.hint)
            yield found

    def names(self) -> Iterator[tuple[str, AnyCase]]:
        """The cases, each with the name by which it is known."""
        repeated = self._as_checked().repeated
        seen: Counter[str] = Counter()
        for case in self:
            known_as = case.name
            if known_as is None:
                known_as = name_of_content(case)
                if hash(known_as) in repeated:
                    seen[known_as] += 1
                    known_as = with_ordinal(known_as, seen[known_as])
            yield known_as, case

    def check(self, progress: Progress | None = None) -> RowSummary:
        """Go through the file once; raise a DatasetError that names all that is wrong with it."""
        stamp = stamp_of(self.path, self._at)
        if self._checked is None or self._checked.stamp != stamp:
            self._checked = None
            self._checked = self._check(stamp, progress)
        return self._checked.summary

    def _as_checked(self) -> _Checked:
        # Not checked anew if the file has changed: whoever relies on the first check has to be told.
        if self._checked is None:
            self.check()
        assert self._checked is not None
        return self._checked

    def _check(self, stamp: Stamp, progress: Progress | None) -> _Checked:
        problems = Problems()
        digest = blake2b(digest_size=8)
        names, contents = _Hashes(), _Hashes()
        n = expected = 0
        try:
            for line, found in self._read(Watch(digest.update, progress or _tell_nobody)):
                if isinstance(found, Refused):
                    problems.add(f"{self.path}:{line}", found.what, found.hint)
                    if problems.full:
                        break
                    continue
                n += 1
                expected += found.expected_output is not None
                if found.name is not None:
                    names.add(found.name)
                else:
                    contents.add(name_of_content(found))
        except DatasetError as error:  # nothing that follows can be read
            problems.add("", error.message, error.hint)
        summary = RowSummary(n=n, named=len(names), expected=expected, digest=digest.hexdigest())
        self._check_whole(summary, problems)
        if twice := names.repeated():
            self._find_twice(twice, problems)
        problems.raise_any()
        return _Checked(stamp, summary, contents.repeated())

    def _check_whole(self, summary: RowSummary, problems: Problems) -> None:
        """What no single row is to blame for."""
        if problems:
            return
        if summary.n == 0:
            problems.add(str(self.path), "there are no cases", "write one in each row")
            return
        for part, count in (("name", summary.named), ("expected_output", summary.expected)):
            if part in self.mapping and not count:
                what = f"{self.mapping[part]!r}, mapped to the {part}, is there in no row"
                problems.add(str(self.path), what, _FIRST)

    def _find_twice(self, twice: frozenset[int], problems: Problems) -> None:
        first_lines: dict[str, int] = {}
        for line, found in self._read():
            if problems.full:
                return
            if isinstance(found, Refused) or found.name is None or hash(found.name) not in twice:
                continue
            if (first := first_lines.setdefault(found.name, line)) != line:
                where = f"{self.path}:{line}"
                problems.add(
                    where, f"a second case is named {found.name!r}; the first: line {first}", TWICE_HINT
                )

    def _read(self, watch: Watch | None = None) -> Iterator[tuple[int, AnyCase | Refused]]:
        """Each row as a case, or as the reason why it is none, with the line where it begins."""
        stamp = self._checked.stamp if self._checked else None
        plans: dict[Shape, Plan | Refused] = {}
        found: AnyCase | Refused
        for line, row in read_rows(self.path, self.fmt, watch=watch, stamp=stamp, at=self._at):
            if isinstance(row, Refused):
                yield line, row
                continue
            shape = tuple(row)
            planned = plans.get(shape)
            if planned is None:
                planned = self._plan(shape, plans)
                if isinstance(planned, Refused):
                    yield line, planned
            if isinstance(planned, Refused):
                continue  # said once for all rows of this shape
            try:
                found = planned.case(row)
            except Refused as refused:
                found = refused
            else:
                if found.evaluators:
                    found.evaluators = _placed(found.evaluators, f"{self.path}:{line}")
            yield line, found

    def _plan(self, shape: Shape, plans: dict[Shape, Plan | Refused]) -> Plan | Refused:
        if len(plans) >= _PLANS_KEPT:
            plans.clear()  # a file in which every row has fields of its own; memory stays what it is
        try:
            plans[shape] = plan(shape, self.mapping, cells=self.fmt != "jsonl")
        except Refused as refused:
            plans[shape] = refused
        return plans[shape]


def _placed(specs: Sequence[object], where: str) -> tuple[EvaluatorSpec, ...]:
    return tuple(replace(spec, where=where) for spec in specs if isinstance(spec, EvaluatorSpec))


def _tell_nobody(_rows: int, _share: float) -> None:
    return None


class _Hashes:
    """Texts of which only the hash is kept, eight bytes of it. An alarm is checked before it is believed."""

    def __init__(self) -> None:
        # In shares: whoever sorts a million needs forty megabytes for it, on top of what a resume holds.
        self._shares = [array("q") for _ in range(16)]

    def __len__(self) -> int:
        return sum(map(len, self._shares))

    def add(self, text: str) -> None:
        hashed = hash(text)
        self._shares[hashed & 15].append(hashed)

    def repeated(self) -> frozenset[int]:
        """Hashes of those that are there more than once."""
        return frozenset(
            one for share in self._shares for one, following in pairwise(sorted(share)) if one == following
        )
