"""Averages, of a whole report or of the repeats of one case, in which no failure is hidden.

Scores, labels, metrics and durations are means over the keys that have them, with their number beside them.
The share of true assertions is scaled by how many of the keys got as far as having any: a key that failed
counts as if its assertions were false. Where nothing failed, it is what Pydantic Evals would say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic

from paceline.dataset.case import InputsT, MetadataT, OutputT
from paceline.report.columns import Column
from paceline.report.findings import NO_NUMBER, Labels
from paceline.report.rows import ReportCase, ReportCaseFailure
from paceline.report.stability import Stability
from paceline.report.table import CODES_WITH_OUTPUT, NOT_PASSED, OPEN, PASSED, SCORED, UNASSERTED, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCaseAggregate:
    """Averages over keys."""

    name: str
    scores: dict[str, float] = field(default_factory=dict)
    labels: dict[str, dict[str, float]] = field(default_factory=dict)
    """By name, each label's share of the keys that have one."""
    metrics: dict[str, float] = field(default_factory=dict)
    assertions: float | None = None
    """Share of assertions that are true, failures counted as not; None where nothing is asserted."""
    task_duration: float | None = None
    total_duration: float | None = None

    n_expected: int
    n_scored: int
    n_failed: int
    n: dict[str, int] = field(default_factory=dict)
    """By name, the keys behind a score, a label or a metric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCaseGroup(Generic[InputsT, OutputT, MetadataT]):
    """All repeats of one case under one variant."""

    name: str
    variant: str = ""
    inputs: InputsT
    metadata: MetadataT | None
    expected_output: OutputT | None
    runs: Sequence[ReportCase[InputsT, OutputT, MetadataT]]
    failures: Sequence[ReportCaseFailure[InputsT, OutputT, MetadataT]]
    summary: ReportCaseAggregate
    passed: int
    """Tries that passed."""
    tries: int
    """Tries that count: that came to an end for a reason of the case's own, and assert something."""
    stability: Stability
    """What they say of the case: whether it comes out the same each time."""


def averages_of(table: Table, rows: Sequence[int], *, name: str, n_expected: int) -> ReportCaseAggregate:
    """Averages over these rows; what of `n_expected` is not among them counts as not passed."""
    findings = table.findings
    codes = Counter(table.outcome[row] for row in rows)
    with_output = [row for row in rows if table.outcome[row] in CODES_WITH_OUTPUT]
    scores = {name: _numbers(column, with_output) for name, column in findings.scores.items()}
    metrics = {name: _numbers(column, with_output) for name, column in findings.metrics.items()}
    labels = {name: _words(column, with_output) for name, column in findings.labels.items()}
    counted = {**scores, **metrics}
    # A rescored source that knows no time says 0.
    durations = [table.seconds[row] for row in with_output if table.seconds[row] or not table.rescored]
    return ReportCaseAggregate(
        name=name,
        scores={name: _mean(numbers) for name, numbers in scores.items() if numbers},
        metrics={name: _mean(numbers) for name, numbers in metrics.items() if numbers},
        labels={name: _shares(words) for name, words in labels.items() if words},
        assertions=_assertions(table, rows, n_expected),
        task_duration=_mean(durations) if durations else None,
        total_duration=_mean([table.total[row] for row in with_output]) if with_output else None,
        n_expected=n_expected,
        n_scored=codes[SCORED],
        n_failed=codes.total() - codes[SCORED] - codes[OPEN],
        n={name: len(numbers) for name, numbers in counted.items() if numbers}
        | {name: words.total() for name, words in labels.items() if words},
    )


def _numbers(column: Column[float], rows: Iterable[int]) -> list[float]:
    return [value for row in rows if (value := column[row]) != NO_NUMBER]


def _words(labels: Labels, rows: Iterable[int]) -> Counter[str]:
    return Counter(labels.words[code] for row in rows if (code := labels.codes[row]))


def _shares(words: Counter[str]) -> dict[str, float]:
    return {word: count / words.total() for word, count in words.most_common()}


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _assertions(table: Table, rows: Sequence[int], n_expected: int) -> float | None:
    verdicts = Counter(table.verdict[row] for row in rows)
    asserted = [row for row in rows if table.verdict[row] in (PASSED, NOT_PASSED)]
    if not asserted:
        return 0.0 if n_expected and not verdicts[UNASSERTED] else None
    said: Counter[int] = Counter()
    for column in table.findings.assertions.values():
        said.update(column[row] for row in asserted)
    return said[1] / (said[0] + said[1]) * len(asserted) / (n_expected - verdicts[UNASSERTED])


__all__ = ["ReportCaseAggregate", "ReportCaseGroup", "averages_of"]
