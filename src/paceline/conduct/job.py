"""A job: what is to be carried out, as one value; and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from paceline.engine.bookkeeping import Listener
from paceline.engine.ports import Turn
from paceline.engine.run import Ending
from paceline.engine.source import Named, OpenKeys
from paceline.journal.ledger import Ledger
from paceline.options import Options, Progress
from paceline.report import Report
from paceline.tasks.callable import CallableTask

__all__ = ["Finished", "Job", "Progress", "ToDo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to carry out."""

    suite: str
    """The name that a resume is held against, and that the run directory has."""
    label: str = ""
    """What this run is called, if it has a name of its own."""
    cases: Any = ()
    """A sequence of cases, or a `RowFile`."""
    types: tuple[Any, ...] = ()
    """What inputs, expected output and metadata of rows are to be, where the dataset says."""
    custom: tuple[type[Any], ...] = ()
    """Evaluator classes that rows may name."""
    tasks: Mapping[str, CallableTask] = field(default_factory=dict)
    """The task of each variant; the only one has the name ''."""
    turns: Callable[[], Iterable[Turn]] | None = None
    """In place of cases and tasks: turns that bring their answers along, to be scored."""
    count: int = 0
    """How many turns there are."""
    variants: tuple[str, ...] = ()
    repeat: int = 1
    rescored_from: str = ""
    simulated: bool = False
    """Whether the answers come from a simulated provider: then what is found is no result either."""
    evaluators: tuple[object, ...] = ()
    options: Options = Options()
    keep: Callable[[Iterable[Named]], Iterable[Named]] | None = None
    """Narrows the cases down to those that are wanted."""
    command: list[str] = field(default_factory=list)
    directory: str = ""
    """Where that was typed, if the process is elsewhere by now."""
    check: Mapping[str, Any] = field(default_factory=dict)
    """The rules of the suite, as it would write them: kept on record for `paceline check`."""
    listeners: tuple[Listener, ...] = ()
    """Told beside `options.on_event`, each on its own account: one that raises does not silence another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDo:
    """What there is to do, before anything is done."""

    source: OpenKeys
    ledger: Ledger | None
    cases: int
    order: str
    digest: str
    """Of the file that the cases are streamed from; empty where they are in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A run as this process leaves it."""

    report: Report
    ending: Ending
    interrupts: int = 0
    unknown_cost: str | None = None
    """What a budget was set on and could not be seen: such a budget was not kept."""
