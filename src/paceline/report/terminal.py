"""The report on a terminal, in the order a reader asks: how far, how good, why not better, what next.

Plain characters where the stream cannot show others, no colour that means something by itself, 80 columns.
All foreign text goes through `Pen.say`. rich is loaded when something is rendered, and not before.
"""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, Final, TypedDict

from paceline.report import tables
from paceline.report.figures import CauseFigures, Figures
from paceline.report.meters import limits, pools
from paceline.report.overview import lines_of, said_interval
from paceline.report.passing import NOT_RUN
from paceline.report.pen import Pen
from paceline.report.rows import EvaluationResult, ReportCase, ReportCaseFailure, Row
from paceline.report.text import (
    counted,
    folded,
    natural,
    number,
    percent,
    seconds,
    shown_value,
)
from paceline.statistics.interval import Interval

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from paceline.report.report import Report

FEW_CASES: Final = 50
"""Cases up to which a table of them is shown without being asked for."""
LEAST_WALL: Final = 1.0
"""Seconds that a run must have taken for its limits to be worth a section: before, it has hardly begun."""
LEAST_CASES: Final = 10
"""Keys that must have ended for a timeline to have a shape."""
_CAUSES_SHOWN: Final = 10
_WIDTH: Final = 80


class Shown(TypedDict, total=False):
    """What is shown, by the names of Pydantic Evals, and by some of our own."""

    include_cases: bool | None
    """A table of all cases; None (the default) where there are at most 50."""
    include_input: bool
    include_metadata: bool
    include_expected_output: bool
    include_output: bool
    include_reasons: bool
    include_durations: bool
    """On by default."""
    include_total_duration: bool
    include_errors: bool
    """Failures by cause; on by default."""
    include_error_stacktrace: bool
    include_evaluator_failures: bool
    """On by default."""
    include_averages: bool
    """What each evaluator said over all cases; on by default."""
    by: str | Sequence[str]
    """A field of the metadata, or several: a table of the slices by each of them."""

    # Without effect: what they are about does not exist here, or looks the same for everybody.
    include_removed_cases: bool
    include_analyses: bool
    input_config: Any
    metadata_config: Any
    output_config: Any
    score_configs: Any
    label_configs: Any
    metric_configs: Any
    duration_config: Any


def fields_of(by: str | Sequence[str]) -> Sequence[str]:
    """The fields that slices are asked for by."""
    return (by,) if isinstance(by, str) else by


def render(report: Report[Any, Any, Any], *, width: int | None, shown: Shown) -> str:
    """The report as plain text."""
    return _text(report, width or _WIDTH, None, shown)


def _text(report: Report[Any, Any, Any], width: int, encoding: str | None, shown: Shown) -> str:
    file = io.StringIO()
    _print(report, Pen(encoding or "utf-8"), _console(file, width, plain=True), shown)
    # Tables fill their last column up; a text that is kept or compared has no use for that.
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())


def show(
    report: Report[Any, Any, Any],
    *,
    width: int | None,
    file: IO[str] | None,
    console: Console | None,
    shown: Shown,
) -> None:
    """Print the report, on a console of the caller's if there is one."""
    if console is not None:
        _print(report, _pen(console.file), console, shown)
        return
    file = sys.stdout if file is None else file
    own = _console(file, width, plain=False)
    if own.is_terminal or own.is_jupyter:
        _print(report, _pen(file), own, shown)
    else:
        file.write(_text(report, own.width, getattr(file, "encoding", None), shown))


def _console(file: IO[str], width: int | None, *, plain: bool) -> Console:
    from rich.console import Console

    return Console(
        file=file,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        no_color=True if plain else None,
        force_terminal=False if plain else None,
    )


def _print(report: Report[Any, Any, Any], pen: Pen, console: Console, shown: Shown) -> None:
    if unknown := shown.keys() - Shown.__annotations__.keys():
        known = ", ".join(sorted(Shown.__annotations__))
        raise TypeError(f"a report does not show {', '.join(sorted(unknown))}; it knows {known}")
    for part in _parts(report, pen, shown, width=console.width):
        plain = isinstance(part, str)
        console.print(part, soft_wrap=plain, markup=False, highlight=False, emoji=False)


def _pen(file: IO[str]) -> Pen:
    return Pen(getattr(file, "encoding", None) or "utf-8")


def _parts(report: Report[Any, Any, Any], pen: Pen, shown: Shown, *, width: int) -> Iterator[RenderableType]:
    figures = report.figures
    yield _header(report, pen)
    yield ""
    if figures.verdict != "empty":
        yield _overview(figures, pen, width)
        if report.clustered_by is not None:
            said = f"Intervals go by {report.clustered_by}: cases that say the same in it hang together."
            yield pen.join(pen.say(said), "\n")
        evaluators = figures.evaluators
        averages = shown.get("include_averages", True)
        failures = shown.get("include_evaluator_failures", True)
        told = evaluators.assertions or evaluators.scores or evaluators.labels or evaluators.silent
        if (told and averages) or (evaluators.failures and failures):
            yield _evaluators(figures, pen, averages=averages, failures=failures)
        yield from tables.variants(figures.variants, pen)
        for field in fields_of(shown.get("by", ())):
            yield from tables.slices(report.by(field), pen)
        yield from _how_it_went(figures, pen, width)
        if figures.causes and shown.get("include_errors", True):
            yield from _causes(figures, pen)
        if shown.get("include_error_stacktrace"):
            yield from _traces(report, pen)
        if _wants_cases(report, shown):
            yield _cases(report, pen, shown)
    yield from _what_next(report, pen, cases_shown=_wants_cases(report, shown))


def _how_it_went(figures: Figures, pen: Pen, width: int) -> Iterator[RenderableType]:
    """Repeats, calls, and time."""
    if figures.repeats is not None:
        yield from tables.flaky(figures.repeats, pen)
    if figures.pools:
        yield pools(figures, pen)
    if figures.per_case is not None and figures.per_case.n > 1:
        yield from tables.per_case(figures.per_case, pen)
    if (figures.wall or 0) >= LEAST_WALL:
        if figures.timeline is not None and figures.n >= LEAST_CASES:
            yield from tables.timeline(figures.timeline, pen, width)
        if figures.limited is not None:
            yield from limits(figures.limited, pen)


def _header(report: Report[Any, Any, Any], pen: Pen) -> Text:
    figures = report.figures
    style = {"complete": "bold green", "errors": "bold red"}.get(figures.verdict, "bold yellow")
    return pen.join(
        pen.say(report.name, "bold", limit=100),
        "  ",
        pen.say(figures.verdict.upper(), style),
        "  ",
        # A rehearsal must not be taken for a result, by nobody who sees any part of it.
        *((pen.say("SIMULATED", "bold magenta"), "  ") if figures.is_simulated else ()),
        _how_far(figures),
    )


def _how_far(figures: Figures) -> str:
    expected = counted(figures.n_expected, "case")
    match figures.verdict:
        case "empty":
            return "no case was run, so nothing is known"
        case "incomplete":
            missing = figures.n_not_run
            if figures.expected_known:
                return f"{missing:,} of {expected} {'is' if missing == 1 else 'are'} left to run"
            return f"{figures.n_expected - missing:,} done, {missing:,} left to run, and there may be more"
        case "errors":
            return f"{figures.n_failed:,} of {expected} ended without being scored"
        case "complete":
            return f"{expected} scored" if figures.n_expected == 1 else f"all {expected} were scored"


# Overview


def _overview(figures: Figures, pen: Pen, width: int) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, overflow="crop", style="bold")
    grid.add_column(overflow="fold")
    lines = [(pen.say(label, limit=32), pen.say(said, limit=500).plain) for label, said in lines_of(figures)]
    room = width - max(label.cell_len for label, _ in lines) - 2
    for label, said in lines:
        grid.add_row(label, Text(folded(said, room)))
    return grid


# Evaluators


def _evaluators(figures: Figures, pen: Pen, *, averages: bool, failures: bool) -> RenderableType:
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), title_justify="left", expand=False)
    table.add_column("Evaluator", overflow="fold")
    table.add_column("Result", overflow="fold")
    table.add_column("Cases", justify="right", overflow="fold", no_wrap=True)
    for name, said, cases in _averages(figures) if averages else ():
        table.add_row(pen.say(name), pen.say(said), cases)
    for by, count in figures.evaluators.failures.items() if failures else ():
        said = f"could not say anything of {counted(count, 'case')}"
        table.add_row(pen.say(by), pen.say(said, "red"), "")
    return table


def _averages(figures: Figures) -> Iterator[tuple[str, str, str]]:
    """Of everything that evaluators said: its name, the figures of it, how many cases stand behind them."""
    found = figures.evaluators
    for assertion in found.assertions:
        interval = said_interval(assertion.true.interval, assertion.true.of)
        said = f"{percent(assertion.true.rate)} true ({interval})"
        yield assertion.name, said, f"{assertion.true.of:,}/{assertion.n_expected:,}"
    for score in found.scores:
        values = score.values
        said = f"mean {number(values.mean)}{_interval(score.interval)}, median {number(values.p50)}"
        said += f", {number(values.min)} to {number(values.max)}"
        yield score.name, said, f"{values.n:,}/{score.n_expected:,}"
    for label in found.labels:
        said = ", ".join(f"{word} {count:,}" for word, count in islice(label.counts.items(), 8))
        yield label.name, said, f"{label.n:,}/{label.n_expected:,}"
    for by, n_expected in found.silent.items():
        yield by, "said nothing", f"0/{n_expected:,}"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return f" ({interval.confidence:.0%} interval {number(interval.low)} to {number(interval.high)})"


# Failures


def _causes(figures: Figures, pen: Pen) -> Iterator[RenderableType]:
    yield pen.say("Failures by cause", "bold")
    for cause in figures.causes[:_CAUSES_SHOWN]:
        yield _cause(cause, pen)
    rest = figures.causes[_CAUSES_SHOWN:]
    left = sum(cause.count for cause in rest) + figures.causes_left_out
    if left:
        yield pen.say(f"  and {counted(left, 'failure')} of other causes")
    yield ""


def _cause(cause: CauseFigures, pen: Pen) -> RenderableType:
    from rich.padding import Padding

    stage = "" if cause.stage in ("task", "") else f" in {cause.stage}"
    what = ": ".join(part for part in (cause.type, cause.message) if part) or "no error on record"
    examples = ", ".join(cause.examples) + (", ..." if cause.count > len(cause.examples) else "")
    return Padding(
        pen.join(
            pen.say(f"{cause.count:,} {pen.by} {cause.outcome or 'failed'}{stage}", "red"),
            "  ",
            pen.say(what, limit=200),
            "  ",
            pen.say(f"[{examples}]", "dim", limit=160),
        ),
        (0, 0, 0, 2),
    )


def _traces(report: Report[Any, Any, Any], pen: Pen) -> Iterator[RenderableType]:
    """The trace of the first failures, line by line: what is on them is foreign."""
    for failure in report.failures[:_CAUSES_SHOWN]:
        yield pen.say(failure.name, "bold")
        for line in failure.error_stacktrace.splitlines():
            indent = len(line) - len(line.lstrip())
            yield pen.join(" " * (indent + 2), pen.say(line))
        yield ""


# Cases


def _wants_cases(report: Report[Any, Any, Any], shown: Shown) -> bool:
    wanted = shown.get("include_cases")
    return report.figures.n <= FEW_CASES if wanted is None else wanted


def _cases(report: Report[Any, Any, Any], pen: Pen, shown: Shown) -> RenderableType:
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), expand=False)
    columns = _columns(shown)
    for title in columns:
        time = title in ("Time", "Total")
        table.add_column(title, overflow="fold", no_wrap=time, justify="right" if time else "left")
    rescored = bool(report.run and report.run.rescored_from)
    lines = []
    for row in report.rows:
        cells = _cells(row, shown)
        if rescored and cells["Time"] == seconds(0.0):
            cells["Time"] = ""  # its source knew none
        said = [
            pen.say(cells[title], _style(row) if title == "Outcome" else "", limit=200) for title in columns
        ]
        lines.append(((natural(row.key.case), row.key.variant, row.key.repeat), said))
    # By name, for two reports to be compared by eye: the order of the run is another one each time.
    for _, said in sorted(lines, key=itemgetter(0)):
        table.add_row(*said)
    return table


def _columns(shown: Shown) -> list[str]:
    optional = {
        "Inputs": shown.get("include_input", False),
        "Metadata": shown.get("include_metadata", False),
        "Expected": shown.get("include_expected_output", False),
        "Output": shown.get("include_output", False),
    }
    times = {
        "Time": shown.get("include_durations", True),
        "Total": shown.get("include_total_duration", False),
    }
    return [
        "Case",
        *(title for title, wanted in optional.items() if wanted),
        "Outcome",
        "Results",
        *(title for title, wanted in times.items() if wanted),
    ]


def _cells(row: Row, shown: Shown) -> dict[str, str]:
    cells = {
        "Case": f"{row.variant}: {row.name}" if row.variant else row.name,
        "Inputs": shown_value(row.inputs),
        "Metadata": shown_value(row.metadata),
        "Expected": shown_value(row.expected_output),
        "Output": "",
        "Total": seconds(row.total_duration),
    }
    if isinstance(row, ReportCaseFailure):
        error = ": ".join(part for part in (row.error_type, row.error_message) if part)
        return {**cells, "Outcome": outcome_word(row), "Results": error, "Time": seconds(row.duration)}
    return {
        **cells,
        "Output": shown_value(row.output),
        "Outcome": outcome_word(row),
        "Results": ", ".join(_results(row, reasons=shown.get("include_reasons", False))),
        "Time": seconds(row.task_duration),
    }


def _results(row: ReportCase[Any, Any, Any], *, reasons: bool) -> Iterator[str]:
    for result in _all_results(row):
        value = result.value
        said = (
            number(value)
            if isinstance(value, float)
            else str(value).lower()
            if isinstance(value, bool)
            else str(value)
        )
        yield f"{result.name} {said}" + (f" ({result.reason})" if reasons and result.reason else "")
    for failure in row.evaluator_failures:
        yield f"{failure.name} failed: {failure.error_type}: {failure.error_message}"


def _all_results(row: ReportCase[Any, Any, Any]) -> Iterable[EvaluationResult]:
    return (*row.assertions.values(), *row.scores.values(), *row.labels.values())


def outcome_word(row: Row) -> str:
    """What became of a case: `passed`, `failed`, `no assertion`, `not run`, or the error it ended with."""
    if row.outcome in NOT_RUN:
        return "not run"
    if row.outcome != "scored":
        return row.outcome
    return {True: "passed", False: "failed", None: "no assertion"}[row.passed]


def _style(row: Row) -> str:
    return {True: "green", False: "red", None: "yellow"}[row.passed]


# What next


def _what_next(report: Report[Any, Any, Any], pen: Pen, *, cases_shown: bool) -> Iterator[RenderableType]:
    if report.path is None:
        return
    path = str(report.path)
    yield f"Run {pen.say(path, limit=4096).plain}"
    rescored = bool(report.run and report.run.rescored_from)
    figures, quoted = report.figures, shlex.quote(path)
    if not cases_shown and (bad := figures.n_not_passed + figures.n_failed):
        named = pen.say(f"paceline report {quoted} --failures", limit=4096).plain
        yield f"  {named}  # names the {counted(bad, 'case')} that did not pass"
    for command, purpose in _commands(figures, quoted, rescored=rescored):
        yield f"  {pen.say(command, limit=4096).plain}  # {purpose}"


def _commands(figures: Figures, path: str, *, rescored: bool) -> Sequence[tuple[str, str]]:
    """Commands to go on with, and what for."""
    commands: list[tuple[str, str]] = []
    if figures.n_rerun or figures.verdict == "incomplete":
        commands.append((f"paceline resume {path}", _what_a_resume_runs(figures)))
    final_errors = figures.outcomes["task_error"] + figures.outcomes["timeout"]
    if final_errors and not rescored:  # a rescoring calls no task, so none of its errors can be mended
        again = counted(final_errors, "error")
        commands.append((f"paceline resume --retry-errors {path}", f"{again} to run again as well"))
    if figures.damaged:
        commands.append((f"paceline verify {path}", "says what is damaged"))
    return commands


def _what_a_resume_runs(figures: Figures) -> str:
    again = figures.n_rerun - figures.n_not_run
    goals = [f"{counted(figures.n_not_run, 'case')} to run"] if figures.n_not_run else []
    goals += [f"{counted(again, 'error')} to run again"] if again else []
    return ", ".join(goals) or "runs what is left"


__all__ = ["FEW_CASES", "Shown", "fields_of", "outcome_word", "render", "show"]
