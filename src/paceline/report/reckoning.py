"""The reckoning: from a table to its figures.

Pure functions. The rules behind the numbers are told in `figures`. Knows nothing of files or rendering.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

from paceline.journal.records import FINAL, OUTCOMES, Key
from paceline.report.causes import Cause
from paceline.report.columns import Column
from paceline.report.figures import (
    AssertionFigures,
    CauseFigures,
    EvaluatorFigures,
    Figures,
    LabelFigures,
    Proportion,
    ScoreFigures,
    Spread,
    VariantFigures,
    Verdict,
)
from paceline.report.findings import Labels
from paceline.report.interval import clustered, wilson
from paceline.report.quantiles import quantiles
from paceline.report.table import (
    CODES,
    CODES_WITH_OUTPUT,
    NOT_PASSED,
    OPEN,
    PASSED,
    SCORED,
    UNASSERTED,
    UNSCORED,
    Table,
)

MAX_GROUPS = 50
"""Causes of failure that are listed; the others are counted."""
MAX_EXAMPLES = 5


RERUN = frozenset(OUTCOMES) - FINAL
"""Outcomes of keys that a resume takes up again."""
NOT_RUN = frozenset({"cancelled", "skipped_budget"})
"""Outcomes of keys that the run did not get to the end of: it is incomplete while there are any."""
_COUNTING = frozenset({PASSED, NOT_PASSED, UNSCORED})
"""Verdicts of rows that the headline is about; no outcome yet, or one that is not `scored`, is `UNSCORED`."""
_ASSERTED = frozenset({PASSED, NOT_PASSED})
_QUANTILES = (0.0, 0.5, 0.9, 0.95, 0.99, 1.0)


def figures_of(table: Table, key_of: Callable[[int], Key]) -> Figures:
    """All figures; `key_of` names the key of a row."""
    codes = Counter(table.outcome)
    outcomes: dict[str, int] = {outcome: codes[CODES[outcome]] for outcome in OUTCOMES}
    ended, scored = len(table) - codes[OPEN], codes[SCORED]
    expected, known = expected_keys(table)
    wall = sum(process.wall for process in table.processes) or None
    causes = _causes(table, key_of)
    return Figures(
        verdict=_verdict(
            len(table),
            expected,
            known=known,
            ended=ended,
            not_run=sum(outcomes[outcome] for outcome in NOT_RUN),
            scored=scored,
        ),
        n_expected=expected,
        expected_known=known,
        n_cases=len(table) if table.groups is None else len(set(table.groups)),
        n=ended,
        n_scored=scored,
        n_failed=ended - scored,
        n_open=expected - ended,
        n_begun=codes[OPEN],
        n_rerun=expected - ended + sum(outcomes[outcome] for outcome in RERUN),
        outcomes=outcomes,
        **_passing(table, expected),
        coverage=_share(scored, expected),
        error_rate=_share(ended - scored, ended),
        timeout_rate=_share(outcomes["timeout"], ended),
        latency=spread(_latencies(table)),
        waited=math.fsum(table.waited.values()),
        wall=wall,
        work=table.work,
        concurrency=_share(table.work, wall),
        speed_up=_share(table.work + math.fsum(table.findings.seconds.values()), wall),
        rate_per_s=_share(ended, wall),
        attempts=sum(table.attempts),
        retries=dict(table.retries.most_common()),
        abandoned=sum(table.abandoned.values()),
        processes=len(table.processes),
        damaged=table.damaged,
        unsealed=table.unsealed,
        evaluators=_evaluators(table, expected),
        causes=causes,
        causes_left_out=ended - scored - sum(cause.count for cause in causes),
        variants=_variants(table),
        results_left_out=table.findings.left_out,
    )


def _latencies(table: Table) -> Iterator[float]:
    for code, seconds in zip(table.outcome, table.seconds, strict=True):
        if code in CODES_WITH_OUTPUT:
            yield seconds


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


def _share(part: float, whole: float | None) -> float | None:
    """Unknown where there is nothing to divide by, or so little that the answer is no number."""
    share = part / whole if whole else None
    return share if share is not None and isfinite(share) else None


def spread(values: Iterable[float]) -> Spread:
    """The distribution of values."""
    kept = array("d", values)
    found: Sequence[float | None] = quantiles(kept, _QUANTILES) or [None] * len(_QUANTILES)
    low, p50, p90, p95, p99, high = found
    mean = math.fsum(kept) / len(kept) if kept else None
    return Spread(n=len(kept), mean=mean, min=low, p50=p50, p90=p90, p95=p95, p99=p99, max=high)


# Proportions


def _passing(table: Table, expected: int) -> dict[str, Any]:
    """The figures about passing."""
    verdicts = Counter(table.verdict)
    never_begun = expected - len(table)
    if verdicts[UNASSERTED] and not verdicts[PASSED] + verdicts[NOT_PASSED]:
        # No case asserts anything: what failed does not make a pass rate of it.
        headline = Proportion(count=0, of=0, rate=None, interval=None)
    else:
        headline = _proportion(table, _COUNTING, never_begun=never_begun)
    return {
        "n_passed": verdicts[PASSED],
        "n_not_passed": verdicts[NOT_PASSED],
        "n_unasserted": verdicts[UNASSERTED],
        "passed": headline,
        "passed_of_scored": _proportion(table, _ASSERTED),
    }


def _proportion(
    table: Table, verdicts: frozenset[int], *, never_begun: int = 0, variant: int | None = None
) -> Proportion:
    """How many rows passed of those with these verdicts and of keys that were never begun."""
    rows = _rows(table, verdicts, variant)
    if table.groups is None:
        counts = Counter(table.verdict[row] for row in rows)
        passed, of = counts[PASSED], counts.total() + never_begun
        return Proportion(count=passed, of=of, rate=_share(passed, of), interval=wilson(passed, of))
    sizes: Counter[int] = Counter()
    passes: Counter[int] = Counter()
    for row in rows:
        sizes[table.groups[row]] += 1
        passes[table.groups[row]] += table.verdict[row] == PASSED
    passed, of = passes.total(), sizes.total() + never_begun
    groups = [(passes[group], size) for group, size in sizes.items()]
    groups += _not_passing(never_begun, size=table.run.repeat if table.run else 1)
    return Proportion(count=passed, of=of, rate=_share(passed, of), interval=clustered(groups))


def _rows(table: Table, verdicts: frozenset[int], variant: int | None) -> Iterator[int]:
    for row, verdict in enumerate(table.verdict):
        if verdict in verdicts and (variant is None or table.variant[row] == variant):
            yield row


def _not_passing(keys: int, *, size: int) -> list[tuple[int, int]]:
    """Keys that nothing is known of, in cases of the size that the run's cases have."""
    whole, rest = divmod(keys, max(1, size))
    return [(0, size)] * whole + ([(0, rest)] if rest else [])


def _variants(table: Table) -> list[VariantFigures]:
    if not any(table.variants):
        return []
    codes: dict[int, Counter[int]] = {number: Counter() for number in range(len(table.variants))}
    for row, code in enumerate(table.outcome):
        codes[table.variant[row]][code] += 1
    return [
        VariantFigures(
            name=table.variants[number],
            n=counts.total() - counts[OPEN],
            n_scored=counts[SCORED],
            n_failed=counts.total() - counts[OPEN] - counts[SCORED],
            n_open=counts[OPEN],
            passed=_proportion(table, _COUNTING, variant=number),
        )
        for number, counts in codes.items()
        if counts
    ]


# Evaluators


def _evaluators(table: Table, expected: int) -> EvaluatorFigures:
    findings = table.findings
    failures = {label: sum(column.values()) for label, column in findings.failures.items()}
    place = {label: number for number, label in enumerate(table.evaluators)}

    def expected_of(by: str, n: int) -> int:
        return expected if by in place else n + failures.get(by, 0)

    def in_place(figures: AssertionFigures | ScoreFigures | LabelFigures) -> int:
        return place.get(figures.by, len(place))

    return EvaluatorFigures(
        assertions=sorted(
            (_assertion(table, name, column, expected_of) for name, column in findings.assertions.items()),
            key=in_place,
        ),
        scores=sorted(
            (_score(name, column, expected_of) for name, column in findings.scores.items()),
            key=in_place,
        ),
        labels=sorted(
            (_label(name, column, expected_of) for name, column in findings.labels.items()),
            key=in_place,
        ),
        failures={label: count for label, count in failures.items() if count},
    )


def _assertion(
    table: Table, name: str, column: Column[int], expected_of: Callable[[str, int], int]
) -> AssertionFigures:
    counts = Counter(column.values())
    n_true, n = counts[1], counts.total()
    if table.groups is None:
        interval = wilson(n_true, n)
    else:
        sizes: Counter[int] = Counter()
        trues: Counter[int] = Counter()
        for row, value in column.present():
            sizes[table.groups[row]] += 1
            trues[table.groups[row]] += value
        interval = clustered((trues[group], size) for group, size in sizes.items())
    return AssertionFigures(
        name=name,
        by=column.by,
        n_expected=expected_of(column.by, n),
        true=Proportion(count=n_true, of=n, rate=_share(n_true, n), interval=interval),
    )


def _score(name: str, column: Column[float], expected_of: Callable[[str, int], int]) -> ScoreFigures:
    values = spread(column.values())
    return ScoreFigures(name=name, by=column.by, n_expected=expected_of(column.by, values.n), values=values)


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


__all__ = ["NOT_RUN", "RERUN", "expected_keys", "figures_of", "spread"]
