"""The pytest plugin: a suite as a test, which fails where the run does not keep its rules.

    @pytest.mark.paceline("suite.yaml", min_pass_rate=0.9, max_p95="30s")
    def test_capitals() -> None: ...

    @pytest.mark.paceline("suite.yaml", min_pass_rate=0.9)
    def test_more(paceline_report: paceline.Report) -> None:
        assert paceline_report.figures.n_failed == 0

The suite is run and held against the rules before the test's own code; the failure names every case that has
not passed. With more than one mark each suite has to be green. pytest loads this module wherever Paceline is
installed, so it imports nothing of it before a test asks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest

if TYPE_CHECKING:
    from paceline.gates import Rules
    from paceline.report import Report
    from paceline.suite import Suite

    Run = Callable[..., Report[Any, Any, Any]]

MARK: Final = (
    "paceline(suite, min_FIGURE=..., max_FIGURE=..., no_regression=..., confidence=...): "
    "run the suite, and fail where it does not keep the rules"
)
_REPORTS: Final = pytest.StashKey[list["Report[Any, Any, Any]"]]()
_RULE_WORDS: Final = (
    *("min", "max", "min_coverage", "no_regression"),
    *("require_calibrated_judges", "confidence", "allow_simulated"),
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, for those who allow no others."""
    config.addinivalue_line("markers", MARK)


@pytest.fixture
def paceline_report(request: pytest.FixtureRequest) -> Report[Any, Any, Any]:
    """The report of the suite that the test is marked with."""
    reports = _reports_of(request.node)
    if not reports:
        pytest.fail(
            '`paceline_report` is of a marked test: @pytest.mark.paceline("suite.yaml")', pytrace=False
        )
    return reports[0]


@pytest.fixture
def paceline_run(request: pytest.FixtureRequest) -> Run:
    """Runs a suite and gives its report: `paceline_run("suite.yaml", limit=10)`."""

    def run(suite: Any, **options: Any) -> Report[Any, Any, Any]:
        return _run(request.node, suite, options)

    return run


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold what the test is marked with against its rules, and then let the test speak."""
    marks = list(item.iter_markers("paceline"))
    if marks:
        told = [
            text
            for mark, report in zip(marks, _reports_of(item), strict=True)
            if (text := _told(item, mark, report))
        ]
        if told:
            pytest.fail("\n\n".join(told), pytrace=False)
    return (yield)


def _reports_of(item: pytest.Item) -> list[Report[Any, Any, Any]]:
    """The reports of all suites that a test is marked with; they are run once."""
    if _REPORTS not in item.stash:
        reports = []
        for mark in item.iter_markers("paceline"):
            if len(mark.args) != 1:
                pytest.fail('a mark names one suite: @pytest.mark.paceline("suite.yaml")', pytrace=False)
            options, _ = _sorted_out(mark.kwargs)
            reports.append(_run(item, mark.args[0], options))
        item.stash[_REPORTS] = reports
    return item.stash[_REPORTS]


def _sorted_out(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is said of the run, and what of its rules: `min_pass_rate` is `min={"pass_rate": ...}`."""
    options: dict[str, Any] = {}
    rules: dict[str, Any] = {}
    for name, value in given.items():
        side, _, figure = name.partition("_")
        if name in _RULE_WORDS and name not in ("min", "max"):
            rules[name] = value
        elif name in ("min", "max"):
            rules.setdefault(name, {}).update(value)
        elif side in ("min", "max") and name != "max_concurrency":
            rules.setdefault(side, {})[figure] = value
        else:
            options[name] = value
    return options, rules


def _told(item: pytest.Item, mark: pytest.Mark, report: Report[Any, Any, Any]) -> str:
    """What to say where the run does not keep its rules; nothing where it does."""
    from paceline.errors import PacelineError
    from paceline.gates import judged, rules_from
    from paceline.gates.rules import rules_written

    try:
        of_the_suite = rules_written(report.run.check if report.run else {}, where="the suite")
        given = rules_from(**_sorted_out(mark.kwargs)[1], folder=item.path.parent)
        rules: Rules = of_the_suite.and_then(given)
        if not rules and "paceline_report" in getattr(item, "fixturenames", ()):
            return ""  # the test itself says what has to be so
        verdict = judged(report, rules, shown=None)
    except PacelineError as error:
        _give_up(error)
    item.user_properties.append(("paceline", f"{verdict.state}: {report.path or report.run_id}"))
    return "" if verdict.green else f"{verdict}\n\nrun: {report.path}"


def _run(item: pytest.Item, suite: Any, options: dict[str, Any]) -> Report[Any, Any, Any]:
    """Run a suite from where the test lies, with settings as the command line has them."""
    import os
    from pathlib import Path

    from paceline.api import run_job
    from paceline.cli.jobs import job_for, options_for, selection
    from paceline.delivery import delivered
    from paceline.errors import PacelineError
    from paceline.settings import effective

    here = Path.cwd()
    chosen_cases = {name: options.pop(name, None) for name in ("limit", "sample")}
    filter_ = options.pop("filter", None)
    journal = options.pop("journal", None)
    try:
        loaded = _loaded(item, suite)
        os.chdir(here)
        chosen = effective(options, suite=loaded)
        made = options_for(
            chosen,
            journal=None if journal is None else str(journal),
            progress=False,
            retry_errors=False,
            accept_changes=False,
            debug=False,
        )
        keep = selection(filter_=filter_, **chosen_cases, seed=chosen["seed"])
        return delivered(run_job(job_for(loaded, made, keep=keep, command=[])))
    except PacelineError as error:
        _give_up(error)
    finally:
        os.chdir(here)


def _loaded(item: pytest.Item, suite: Any) -> Suite:
    """The suite of a mark: from beside the test, from where pytest was started, or itself."""
    import os

    from paceline.errors import SuiteError
    from paceline.suite import Suite, load_suite

    if isinstance(suite, Suite):
        return suite
    if not isinstance(suite, str | os.PathLike):
        raise SuiteError(f"{suite!r} is no suite", hint="the path of one, or a `paceline.Suite`")
    target = os.fspath(suite)
    beside = item.path.parent / target
    file = beside.with_name(beside.name.partition(":")[0])
    return load_suite(str(beside) if file.exists() else target)


def _give_up(error: Exception) -> NoReturn:
    hint = getattr(error, "hint", "")
    pytest.fail(f"{error}\nhint: {hint}" if hint else str(error), pytrace=False)
