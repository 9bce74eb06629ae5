"""The models that evaluators ask, looked at before a run: whether they can be asked, and whether they may be.

Evaluators of single cases are looked at when their case comes: what is wrong with one is a fact of its case.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paceline.evaluators.base import Asks, Evaluator
from paceline.evaluators.judges.self_grading import check_other


def asked_by(evaluators: Iterable[object]) -> Iterator[Asks]:
    """The models that these ask."""
    for evaluator in evaluators:
        if isinstance(evaluator, Evaluator):
            yield from evaluator.asks()


def check_judges(evaluators: Iterable[object], tasks: Iterable[object]) -> None:
    """Refuse a run whose judges cannot be asked, or would judge what they have said themselves."""
    tested = list(tasks)
    for asked in asked_by(evaluators):
        asked.model.check_ready()
        if not asked.may_be_the_task:
            check_other(asked.model, tested)


def key_variables(askers: Iterable[object]) -> list[str]:
    """The environment variables that hold the keys of these models or tasks."""
    named = (getattr(each, "key_variable", None) for each in askers)
    return [name for name in named if isinstance(name, str)]
