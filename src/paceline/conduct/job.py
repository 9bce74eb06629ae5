"""A job: what is to be carried out, as one value; and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from paceline.engine.events import Gauge
from paceline.engine.ports import Turn
from paceline.engine.run import Ending
from paceline.engine.source import Named, OpenKeys
from paceline.journal.ledger import Ledger
from paceline.options import Options
from paceline.report import Report
from paceline.tasks.callable import CallableTask


class Progress(Protocol):
    """Something that shows how a run goes: a listener that may read the gauge whenever it draws."""

    def start(self, gauge: Gauge) -> None:
        """The run begins."""
        ...

    def __call__(self, event: Any) -> None:
        """Something happened."""
        ...

    def stop(self) -> None:
        """The run is over; nothing is drawn any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to carry out."""

    suite: str
    cases: Any = ()
    """A sequence of cases, or a `RowFile`."""
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
    evaluators: tuple[object, ...] = ()
    options: Options = Options()
    keep: Callable[[list[Named]], Iterable[Named]] | None = None
    """Narrows the cases down to those that are wanted."""
    command: list[str] = field(default_factory=list)


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
