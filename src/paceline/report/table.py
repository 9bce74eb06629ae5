"""The table: a journal folded into one row per key, in columns.

One pass over the lines, in the order of the journal, gives all that figures need; what a person wants to read
of a case (inputs, output, reasons) stays in the journal, and the row says where. The rules of the fold:

- The last outcome of a key counts. An attempt begun, failed or answered after it opens the key again.
- An output ends the results before it. Without one, results add up, and an evaluator's last word counts.
- An attempt is known by its number, so that a line which is there twice adds no work.
- A call says what was spent on its key, whatever became of it, and changes nothing else.
- A key without an outcome is open. What is open here is what the ledger opens for a resume.
- Damage is counted and otherwise ignored.

Rows are in the order in which keys were first seen, which is that of their first `begin`. A million of them,
with one evaluator, take some 80 MB.

Knows the journal's lines. Knows nothing of statistics or rendering.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from paceline.journal.reading import Damaged, Entry, JournalSource, Recorded
from paceline.journal.records import (
    OUTCOMES,
    AttemptLine,
    BeginLine,
    CallLine,
    EndedLine,
    ErrorFacts,
    EvaluatorFailure,
    JudgeStanding,
    Key,
    KeyedLine,
    Line,
    ManifestLine,
    OutcomeLine,
    OutputLine,
    ResumedLine,
    RunLine,
    Score,
    ScoresLine,
    VerdictLine,
    verdict,
)
from paceline.report.calls import Calls
from paceline.report.causes import Causes
from paceline.report.columns import BLOCK, Chain, Column, RowIndex
from paceline.report.findings import Findings
from paceline.report.results import WITH_OUTPUT, Telling, merged

OPEN: Final = 0
"""In `Table.outcome`: no outcome yet. Otherwise it is the place in `OUTCOMES`, from 1."""
CODES: Final = {outcome: code for code, outcome in enumerate(OUTCOMES, start=1)}
SCORED: Final = CODES["scored"]
CODES_WITH_OUTPUT: Final = frozenset(CODES[outcome] for outcome in OUTCOMES if outcome in WITH_OUTPUT)
NOWHERE: Final = (1 << 64) - 1
"""Offset of a line that the journal does not have."""
PASSED, NOT_PASSED, UNASSERTED, UNSCORED = 1, 0, -1, -2
"""In `Table.verdict`. A case with no assertion is unasserted, and never passes."""
_VERDICTS: Final = {True: PASSED, False: NOT_PASSED, None: UNASSERTED}
_MOST_ATTEMPTS: Final = 0xFFFF


@dataclass(slots=True)
class Process:
    """One process that worked on the run."""

    started: float
    last_seen: float
    ended: EndedLine | None = None

    @property
    def wall(self) -> float:
        """Seconds it worked: what it said itself, or, where it was killed, up to its last line."""
        return self.ended.wall if self.ended else max(0.0, self.last_seen - self.started)


@dataclass(slots=True)
class Latest:
    """What is on record for a key and not yet part of an outcome."""

    output_at: int = NOWHERE
    metrics: dict[str, int | float] = field(default_factory=dict)
    tellings: list[tuple[int, Telling]] = field(default_factory=list)
    """Lines that tell results, and where they stand."""

    @property
    def parts(self) -> int:
        """How many lines it takes to know the output and the scores."""
        return (self.output_at != NOWHERE) + sum(bool(line.scores) for _, line in self.tellings)


class Table:
    """A journal, folded. Dense columns are arrays by row; what few rows have stands in a `Column`."""

    def __init__(self, source: JournalSource) -> None:
        self._source = source
        self.run: RunLine | None = None
        self.expected: int | None = None
        """Keys that the run has, by the last line that says so."""
        self.processes: list[Process] = []
        self.judges: dict[str, JudgeStanding] = {}
        """How judges stand, by the last line that says so."""
        self.evaluators: tuple[str, ...] = ()
        """Labels of the evaluators of the whole run, in order."""
        self.damaged = 0
        self.unsealed = 0
        """Lines without a checksum: someone edited them by hand."""
        self.retries: Counter[str] = Counter()
        """Failed attempts that another one followed, by class of error."""
        self.work = 0.0
        """Seconds that tasks worked, over all attempts, failed ones included."""

        self.begin_at = array("Q")
        """Offset of the begin line with the content; where that is damaged, of another line of the key."""
        self.outcome_at = array("Q")
        self.outcome = array("B")
        self.verdict = array("b")
        self.seconds = array("d")
        self.total = array("d")
        self.ended = array("f")
        """When the outcome was put on record, in seconds since the first process began: to the millisecond
        within hours, which is enough for a timeline."""
        self.attempts = array("H")
        """The highest number of an attempt that is on record."""
        self._settled = array("H")
        self._index = RowIndex()
        self._rows = 0

        self.output_at: Column[int] = Column("Q", NOWHERE)
        """Offset of the line with the output, where that is not the outcome line."""
        self.waited: Column[float] = Column("d", 0.0)
        self.abandoned: Column[int] = Column("H", 0)
        self.causes = Causes()
        self.cause: Column[int] = Column("I", 0)
        self.variants: list[str] = [""]
        self.variant: Column[int] = Column("I", 0)
        self.groups: array[int] | None = None
        """By row, a number that rows of one case share; None where every row is a case of its own."""
        self.findings = Findings()
        self.calls = Calls()

        self.tellings = Chain()
        """By row: offsets of the lines that tell results, besides that of its outcome."""
        self.tries = Chain()
        """By row: offsets of the lines that tell how earlier tries have ended, none of which counts."""
        self._latest: dict[int, Latest] = {}
        self._writer: Process | None = None

    def __len__(self) -> int:
        return self._rows

    @property
    def rescored(self) -> bool:
        """Whether the outputs come from another run, or from the results of another harness."""
        return self.run is not None and bool(self.run.rescored_from)

    def row_of(self, key: Key) -> int | None:
        """The row of a key."""
        return self._index.find(hash((key.case, key.repeat, key.variant)))

    def hash_of(self, row: int) -> int:
        """What the key of a row is known by, here and among the calls."""
        return self._index.hashes[row]

    def line_at(self, offset: int) -> Line | None:
        """The line that stands at an offset of the journal; None where it can no longer be read."""
        entry = self._source.entry_at(offset)
        return entry.line if isinstance(entry, Recorded) else None

    def trim(self) -> None:
        """Give back what the dense columns have beyond the last row."""
        for column, _ in self._dense():
            del column[len(self) :]

    def take(self, entry: Entry) -> None:
        """Take what comes next in the journal."""
        if isinstance(entry, Damaged):
            # Kinds that this version does not know are a newer version's, and whole.
            self.damaged += entry.reason != "unknown kind"
            return
        self.unsealed += not entry.sealed
        line, offset = entry.line, entry.offset
        self._TAKERS[type(line)](self, offset, line)

    # Lines about the run

    def _about_the_run(self, _offset: int, line: RunLine | ManifestLine | ResumedLine | EndedLine) -> None:
        match line:
            case ManifestLine() if not self.rescored:
                # A rescoring comes to the end of the answers that there are, which is not that of its cases.
                self.expected = line.keys
            case ResumedLine():
                self.expected = self.expected if line.expected is None else line.expected
                self.judges = line.judges or self.judges
                self._writer = None
                self._seen(line.at)
            case EndedLine():
                self._ended(line)
            case RunLine() if self.run is None:
                self.run = line
                self.expected = line.expected
                self.judges = line.judges
                self.evaluators = tuple(facts.label for facts in line.evaluators)
                self._seen(line.started)

    def _seen(self, at: float) -> None:
        """A process was at work at this moment: the one that wrote before, or another where that has left."""
        if self._writer is None:
            self._writer = Process(at, at)
            self.processes.append(self._writer)
        self._writer.last_seen = at

    def _ended(self, line: EndedLine) -> None:
        if self._writer is None and self.processes and self.processes[-1].ended == line:
            return
        self._seen(line.at)
        self.processes[-1].ended = line
        self._writer = None

    # Lines about a key

    def _row(self, line: KeyedLine, offset: int) -> int:
        """The row of the line's key, made where there is none."""
        row = self._index.find_or_add(hash((line.case, line.repeat, line.variant)))
        if row == self._rows:
            self._rows += 1
            if row == len(self.outcome):
                self._make_room()
            self.begin_at[row] = offset
            if line.repeat or line.variant or self.groups is not None:
                self._group(row, line)
        if self._writer is None:
            self._seen(line.at)
        else:
            self._writer.last_seen = line.at
        return row

    def _make_room(self) -> None:
        for column, blank in self._dense():
            column.extend(array(column.typecode, [blank]) * BLOCK)

    def _dense(self) -> list[tuple[array[Any], int]]:
        return [
            (self.begin_at, 0),
            (self.outcome_at, NOWHERE),
            (self.outcome, OPEN),
            (self.verdict, UNSCORED),
            (self.seconds, 0),
            (self.total, 0),
            (self.ended, 0),
            (self.attempts, 0),
            (self._settled, 0),
        ]

    def _group(self, row: int, line: KeyedLine) -> None:
        if self.groups is None:
            # All keys so far are the first of their case, and the hash of such a key serves for its case.
            self.groups = self._index.hashes[:row]
        self.groups.append(hash((line.case, 0, "")))
        if line.variant:
            if line.variant not in self.variants:
                self.variants.append(line.variant)
            self.variant[row] = self.variants.index(line.variant)

    def _begin(self, offset: int, line: BeginLine) -> None:
        row = self._row(line, offset)
        if len(line.inputs):
            self.begin_at[row] = offset
        if self.outcome[row] or self._latest:
            self._reopen(row)
        if line.attempt > self.attempts[row]:
            self.attempts[row] = min(line.attempt, _MOST_ATTEMPTS)

    def _reopen(self, row: int) -> None:
        """The task was asked again: what was found out before does not count, the attempts do."""
        self._latest.pop(row, None)
        if self.outcome[row] != OPEN:
            self.tries.add(row, self.outcome_at[row])
            self._forget(row)
            self.outcome[row], self.outcome_at[row] = OPEN, NOWHERE
            self.seconds[row] = self.total[row] = 0.0

    def _attempt(self, offset: int, line: AttemptLine) -> None:
        row = self._row(line, offset)
        self._reopen(row)
        if self._settle(row, line):
            self.retries[line.error_class] += 1
            self.tries.add(row, offset)

    def _settle(self, row: int, line: AttemptLine | OutcomeLine) -> bool:
        """Count the work of an attempt that has come to its end, once."""
        attempt = line.attempt if line.attempt < _MOST_ATTEMPTS else _MOST_ATTEMPTS  # noqa: FURB136  # likewise
        if attempt <= self._settled[row]:
            return False
        self._settled[row] = attempt
        if attempt > self.attempts[row]:  # noqa: PLR1730  # once per line: a call would be felt
            self.attempts[row] = attempt
        self.work += line.seconds
        return True

    def _call(self, offset: int, line: CallLine) -> None:
        # It makes no row: a key has one when it is begun, and a call says nothing of how it stands.
        self.calls.take(offset, line)
        if self._writer is not None:
            self._writer.last_seen = line.at

    def _verdict(self, _offset: int, line: VerdictLine) -> None:
        # Neither does this: what comes of it is among the scores.
        if self._writer is not None:
            self._writer.last_seen = line.at

    def _output(self, offset: int, line: OutputLine) -> None:
        row = self._row(line, offset)
        self._reopen(row)
        self._latest[row] = Latest(offset, line.metrics)

    def _scores(self, offset: int, line: ScoresLine) -> None:
        row = self._row(line, offset)
        if row not in self._latest:
            self._latest[row] = self._recall(row) if self.outcome[row] else Latest()
        self._latest[row].tellings.append((offset, line))

    def _recall(self, row: int) -> Latest:
        """What a row had when it got its outcome, read again: rows that go on from one are few."""
        ended_at, output_at = self.outcome_at[row], self.output_at[row]
        latest = Latest(output_at)
        answer = None if output_at == NOWHERE else self.line_at(output_at)
        if isinstance(answer, OutputLine | OutcomeLine):
            latest.metrics |= answer.metrics
        for at in (*self.tellings.of(row), ended_at):
            line = self.line_at(at)
            if isinstance(line, OutcomeLine):
                latest.metrics |= line.metrics
                if len(line.output):
                    latest.output_at = at
            if isinstance(line, ScoresLine | OutcomeLine):
                latest.tellings.append((at, line))
        return latest

    def _outcome(self, offset: int, line: OutcomeLine) -> None:
        row = self._row(line, offset)
        latest = self._latest.pop(row, None) if self._latest else None
        if len(line.output):
            latest = None
        elif latest is None and self.outcome[row]:
            latest = self._recall(row)
        if self.outcome[row]:
            self._forget(row)
        self._settle(row, line)
        if line.builds_on and line.builds_on > (0 if latest is None else latest.parts):
            self._leave_open(row, offset, line, latest or Latest())
            return
        self.outcome[row] = CODES[line.outcome]
        self.outcome_at[row] = offset
        self.seconds[row] = line.seconds
        self.total[row] = line.total
        self.ended[row] = line.at - self.processes[0].started
        if line.waited:
            self.waited[row] = line.waited
        if line.abandoned:
            self.abandoned[row] = min(line.abandoned, _MOST_ATTEMPTS)
        self._conclude(row, line, latest)

    def _leave_open(self, row: int, offset: int, line: OutcomeLine, latest: Latest) -> None:
        """A line that this outcome needs was damaged: what it says itself counts, and is not all."""
        self.outcome[row], self.outcome_at[row] = OPEN, NOWHERE
        self.seconds[row] = self.total[row] = 0.0
        latest.tellings.append((offset, line))
        self._latest[row] = latest

    def _conclude(self, row: int, line: OutcomeLine, latest: Latest | None) -> None:
        """Keep what evaluators and metrics said, and what follows from it."""
        scores: Sequence[Score] = ()
        failures: Sequence[EvaluatorFailure] = ()
        if latest is not None:
            self._keep_places(row, latest)
        if line.outcome in WITH_OUTPUT:
            scores, failures, metrics = line.scores, line.failures, line.metrics
            if latest is not None:
                scores, failures = merged([*(told for _, told in latest.tellings), line], self.evaluators)
                metrics = latest.metrics | metrics
            elif len(scores) > 1 or len(failures) > 1:
                scores, failures = merged([line], self.evaluators)
            self.findings.put(row, scores, failures, metrics)
        if line.outcome == "scored":
            self.verdict[row] = NOT_PASSED if failures else _VERDICTS[verdict(scores)]
        else:
            self.cause[row] = self._cause(line, failures)

    def _cause(self, line: OutcomeLine, failures: Sequence[EvaluatorFailure]) -> int:
        if line.error is None and failures:
            return self.causes.code(line.outcome, failures[0].error, evaluator=failures[0].by)
        return self.causes.code(line.outcome, line.error or ErrorFacts(type=""))

    def _keep_places(self, row: int, latest: Latest) -> None:
        if latest.output_at != NOWHERE:
            self.output_at[row] = latest.output_at
        for at, _ in latest.tellings:
            self.tellings.add(row, at)

    def _forget(self, row: int) -> None:
        """Take away what the outcome before has left where the next one may leave nothing."""
        self.verdict[row] = UNSCORED
        self.waited.discard(row)
        for column in (self.abandoned, self.cause, self.output_at, self.tellings):
            column.discard(row)
        if self.outcome[row] in CODES_WITH_OUTPUT:
            self.findings.forget(row)

    # By type and without a `match`: this is done once per line, of which there may be millions.
    _TAKERS: ClassVar[dict[type[Line], Callable[[Table, int, Any], None]]] = {
        OutcomeLine: _outcome,
        BeginLine: _begin,
        OutputLine: _output,
        ScoresLine: _scores,
        AttemptLine: _attempt,
        CallLine: _call,
        VerdictLine: _verdict,
        RunLine: _about_the_run,
        ManifestLine: _about_the_run,
        ResumedLine: _about_the_run,
        EndedLine: _about_the_run,
    }


def fold(source: JournalSource) -> Table:
    """The table of a journal."""
    table = Table(source)
    take = table.take
    for entry in source.entries():
        take(entry)
    table.trim()
    return table


__all__ = ["CODES", "CODES_WITH_OUTPUT", "NOWHERE", "OPEN", "SCORED", "Process", "Table", "fold"]
