"""What evaluators of code have in common: they may be unable to say, or to contain all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from paceline.containment import IN_WORDS, Cell, Contained, Gap, Means, Source, contained
from paceline.evaluators.base import EvaluationReason
from paceline.tasks.failures import TaskFailure


class NotJudged(TaskFailure):
    """Whether the answer passes could not be found out, and it is not the answer's fault.

    Like a failure of a task of ours, its message says all: where in our code it stands helps nobody.
    """


@asynccontextmanager
async def in_cell(command: Sequence[str] | Source, cell: Cell, found: Means) -> AsyncIterator[Contained]:
    """A command with a cell around it. What it has left there is removed on a thread: it may be a lot."""
    made = contained(command, cell, found=found)
    inside = made.__enter__()
    try:
        yield inside
    finally:
        if found.way == "bubblewrap":
            made.__exit__(None, None, None)
        else:
            await asyncio.to_thread(made.__exit__, None, None, None)


def not_contained(name: str, gaps: frozenset[Gap]) -> dict[str, EvaluationReason]:
    """What stands beside the results of an evaluator: what was not contained, where there is something."""
    words = "; ".join(words for gap, words in IN_WORDS.items() if gap in gaps)
    return {f"{name}_not_contained": EvaluationReason(words)} if words else {}
