"""Findings: what evaluators and metrics said of each row, a column per name.

Knows names and values. Which lines a value came from, and which of them counts, was decided before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from paceline.journal.records import EvaluatorFailure, Score
from paceline.report.columns import Column

NO_VERDICT: Final = -1
"""In a column of assertions: nothing was said of this row."""
NO_NUMBER: Final = float("-inf")
"""In a column of scores or metrics, which are finite."""
MAX_NAMES: Final = 1000
"""Names per kind that are told apart: a suite that makes up one per case must not cost a column each."""
MAX_LABELS: Final = 1000
OTHER_LABELS: Final = "(other labels)"


class Labels:
    """A column of words."""

    def __init__(self, by: str) -> None:
        self.words: list[str] = [""]
        self.codes: Column[int] = Column("I", 0, by=by)
        """Place of the word in `words`; 0 for none."""
        self._known: dict[str, int] = {}

    def put(self, row: int, word: str) -> None:
        """Set the word of a row; words beyond `MAX_LABELS` are one."""
        if word not in self._known:
            if len(self.words) > MAX_LABELS:
                word = OTHER_LABELS
            if word not in self._known:
                self._known[word] = len(self.words)
                self.words.append(word)
        self.codes[row] = self._known[word]


class Findings:
    """Results, failures to give one, and metrics, by name and row."""

    def __init__(self) -> None:
        self.assertions: dict[str, Column[int]] = {}
        self.scores: dict[str, Column[float]] = {}
        self.labels: dict[str, Labels] = {}
        self.metrics: dict[str, Column[float]] = {}
        self.failures: dict[str, Column[int]] = {}
        """By label of the evaluator: 1 for rows that it could not say anything about."""
        self.spared: dict[str, Column[int]] = {}
        """By label of the evaluator: calls of models that it did not need for a row."""
        self.seconds: Column[float] = Column("d", 0.0)
        """What evaluators took to answer, summed; instant ones are not clocked."""
        self.left_out = 0
        """Values in no column: more than `MAX_NAMES` names, or beyond what a float holds."""

    def put(
        self,
        row: int,
        scores: Sequence[Score],
        failures: Sequence[EvaluatorFailure],
        metrics: Mapping[str, int | float],
    ) -> None:
        """Keep what was said of a row."""
        if len(scores) == 1 and not (failures or metrics or scores[0].seconds or scores[0].spared):
            # What most rows of large runs have; the rest of this function costs three times as much.
            value = scores[0].value
            if isinstance(value, bool) and (column := self.assertions.get(scores[0].name)) is not None:
                column[row] = value
                return
        clocked: dict[str, float] = {}
        for score in scores:
            if score.seconds or score.spared:
                clocked[score.by] = score.seconds  # an evaluator may have several results, and answers once
                self._put_spared(row, score)
            value = score.value
            if isinstance(value, bool):
                if (assertions := self.assertions.get(score.name)) is not None:
                    assertions[row] = value
                elif not self._full(self.assertions):
                    self.assertions[score.name] = Column("b", NO_VERDICT, by=score.by)
                    self.assertions[score.name][row] = value
            elif isinstance(value, str):
                self._put_label(row, score.name, value, score.by)
            else:
                self._put_number(self.scores, row, score.name, value, score.by)
        for failure in failures:
            clocked[failure.by] = failure.seconds
            self._put_failure(row, failure)
        if clocked:
            self.seconds[row] = sum(clocked.values())
        for name, number in metrics.items():
            self._put_number(self.metrics, row, name, number, "")

    def forget(self, row: int) -> None:
        """Take away all that is known of a row."""
        self.seconds.discard(row)
        for whole in (self.assertions, self.failures, self.spared):
            for counts in whole.values():
                counts.discard(row)
        for real in (self.scores, self.metrics):
            for numbers in real.values():
                numbers.discard(row)
        for labels in self.labels.values():
            labels.codes.discard(row)

    def metrics_of(self, row: int) -> dict[str, float]:
        """The metrics that are known of a row."""
        return {name: column[row] for name, column in self.metrics.items() if column[row] != NO_NUMBER}

    def _put_spared(self, row: int, score: Score) -> None:
        if not score.spared:
            return
        if score.by not in self.spared:
            if len(self.spared) >= MAX_NAMES:
                return
            self.spared[score.by] = Column("I", 0, by=score.by)
        self.spared[score.by][row] = score.spared

    def _put_label(self, row: int, name: str, word: str, by: str) -> None:
        if name not in self.labels:
            if self._full(self.labels):
                return
            self.labels[name] = Labels(by)
        self.labels[name].put(row, word)

    def _put_failure(self, row: int, failure: EvaluatorFailure) -> None:
        if failure.by not in self.failures:
            if self._full(self.failures):
                return
            self.failures[failure.by] = Column("B", 0, by=failure.by)
        self.failures[failure.by][row] = 1

    def _put_number(
        self, columns: dict[str, Column[float]], row: int, name: str, value: int | float, by: str
    ) -> None:
        column = columns.get(name)
        if column is None:
            if self._full(columns):
                return
            column = columns[name] = Column("d", NO_NUMBER, by=by)
        try:
            column[row] = value
        except OverflowError:  # an integer that no float holds; the engine lets none through, a person may
            self.left_out += 1

    def _full(self, columns: Mapping[str, object]) -> bool:
        full = len(columns) >= MAX_NAMES
        self.left_out += full
        return full


__all__ = ["MAX_LABELS", "MAX_NAMES", "NO_NUMBER", "NO_VERDICT", "OTHER_LABELS", "Findings", "Labels"]
