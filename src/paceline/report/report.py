"""The report of a run: everything in it is read from the journal, and from nothing else.

    report = Report.read("runs/capitals/2026-11-18T09-30-00-1a2b3c4d")
    report.pass_rate, report.n_expected, report.figures.passed.interval
    for case in report.cases: ...          # gave an output; read one by one, in the order they were begun
    for failure in report.failures: ...    # ended without one
    report.print()

`cases` and `failures` together hold every key that came to an end; what was begun and not ended is in
`open_keys`. The names are those of Pydantic Evals' `EvaluationReport`; where it would hide a failure, this
one does not.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import IO, TYPE_CHECKING, Any, Generic, Literal, Unpack

import msgspec

from paceline.dataset.case import InputsT, MetadataT, OutputT
from paceline.errors import UsageError
from paceline.journal.places import locate
from paceline.journal.reading import FileSource, JournalSource, Recorded
from paceline.journal.records import Key, OutcomeLine, RunLine, key_of
from paceline.journal.recovery import standing
from paceline.report.averages import ReportCaseAggregate, ReportCaseGroup, averages_of
from paceline.report.document import document
from paceline.report.figures import FieldFigures, Figures, Verdict
from paceline.report.observations import Observations
from paceline.report.passing import COUNTING, Units, tries_of, with_verdicts
from paceline.report.reading import Reader, Rows
from paceline.report.reckoning import expected_keys, figures_of
from paceline.report.results import WITH_OUTPUT
from paceline.report.rows import ReportCase, ReportCaseFailure, Row
from paceline.report.sightings import Sighting, sightings
from paceline.report.stability import tries_among
from paceline.report.table import CODES_WITH_OUTPUT, NOT_PASSED, OPEN, UNSCORED, Table, fold
from paceline.report.terminal import Shown, fields_of, render, show
from paceline.statistics.repeats import Chance, average, pass_at_k, pass_hat_k

if TYPE_CHECKING:
    from rich.console import Console

FailOn = Literal["any", "errors", "none"]


class Report(Generic[InputsT, OutputT, MetadataT]):
    """What became of a run."""

    # Names of Pydantic Evals that have nothing to say here: there are no report evaluators, and spans carry
    # the names of their cases.
    analyses: tuple[Any, ...] = ()
    report_evaluator_failures: tuple[Any, ...] = ()
    trace_id: str | None = None
    span_id: str | None = None

    def __init__(
        self,
        source: JournalSource,
        *,
        path: Path | None = None,
        table: Table | None = None,
        clustered_by: str | None = None,
    ) -> None:
        self.path = path
        """The run directory or journal file; None where the run was kept in memory only."""
        self._source = source
        self._table = fold(source) if table is None else table
        self._reader = Reader(source, self._table)
        self.clustered_by = clustered_by
        """The field of metadata that intervals go by; None where they go by cases."""
        self._units = self._table.groups if clustered_by is None else self._clusters(clustered_by)

    @classmethod
    def read(cls, journal: str | os.PathLike[str] | JournalSource) -> Report[Any, Any, Any]:
        """The report of a run directory, of a journal file, or of a journal in memory."""
        if not isinstance(journal, str | os.PathLike):
            return cls(journal)
        standing(locate(journal).journal)  # refuses what is not a journal, or is a newer version's
        return cls(FileSource(journal), path=Path(journal))

    def __repr__(self) -> str:
        rows = f"cases={len(self.cases)}, failures={len(self.failures)}"
        return f"Report(name={self.name!r}, run_id={self.run_id!r}, {rows})"

    # What it is of

    @property
    def run(self) -> RunLine | None:
        """The journal's first line; None where it is damaged."""
        return self._table.run

    @property
    def name(self) -> str:
        """What the run is called: by its caller, or else as its suite."""
        return (self.run.name or self.run.suite) if self.run else "unknown"

    @property
    def dataset_name(self) -> str:
        """The name of the suite."""
        return self.run.suite if self.run else "unknown"

    @property
    def run_id(self) -> str:
        return self.run.run_id if self.run else "unknown"

    @property
    def experiment_metadata(self) -> dict[str, Any] | None:
        """What the caller said about the run."""
        return self.run.metadata if self.run else None

    # The rows

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Every key that came to an end, `cases` and `failures` together, in the order they were begun."""
        codes = enumerate(self._table.outcome)
        return self._rows(array("I", (row for row, code in codes if code != OPEN)))

    @cached_property
    def cases(self) -> Sequence[ReportCase[InputsT, OutputT, MetadataT]]:
        """Every key whose task gave an output, in the order they were begun."""
        codes = enumerate(self._table.outcome)
        return self._rows(array("I", (row for row, code in codes if code in CODES_WITH_OUTPUT)))

    @cached_property
    def failures(self) -> Sequence[ReportCaseFailure[InputsT, OutputT, MetadataT]]:
        """Every key that ended without an output, in the order they were begun."""
        no_failure = CODES_WITH_OUTPUT | {OPEN}
        codes = enumerate(self._table.outcome)
        return self._rows(array("I", (row for row, code in codes if code not in no_failure)))

    @cached_property
    def not_passed(self) -> Sequence[Row]:
        """Every key that came to an end and has not passed, in the order they were begun.

        What was scored without any assertion is not among them.
        """
        table = self._table
        rows = (row for row, code in enumerate(table.outcome) if code != OPEN)
        return self._rows(array("I", (row for row in rows if table.verdict[row] in (NOT_PASSED, UNSCORED))))

    @cached_property
    def open_keys(self) -> Sequence[Key]:
        """Every open key that was begun; of those that were not, only the number is known."""
        codes = enumerate(self._table.outcome)
        return Rows(self._reader.key, array("I", (row for row, code in codes if code == OPEN)))

    def case_groups(self) -> Sequence[ReportCaseGroup[InputsT, OutputT, MetadataT]] | None:
        """The repeats of each case together, for each variant; None where cases are not repeated."""
        if self._reader.run.repeat < 2:
            return None
        groups: dict[tuple[int, int], array[int]] = {}
        for row, group in enumerate(self._table.groups or range(len(self._table))):
            groups.setdefault((group, self._table.variant[row]), array("I")).append(row)
        members = list(groups.values())
        return Rows(lambda index: self._group(members[index]), array("I", range(len(members))))

    def _rows(self, rows: array[int]) -> Rows[Any]:
        return Rows(self._reader.row, rows)

    def _group(self, rows: array[int]) -> ReportCaseGroup[Any, Any, Any]:
        key = self._reader.key(rows[0])
        content = self._reader.content(rows[0])
        outcomes = self._table.outcome
        tries = tries_among(self._table, rows)
        return ReportCaseGroup(
            name=key.case,
            variant=key.variant,
            inputs=content.inputs,
            metadata=content.metadata,
            expected_output=content.expected_output,
            runs=self._rows(array("I", (row for row in rows if outcomes[row] in CODES_WITH_OUTPUT))),
            failures=self._rows(
                array("I", (row for row in rows if outcomes[row] not in CODES_WITH_OUTPUT | {OPEN}))
            ),
            summary=averages_of(
                self._table, rows, name=key.case, n_expected=max(len(rows), self._reader.run.repeat)
            ),
            passed=tries.passed,
            tries=tries.counted,
            stability=tries.stability,
        )

    @property
    def observations(self) -> Observations:
        """What was seen of each key, in columns: for tests, comparisons and gates."""
        return Observations(self._table, self._reader.key)

    # The figures

    def pass_at_k(self, k: int) -> float | None:
        """The chance that at least one of k tries passes, on average over cases (HumanEval's pass@k).

        From as many repeats as there are, without bias. None while the run is not whole, of several variants,
        and where no case has k repeats.
        """
        return self._by_tries(k, pass_at_k)

    def pass_hat_k(self, k: int) -> float | None:
        """The chance that all of k tries pass, on average over cases (pass^k of tau-bench); None likewise."""
        return self._by_tries(k, pass_hat_k)

    def _by_tries(self, k: int, chance: Chance) -> float | None:
        if self.verdict in ("empty", "incomplete") or any(self._table.variants):
            return None
        table = self._table
        found = average(tries_of(table, with_verdicts(table, COUNTING), table.groups), k, chance)
        return found.value if found is not None else None

    @cached_property
    def figures(self) -> Figures:
        """All figures, each with its denominator."""
        return figures_of(self._table, self._reader.key, self._units)

    def by(self, field: str) -> FieldFigures:
        """The run by what its cases say in one field of their metadata: a slice for each value.

        A dotted name goes into mappings (`origin.year`). Reads the journal once more.
        """
        from paceline.report.slices import field_of, slices_of

        labels = field_of(self._source, self._table, field)
        whole = self.verdict != "incomplete"
        return slices_of(self._table, field, labels, self._units, whole=whole)

    def clustered(self, field: str) -> Report[InputsT, OutputT, MetadataT]:
        """The same report, with intervals that go by a field of metadata: cases that share a value of it hang
        together, such as questions on one passage. Cases that say nothing in it stand for themselves."""
        return Report(self._source, path=self.path, table=self._table, clustered_by=field)

    def _clusters(self, field: str) -> Units:
        from paceline.report.slices import clusters_of, field_of

        return clusters_of(self._table, field_of(self._source, self._table, field))

    @property
    def verdict(self) -> Verdict:
        """`empty`, `incomplete`, `errors` or `complete`: how far the run came, whatever the scores."""
        return self.figures.verdict

    @property
    def passed(self) -> bool:
        """Whether every case that the run has passed. Without cases, or without assertions, it is not so."""
        figures = self.figures
        return figures.verdict == "complete" and figures.n_passed == figures.n_expected > 0

    @property
    def pass_rate(self) -> float | None:
        """The headline: passed of expected, failures counted as not passed; None if nothing is asserted."""
        return self.figures.passed.rate

    @property
    def n_expected(self) -> int:
        return self.figures.n_expected

    @property
    def n_scored(self) -> int:
        return self.figures.n_scored

    @property
    def n_failed(self) -> int:
        return self.figures.n_failed

    @property
    def n_open(self) -> int:
        return self.figures.n_open

    def averages(self) -> ReportCaseAggregate:
        """Averages over all keys; in the share of assertions, failures count as not passed."""
        expected, _ = expected_keys(self._table)
        return averages_of(self._table, range(len(self._table)), name="Averages", n_expected=expected)

    def exit_code(self, *, fail_on: FailOn = "errors") -> int:
        """What a command should exit with: 0, 1 where cases failed as `fail_on` means it, 4 if incomplete.

        `errors` are keys that ended without being scored; `any` takes in those that did not pass, and those
        that nothing asserts anything about. Without any case the run is incomplete.
        """
        figures = self.figures
        if figures.verdict in ("empty", "incomplete"):
            return 4
        failed = figures.n_failed
        if fail_on == "any":
            failed += figures.n_not_passed + figures.n_unasserted
        return int(fail_on != "none" and failed > 0)

    def durations(self) -> dict[Key, float]:
        """Seconds that each case takes, for the order of the next run: the median over its repeats.

        Timeouts count with the time that they were given; other failures tell nothing.
        """
        seconds: dict[Key, list[float]] = {}
        for key, line in self._outcomes():
            if line.outcome in WITH_OUTPUT or line.outcome == "timeout":
                seconds.setdefault(Key(key.case, variant=key.variant), []).append(line.seconds)
        return {key: median(each) for key, each in seconds.items()}

    def sightings(self) -> Iterator[Sighting]:
        """What is on record of each key that was begun, in plain values: what comparisons are made from."""
        return sightings(self._source, self._table)

    def _outcomes(self) -> Iterator[tuple[Key, OutcomeLine]]:
        """The outcomes that count, in one pass over the journal: looking each up would be slow."""
        for entry in self._source.entries():
            if isinstance(entry, Recorded) and isinstance(entry.line, OutcomeLine):
                key = key_of(entry.line)
                row = self._table.row_of(key)
                if row is not None and self._table.outcome_at[row] == entry.offset:
                    yield key, entry.line

    # For people and machines

    def print(
        self,
        width: int | None = None,
        baseline: None = None,
        *,
        file: IO[str] | None = None,
        console: Console | None = None,
        **shown: Unpack[Shown],
    ) -> None:
        """Print it, to standard output unless a `file` or a `console` is given."""
        _refuse_baseline(baseline)
        show(self, width=width, file=file, console=console, shown=shown)

    def render(self, width: int | None = None, baseline: None = None, **shown: Unpack[Shown]) -> str:
        """What `print` would print, as plain text."""
        _refuse_baseline(baseline)
        return render(self, width=width, shown=shown)

    def __str__(self) -> str:
        return self.render()

    def to_dict(self, *, by: str | Sequence[str] = ()) -> dict[str, Any]:
        """The figures as plain data, with slices by these fields of the metadata.

        `paceline.report.document.KEYS` says what each key means.
        """
        return document(
            self.figures,
            name=self.name,
            run_id=self.run_id,
            path=os.fsencode(self.path).decode(errors="backslashreplace") if self.path else None,
            started=self.run.started if self.run else None,
            metadata=self.experiment_metadata,
            slices=[self.by(field) for field in fields_of(by)],
            clustered_by=self.clustered_by,
        )

    def to_markdown(self) -> str:
        """A summary in Markdown, less than a megabyte: for GitHub's step summary, or a comment."""
        from paceline.report.markdown import markdown

        return markdown(self)

    def to_junit(self) -> str:
        """JUnit XML with a test case for each key: for CI systems."""
        from paceline.report.junit import junit

        return junit(self)

    def to_csv(self) -> str:
        """CSV with a line for each key: for spreadsheets, which calculate nothing of it."""
        from paceline.report.spreadsheet import spreadsheet

        return spreadsheet(self)

    def to_json(self, *, indent: int = 2, by: str | Sequence[str] = ()) -> str:
        """`to_dict` as JSON text; `indent=0` for one line."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict(by=by)), indent=indent or -1).decode()

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write it, with every case, as one HTML file that needs nothing else, and answer where that is."""
        from paceline.report.html import Cases, facts_of, write_html

        cases = Cases(self._source, self._table, path=self.path)
        facts = facts_of(self.to_dict(), self.figures, self._table, path=self.path)
        return write_html(Path(path), cases, facts)


def _refuse_baseline(baseline: object) -> None:
    if baseline is not None:
        raise UsageError(
            "a report is not compared with another one here", hint="print each of them; leave `baseline` out"
        )


__all__ = ["Report"]
