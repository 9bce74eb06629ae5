"""The results of one case, put together from the lines that tell them.

Evaluators answer at different moments, so their results stand in `scores` lines and in the outcome; a case
that is scored again after a resume adds to what it had. What an evaluator said last is what counts,
whichever line told it and however often: the same line twice changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from paceline.evaluators.prepare import merge_names
from paceline.journal.records import EvaluatorFailure, OutcomeLine, Score, ScoresLine

Telling = ScoresLine | OutcomeLine
"""A line that tells results."""

WITH_OUTPUT: Final = frozenset({"scored", "evaluator_error"})
"""Outcomes of keys whose task gave an output."""


class Results(NamedTuple):
    """What evaluators said of a case, and which of them could not say anything."""

    scores: Sequence[Score] = ()
    """Each under a name of its own, in the order of the evaluators."""
    failures: Sequence[EvaluatorFailure] = ()


def merged(tellings: Iterable[Telling], order: Sequence[str]) -> Results:
    """What these lines tell, given in the journal's order; `order` are labels of the run's evaluators."""
    said: dict[str, tuple[list[Score], list[EvaluatorFailure]]] = {}
    failed: set[str] = set()
    """By an earlier outcome. Whoever goes on from there asks them again, and they may have nothing to say."""
    for line in tellings:
        told = _by_evaluator(line)
        failed -= told.keys()
        if isinstance(line, OutcomeLine):
            for label in failed:
                del said[label]
        said.update(told)
        if isinstance(line, OutcomeLine):
            failed = {label for label, (_, failures) in said.items() if failures}
    labels = in_order(said, order)
    return Results(
        scores=merge_names((score for label in labels for score in said[label][0]), order=labels),
        failures=[failure for label in labels for failure in said[label][1]],
    )


def _by_evaluator(line: Telling) -> dict[str, tuple[list[Score], list[EvaluatorFailure]]]:
    told: dict[str, tuple[list[Score], list[EvaluatorFailure]]] = {}
    for score in line.scores:
        told.setdefault(score.by or score.name, ([], []))[0].append(score)
    for failure in line.failures:
        told.setdefault(failure.by, ([], []))[1].append(failure)
    return told


def in_order(labels: Iterable[str], order: Sequence[str]) -> list[str]:
    """Labels of the run's evaluators in their order, then those of the case's own."""
    place = {label: number for number, label in enumerate(order)}
    return sorted(labels, key=lambda label: (place.get(label, len(order)), _natural(label)))


def _natural(label: str) -> tuple[str, int]:
    # `Equals_10` comes after `Equals_2`. Results land in any order, so the order of arrival is no order.
    match = re.fullmatch(r"(.*?)(?:_(\d{1,9}))?", label, re.DOTALL)
    assert match is not None
    return match[1], int(match[2] or 0)


__all__ = ["WITH_OUTPUT", "Results", "Telling", "in_order", "merged"]
