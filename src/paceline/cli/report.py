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
@click.option("--markdown", is_flag=True, help="A summary for GitHub: figures, causes, what has not passed.")
@click.option("--junit", is_flag=True, help="JUnit XML with a test case for each key.")
@click.option("--csv", is_flag=True, help="CSV with a line for each key.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write it to this file; of --html, SUITE-ID.html here, if not said.",
)
@click.option("--open", "open_it", is_flag=True, help="Open the file in the browser.")
@click.option(
    "--by", multiple=True, metavar="FIELD", help="Slices by this field of the metadata; may be repeated."
)
@click.option("--cluster", metavar="FIELD", help="Intervals that go by this field: its cases hang together.")
@json_flag
def command(
    run: str | None,
    failures: bool,
    case: str | None,
    by: tuple[str, ...],
    cluster: str | None,
    output: Path | None,
    open_it: bool,
    as_json: bool,
    **forms: bool,
) -> int:
    """Show what RUN (a path, or an id; the latest by default) has found."""
    from paceline.cli.find import find_run
    from paceline.report import Report

    form = _form(forms, as_json=as_json, some=failures or case is not None, output=output)
    if open_it and form != "html":
        raise click.UsageError("--open says what becomes of a page: add --html")
    if by and (form not in (None, "json") or failures or case is not None):
        raise click.UsageError("--by slices what is printed, and --json: leave the other forms out")
    report = Report.read(find_run(run))
    if cluster is not None:
        report = report.clustered(cluster)
    if form == "html":
        _write_html(report, output, open_it=open_it, as_json=as_json)
    elif form is not None:
        _write(report.to_json(by=by) if form == "json" else getattr(report, f"to_{form}")(), output)
    elif case is not None or failures:
        _tell_rows(_chosen(report, case), as_json=as_json, in_full=case is not None)
    elif as_json:
        say(report.to_json(by=by))
    else:
        with unless_gone():
            report.print(by=by)
    return 0


def _form(forms: dict[str, bool], *, as_json: bool, some: bool, output: Path | None) -> str | None:
    """The one form that is asked for, where it is another than what is printed by itself."""
    asked = [name for name, wanted in forms.items() if wanted]
    if as_json and not some and asked != ["html"] and (asked or output is not None):
        asked.append("json")
    if len(asked) > 1:
        raise click.UsageError(f"--{' and --'.join(asked)} are several forms: ask for one at a time")
    if asked and some:
        raise click.UsageError(f"--{asked[0]} has all cases: leave --failures and --case out")
    if output is not None and not asked:
        raise click.UsageError("-o says where to: add --html, --markdown, --junit, --csv or --json")
    return asked[0] if asked else None


def _write(text: str, output: Path | None) -> None:
    if output is None:
        say(text.rstrip("\n"))
        return
    from paceline.files import write_whole

    write_whole(output, text.encode("utf-8", "backslashreplace"))


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

    if case is None:
        return iter(report.not_passed)
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
