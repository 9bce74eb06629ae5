"""What a task notes about its own work while it runs: attributes and metrics of the current attempt.

The note-book hangs on a context variable, so it is found again from threads and child tasks that the
task starts with a copied context, and two cases that run at once never write into each other's.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any, Final


class Notes:
    """Attributes and metrics of one attempt."""

    __slots__ = ("attributes", "metrics", "over")

    def __init__(self) -> None:
        self.attributes: dict[str, Any] = {}
        self.metrics: dict[str, int | float] = {}
        self.over = False
        """Whether the attempt has ended. What it has left behind may still run, and is no longer listened
        to."""


current_notes: ContextVar[Notes | None] = ContextVar("paceline_notes", default=None)

_adding: Final = threading.Lock()
"""Reading a sum and writing it back are two steps, and threads of one task may share a note-book."""


def set_eval_attribute(name: str, value: Any) -> None:
    """Attach a value to the case that is being run; evaluators see it as `ctx.attributes[name]`.

    Outside a run it does nothing, so that the same code can serve in production.
    """
    notes = current_notes.get()
    if notes is not None and not notes.over:
        notes.attributes[name] = value


def increment_eval_metric(name: str, amount: int | float) -> None:
    """Add to a number that is counted for the case that is being run; `ctx.metrics[name]`, 0 at first.

    The names `cost` (US dollars) and `tokens` are what a budget counts. Outside a run it does nothing.
    """
    notes = current_notes.get()
    if notes is not None and not notes.over:
        with _adding:
            notes.metrics[name] = notes.metrics.get(name, 0) + amount
