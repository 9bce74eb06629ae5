"""What `evaluate` takes, once: as a typed dictionary for callers and checkers, and as a frozen value for
us."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.engine.budget import Budget
    from paceline.engine.events import AnyEvent
    from paceline.engine.lifecycle import Lifecycle

Concurrency = int | Literal["auto"] | None
Order = Literal["auto", "given", "longest", "shuffle"]
Task = Callable[[Any], Any]


class EvaluateOptions(TypedDict, total=False):
    """Keyword arguments of `evaluate` and `evaluate_sync`; `Options` says what each means."""

    name: str | None
    max_concurrency: Concurrency
    progress: bool | object
    retry_task: Any
    retry_evaluators: Any
    task_name: str | None
    metadata: Mapping[str, Any] | None
    repeat: int
    lifecycle: Lifecycle | None
    journal: str | os.PathLike[str] | Literal[False] | None
    timeout: float | None
    case_timeout: float | None
    evaluator_timeout: float | None
    hook_timeout: float | None
    drain_timeout: float
    evaluator_concurrency: int | None
    budget: Budget | Mapping[str, Any] | None
    order: Order
    variants: Mapping[str, Task] | None
    on_event: Callable[[AnyEvent], None] | None
    retry_errors: bool
    isolation: str
    durability: str
    fail_fast: bool
    seed: int
    accept_changes: bool
    redact: tuple[str, ...]
    runs: str | os.PathLike[str] | None
    debug: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a run is wanted. Everything has a sensible default."""

    name: str | None = None
    """Name of this run in reports; the dataset's by default."""
    max_concurrency: Concurrency = "auto"
    """Cases in progress; None is all at once, 1 is one wholly after the other in dataset order."""
    progress: bool | object = True
    """Show progress, where there is a terminal; or an object that shows it."""
    retry_task: Any = None
    """How failed attempts are tried again: None by class of error, a number of attempts, or a mapping."""
    retry_evaluators: Any = None
    task_name: str | None = None
    metadata: Mapping[str, Any] | None = None
    """Kept with the run and shown in the report."""
    repeat: int = 1
    lifecycle: Any = None
    journal: str | os.PathLike[str] | Literal[False] | None = None
    """Where the run is recorded: a directory, a `.jsonl` file, None for a new directory, False for memory
    only."""
    timeout: float | None = 1800.0
    """Seconds for one attempt of the task."""
    case_timeout: float | None = None
    """Seconds from a case's setup to its output, retries included."""
    evaluator_timeout: float | None = 600.0
    hook_timeout: float | None = 300.0
    drain_timeout: float = 60.0
    evaluator_concurrency: int | None = None
    budget: Any = None
    order: Order = "auto"
    variants: Mapping[str, Task] | None = None
    """Several tasks on the same cases, by name; `task` is then None."""
    on_event: Callable[[AnyEvent], None] | None = None
    retry_errors: bool = False
    """On a resume, run those again that ended in `task_error` or `timeout`."""
    isolation: str = "thread"
    durability: str = "disk"
    fail_fast: bool = False
    seed: int = 0
    accept_changes: bool = False
    """Resume although the suite is no longer the one that the run was started with."""
    redact: tuple[str, ...] = field(default_factory=tuple)
    runs: str | os.PathLike[str] | None = None
    debug: bool = False
    """Sync tasks run in place and tracebacks are printed, so that a debugger can be let in."""

    def __post_init__(self) -> None:
        if type(self.repeat) is not int or self.repeat < 1:
            raise UsageError(
                f"repeat must be at least 1, not {self.repeat!r}", hint="repeat=3 runs each case 3 times"
            )
        if isinstance(self.max_concurrency, str) and self.max_concurrency != "auto":
            raise UsageError(
                f"max_concurrency is {self.max_concurrency!r}",
                hint="a number, None for all at once, or 'auto'",
            )
        for name, words in _WORDS.items():
            if (given := getattr(self, name)) not in words:
                raise UsageError(f"{name} is {given!r}", hint=f"one of {', '.join(words)}")

    @classmethod
    def of(cls, given: EvaluateOptions) -> Options:
        """From keyword arguments; an unknown one is named."""
        if unknown := sorted(set(given) - {each.name for each in fields(cls)}):
            raise TypeError(f"evaluate() got unexpected keyword arguments: {', '.join(unknown)}")
        return cls(**given)


_WORDS = {
    "order": ("auto", "given", "longest", "shuffle"),
    "isolation": ("thread", "process"),
    "durability": ("disk", "os"),
}
