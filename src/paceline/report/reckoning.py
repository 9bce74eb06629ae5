"""The reckoning: from a table to its figures.

Pure functions. The rules behind the numbers are told in `figures`. Knows nothing of files or rendering.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from paceline.journal.records import FINAL, OUTCOMES, Key
from paceline.report.causes import Cause
from paceline.report.columns import Column
from paceline.report.figures import (
    AssertionFigures,
    CauseFigures,
    EvaluatorFigures,
    Figures,
    LabelFigures,
    ScoreFigures,
    SparedFigures,
    Verdict,
)
from paceline.report.findings import Labels
from paceline.report.limits import limits_of
from paceline.report.parts import per_case, shared, variants_of
from paceline.report.passing import (
    ASSERTED,
    COUNTING,
    NOT_RUN,
    Units,
    asserts_nothing,
    headline,
    latencies_of,
    mean_of,
    proportion,
    share,
    tries_of,
    with_verdicts,
    without_interval,
)
from paceline.report.quantiles import histogram, spread
from paceline.report.rehearsal import predicted
from paceline.report.shapes import Proportion
from paceline.report.stability import repeats_of
from paceline.report.table import CODES, NOT_PASSED, OPEN, PASSED, SCORED, UNASSERTED, Table
from paceline.report.timeline import timeline_of
from paceline.report.traffic import calls_in_all, pools_of
from paceline.statistics.proportions import clustered, wilson
from paceline.statistics.repeats import by_tries, pass_at_k, pass_hat_k

MAX_GROUPS = 50
"""Causes of failure that are listed; the others are counted."""
MAX_EXAMPLES = 5


RERUN = frozenset(OUTCOMES) - FINAL
"""Outcomes of keys that a resume takes up again."""


def figures_of(table: Table, key_of: Callable[[int], Key], units: Units = None) -> Figures:
    """All figures; `key_of` names the key of a row.

    `units` says which rows hang together; where it does not, those of one case do.
    """
    units = table.groups if units is None else units
    codes = Counter(table.outcome)
    outcomes: dict[str, int] = {outcome: codes[CODES[outcome]] for outcome in OUTCOMES}
    ended, scored = len(table) - codes[OPEN], codes[SCORED]
    expected, known = expected_keys(table)
    wall = sum(process.wall for process in table.processes) or None
    causes = _causes(table, key_of)
    cut_off = sum(outcomes[outcome] for outcome in NOT_RUN)
    verdict = _verdict(len(table), expected, known=known, ended=ended, not_run=cut_off, scored=scored)
    whole = verdict != "incomplete"
    # Of a rescored run the times are its source's, and nobody was called.
    busy = None if table.rescored else wall
    latency = spread(seconds for _, seconds in latencies_of(table))
    return Figures(
        verdict=verdict,
        stopped=_stopped(table),
        n_expected=expected,
        expected_known=known,
        n_cases=len(table) if table.groups is None else len(set(table.groups)),
        n=ended,
        n_scored=scored,
        n_failed=ended - scored,
        n_open=expected - ended,
        n_begun=codes[OPEN],
        n_not_run=expected - ended + cut_off,
        n_rerun=expected - ended + sum(outcomes[outcome] for outcome in RERUN),
        outcomes=outcomes,
        **_passing(table, expected, units, whole=whole),
        coverage=share(scored, expected),
        error_rate=share(ended - cut_off - scored, ended - cut_off),
        timeout_rate=share(outcomes["timeout"], ended - cut_off),
        repeats=repeats_of(table, key_of),
        latency=latency,
        latency_bins=histogram((seconds for _, seconds in latencies_of(table)), latency),
        waited=math.fsum(table.waited.values()),
        wall=wall,
        timeline=timeline_of(table),
        work=table.work,
        concurrency=share(table.work, busy),
        speed_up=share(table.work + math.fsum(table.findings.seconds.values()), busy),
        rate_per_s=share(ended, wall),
        attempts=sum(table.attempts),
        retries=dict(table.retries.most_common()),
        abandoned=sum(table.abandoned.values()),
        processes=len(table.processes),
        damaged=table.damaged,
        unsealed=table.unsealed,
        evaluators=_evaluators(table, expected, units),
        judges=table.judges,
        causes=causes,
        causes_left_out=ended - scored - sum(cause.count for cause in causes),
        variants=variants_of(table, units, whole=whole),
        results_left_out=table.findings.left_out,
        **_calls(table, key_of),
    )


def _calls(table: Table, key_of: Callable[[int], Key]) -> dict[str, Any]:
    """The figures of calls and pools, and what limited the run."""
    ends = [end for process in table.processes if process.ended for end in process.ended.pools]
    pools = pools_of(table.calls, ends)

    def slowest() -> tuple[str, float] | None:
        rows = [row for row, code in enumerate(table.outcome) if code != OPEN]
        if not rows:
            return None
        row = max(rows, key=table.seconds.__getitem__)
        return str(key_of(row)), table.seconds[row]

    simulated = calls_in_all(table.calls, simulated=True)
    passed = table.verdict.count(PASSED)
    written = table.run.fingerprint if table.run is not None else {}
    played = written.get("simulated")
    real = calls_in_all(table.calls, simulated=False)
    return {
        "calls": real,
        "simulated": simulated,
        "cost": shared(real.spending.cost, n=len(table), passed=passed) if real else None,
        "per_case": per_case(table),
        "is_simulated": simulated is not None or bool(played) or bool(written.get("simulated_outputs")),
        "rehearsal": predicted(
            played,
            simulated,
            cases=len(table),
            work=table.work,
            wall=math.fsum(process.wall for process in table.processes),
            places=next((each.ended.places for each in reversed(table.processes) if each.ended), 0),
        ),
        "pools": pools,
        "limited": limits_of(
            [(process.wall, process.ended) for process in table.processes], pools, slowest=slowest
        ),
    }


def expected_keys(table: Table) -> tuple[int, bool]:
    """How many keys the run has, as far as is known, and whether that is known."""
    last = table.processes[-1].ended if table.processes else None
    known = table.expected is not None or (last is not None and last.how == "complete")
    # More than that where cases were taken out of the dataset after they had run.
    return max(len(table), table.expected or 0), known


def _verdict(rows: int, expected: int, *, known: bool, ended: int, not_run: int, scored: int) -> Verdict:
    if not rows and not expected:
        return "empty"
    if not known or ended - not_run < expected:
        return "incomplete"
    return "complete" if scored == ended else "errors"


def _stopped(table: Table) -> str:
    last = table.processes[-1].ended if table.processes else None
    return "" if last is None or last.how == "complete" else last.reason


# Proportions


def _passing(table: Table, expected: int, units: Units, *, whole: bool) -> dict[str, Any]:
    """The figures about passing; nothing was observed of the keys that a run which is not whole has left."""
    verdicts = Counter(table.verdict)
    passed = of_run = headline(table, None, units)
    if not whole and not asserts_nothing(verdicts):
        passed = without_interval(passed, of=expected - verdicts[UNASSERTED])
        of_run = proportion(table, with_verdicts(table, COUNTING, run_only=True), units)
    # Several variants are several answers, and no average of them is one.
    repeated = whole and table.groups is not None and not any(table.variants)
    tries = tries_of(table, with_verdicts(table, COUNTING), table.groups) if repeated else []
    return {
        "n_passed": verdicts[PASSED],
        "n_not_passed": verdicts[NOT_PASSED],
        "n_unasserted": verdicts[UNASSERTED],
        "passed": passed,
        "passed_of_run": of_run,
        "passed_of_scored": proportion(table, with_verdicts(table, ASSERTED), units),
        "pass_at": by_tries(tries, pass_at_k),
        "pass_hat": by_tries(tries, pass_hat_k),
    }


# Evaluators


def _evaluators(table: Table, expected: int, units: Units) -> EvaluatorFigures:
    findings = table.findings
    failures = {label: sum(column.values()) for label, column in findings.failures.items()}
    place = {label: number for number, label in enumerate(table.evaluators)}

    def expected_of(by: str, n: int) -> int:
        return expected if by in place else n + failures.get(by, 0)

    def in_place(figures: AssertionFigures | ScoreFigures | LabelFigures) -> int:
        return place.get(figures.by, len(place))

    # A column without values is that of an evaluator whose every result was taken back.
    assertions = [
        _assertion(name, column, expected_of, units) for name, column in findings.assertions.items()
    ]
    scores = [_score(name, column, expected_of, units) for name, column in findings.scores.items()]
    labels = [_label(name, column, expected_of) for name, column in findings.labels.items()]
    told = EvaluatorFigures(
        assertions=sorted((each for each in assertions if each.true.of), key=in_place),
        scores=sorted((each for each in scores if each.values.n), key=in_place),
        labels=sorted((each for each in labels if each.n), key=in_place),
        failures={label: count for label, count in failures.items() if count},
        silent={},
        spared=[],
    )
    spared = [_spared(each, told) for each in findings.spared.values()]
    told = msgspec.structs.replace(told, spared=[each for each in spared if each.calls])
    if findings.left_out:  # whose results these were is not known
        return told
    heard = told.failures.keys() | {each.by or each.name for each in told.assertions}
    heard |= {each.by or each.name for each in told.scores}
    heard |= {each.by or each.name for each in told.labels}
    silent = {label: expected for label in table.evaluators if label not in heard}
    return msgspec.structs.replace(told, silent=silent)


def _assertion(
    name: str, column: Column[int], expected_of: Callable[[str, int], int], units: Units
) -> AssertionFigures:
    counts = Counter(column.values())
    n_true, n = counts[1], counts.total()
    if units is None:
        interval = wilson(n_true, n)
    else:
        sizes: Counter[int] = Counter()
        trues: Counter[int] = Counter()
        for row, value in column.present():
            sizes[units[row]] += 1
            trues[units[row]] += value
        interval = clustered((trues[unit], size) for unit, size in sizes.items())
    return AssertionFigures(
        name=name,
        by=column.by,
        n_expected=expected_of(column.by, n),
        true=Proportion(count=n_true, of=n, rate=share(n_true, n), interval=interval),
    )


def _score(
    name: str, column: Column[float], expected_of: Callable[[str, int], int], units: Units
) -> ScoreFigures:
    values = spread(column.values())
    return ScoreFigures(
        name=name,
        by=column.by,
        n_expected=expected_of(column.by, values.n),
        values=values,
        interval=mean_of(column, None, units).interval,
    )


def _spared(column: Column[int], told: EvaluatorFigures) -> SparedFigures:
    calls = list(column.values())
    asserted = [each.true.of for each in told.assertions if each.by == column.by]
    scored = [each.values.n for each in told.scores if each.by == column.by]
    return SparedFigures(
        by=column.by, n=max([*asserted, *scored], default=len(calls)), cases=len(calls), calls=sum(calls)
    )


def _label(name: str, labels: Labels, expected_of: Callable[[str, int], int]) -> LabelFigures:
    counts = Counter(labels.codes.values())
    n, by = counts.total(), labels.codes.by
    words = {labels.words[code]: count for code, count in counts.most_common()}
    return LabelFigures(name=name, by=by, n=n, n_expected=expected_of(by, n), counts=words)


# Causes


def _causes(table: Table, key_of: Callable[[int], Key]) -> list[CauseFigures]:
    """The most frequent causes of failure, each with its first keys."""
    frequent = Counter(table.cause.values()).most_common(MAX_GROUPS)
    examples: dict[int, list[int]] = {code: [] for code, _ in frequent}
    for row, code in table.cause.present():
        rows = examples.get(code)
        if rows is not None and len(rows) < MAX_EXAMPLES:
            rows.append(row)
    return [
        _cause(table.causes[code], count, [str(key_of(row)) for row in examples[code]])
        for code, count in frequent
    ]


def _cause(cause: Cause, count: int, examples: list[str]) -> CauseFigures:
    return CauseFigures(
        outcome=cause.outcome,
        stage=cause.stage,
        type=cause.type,
        message=cause.message,
        count=count,
        examples=examples,
    )


__all__ = ["RERUN", "expected_keys", "figures_of"]
