"""The fold: what a journal's lines amount to for each key, whatever their order and state."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.journal.encoding import encode_line, seal
from paceline.journal.ledger import Ledger
from paceline.journal.records import (
    FINAL,
    OUTCOMES,
    AttemptLine,
    BeginLine,
    EvaluatorFailure,
    Key,
    Line,
    OutcomeLine,
    OutputLine,
    Score,
    ScoresLine,
    key_of,
)
from paceline.journal.states import Done
from paceline.report.columns import BLOCK
from paceline.report.reading import Reader
from paceline.report.table import OPEN, Table, fold
from tests.journal.lines import keyed_lines, run_line
from tests.report.journals import (
    DAMAGED,
    Lines,
    again,
    begin,
    ended,
    failed,
    manifest,
    mute,
    no,
    output,
    passing,
    resumed,
    retried,
    run,
    says,
    scored,
    told,
    yes,
)


def outcome_of(table: Table, case: str) -> str | None:
    row = table.row_of(Key(case))
    assert row is not None
    code = table.outcome[row]
    return None if code == OPEN else OUTCOMES[code - 1]


# One rule after the other


def test_rows_are_in_the_order_in_which_keys_were_begun() -> None:
    lines = Lines(run(), begin("b"), begin("a"), scored("a"), scored("b"))
    table = fold(lines)
    assert [Reader(lines, table).key(row).case for row in range(len(table))] == ["b", "a"]


def test_the_last_outcome_of_a_key_counts() -> None:
    table = fold(Lines(run(), begin("a"), failed("a", "infra_error"), again("a"), scored("a", attempt=2)))
    assert len(table) == 1
    assert outcome_of(table, "a") == "scored"
    assert list(table.cause.values()) == []


def test_a_line_that_is_there_twice_changes_nothing() -> None:
    one: list[Line] = [begin("a"), retried("a"), again("a"), output("a"), told("a", yes("Judge"))]
    one += [scored("a", says(0.5), answer=None, attempt=2)]
    once, twice = fold(Lines(run(), *one)), fold(Lines(run(), *(line for line in one for _ in range(2))))
    assert once.work == twice.work == 2.0
    assert once.retries == twice.retries
    assert list(once.attempts) == list(twice.attempts) == [2]
    assert list(once.findings.assertions["Judge"].values()) == [1]
    assert list(twice.findings.assertions["Judge"].values()) == [1]
    assert list(twice.findings.scores["Similarity"].values()) == [0.5]


def test_an_attempt_begun_after_an_outcome_opens_the_key_again() -> None:
    table = fold(Lines(run(), *passing("a"), resumed(), begin("a", attempt=2, hash="another content")))
    assert outcome_of(table, "a") is None
    assert list(table.findings.assertions["Equals"].values()) == []
    assert list(table.attempts) == [2]


def test_a_key_that_was_cut_off_is_open() -> None:
    table = fold(Lines(run(), *passing("a"), begin("b"), begin("c"), output("c")))
    assert [outcome_of(table, case) for case in "abc"] == ["scored", None, None]


def test_results_told_before_the_outcome_count_with_those_in_it() -> None:
    lines = Lines(
        run(), begin("a"), output("a"), told("a", yes("Judge")), scored("a", no("Exact"), answer=None)
    )
    findings = fold(lines).findings
    assert list(findings.assertions["Judge"].values()) == [1]
    assert list(findings.assertions["Exact"].values()) == [0]


def test_an_output_ends_the_results_before_it() -> None:
    lines: list[Line] = [
        begin("a"),
        output("a"),
        told("a", no("Judge")),
        output("a", "B"),
        scored("a", yes("Exact"), answer=None),
    ]
    assert "Judge" not in fold(Lines(run(), *lines)).findings.assertions


def test_a_case_that_is_scored_again_keeps_what_was_said_before() -> None:
    """Only what an evaluator could not say is asked again; output and other results stay where they are."""
    lines = Lines(
        run(),
        begin("a"),
        output("a", metrics={"tokens": 7}),
        told("a", yes("Exact")),
        scored("a", outcome="evaluator_error", answer=None, failures=[mute("Judge")]),
        resumed(),
        scored("a", yes("Judge"), answer=None),
    )
    table = fold(lines)
    assert outcome_of(table, "a") == "scored"
    assert list(table.findings.failures["Judge"].values()) == []
    assert list(table.findings.assertions["Exact"].values()) == [1]
    assert list(table.findings.metrics["tokens"].values()) == [7]
    assert table.work == 1.0
    row = Reader(lines, table).row(0)
    assert row.key == Key("a")
    assert row.metrics == {"tokens": 7}


def test_an_output_outlives_a_cancelled_scoring() -> None:
    lines = Lines(
        run(),
        begin("a"),
        output("a", "Paris"),
        told("a", yes("Exact")),
        failed("a", "cancelled"),
        resumed(),
        scored("a", yes("Judge"), answer=None),
    )
    table = fold(lines)
    row = Reader(lines, table).row(0)
    assert getattr(row, "output") == "Paris"  # noqa: B009
    assert set(getattr(row, "assertions")) == {"Exact", "Judge"}  # noqa: B009


def test_damage_is_counted_and_its_key_is_open() -> None:
    table = fold(Lines(run(), *passing("b"), begin("a"), DAMAGED, b"\0\0\0", b'{"kind":"song","case":"a"}'))
    assert table.damaged == 2  # a line of a kind that a later version has added is not damage
    assert outcome_of(table, "a") is None


def test_a_line_that_was_edited_by_hand_is_accepted_and_counted() -> None:
    edited = encode_line(scored("a", yes()))
    table = fold(Lines(run(), begin("a"), edited))
    assert table.unsealed == 1
    assert outcome_of(table, "a") == "scored"


def test_a_key_whose_beginning_is_damaged_is_known_by_its_outcome() -> None:
    lines = Lines(run(), DAMAGED, scored("a", yes()))
    row = Reader(lines, fold(lines)).row(0)
    assert row.key == Key("a")
    assert row.inputs is None


def test_the_time_of_a_killed_process_ends_with_its_last_line() -> None:
    lines: list[Line] = [
        run(started=1000.0),
        begin("a", at=1001.0),
        begin("b", at=1004.0),
        resumed(at=5000.0),
    ]
    lines += [scored("a", at=5001.0), ended(wall=2.5, at=5002.0), resumed(at=9000.0), scored("b", at=9001.0)]
    assert [process.wall for process in fold(Lines(*lines)).processes] == [4.0, 2.5, 1.0]


def test_work_is_that_of_all_attempts_the_failed_ones_included() -> None:
    table = fold(
        Lines(
            run(),
            begin("a"),
            retried("a", seconds=2.0, error_class="rate_limited"),
            again("a"),
            retried("a", 2, seconds=3.0),
            again("a", 3),
            scored("a", attempt=3, seconds=4.0),
            failed("b", "skipped_budget", attempt=0, seconds=0.0),
        )
    )
    assert table.work == 9.0
    assert table.retries == {"rate_limited": 1, "transient": 1}
    assert list(table.attempts) == [3, 0]


def test_how_many_keys_there_are_is_what_the_last_line_about_it_says() -> None:
    assert fold(Lines(run(expected=5))).expected == 5
    assert fold(Lines(run(expected=5), resumed(expected=6))).expected == 6
    assert fold(Lines(run(expected=5), resumed(), manifest(7))).expected == 7
    assert fold(Lines(run())).expected is None


def test_repeats_and_variants_share_the_group_of_their_case() -> None:
    lines = [begin("a"), begin("b"), begin("a", repeat=1), begin("a", variant="big"), begin("b", repeat=1)]
    table = fold(Lines(run(repeat=2), *lines))
    assert table.groups is not None
    a, b, *others = table.groups
    assert a != b
    assert others == [a, a, b]
    assert [table.variants[table.variant[row]] for row in range(5)] == ["", "", "", "big", ""]


def test_columns_are_as_long_as_there_are_rows() -> None:
    names = [f"case-{number}" for number in range(BLOCK + 3)]
    table = fold(Lines(run(), *passing(*names)))
    assert len(table) == len(table.outcome) == len(table.begin_at) == BLOCK + 3
    assert sum(table.findings.assertions["Equals"].values()) == BLOCK + 3


# Against a plain fold, and against the ledger


@dataclass
class Plain:
    """One key, folded the obvious way."""

    outcome: OutcomeLine | None = None
    output: bytes | None = None
    said: dict[str, tuple[list[Score], list[EvaluatorFailure]]] = field(default_factory=dict)
    concluded: dict[str, tuple[list[Score], list[EvaluatorFailure]]] = field(default_factory=dict)
    """What had been said when the outcome was written."""
    attempts: int = 0
    settled: int = 0

    def hear(self, line: ScoresLine | OutcomeLine) -> None:
        labels = {score.by or score.name for score in line.scores} | {failure.by for failure in line.failures}
        for label in labels:
            scores = [score for score in line.scores if (score.by or score.name) == label]
            self.said[label] = (scores, [failure for failure in line.failures if failure.by == label])

    def conclude(self, line: OutcomeLine) -> None:
        """Who had failed by the outcome before was asked again: what counts is said since then."""
        for label, said in self.concluded.items():
            if said[1] and self.said.get(label) is said:
                del self.said[label]
        self.outcome = line
        self.hear(line)
        self.concluded = dict(self.said)

    def start_afresh(self) -> None:
        self.outcome, self.output, self.said = None, None, {}


def plainly(lines: list[Line]) -> tuple[dict[Key, Plain], float]:
    """The fold of a journal with dicts and nothing spared."""
    keys: dict[Key, Plain] = {}
    work = 0.0
    for line in lines:
        if not isinstance(line, BeginLine | AttemptLine | OutputLine | ScoresLine | OutcomeLine):
            continue
        known = keys.setdefault(key_of(line), Plain())
        match line:
            case BeginLine():
                known.start_afresh()
                known.attempts = max(known.attempts, line.attempt)
            case AttemptLine():
                known.start_afresh()
            case OutputLine():
                known.start_afresh()
                known.output = bytes(line.output)
            case ScoresLine():
                known.hear(line)
            case OutcomeLine():
                if len(line.output):
                    known.start_afresh()
                    known.output = bytes(line.output)
                known.conclude(line)
        if isinstance(line, AttemptLine | OutcomeLine) and line.attempt > known.settled:
            known.settled = line.attempt
            known.attempts = max(known.attempts, line.attempt)
            work += line.seconds
    return keys, work


journals = st.lists(keyed_lines, max_size=25).flatmap(
    # Some lines come again, some are damaged: None.
    lambda lines: (
        st.permutations([*lines, *lines[:5], None, None])
        | st.just([*lines, *lines])
        | st.just([*lines, None])
    )
)


@given(journals)
@settings(max_examples=300)
def test_the_fold_is_what_a_plain_one_with_dicts_would_be(journal: list[Line | None]) -> None:
    source = Lines(run(), *(DAMAGED if line is None else line for line in journal))
    table, (expected, work) = fold(source), plainly([line for line in journal if line is not None])
    reader = Reader(source, table)
    assert [reader.key(row) for row in range(len(table))] == list(expected)
    assert table.damaged == journal.count(None)
    assert abs(table.work - work) < 1e-6
    for row, (key, known) in enumerate(expected.items()):
        assert table.row_of(key) == row
        assert table.attempts[row] == known.attempts
        if known.outcome is None:
            assert table.outcome[row] == OPEN
            continue
        assert OUTCOMES[table.outcome[row] - 1] == known.outcome.outcome
        assert table.seconds[row] == known.outcome.seconds
        if known.outcome.outcome in ("scored", "evaluator_error"):
            said, silent = heard(reader, row)
            assert said == sorted(
                str(score.value) for scores, _ in known.concluded.values() for score in scores
            )
            assert silent == sorted(
                failure.by for _, failures in known.concluded.values() for failure in failures
            )
            assert told_in_columns(table, row) == len(said)


def heard(reader: Reader, row: int) -> tuple[list[str], list[str]]:
    case = reader.row(row)
    results = [*getattr(case, "scores").values()]  # noqa: B009
    results += [*getattr(case, "labels").values(), *getattr(case, "assertions").values()]  # noqa: B009
    failures = getattr(case, "evaluator_failures")  # noqa: B009
    return sorted(str(result.value) for result in results), sorted(failure.by for failure in failures)


def told_in_columns(table: Table, row: int) -> int:
    findings = table.findings
    assertions = sum(column[row] != column.missing for column in findings.assertions.values())
    scores = sum(column[row] != column.missing for column in findings.scores.values())
    return assertions + scores + sum(bool(labels.codes[row]) for labels in findings.labels.values())


@given(st.lists(keyed_lines, max_size=25))
def test_what_the_report_calls_open_is_what_a_resume_would_run(journal: list[Line]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "run.jsonl"
        path.write_bytes(b"".join(seal(encode_line(line)) for line in [run_line(), *journal]))
        ledger = Ledger.read(path)
    source = Lines(run(), *journal)
    table = fold(source)
    for row in range(len(table)):
        outcome = OUTCOMES[table.outcome[row] - 1] if table.outcome[row] != OPEN else None
        assert (outcome in FINAL) == isinstance(ledger.state(Reader(source, table).key(row)), Done)
