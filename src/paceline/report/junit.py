"""The report as JUnit XML, as CI systems read it: one test case for each key, and none of them lost.

    passed                       a test case without anything in it
    an assertion is false        failure
    ended without being scored   error: a crash is never a missing test
    no assertion                 skipped: nothing was tested
    begun, cut off, not run      error; keys that were never begun share one test case

The form is that of the schema which Ant's tasks go by, which is the strictest of those in use: attributes and
elements in its order, times in seconds. Text that XML cannot hold is written as an escape.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from paceline.printable import harmless
from paceline.report.failing import why_not
from paceline.report.rows import ReportCaseFailure, Row
from paceline.report.text import clean, counted

if TYPE_CHECKING:
    from paceline.report.report import Report

_NAME: Final = 300
_TEXT: Final = 10_000
"""Characters of what stands in a failure: logs are not the place for ten megabytes."""
_UNKNOWN_HOST: Final = "unknown"

Kind = Literal["passed", "failure", "error", "skipped"]


class _Test(NamedTuple):
    name: str
    seconds: float
    kind: Kind
    type: str = ""
    message: str = ""
    text: str = ""


def junit(report: Report[Any, Any, Any]) -> str:
    """The report."""
    suite = clean(report.name, limit=_NAME) or "unnamed"
    counts = dict.fromkeys(("passed", "failure", "error", "skipped"), 0)
    took = 0.0
    cases = []
    for test in _tests(report):
        counts[test.kind] += 1
        took += test.seconds
        cases.append(_written(test, suite))
    started = report.run.started if report.run else 0.0
    wall = report.figures.wall
    attributes = {
        "id": "0",
        "name": suite,
        "package": suite,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(started)),
        "hostname": _UNKNOWN_HOST,
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
        "time": f"{took if wall is None else wall:.3f}",
    }
    return "".join(
        (
            '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n',
            f"  <testsuite{_attributes(attributes)}>\n    <properties>\n",
            *(f"      <property{_attributes({'name': k, 'value': v})}/>\n" for k, v in _properties(report)),
            "    </properties>\n",
            *cases,
            "    <system-out/>\n    <system-err/>\n  </testsuite>\n</testsuites>\n",
        )
    )


def _tests(report: Report[Any, Any, Any]) -> Iterator[_Test]:
    rows: Iterable[Row] = report.rows
    for row in rows:
        yield _of(row)
    for key in report.open_keys:
        yield _Test(str(key), 0.0, "error", "open", "begun, and not come to an end")
    figures = report.figures
    never = figures.n_open - figures.n_begun
    if never:
        yield _Test("(never begun)", 0.0, "error", "not run", f"{counted(never, 'key')} never begun")
    if not figures.expected_known:
        yield _Test("(how many there are)", 0.0, "error", "not run", "the run was cut off: there may be more")
    elif not figures.n_expected:
        yield _Test("(no cases)", 0.0, "error", "empty", "the run has no cases")


def _of(row: Row) -> _Test:
    name = f"{row.variant}: {row.name}" if row.variant else row.name
    if isinstance(row, ReportCaseFailure):
        text = f"{row.error_type}: {row.error_message[:_TEXT]}\n{row.error_stacktrace[-_TEXT:]}"
        return _Test(name, row.duration, "error", row.outcome, why_not(row), text)
    seconds = row.task_duration
    if row.outcome != "scored":
        text = "\n".join(
            f"{each.name}: {each.error_type}: {each.error_message[:_TEXT]}\n{each.error_stacktrace[-_TEXT:]}"
            for each in row.evaluator_failures
        )
        return _Test(name, seconds, "error", row.outcome, why_not(row), text)
    if row.passed is None:
        return _Test(name, seconds, "skipped", message="nothing is asserted")
    if row.passed:
        return _Test(name, seconds, "passed")
    untrue = [(each, result) for each, result in row.assertions.items() if not result.value]
    text = "\n".join(f"{each}: {(result.reason or 'false')[:_TEXT]}" for each, result in untrue)
    return _Test(name, seconds, "failure", ", ".join(each for each, _ in untrue), why_not(row), text)


def _written(test: _Test, suite: str) -> str:
    attributes = {
        "name": clean(test.name, limit=_NAME) or "unnamed",
        "classname": suite,
        "time": f"{test.seconds:.3f}",
    }
    opening = f"    <testcase{_attributes(attributes)}"
    if test.kind == "passed":
        return f"{opening}/>\n"
    message = {"message": clean(test.message, limit=_NAME)} if test.message else {}
    if test.kind == "skipped":
        return f"{opening}>\n      <skipped{_attributes(message)}/>\n    </testcase>\n"
    said = {**message, "type": clean(test.type, limit=_NAME) or "unknown"}
    text = escape(harmless(test.text[:_TEXT]))
    return f"{opening}>\n      <{test.kind}{_attributes(said)}>{text}</{test.kind}>\n    </testcase>\n"


def _properties(report: Report[Any, Any, Any]) -> Iterator[tuple[str, str]]:
    figures = report.figures
    yield "paceline.run_id", clean(report.run_id, limit=_NAME)
    yield "paceline.verdict", figures.verdict
    known = (("pass_rate", figures.passed.rate), ("coverage", figures.coverage))
    yield from ((f"paceline.{name}", "unknown" if value is None else f"{value:.6g}") for name, value in known)


def _attributes(attributes: dict[str, str]) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())


__all__ = ["junit"]
