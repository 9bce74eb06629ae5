"""What the options of a run come to: a plan for the engine, a place for the record, the settings worth
keeping."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import msgspec

from paceline import values
from paceline.conduct.job import Job
from paceline.engine.budget import Budget
from paceline.engine.plan import AUTO_CONCURRENCY, Plan
from paceline.engine.retry import Retry, retry_policy
from paceline.errors import UsageError
from paceline.evaluators.prepare import Prepared
from paceline.options import Options
from paceline.runs import new_run_path, runs_root
from paceline.tasks.callable import CallableTask

GRACE: Final = 5.0
"""Seconds that cancelled code may take to give in, before it is left behind."""
CLEARING_UP: Final = 5.0
"""Seconds beyond a task's own grace, for keeping what it has left."""


def path_of(job: Job, run_id: str) -> Path | None:
    """Where a job is recorded; None where it is not."""
    options = job.options
    if options.journal is False:
        return None
    if options.journal is not None:
        return Path(options.journal)
    return new_run_path(runs_root(options.runs), job.suite, run_id, started=time.time())


def in_processes(options: Options, tasks: Mapping[str, CallableTask]) -> bool:
    """Whether attempts are made in child processes. A command is one as it is, looked after from here."""
    return options.isolation == "process" and not all(map(_is_process, tasks.values()))


def _is_process(task: CallableTask) -> bool:
    return getattr(task.call, "is_process", False)


def plan_of(
    options: Options,
    evaluators: tuple[Prepared, ...],
    *,
    row_of: Callable[..., Any],
    tasks: Mapping[str, CallableTask] | None = None,
) -> Plan:
    """What the options of a run mean to the engine, and what its tasks say of their own time."""
    tasks = tasks or {}
    if in_processes(options, tasks) and any(map(_is_process, tasks.values())):
        raise UsageError(
            'a command is a process of its own: it is no variant of a task with isolation="process"',
            hint="leave the isolation out, or give each a run: `paceline compare` puts these side by side",
        )
    timeouts = {variant: task.timeout for variant, task in tasks.items() if task.timeout is not None}
    # What clears up for a while when it is cut off is not taken for what ignores it.
    longest = max((getattr(task.call, "grace", 0.0) for task in tasks.values()), default=0.0)
    concurrency = options.max_concurrency
    if options.debug:
        concurrency = 1
    budget = Budget.of(options.budget)
    if options.fail_fast:
        budget = replace(budget, failures=1)
    return Plan(
        concurrency=AUTO_CONCURRENCY if concurrency == "auto" else concurrency,
        evaluators=evaluators,
        evaluator_concurrency=options.evaluator_concurrency,
        timeout=None if options.debug else options.timeout,
        timeouts={} if options.debug else timeouts,
        grace=max(GRACE, longest + CLEARING_UP),
        case_timeout=None if options.debug else options.case_timeout,
        evaluator_timeout=None if options.debug else options.evaluator_timeout,
        hook_timeout=None if options.debug else options.hook_timeout,
        drain_timeout=options.drain_timeout,
        retry_task=retry_policy(options.retry_task, default=Retry()),
        retry_evaluators=retry_policy(options.retry_evaluators, default=Retry()),
        lifecycle=options.lifecycle,
        budget=budget,
        seed=options.seed,
        show_errors=concurrency == 1,
        listens=True,  # without doors under HTTP there are slots, and clients that are paced by themselves
        row_of=row_of,
    )


def settings_of(options: Options) -> dict[str, Any]:
    """The settings worth keeping with a run: those that are not at their default and can be written down."""
    default = Options()
    named = {"name", "task_name", "metadata", "journal", "runs", "progress", "on_event", "debug"}
    kept = {
        name: given
        for name in Options.__dataclass_fields__
        if name not in named and (given := getattr(options, name)) != getattr(default, name)
    }
    if options.variants is not None:
        kept["variants"] = list(options.variants)
    return plain(kept) or {}


def plain(metadata: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """A mapping as a line of the journal holds it: as JSON, which need not come back as what it was."""
    if metadata is None:
        return None
    written: dict[str, Any] = msgspec.json.decode(values.encode(dict(metadata)))
    marked = written.keys() == {values.MARK, "value"}
    return written["value"] if marked else written
