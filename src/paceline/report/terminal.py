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
from typing import IO, TYPE_CHECKING, Any, Final, TypedDict

from paceline.report.figures import CauseFigures, Figures, Proportion
from paceline.report.interval import Interval
from paceline.report.rows import EvaluationResult, ReportCase, ReportCaseFailure, Row
from paceline.report.text import clean, counted, number, percent, seconds, shown_value, times

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from paceline.report.report import Report

FEW_CASES: Final = 50
"""Cases up to which a table of them is shown without being asked for."""
_CAUSES_SHOWN: Final = 10
_WIDTH: Final = 80


class Shown(TypedDict, total=False):
    """What is shown, by the names of Pydantic Evals."""

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


def render(report: Report[Any, Any, Any], *, width: int | None, shown: Shown) -> str:
    """The report as plain text."""
    file = io.StringIO()
    _print(report, file, _console(file, width or _WIDTH, plain=True), shown)
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
        _print(report, console.file, console, shown)
        return
    file = sys.stdout if file is None else file
    _print(report, file, _console(file, width, plain=False), shown)


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


def _print(report: Report[Any, Any, Any], file: IO[str], console: Console, shown: Shown) -> None:
    if unknown := shown.keys() - Shown.__annotations__.keys():
        known = ", ".join(sorted(Shown.__annotations__))
        raise TypeError(f"a report does not show {', '.join(sorted(unknown))}; it knows {known}")
    pen = Pen(getattr(file, "encoding", None) or "utf-8")
    for part in _parts(report, pen, shown):
        plain = isinstance(part, str)
        console.print(part, soft_wrap=plain, markup=False, highlight=False, emoji=False)


class Pen:
    """Writes what the stream can show."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self.unicode = encoding.lower().replace("-", "") == "utf8"

    def say(self, text: str, style: str = "", *, limit: int = 300) -> Text:
        """Foreign text, harmless and on one line."""
        from rich.text import Text

        return Text(clean(text, limit=limit, encoding=self.encoding), style=style)

    def join(self, *parts: Text | str, style: str = "") -> Text:
        """Pieces in one text; those that are not text yet are ours, and are left as they are."""
        from rich.text import Text

        return Text.assemble(*parts, style=style)

    @property
    def box(self) -> Any:
        from rich import box

        return box.SIMPLE_HEAD if self.unicode else box.ASCII2

    @property
    def by(self) -> str:
        return "×" if self.unicode else "x"


def _parts(report: Report[Any, Any, Any], pen: Pen, shown: Shown) -> Iterator[RenderableType]:
    figures = report.figures
    yield _header(report, pen)
    yield ""
    if figures.verdict != "empty":
        yield _overview(figures, pen)
        evaluators = figures.evaluators
        averages = shown.get("include_averages", True)
        failures = shown.get("include_evaluator_failures", True)
        told = evaluators.assertions or evaluators.scores or evaluators.labels
        if (told and averages) or (evaluators.failures and failures):
            yield _evaluators(figures, pen, averages=averages, failures=failures)
        if figures.causes and shown.get("include_errors", True):
            yield from _causes(figures, pen)
        if shown.get("include_error_stacktrace"):
            yield from _traces(report, pen)
        if _wants_cases(report, shown):
            yield _cases(report, pen, shown)
    yield from _what_next(report, pen)


def _header(report: Report[Any, Any, Any], pen: Pen) -> Text:
    figures = report.figures
    style = {"complete": "bold green", "errors": "bold red"}.get(figures.verdict, "bold yellow")
    return pen.join(
        pen.say(report.name, "bold", limit=100),
        "  ",
        pen.say(figures.verdict.upper(), style),
        "  ",
        _how_far(figures),
    )


def _how_far(figures: Figures) -> str:
    expected = counted(figures.n_expected, "case")
    not_run = figures.outcomes["cancelled"] + figures.outcomes["skipped_budget"]
    match figures.verdict:
        case "empty":
            return "no case was run, so nothing is known"
        case "incomplete":
            missing = figures.n_open + not_run
            if figures.expected_known:
                return f"{missing:,} of {expected} {'is' if missing == 1 else 'are'} left to run"
            return f"{figures.n - not_run:,} done, {missing:,} left to run, and there may be more"
        case "errors":
            return f"{figures.n_failed:,} of {expected} ended without being scored"
        case "complete":
            return f"{expected} scored" if figures.n_expected == 1 else f"all {expected} were scored"


# Overview


def _overview(figures: Figures, pen: Pen) -> RenderableType:
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, overflow="crop", style="bold")
    grid.add_column()
    for label, said in _lines(figures):
        grid.add_row(pen.say(label, limit=24), pen.say(said, limit=500))
    return grid


def _lines(figures: Figures) -> Iterator[tuple[str, str]]:
    """What the overview says, a label and a sentence each."""
    yield "Pass rate", _rate(figures.passed, "failures included")
    if figures.passed_of_scored.of and figures.passed_of_scored.of != figures.passed.of:
        yield "of completed", _rate(figures.passed_of_scored, f"coverage {percent(figures.coverage)}")
    yield "Cases", _counts(figures)
    if figures.n_unasserted:
        yield (
            "No assertion",
            f"{counted(figures.n_unasserted, 'case')} with none: not passed, and in neither rate",
        )
    if figures.n_failed:
        causes = ", ".join(f"{name} {n:,}" for name, n in figures.outcomes.items() if n and name != "scored")
        yield "Error rate", f"{percent(figures.error_rate)} of {figures.n:,} ended: {causes}"
    latency = figures.latency
    if latency.n:
        quantiles = {"p50": latency.p50, "p90": latency.p90, "p95": latency.p95, "p99": latency.p99}
        shape = {**quantiles, "mean": latency.mean, "max": latency.max}
        told = ", ".join(f"{name} {seconds(value)}" for name, value in shape.items())
        yield "Latency", f"{told} ({counted(latency.n, 'output')})"
    if figures.waited:
        yield "Waiting", f"{seconds(figures.waited)} for limits and between tries, in all; not in the latency"
    if figures.wall is not None:
        yield "Duration", _duration(figures)
    if figures.attempts > figures.n + figures.n_begun or figures.retries or figures.abandoned:
        yield "Attempts", _attempts(figures)
    for variant in figures.variants:
        yield f"  {variant.name or 'default'}", _rate(variant.passed, f"{variant.n_failed:,} failed")
    if figures.damaged or figures.unsealed:
        yield "Journal", f"{counted(figures.damaged, 'damaged line')}, {figures.unsealed:,} edited by hand"
    if figures.results_left_out:
        yield (
            "Left out",
            f"{counted(figures.results_left_out, 'result')}: more names than a report tells apart",
        )


def _rate(proportion: Proportion, remark: str) -> str:
    if proportion.rate is None:
        return "unknown: no case has an assertion"
    interval = _interval(proportion.interval, proportion.of)
    return f"{percent(proportion.rate)} ({interval}), {proportion.count:,} of {proportion.of:,}, {remark}"


def _interval(interval: Interval | None, of: int) -> str:
    if interval is None:
        return "no interval"
    told = f"{interval.confidence:.0%} interval {percent(interval.low)} to {percent(interval.high)}"
    # Repeats of one case tell less than as many cases.
    if interval.n < 0.995 * of:
        told += f", worth {counted(round(interval.n), 'independent case')}"
    return told


def _counts(figures: Figures) -> str:
    parts = [f"{figures.n_passed:,} passed", f"{figures.n_not_passed:,} not"]
    if figures.n_unasserted:
        parts.append(f"{figures.n_unasserted:,} without assertion")
    told = f"{figures.n_expected:,} expected: {figures.n_scored:,} scored ({', '.join(parts)})"
    told += f", {figures.n_failed:,} failed"
    if figures.n_open:
        told += f", {figures.n_open:,} open"
    if not figures.expected_known:
        told += "; there may be more"
    if 0 < figures.n_cases < figures.n_expected and figures.n_cases < figures.n + figures.n_begun:
        told += f"; {counted(figures.n_cases, 'different case')}"
    return told


def _duration(figures: Figures) -> str:
    told = seconds(figures.wall)
    if figures.processes > 1:
        told += f" in {figures.processes} processes"
    if figures.concurrency is not None and figures.speed_up is not None:
        told += f"; effective concurrency {times(figures.concurrency)}"
        told += f", {times(figures.speed_up)} times as fast as a plain loop"
    return told


def _attempts(figures: Figures) -> str:
    told = f"{figures.attempts:,}"
    if figures.retries:
        classes = ", ".join(f"{name} {count:,}" for name, count in figures.retries.items())
        told += f"; {sum(figures.retries.values()):,} retried ({classes})"
    if figures.abandoned:
        told += f"; {figures.abandoned:,} ignored a deadline and were left behind"
    return told


# Evaluators


def _evaluators(figures: Figures, pen: Pen, *, averages: bool, failures: bool) -> RenderableType:
    from rich.table import Table

    table = Table(box=pen.box, padding=(0, 1), title_justify="left", expand=False)
    table.add_column("Evaluator", overflow="fold")
    table.add_column("Result", overflow="fold")
    table.add_column("Cases", justify="right", overflow="fold")
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
        interval = _interval(assertion.true.interval, assertion.true.of)
        said = f"{percent(assertion.true.rate)} true ({interval})"
        yield assertion.name, said, f"{assertion.true.of:,}/{assertion.n_expected:,}"
    for score in found.scores:
        values = score.values
        said = f"mean {number(values.mean)}, median {number(values.p50)}"
        said += f", {number(values.min)} to {number(values.max)}"
        yield score.name, said, f"{values.n:,}/{score.n_expected:,}"
    for label in found.labels:
        said = ", ".join(f"{word} {count:,}" for word, count in islice(label.counts.items(), 8))
        yield label.name, said, f"{label.n:,}/{label.n_expected:,}"


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
        table.add_column(title, overflow="fold", justify="right" if title in ("Time", "Total") else "left")
    for row in report.rows:
        cells = _cells(row, shown)
        table.add_row(
            *(
                pen.say(cells[title], _style(row) if title == "Outcome" else "", limit=200)
                for title in columns
            )
        )
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
        return {**cells, "Outcome": row.outcome, "Results": error, "Time": seconds(row.duration)}
    outcome = {True: "passed", False: "not passed", None: "no assertion"}[row.passed]
    return {
        **cells,
        "Output": shown_value(row.output),
        "Outcome": outcome if row.outcome == "scored" else row.outcome,
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


def _style(row: Row) -> str:
    return {True: "green", False: "red", None: "yellow"}[row.passed]


# What next


def _what_next(report: Report[Any, Any, Any], pen: Pen) -> Iterator[RenderableType]:
    if report.path is None:
        return
    path = str(report.path)
    yield f"Run {pen.say(path, limit=4096).plain}"
    for command, purpose in _commands(report.figures, shlex.quote(path)):
        yield f"  {pen.say(command, limit=4096).plain}  # {purpose}"


def _commands(figures: Figures, path: str) -> Sequence[tuple[str, str]]:
    """Commands to go on with, and what for."""
    commands: list[tuple[str, str]] = []
    if figures.n_rerun or figures.verdict == "incomplete":
        goal = f"runs the {counted(figures.n_rerun, 'open case')}" if figures.n_rerun else "runs what is left"
        commands.append((f"paceline resume {path}", goal))
    final_errors = figures.outcomes["task_error"] + figures.outcomes["timeout"]
    if final_errors:
        again = counted(final_errors, "that failed", "that failed")
        commands.append((f"paceline resume --retry-errors {path}", f"and once more the {again}"))
    if figures.damaged:
        commands.append((f"paceline verify {path}", "says what is damaged"))
    return commands


__all__ = ["FEW_CASES", "Pen", "Shown", "render", "show"]
