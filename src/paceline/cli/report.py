"""`paceline report`: what a run has found, from its record alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, unless_gone
from paceline.printable import harmless

if TYPE_CHECKING:
    from paceline.report import Report
    from paceline.report.rows import Row


@click.command("report", cls=Verb)
@click.argument("run", required=False)
@click.option("--failures", is_flag=True, help="The cases that did not pass, a line each.")
@click.option("--case", "case", metavar="NAME", help="This case, with all that is on record about it.")
@click.option("--html", is_flag=True, help="Write one HTML file with the report and every case.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Where to; SUITE-ID.html here, if not said.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the file in the browser.")
@json_flag
def command(
    run: str | None,
    failures: bool,
    case: str | None,
    html: bool,
    output: Path | None,
    open_it: bool,
    as_json: bool,
) -> int:
    """Show what RUN (a path, or an id; the latest by default) has found."""
    from paceline.cli.find import find_run
    from paceline.report import Report

    if (output is not None or open_it) and not html:
        raise click.UsageError("-o and --open say what becomes of a file: add --html")
    if html and (failures or case is not None):
        raise click.UsageError("an HTML file has all cases: leave --failures and --case out")
    report = Report.read(find_run(run))
    if html:
        _write_html(report, output, open_it=open_it, as_json=as_json)
    elif case is not None or failures:
        _tell_rows(_chosen(report, case), as_json=as_json, in_full=case is not None)
    elif as_json:
        say(report.to_json())
    else:
        with unless_gone():
            report.print()
    return 0


def _write_html(report: Report[Any, Any, Any], output: Path | None, *, open_it: bool, as_json: bool) -> None:
    from paceline.runs import file_name

    path = report.to_html(output or Path(file_name(report.dataset_name, report.run_id, ".html"))).absolute()
    if as_json:
        say_json({"path": str(path), "url": path.as_uri(), "bytes": path.stat().st_size})
    else:
        say(path.as_uri())
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())


def _chosen(report: Report[Any, Any, Any], case: str | None) -> Iterator[Row]:
    """The rows of one case, or all that did not pass."""
    from paceline.errors import UsageError
    from paceline.report.failing import failing_rows

    if case is None:
        return failing_rows(report)
    rows: Iterable[Row] = chain(report.cases, report.failures)
    found = [row for row in rows if case in (row.key.case, row.name)]
    if not found:
        raise UsageError(f"there is no case {case!r} in {report.path}", hint="names are matched as a whole")
    return iter(found)


def _tell_rows(rows: Iterator[Row], *, as_json: bool, in_full: bool) -> None:
    if as_json:
        say_json([_document(row) for row in rows])
        return
    from paceline.report.failing import why_not

    for row in rows:
        say(harmless(_in_full(row) if in_full else f"{_head(row)}  {why_not(row)}"))


def _head(row: Row) -> str:
    from paceline.progress import ending

    return f"{row.key}  {ending(row.outcome, row.passed)}"


def _in_full(row: Row) -> str:
    from paceline.report.text import seconds

    lines = [_head(row)]
    document = _document(row)
    for name, label in (("seconds", "time"), ("waited_s", "waited")):
        # Nobody waited, or it is not known how long it took: results of another harness may not say.
        if taken := document.pop(name):
            lines.append(f"{label}: {seconds(taken)}")
    for name, value in document.items():
        if name in ("case", "repeat", "variant", "outcome", "passed") or value in (None, {}, []):
            continue
        if name == "results":
            lines += [f"{each}: {_said(result)}" for each, result in value.items()]
            continue
        if name == "evaluator_failures":
            lines += [_failed(each, failure) for each, failure in value.items()]
            continue
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        lines.append(f"{name}: {text}" if "\n" not in text else f"{name}:\n{text.rstrip()}")
    return "\n".join(lines)


def _said(result: dict[str, Any]) -> str:
    value = json.dumps(result["value"], ensure_ascii=False)
    return f"{value}, because {result['reason']}" if result["reason"] else value


def _failed(name: str, failure: dict[str, str]) -> str:
    return f"{name} could not say anything: {failure['error']}\n{failure['trace']}".rstrip()


def _document(row: Row) -> dict[str, Any]:
    """All that is on record about a key, as plain data."""
    from paceline import values
    from paceline.report.rows import ReportCaseFailure

    def plain(value: object) -> Any:
        return json.loads(values.encode(value))

    document: dict[str, Any] = {
        "case": row.key.case,
        "repeat": row.key.repeat,
        "variant": row.key.variant,
        "outcome": row.outcome,
        "passed": row.passed,
        "inputs": plain(row.inputs),
        "expected_output": plain(row.expected_output),
        "metadata": plain(row.metadata),
        "attempts": row.attempts,
        "waited_s": row.waited,
        "metrics": row.metrics,
        "attributes": plain(row.attributes),
    }
    if isinstance(row, ReportCaseFailure):
        return document | {
            "seconds": row.duration,
            "output": plain(row.output),
            "stage": row.error_stage,
            "error": f"{row.error_type}: {row.error_message}",
            "trace": row.error_stacktrace,
        }
    results = {**row.assertions, **row.scores, **row.labels}
    return document | {
        "seconds": row.task_duration,
        "output": plain(row.output),
        "results": {name: {"value": each.value, "reason": each.reason} for name, each in results.items()},
        "evaluator_failures": {
            each.name: {"error": f"{each.error_type}: {each.error_message}", "trace": each.error_stacktrace}
            for each in row.evaluator_failures
        },
    }
