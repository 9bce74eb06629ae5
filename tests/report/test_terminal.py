"""What a person reads: the figures in words, on any terminal, with nothing foreign acting on it."""

from __future__ import annotations

import io
import subprocess
import sys
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
    mute,
    no,
    output,
    passing,
    raw,
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
        f"  paceline resume 'runs/{'long name ' * 12}'  # runs the 1 open case",
        f"  paceline resume --retry-errors 'runs/{'long name ' * 12}'  # and once more the 1 that failed",
    ]
    assert "paceline" not in Report(finished(*passing("a"), keys=1), path=Path("runs/x")).render()
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
