"""The plan of a run: everything that was decided before the first case, as one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from paceline.engine.budget import Budget
from paceline.engine.lifecycle import Lifecycle
from paceline.engine.retry import Retry, RetryPolicy
from paceline.engine.taping import Taping
from paceline.errors import UsageError
from paceline.evaluators.prepare import Prepared

AUTO_CONCURRENCY: Final = 50
"""What `max_concurrency="auto"` is until the pace finds a better number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a run is carried out."""

    concurrency: int | None = AUTO_CONCURRENCY
    """Cases in progress; None is all at once."""
    evaluators: tuple[Prepared, ...] = ()
    evaluator_concurrency: int | None = None
    """Evaluator calls at once; None is as many as cases in progress."""
    timeout: float | None = 1800.0
    """Seconds for one attempt."""
    timeouts: Mapping[str, float] = field(default_factory=dict)
    """The same for variants whose task says so itself."""
    case_timeout: float | None = None
    """Seconds from a key's setup to its output, retries and their waiting included."""
    evaluator_timeout: float | None = 600.0
    hook_timeout: float | None = 300.0
    drain_timeout: float = 60.0
    """Seconds that what is in flight may take after an interrupt, before it is cancelled."""
    grace: float = 5.0
    """Seconds that cancelled code may take to give in, before it is left behind."""
    retry_task: RetryPolicy = Retry()
    retry_evaluators: RetryPolicy = Retry()
    lifecycle: Lifecycle | None = None
    budget: Budget = Budget()
    seed: int = 0
    show_errors: bool = False
    """Print tracebacks as they happen."""
    around_evaluator: Callable[..., Any] | None = None
    """What stands around every call of an evaluator: tracing."""
    listens: bool = False
    """Whether there are doors that tell of model calls; executors are told so by whoever makes them."""
    taping: Taping | None = None
    """How calls are kept, and answered again; None where they are not."""
    row_of: Callable[..., Any] | None = None
    """Makes the row that `teardown` is given; the report room's, handed down."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "evaluator_concurrency"):
            number = getattr(self, name)
            if number is not None and (not isinstance(number, int) or isinstance(number, bool) or number < 1):
                raise UsageError(
                    f"max_{name} must be at least 1, not {number!r}".replace("max_evaluator", "evaluator"),
                    hint="a number, None for all at once, or 'auto'",
                )
        for name in ("timeout", "case_timeout", "evaluator_timeout", "hook_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:
                raise UsageError(
                    f"{name} must be more than 0 seconds, not {seconds!r}", hint="None is no limit"
                )

    @property
    def one_by_one(self) -> bool:
        """Whether one case is wholly done before the next is begun."""
        return self.concurrency == 1
