"""Checking: rules and a report, to a verdict.

What no rule has to ask for is checked first: that there are cases, that they have come to an end, that some
were scored, and that nobody has only rehearsed. Then each rule by itself, in the order in which they stand.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from paceline.errors import UsageError
from paceline.gates.baseline import Baseline, baseline_of, read_baseline
from paceline.gates.figures import Figures
from paceline.gates.regression import held_against
from paceline.gates.rules import Rule, Rules, rules_from, rules_written
from paceline.gates.verdict import SHOWN_FAILING, Failing, Finding, State, Verdict
from paceline.journal.records import WITHIN
from paceline.report.failing import why_not
from paceline.report.report import Report
from paceline.report.text import counted, dollars, number, percent, seconds
from paceline.statistics.interval import CONFIDENCE

_SIGNS: Final = {"min": ">=", "max": "<="}


def check(
    report: Report[Any, Any, Any] | str | os.PathLike[str],
    *,
    min: Mapping[str, float | str] | None = None,  # noqa: A002  # the words that people write
    max: Mapping[str, float | str] | None = None,  # noqa: A002
    min_coverage: float | str | None = None,
    no_regression: str | os.PathLike[str] | Report[Any, Any, Any] | Baseline | None = None,
    require_calibrated_judges: bool = False,
    confidence: float | None = None,
    allow_simulated: bool = False,
) -> Verdict:
    """Hold a run (its report, or where it lies) against rules; true where all of them hold.

    Figures are named as in `report.to_dict()`: `min={"pass_rate": 0.9}, max={"p95": "30s", "cost": 5}`. With
    a `confidence` the bound of the interval has to hold, and not only the figure. Without any rule, those are
    taken that the suite had when it was run.
    """
    if not isinstance(report, Report):
        report = Report.read(report)
    baseline: Baseline | None = None
    place: str | None = None
    if isinstance(no_regression, Report):
        baseline, place = baseline_of(no_regression), str(no_regression.path or no_regression.run_id)
    elif isinstance(no_regression, Baseline):
        baseline, place = no_regression, no_regression.run_id
    elif no_regression is not None:
        place = os.fspath(no_regression)
    rules = rules_from(
        min=min,
        max=max,
        min_coverage=min_coverage,
        no_regression=place,
        require_calibrated_judges=require_calibrated_judges,
        confidence=confidence,
        allow_simulated=allow_simulated,
    )
    if not rules and report.run is not None:
        rules = rules_written(report.run.check, where="the suite of the run").and_then(rules)
    return judged(report, rules, baseline=baseline)


def judged(
    report: Report[Any, Any, Any],
    rules: Rules,
    *,
    baseline: Baseline | None = None,
    shown: int | None = SHOWN_FAILING,
) -> Verdict:
    """What becomes of these rules; `baseline` is what `rules.no_regression` names, where it is at hand.

    `shown` is how many of the keys that have not passed are told; None for all.
    """
    if not rules:
        raise UsageError(
            "there is no rule to hold the run against",
            hint="--min pass_rate=0.9, in Python min={'pass_rate': 0.9}, or `check:` in the suite",
        )
    if rules.no_regression and baseline is None:
        baseline = read_baseline(Path(rules.no_regression))  # before anything: it may be misspelt
    findings = [_of_the_run(report, allow_simulated=rules.allow_simulated)]
    figures = Figures(report)
    findings += [_bound(rule, figures, rules.confidence) for rule in rules.bounds]
    if baseline is not None:
        findings.append(held_against(baseline, baseline_of(report), rules.confidence or CONFIDENCE))
    if rules.require_calibrated_judges:
        findings.append(_judges(report))
    failing, n_failing = _failing(report, shown)
    return Verdict(
        state=_state(findings),
        findings=tuple(findings),
        confidence=rules.confidence or CONFIDENCE,
        name=report.name,
        run_id=report.run_id,
        path=os.fsencode(report.path).decode(errors="backslashreplace") if report.path else None,
        failing=failing,
        n_failing=n_failing,
    )


def _state(findings: list[Finding]) -> State:
    states = {each.verdict for each in findings}
    return "incomplete" if "incomplete" in states else "red" if "red" in states else "green"


# What every run has to keep ------------------------------------------------------------------------


def _of_the_run(report: Report[Any, Any, Any], *, allow_simulated: bool) -> Finding:
    figures = report.figures
    ended = (
        f"{figures.n:,} of {counted(figures.n_expected, 'key')} came to an end, {figures.n_scored:,} scored"
    )
    verdict: State = "red"
    if not figures.n_expected and figures.expected_known:
        why = "the run has no cases"
    elif figures.verdict in ("empty", "incomplete"):
        verdict, why = "incomplete", f"the run is not whole: {ended}"
        if report.path is not None:
            why += f"; `paceline resume {report.path}` goes on with it"
    elif not figures.n_scored:
        why = f"no case was scored: {ended}"
    elif figures.is_simulated and not allow_simulated:
        why = "answers are of a simulated provider: a rehearsal is no result"
    else:
        verdict, why = "green", ended
    return Finding(
        rule="a whole run",
        figure="n_scored",
        value=figures.n_scored,
        bound=None,
        interval=None,
        verdict=verdict,
        why=why,
    )


# Bounds --------------------------------------------------------------------------------------------


def _bound(rule: Rule, figures: Figures, confidence: float | None) -> Finding:
    value, why_not_known = figures.named(rule.figure)
    bounds = None if value is None else figures.bounds(rule.figure, confidence or CONFIDENCE)
    decides, words = value, ""
    if value is None:
        words = f"unknown: {why_not_known}"
    elif confidence is not None and bounds is not None:
        decides = bounds.low if rule.side == "min" else bounds.high
        words = _of_the_bound(rule, decides, bounds, confidence)
    holds = decides is not None and (decides >= rule.bound if rule.side == "min" else decides <= rule.bound)
    return Finding(
        rule=f"{rule.written} {_SIGNS[rule.side]} {_shown(rule, rule.bound)}",
        figure=rule.figure,
        value=value,
        bound=rule.bound,
        interval=None if bounds is None else (bounds.low, bounds.high),
        verdict="green" if holds else "red",
        why=words if value is None else f"it is {_with_interval(rule, value, bounds)}{words}",
    )


def _of_the_bound(
    rule: Rule, decides: float | None, bounds: tuple[float | None, float | None], confidence: float
) -> str:
    end = "lower" if rule.side == "min" else "upper"
    if decides is None:
        many = "; more cases would tell" if bounds != (None, None) else ""
        return f", and its {end} bound is not known at {confidence:.4g}{many}"
    return f"; the {end} bound decides, at {confidence:.4g}"


def _with_interval(rule: Rule, value: float, bounds: tuple[float | None, float | None] | None) -> str:
    shown = _shown(rule, value)
    if bounds is None or bounds == (None, None):
        return shown
    low, high = ("unknown" if each is None else _shown(rule, each, exact=False) for each in bounds)
    return f"{shown} ({low} to {high})"


def _shown(rule: Rule, value: float, *, exact: bool = True) -> str:
    match rule.unit:
        case "share" if exact and abs(1000 * value - round(1000 * value)) > 1e-6:
            return f"{100 * value:.6g}%"  # what misses a bound by little must not read as if it had kept it
        case "share":
            return percent(value)
        case "seconds":
            return seconds(value)
        case "dollars":
            return dollars(value)
        case "number":
            return number(value)


# Judges --------------------------------------------------------------------------------------------


def _judges(report: Report[Any, Any, Any]) -> Finding:
    figures = report.figures
    calls = [each for each in (figures.calls, figures.simulated) if each is not None]
    asking = {by for each in calls for by in each.judging}
    wrong = [
        f"{label} is {standing.state} ({standing.why})"
        for label, standing in figures.judges.items()
        if standing.state != "calibrated"
    ]
    # Calls are counted for the evaluator of the run; a judge inside of one stands as `Cascade: LLMJudge`.
    known = {*figures.judges, *(label.partition(WITHIN)[0] for label in figures.judges)}
    wrong += [f"{label} asks a model and says nothing of its calibration" for label in sorted(asking - known)]
    good = len(figures.judges) - sum(each.state != "calibrated" for each in figures.judges.values())
    why = "; ".join(wrong) or (
        f"{counted(good, 'judge')} shown to agree with people" if good else "no evaluator asks a model"
    )
    return Finding(
        rule="calibrated judges",
        figure="judges",
        value=good,
        bound=None,
        interval=None,
        verdict="red" if wrong else "green",
        why=why,
    )


# What has not passed -------------------------------------------------------------------------------


def _failing(report: Report[Any, Any, Any], shown: int | None) -> tuple[tuple[Failing, ...], int]:
    def told() -> Iterator[Failing]:
        for row in islice(report.not_passed, shown):
            yield Failing(key=str(row.key), outcome=row.outcome, why=why_not(row))

    figures = report.figures
    return tuple(told()), figures.n - figures.n_passed - figures.n_unasserted


__all__ = ["check", "judged"]
