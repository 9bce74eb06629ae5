"""What a person reads: the figures in words, on any terminal, with nothing foreign acting on it."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paceline.journal.records import ErrorFacts, Line
from paceline.report import Report
from tests.journal.lines import lines as any_lines
from tests.report.journals import (
    Lines,
    again,
    begin,
    ended,
    failed,
    finished,
    manifest,
    mute,
    no,
    output,
    passing,
    raw,
    resumed,
    retried,
    run,
    says,
    scored,
    told,
    yes,
)

HOSTILE = "\x1b]0;owned\x07 [bold]markup[/bold] \u202e\r\n \ud800 " + "x" * 5000


def hostile() -> Report:
    """Every text that comes from outside is hostile."""
    lines: list[Line] = [run("Equals", suite=HOSTILE)]
    lines += [
        begin(HOSTILE, inputs=HOSTILE, expected=HOSTILE, metadata=raw({HOSTILE: 1})),
        output(HOSTILE, HOSTILE),
    ]
    lines += [told(HOSTILE, says(HOSTILE, HOSTILE, reason=HOSTILE))]
    lines += [scored(HOSTILE, yes(HOSTILE, reason=HOSTILE), answer=None, variant="")]
    lines += [begin("b"), scored("b", outcome="evaluator_error", failures=[mute(HOSTILE, HOSTILE)])]
    error = ErrorFacts(type=HOSTILE, message=HOSTILE, trace=f"Traceback\n  {HOSTILE}", stage=HOSTILE)
    lines += [begin("c", variant=HOSTILE), failed("c", error=error, variant=HOSTILE)]
    return Report(Lines(*lines), path=Path("runs") / "\x1b[31m a b")


def everything(report: Report, width: int = 80) -> str:
    return report.render(
        width,
        include_cases=True,
        include_input=True,
        include_metadata=True,
        include_expected_output=True,
        include_output=True,
        include_reasons=True,
        include_total_duration=True,
        include_error_stacktrace=True,
    )


def test_a_report_says_first_how_far_the_run_came_and_how_good_it_is() -> None:
    lines = [*passing("a", "b"), begin("c"), scored("c", no()), begin("d"), failed("d")]
    text = str(Report(finished(*lines, keys=4)))
    first, _, pass_rate, completed, *_ = text.splitlines()
    assert first == "capitals  ERRORS  1 of 4 cases ended without being scored"
    assert pass_rate == "Pass rate     50.0% (95% interval 15.0% to 85.0%), 2 of 4, failures included"
    assert completed.startswith("of completed  66.7% (95% interval ")
    assert completed.endswith("2 of 3, coverage 75.0%")


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (Lines(run()), "EMPTY  no case was run, so nothing is known"),
        (finished(*passing("a"), keys=1), "COMPLETE  1 case scored"),
        (finished(*passing("a", "b"), keys=2), "COMPLETE  all 2 cases were scored"),
        (Lines(run(expected=9), *passing("a")), "INCOMPLETE  8 of 9 cases are left to run"),
        (Lines(run(), *passing("a"), begin("b")), "INCOMPLETE  1 done, 1 left to run, and there may be more"),
        (
            finished(*passing("a"), failed("b", "cancelled"), keys=2),
            "INCOMPLETE  1 of 2 cases is left to run",
        ),
    ],
)
def test_the_first_line_is_true_of_any_run(source: Lines, sentence: str) -> None:
    assert sentence in str(Report(source)).splitlines()[0]


def test_an_empty_report_shows_no_rate() -> None:
    assert "%" not in str(Report(Lines(run())))


def test_a_run_in_which_nothing_is_asserted_has_an_unknown_pass_rate() -> None:
    text = str(Report(finished(begin("a"), scored("a", says(0.5)), keys=1)))
    assert "Pass rate     unknown: no case has an assertion" in text
    assert "1 case with none" in text


def test_what_limits_the_figures_is_said() -> None:
    lines = [
        begin("a"),
        retried("a", error_class="rate_limited"),
        again("a"),
        scored("a", yes(), attempt=2, waited=3.0),
    ]
    text = str(Report(finished(*lines, keys=1)))
    assert "2; 1 retried (rate_limited 1)" in text
    assert "3.00 s for limits and between tries" in text


def test_of_an_incomplete_run_the_headline_says_so_far() -> None:
    lines = [*passing(*"abcdefgh"), begin("i"), failed("i"), begin("j"), failed("j", "timeout")]
    _, _, pass_rate, of_run, of_completed, cases, errors, *_ = str(
        Report(Lines(run("Equals", expected=40), *lines, failed("k", "skipped_budget")))
    ).splitlines()
    assert pass_rate == "Pass rate     so far 8 of 40 passed (30 not run)"
    assert of_run.startswith("of those run  80.0% (95% interval ")
    assert of_run.endswith("8 of 10, failures included")
    assert of_completed.startswith("of completed  100.0% (")
    assert cases == "Cases         40 expected: 8 passed, 0 failed, 2 errors, 30 not run"
    assert errors == "Error rate    20.0% of 10 run: task_error 1, timeout 1"


def test_a_case_that_a_budget_did_not_reach_is_shown_as_not_run() -> None:
    text = str(Report(finished(*passing("a"), failed("b", "skipped_budget"), keys=2)))
    assert "  b      not run" in text
    assert "Error rate" not in text


def test_each_word_for_what_became_of_a_case_means_one_thing() -> None:
    lines = [*passing("a"), begin("b"), scored("b", no()), begin("c"), scored("c"), begin("d"), failed("d")]
    text = str(Report(finished(*lines, keys=4)))
    assert "4 expected: 1 passed, 1 failed, 1 error, 1 without assertion" in text
    table = [line.split() for line in text.splitlines()]
    for words in (["a", "passed"], ["b", "failed"], ["c", "no", "assertion"], ["d", "task_error"]):
        assert any(line[: len(words)] == words for line in table), words


def test_an_evaluator_that_said_nothing_has_a_row() -> None:
    report = Report(Lines(run("Equals", "EqualsExpected"), *passing("a"), ended()))
    rows = [line.split() for line in str(report).splitlines()]
    assert ["EqualsExpected", "said", "nothing", "0/1"] in rows
    assert report.to_dict()["evaluators_silent"] == {"EqualsExpected": 1}


@pytest.mark.parametrize(
    ("wall", "seconds", "told"),
    [
        (10.0, 50.0, "10.0 s; effective concurrency 5.0, 5.0 times as fast as a plain loop"),
        (10.0, 19.0, "10.0 s; effective concurrency 1.9"),
        (10.0, 1.0, "10.0 s; effective concurrency 0.1"),
        (0.5, 5.0, "500 ms; effective concurrency 10.0"),
    ],
)
def test_a_speed_up_is_told_where_there_is_one(wall: float, seconds: float, told: str) -> None:
    text = str(Report(finished(begin("a"), scored("a", yes(), seconds=seconds), keys=1, wall=wall)))
    assert f"Duration   {told}" in text.splitlines()


def test_a_rescored_run_tells_no_times_that_nobody_knows_and_no_command_that_mends_nothing() -> None:
    lines = [begin("a"), scored("a", yes(), seconds=0.0), begin("b"), failed("b", seconds=0.0)]
    source = Lines(run("Equals", rescored_from="x.jsonl", expected=2), *lines, ended())
    text = Report(source, path=Path("runs/x")).render()
    for untrue in ("Latency", "concurrency", "as fast", "--retry-errors", " 0 s\n"):
        assert untrue not in text


def test_quantiles_are_told_as_far_as_the_outputs_support_them() -> None:
    def told(count: int) -> str:
        report = Report(finished(*passing(*(f"c{n}" for n in range(count))), keys=count))
        (line,) = (line for line in str(report).splitlines() if line.startswith("Latency"))
        return line

    for name, least in (("p90", 10), ("p95", 20), ("p99", 100)):
        assert name not in told(least - 1)
        assert name in told(least)
    assert "p50 1.00 s, mean 1.00 s, max 1.00 s, of 1 output" in told(1)


def test_repeats_are_explained_in_words() -> None:
    lines: list[Line] = []
    for repeat in range(20):
        for name, says_so in (("a", yes()), ("b", yes()), ("c", no())):
            lines += [begin(name, repeat=repeat), scored(name, says_so, repeat=repeat)]
    text = " ".join(str(Report(Lines(run("Equals", repeat=20), *lines, manifest(60), ended()))).split())
    assert "worth 2 independent results), 40 of 60" in text
    assert "60 results of 3 different cases; those of one case hang together" in text


def test_cases_are_listed_by_name_as_people_count() -> None:
    report = Report(finished(*passing("case 10", "case 2", "case 1"), keys=3))
    shown = [line.split()[1] for line in report.render().splitlines() if line.startswith("  case ")]
    assert shown == ["1", "2", "10"]
    assert [case.name for case in report.cases] == ["case 10", "case 2", "case 1"]


def test_a_line_breaks_between_phrases_only() -> None:
    lines: list[Line] = []
    for number in range(120):
        lines += [begin(f"c{number}"), scored(f"c{number}", yes(), seconds=0.1 + number / 1000)]
    lines += [begin("x"), failed("x")]
    report = Report(finished(*lines, keys=121, wall=1234.5))
    for width in (60, 70, 75, 80, 85):
        overview = report.render(width, include_averages=False).split("Timeline")[0]
        broken = [line for line in overview.splitlines() if line.startswith(" ")]
        assert all(before.endswith((",", ";", ":")) for before in _before(overview, broken)), overview


def _before(text: str, lines: list[str]) -> list[str]:
    every = text.splitlines()
    return [before for before, line in pairwise(every) if line in lines and line.strip()]


def test_what_is_printed_to_something_that_is_no_terminal_has_no_trailing_blanks() -> None:
    stream = io.StringIO()
    Report(finished(*passing("a", "b"), keys=2)).print(file=stream)
    assert stream.getvalue()
    assert [line for line in stream.getvalue().splitlines() if line != line.rstrip()] == []


def test_failures_are_told_by_cause_with_examples() -> None:
    lines: list[Line] = []
    for number in range(30):
        error = ErrorFacts(type="ValueError", message=f"row {number} is bad")
        lines += [begin(f"c{number}"), failed(f"c{number}", error=error)]
    text = str(Report(finished(*lines, keys=30)))
    assert "30 × task_error  ValueError: row 0 is bad  [c0, c1, c2, c3, c4, ...]" in text


def test_cases_are_listed_where_they_are_few_or_asked_for() -> None:
    few, many = (
        Report(finished(*passing(*(f"c{n}" for n in range(count))), keys=count)) for count in (50, 51)
    )
    assert "c49" in few.render()
    assert "c49" not in few.render(include_cases=False)
    assert "c50" not in many.render()
    assert "c50" in many.render(include_cases=True)


def test_where_cases_are_not_listed_the_way_to_those_that_did_not_pass_is() -> None:
    lines = passing(*(f"c{n}" for n in range(50)))
    lines += [begin("bad"), scored("bad", no()), begin("worse"), failed("worse")]
    report = Report(finished(*lines, keys=52), path=Path("runs/x"))
    way = "paceline report runs/x --failures  # names the 2 cases that did not pass"
    assert way in report.render()
    assert way not in report.render(include_cases=True)
    fine = Report(finished(*passing(*(f"c{n}" for n in range(51))), keys=51), path=Path("runs/x"))
    assert "--failures" not in fine.render()


def test_what_is_asked_for_of_a_case_is_shown() -> None:
    lines = [begin("a", inputs="the question", expected="the truth", metadata=raw({"level": 3}))]
    lines += [scored("a", yes(reason="it says so"), answer="the answer")]
    report = Report(finished(*lines, keys=1))
    text = everything(report, 200)
    for shown in ("the question", "the truth", "{'level': 3}", "the answer", "it says so"):
        assert shown in text
        assert shown not in report.render(200)


def test_an_option_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(TypeError, match="include_everything"):
        Report(Lines(run())).print(include_everything=True)  # type: ignore[call-arg]


def test_the_commands_to_go_on_with_stand_at_the_end_and_on_one_line() -> None:
    path = Path("runs") / ("long name " * 12)
    open_run = Report(Lines(run(expected=2), begin("a"), failed("a")), path=path).render(60).splitlines()
    assert open_run[-2:] == [
        f"  paceline resume 'runs/{'long name ' * 12}'  # 1 case to run",
        f"  paceline resume --retry-errors 'runs/{'long name ' * 12}'  # 1 error to run again as well",
    ]
    assert "paceline" not in Report(finished(*passing("a"), keys=1), path=Path("runs/x")).render()
    infra = finished(begin("a"), failed("a", "infra_error"), failed("b", "cancelled"), keys=2)
    assert "# 1 case to run, 1 error to run again" in Report(infra, path=Path("runs/x")).render()
    assert "paceline" not in Report(Lines(run(expected=2))).render()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_but_a_command_is_wider_than_the_terminal(width: int) -> None:
    for line in everything(hostile(), width).splitlines():
        assert len(line) <= width or line.startswith(("Run ", "  paceline "))


def test_nothing_foreign_acts_on_the_terminal() -> None:
    text = everything(hostile())
    assert all(character == "\n" or character.isprintable() for character in text)
    assert text.encode()
    assert "[bold]markup[/bold]" in text.replace("\n", " ")
    assert len(text) < 40_000


def test_a_stream_that_is_not_utf_8_gets_plain_characters() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="strict")
    hostile().print(width=80, file=stream, include_cases=True, include_output=True)
    stream.flush()
    stream.seek(0)
    assert "1 x task_error" in stream.read()


def test_what_is_printed_to_something_that_is_no_terminal_has_no_colour() -> None:
    stream = io.StringIO()
    Report(finished(*passing("a"), keys=1)).print(file=stream)
    assert "\x1b" not in stream.getvalue()


@given(st.lists(any_lines, max_size=20))
@settings(max_examples=50)
def test_any_journal_can_be_shown(journal: list[Line]) -> None:
    report = Report(Lines(run("s0"), *journal))
    assert everything(report)
    assert report.to_json()


def test_the_terminal_library_is_loaded_when_something_is_rendered_and_not_before() -> None:
    probe = "import sys, paceline.report; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", probe], text=True).split()
    assert {"rich", "scipy", "numpy", "asyncio", "click"}.isdisjoint(loaded)


def test_a_case_that_ended_is_told_with_its_times() -> None:
    text = Report(finished(begin("a"), scored("a", yes(), seconds=1.5, total=4.0), ended(), keys=1)).render(
        include_total_duration=True
    )
    assert "1.50 s" in text
    assert "4.00 s" in text
    assert "4.00 s" not in Report(finished(begin("a"), scored("a", yes(), total=4.0), keys=1)).render()


def test_a_run_that_stopped_says_why_until_it_has_been_gone_on_with() -> None:
    begun = [run("Equals"), begin("a"), scored("a", yes()), ended("budget", reason="the budget is spent")]
    report = Report.read(Lines(*begun))
    assert "Stopped" in report.render()
    assert "the budget is spent" in report.render()
    assert report.to_dict()["stopped"] == "the budget is spent"
    whole = Report.read(Lines(*begun, resumed(), manifest(1), ended()))
    assert "Stopped" not in whole.render()
    assert whole.to_dict()["stopped"] is None
