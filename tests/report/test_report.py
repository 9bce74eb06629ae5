"""The report as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paceline.errors import JournalError, JournalForeign
from paceline.journal.encoding import encode_line, seal
from paceline.journal.memory import MemoryJournal
from paceline.journal.records import Key, Line
from paceline.report import Report
from paceline.report.document import KEYS
from tests.report.journals import (
    DAMAGED,
    Lines,
    again,
    begin,
    ended,
    failed,
    finished,
    manifest,
    mute,
    no,
    passing,
    run,
    says,
    scored,
    yes,
)


def written(path: Path, *lines: Line) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(seal(encode_line(line)) for line in lines))
    return path


# Where it is read from


def test_a_report_is_read_from_a_run_directory_a_file_or_memory(tmp_path: Path) -> None:
    lines = [run("Equals"), *passing("a"), manifest(1), ended()]
    written(tmp_path / "run" / "journal.jsonl", *lines)
    file = written(tmp_path / "run.jsonl", *lines)
    memory = MemoryJournal(run("Equals"))
    for line in lines[1:]:
        memory.append(line)
    reports = [Report.read(tmp_path / "run"), Report.read(str(file)), Report.read(memory)]
    assert [report.path for report in reports] == [tmp_path / "run", file, None]
    for report in reports:
        assert (report.name, report.run_id, report.pass_rate) == ("capitals", "r1", 1.0)
        assert [case.output for case in report.cases] == ["A"]


def test_what_is_no_journal_is_refused(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text('{"id": 1, "ok": true}\n')
    with pytest.raises(JournalForeign):
        Report.read(results)
    with pytest.raises(JournalError):
        Report.read(tmp_path / "nothing here")


def test_a_report_can_be_read_while_the_run_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path / "run.jsonl", run("Equals", expected=3), *passing("a"))
    with path.open("ab") as file:
        file.write(b'{"kind":"begin","case":"b"')
    report = Report.read(path)
    assert report.verdict == "incomplete"
    assert (report.n_expected, report.n_scored, report.n_open) == (3, 1, 2)


# The rows


def test_cases_and_failures_together_hold_every_key_that_ended() -> None:
    lines = [*passing("a"), begin("b"), failed("b"), begin("c"), begin("d"), failed("d", "cancelled")]
    lines += [begin("e"), scored("e", outcome="evaluator_error", failures=[mute()])]
    report = Report(Lines(run(), *lines))
    assert [case.name for case in report.cases] == ["a", "e"]
    assert [failure.name for failure in report.failures] == ["b", "d"]
    assert [row.name for row in report.rows] == ["a", "b", "d", "e"]
    assert list(report.open_keys) == [Key("c")]


def test_rows_are_in_the_order_in_which_keys_were_begun_not_ended() -> None:
    report = Report(Lines(run(), begin("slow"), *passing("quick"), scored("slow", yes())))
    assert [case.name for case in report.cases] == ["slow", "quick"]


def test_rows_are_a_sequence_that_reads_as_it_is_asked() -> None:
    report = Report(finished(*passing(*"abcdef"), keys=6))
    assert len(report.cases) == 6
    assert report.cases[-1].name == "f"
    assert [case.name for case in report.cases[1:3]] == ["b", "c"]
    assert list(report.cases[:2]) == report.cases[:2]
    assert report.failures == []
    assert report.cases != []
    assert list(reversed(report.cases))[0].name == "f"  # noqa: RUF015
    with pytest.raises(IndexError):
        report.cases[6]


def test_repeats_are_grouped_by_case() -> None:
    lines = [begin("a"), begin("b"), scored("a", yes(), says(0.2)), failed("b")]
    lines += [begin("a", repeat=1), scored("a", no(), says(0.4), repeat=1)]
    groups = Report(Lines(run("Equals", repeat=2), *lines, manifest(4), ended("interrupted"))).case_groups()
    assert groups is not None
    a, b = groups
    assert (a.name, a.inputs, len(a.runs), len(a.failures)) == ("a", "Q", 2, 0)
    assert a.summary.scores["Similarity"] == pytest.approx(0.3)
    assert a.summary.assertions == 0.5
    assert (len(b.runs), len(b.failures)) == (0, 1)
    assert (b.summary.assertions, b.summary.n_expected) == (0.0, 2)


def test_without_repeats_there_are_no_groups() -> None:
    assert Report(finished(*passing("a"), keys=1)).case_groups() is None


# The figures


def test_a_report_has_passed_only_if_every_case_has() -> None:
    assert Report(finished(*passing("a", "b"), keys=2)).passed
    for source in (
        Lines(run()),
        finished(keys=0),
        finished(*passing("a"), keys=2),
        finished(*passing("a"), begin("b"), failed("b"), keys=2),
        finished(*passing("a"), begin("b"), scored("b", no()), keys=2),
        finished(*passing("a"), begin("b"), scored("b", says(1.0)), keys=2),
        Lines(run(), *passing("a")),
    ):
        assert not Report(source).passed


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        (finished(*passing("a"), keys=1), (0, 0, 0)),
        (finished(begin("a"), scored("a", no()), keys=1), (1, 0, 0)),
        (finished(begin("a"), scored("a", says(1.0)), keys=1), (1, 0, 0)),
        (finished(begin("a"), failed("a"), keys=1), (1, 1, 0)),
        (finished(*passing("a"), keys=2), (4, 4, 4)),
        (finished(begin("a"), failed("a", "skipped_budget"), keys=1), (4, 4, 4)),
        (Lines(run()), (4, 4, 4)),
    ],
)
def test_the_exit_code_follows_from_what_is_on_record(source: Lines, codes: tuple[int, int, int]) -> None:
    report = Report(source)
    assert tuple(report.exit_code(fail_on=on) for on in ("any", "errors", "none")) == codes


def test_averages_hide_no_failure() -> None:
    """Nine of ten tasks crash and the one left passes: the share of assertions is 10 %."""
    lines = [line for number in range(9) for line in (begin(f"c{number}"), failed(f"c{number}"))]
    averages = Report(finished(*passing("a"), *lines, keys=10)).averages()
    assert averages.assertions == pytest.approx(0.1)
    assert (averages.n_expected, averages.n_scored, averages.n_failed) == (10, 1, 9)


def test_averages_count_an_evaluator_that_fails() -> None:
    silent = [begin("b"), scored("b", outcome="evaluator_error", failures=[mute()])]
    assert Report(finished(*passing("a"), *silent, keys=2)).averages().assertions == 0.5


def test_averages_are_those_of_pydantic_evals_where_nothing_failed() -> None:
    """True assertions by all assertions, not by cases; means of scores, metrics and times."""
    lines = [
        begin("a"),
        scored("a", yes(), says(0.5), says("kind", "Tone"), metrics={"tokens": 10}, total=2.0),
    ]
    lines += [
        begin("b"),
        scored("b", yes(), no("X"), no("Y"), says(1.0), says("rude", "Tone"), seconds=3.0, total=4.0),
    ]
    averages = Report(finished(*lines, keys=2)).averages()
    assert averages.name == "Averages"
    assert averages.assertions == 0.5
    assert averages.scores == {"Similarity": 0.75}
    assert averages.labels == {"Tone": {"kind": 0.5, "rude": 0.5}}
    assert averages.metrics == {"tokens": 10}
    assert (averages.task_duration, averages.total_duration) == (2.0, 3.0)
    assert averages.n == {"Similarity": 2, "tokens": 1, "Tone": 2}


def test_averages_of_nothing_are_unknown() -> None:
    averages = Report(Lines(run())).averages()
    assert (averages.assertions, averages.task_duration, averages.scores) == (None, None, {})
    assert Report(finished(begin("a"), scored("a", says(1.0)), keys=1)).averages().assertions is None


def test_durations_are_the_medians_over_repeats_of_what_ran_to_an_output_or_a_timeout() -> None:
    lines: list[Line] = [run(repeat=3)]
    for repeat, seconds in enumerate((1.0, 9.0, 2.0)):
        lines += [begin("a", repeat=repeat), scored("a", yes(), repeat=repeat, seconds=seconds)]
    lines += [begin("b"), failed("b", "timeout", seconds=30.0), begin("c"), failed("c", seconds=0.1)]
    lines += [begin("a", variant="big"), scored("a", yes(), variant="big", seconds=5.0)]
    assert Report(Lines(*lines)).durations() == {Key("a"): 2.0, Key("b"): 30.0, Key("a", variant="big"): 5.0}


def test_durations_leave_out_an_outcome_that_counts_no_more() -> None:
    lines = [
        begin("a"),
        failed("a", "timeout", seconds=30.0),
        again("a"),
        scored("a", seconds=2.0, attempt=2),
    ]
    assert Report(Lines(run(), *lines)).durations() == {Key("a"): 2.0}


# The document


def test_the_document_has_the_keys_that_are_documented() -> None:
    for source in (Lines(run()), finished(*passing("a"), begin("b"), failed("b"), keys=2), Lines(DAMAGED)):
        assert list(Report(source).to_dict().keys() ^ KEYS.keys()) == []


def test_what_is_asked_for_most_stands_at_the_top_of_the_document() -> None:
    document = json.loads(Report(finished(*passing("a"), begin("b"), failed("b"), keys=2)).to_json())
    assert document["pass_rate"] == 0.5
    assert (document["n"], document["n_expected"], document["n_scored"], document["n_failed"]) == (2, 2, 1, 1)
    assert document["p50_latency_s"] == 1.0
    assert document["error_rate"] == 0.5
    assert document["pass_rate_interval"]["low"] < 0.5 < document["pass_rate_interval"]["high"]


def test_in_the_document_unknown_is_null() -> None:
    document = json.loads(Report(Lines(run())).to_json())
    for key in (
        "pass_rate",
        "pass_rate_interval",
        "coverage",
        "error_rate",
        "p50_latency_s",
        "effective_concurrency",
    ):
        assert document[key] is None, key


def test_the_document_can_be_written_wherever_the_run_lies() -> None:
    report = Report(Lines(run()), path=Path("runs/caf\udce9"))
    assert json.loads(report.to_json())["path"] == "runs/caf\\xe9"
    assert "\n" not in report.to_json(indent=0)
