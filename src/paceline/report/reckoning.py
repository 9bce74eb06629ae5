"""The reckoning: from a table to its figures.

Pure functions. The rules behind the numbers are told in `figures`. Knows nothing of files or rendering.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from math import isfinite
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
    Proportion,
    ScoreFigures,
    SparedFigures,
    VariantFigures,
    Verdict,
)
from paceline.report.findings import Labels
from paceline.report.limits import limits_of
from paceline.report.quantiles import spread
from paceline.report.rehearsal import predicted
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
from paceline.report.traffic import calls_in_all, pools_of
from paceline.statistics.proportions import clustered, wilson
from paceline.statistics.repeats import by_tries, pass_at_k, pass_hat_k

MAX_GROUPS = 50
"""Causes of failure that are listed; the others are counted."""
MAX_EXAMPLES = 5


RERUN = frozenset(OUTCOMES) - FINAL
"""Outcomes of keys that a resume takes up again."""
NOT_RUN = frozenset({"cancelled", "skipped_budget"})
"""Outcomes of keys that the run did not get to the end of: it is incomplete while there are any."""
CODES_NOT_RUN = frozenset({OPEN, *(CODES[outcome] for outcome in OUTCOMES if outcome in NOT_RUN)})
_COUNTING = frozenset({PASSED, NOT_PASSED, UNSCORED})
"""Verdicts of rows that the headline is about; no outcome yet, or one that is not `scored`, is `UNSCORED`."""
_ASSERTED = frozenset({PASSED, NOT_PASSED})


def figures_of(table: Table, key_of: Callable[[int], Key]) -> Figures:
    """All figures; `key_of` names the key of a row."""
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
        **_passing(table, expected, whole=whole),
        coverage=_share(scored, expected),
        error_rate=_share(ended - cut_off - scored, ended - cut_off),
        timeout_rate=_share(outcomes["timeout"], ended - cut_off),
        latency=spread(seconds for _, seconds in latencies_of(table)),
        waited=math.fsum(table.waited.values()),
        wall=wall,
        work=table.work,
        concurrency=_share(table.work, busy),
        speed_up=_share(table.work + math.fsum(table.findings.seconds.values()), busy),
        rate_per_s=_share(ended, wall),
        attempts=sum(table.attempts),
        retries=dict(table.retries.most_common()),
        abandoned=sum(table.abandoned.values()),
        processes=len(table.processes),
        damaged=table.damaged,
        unsealed=table.unsealed,
        evaluators=_evaluators(table, expected),
        judges=table.judges,
        causes=causes,
        causes_left_out=ended - scored - sum(cause.count for cause in causes),
        variants=_variants(table, whole=whole),
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
    written = table.run.fingerprint if table.run is not None else {}
    played = written.get("simulated")
    return {
        "calls": calls_in_all(table.calls, simulated=False),
        "simulated": simulated,
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


def latencies_of(table: Table) -> Iterator[tuple[int, float]]:
    """The rows whose task gave an output, with the seconds that it worked for it."""
    rescored = table.rescored
    for row, (code, seconds) in enumerate(zip(table.outcome, table.seconds, strict=True)):
        # A source that knows no time says 0, which no task takes.
        if code in CODES_WITH_OUTPUT and (seconds or not rescored):
            yield row, seconds


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


def _share(part: float, whole: float | None) -> float | None:
    """Unknown where there is nothing to divide by, or so little that the answer is no number."""
    share = part / whole if whole else None
    return share if share is not None and isfinite(share) else None


# Proportions


def _passing(table: Table, expected: int, *, whole: bool) -> dict[str, Any]:
    """The figures about passing; nothing was observed of the keys that a run which is not whole has left."""
    verdicts = Counter(table.verdict)
    if verdicts[UNASSERTED] and not verdicts[PASSED] + verdicts[NOT_PASSED]:
        # No case asserts anything: what failed does not make a pass rate of it.
        headline = of_run = Proportion(count=0, of=0, rate=None, interval=None)
    else:
        headline = of_run = _proportion(table, _COUNTING)
        if not whole:
            headline = _without_interval(headline, of=expected - verdicts[UNASSERTED])
            of_run = _proportion(table, _COUNTING, leaving_out=CODES_NOT_RUN)
    # Several variants are several answers, and no average of them is one.
    tries = tries_of(table) if whole and table.groups is not None and not any(table.variants) else []
    return {
        "n_passed": verdicts[PASSED],
        "n_not_passed": verdicts[NOT_PASSED],
        "n_unasserted": verdicts[UNASSERTED],
        "passed": headline,
        "passed_of_run": of_run,
        "passed_of_scored": _proportion(table, _ASSERTED),
        "pass_at": by_tries(tries, pass_at_k),
        "pass_hat": by_tries(tries, pass_hat_k),
    }


def tries_of(table: Table) -> list[tuple[int, int]]:
    """Of each case: how many of its tries have passed, and how many there were."""
    rows = _rows(table, _COUNTING, None)
    if table.groups is None:
        return [(int(table.verdict[row] == PASSED), 1) for row in rows]
    return _groups(table, rows)


def _without_interval(proportion: Proportion, *, of: int) -> Proportion:
    return Proportion(count=proportion.count, of=of, rate=_share(proportion.count, of), interval=None)


def _proportion(
    table: Table,
    verdicts: frozenset[int],
    *,
    leaving_out: frozenset[int] = frozenset(),
    variant: int | None = None,
) -> Proportion:
    """How many rows passed of those with these verdicts, rows with some outcomes left out."""
    rows = _rows(table, verdicts, variant)
    if leaving_out:
        rows = (row for row in rows if table.outcome[row] not in leaving_out)
    if table.groups is None:
        counts = Counter(table.verdict[row] for row in rows)
        passed, of = counts[PASSED], counts.total()
        return Proportion(count=passed, of=of, rate=_share(passed, of), interval=wilson(passed, of))
    groups = _groups(table, rows)
    passed, of = sum(passes for passes, _size in groups), sum(size for _passes, size in groups)
    return Proportion(count=passed, of=of, rate=_share(passed, of), interval=clustered(groups))


def _groups(table: Table, rows: Iterable[int]) -> list[tuple[int, int]]:
    """How many of these rows passed, and how many there are, of each case."""
    assert table.groups is not None
    sizes: Counter[int] = Counter()
    passes: Counter[int] = Counter()
    for row in rows:
        sizes[table.groups[row]] += 1
        passes[table.groups[row]] += table.verdict[row] == PASSED
    return [(passes[group], size) for group, size in sizes.items()]


def _rows(table: Table, verdicts: frozenset[int], variant: int | None) -> Iterator[int]:
    for row, verdict in enumerate(table.verdict):
        if verdict in verdicts and (variant is None or table.variant[row] == variant):
            yield row


def _variants(table: Table, *, whole: bool) -> list[VariantFigures]:
    if not any(table.variants):
        return []
    codes: dict[int, Counter[int]] = {number: Counter() for number in range(len(table.variants))}
    for row, code in enumerate(table.outcome):
        codes[table.variant[row]][code] += 1
    found = []
    for number, counts in codes.items():
        passed = _proportion(table, _COUNTING, variant=number)
        figures = VariantFigures(
            name=table.variants[number],
            n=counts.total() - counts[OPEN],
            n_scored=counts[SCORED],
            n_failed=counts.total() - counts[OPEN] - counts[SCORED],
            n_open=counts[OPEN],
            n_not_run=sum(counts[code] for code in CODES_NOT_RUN),
            passed=passed if whole else _without_interval(passed, of=passed.of),
        )
        if counts:
            found.append(figures)
    return found


# Evaluators


def _evaluators(table: Table, expected: int) -> EvaluatorFigures:
    findings = table.findings
    failures = {label: sum(column.values()) for label, column in findings.failures.items()}
    place = {label: number for number, label in enumerate(table.evaluators)}

    def expected_of(by: str, n: int) -> int:
        return expected if by in place else n + failures.get(by, 0)

    def in_place(figures: AssertionFigures | ScoreFigures | LabelFigures) -> int:
        return place.get(figures.by, len(place))

    # A column without values is that of an evaluator whose every result was taken back.
    assertions = [
        _assertion(table, name, column, expected_of) for name, column in findings.assertions.items()
    ]
    scores = [_score(name, column, expected_of) for name, column in findings.scores.items()]
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


def _spared(column: Column[int], told: EvaluatorFigures) -> SparedFigures:
    calls = list(column.values())
    asserted = [each.true.of for each in told.assertions if each.by == column.by]
    scored = [each.values.n for each in told.scores if each.by == column.by]
    return SparedFigures(
        by=column.by, n=max([*asserted, *scored], default=len(calls)), cases=len(calls), calls=sum(calls)
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


__all__ = ["NOT_RUN", "RERUN", "expected_keys", "figures_of"]
