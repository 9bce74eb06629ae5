"""From a suite, its settings and the flags of a call to a job that can be carried out."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

from paceline.api import Dataset, job_of
from paceline.conduct import Job
from paceline.conduct.supply import supply_of
from paceline.engine.retry import Retry
from paceline.engine.source import Named
from paceline.errors import SuiteError, UsageError
from paceline.options import Options, Progress
from paceline.setting_kinds import LIMIT_NAMES
from paceline.settings import Effective, Replay
from paceline.suite import Suite


def options_for(
    chosen: Effective,
    *,
    journal: str | None,
    progress: bool | Progress,
    retry_errors: bool,
    accept_changes: bool,
    debug: bool,
    rehearse: bool | str = False,
    recording: str | None = None,
    record_only: bool = False,
) -> Options:
    """The options of a run that settings and flags decide."""
    if journal == "":
        raise UsageError("-o names no place", hint="a directory or a .jsonl file to record the run in")
    return Options(
        max_concurrency=chosen["max_concurrency"],
        limits=_limits(chosen),
        prices=chosen["prices"] or None,
        pace_http=chosen["pace_http"],
        share_pools=chosen["share_pools"],
        rehearse=rehearse,
        replay=_replay(chosen, recording=recording, record_only=record_only),
        recording=recording,
        replay_ignore=chosen["replay_ignore"],
        progress=progress,
        retry_task=_retry(chosen),
        retry_evaluators=_retry(chosen),
        repeat=chosen["repeat"],
        journal=journal,
        timeout=chosen["timeout"],
        case_timeout=chosen["case_timeout"],
        evaluator_timeout=chosen["evaluator_timeout"],
        hook_timeout=chosen["hook_timeout"],
        drain_timeout=chosen["drain_timeout"],
        evaluator_concurrency=chosen["evaluator_concurrency"],
        judge_model=chosen["judge_model"],
        judge_aliases=chosen["judge_aliases"] or None,
        budget=_budget(chosen),
        order=chosen["order"],
        retry_errors=retry_errors,
        isolation=chosen["isolation"],
        durability=chosen["durability"],
        fail_fast=chosen["fail_fast"],
        seed=chosen["seed"],
        accept_changes=accept_changes,
        redact=chosen["redact"],
        runs=chosen["runs"],
        debug=debug,
    )


def job_for(
    suite: Suite,
    options: Options,
    *,
    keep: Callable[[Iterable[Named]], Iterable[Named]] | None,
    command: Sequence[str],
) -> Job:
    """What is to be carried out: a suite, in this way."""
    tasks = {name: let_debugger_in(task) if options.debug else task for name, task in _tasks(suite).items()}
    options = replace(
        options,
        metadata=suite.metadata,
        lifecycle=suite.lifecycle,
        variants=tasks if suite.variants else None,
    )
    task = None if suite.variants else tasks[""]
    job = job_of(
        dataset_of(suite),
        task,
        options,
        suite=suite.name,
        evaluators=suite.evaluators,
        keep=keep,
        command=command,
    )
    return replace(job, check=suite.rules().written())


def _tasks(suite: Suite) -> Mapping[str, Callable[..., Any]]:
    if suite.variants:
        return suite.variants
    assert suite.task is not None, "`load_suite` sees to it"
    return {"": suite.task}


def dataset_of(suite: Suite) -> Dataset[Any, Any, Any]:
    """The cases of a suite, from wherever it has them."""
    match suite.dataset:
        case str() | Path() as path:
            return Dataset.from_file(
                suite.folder / path, custom_evaluator_types=suite.custom_evaluators, mapping=suite.map or None
            )
        case dict() as written:
            return Dataset.from_dict(written, suite.custom_evaluators, default_name=suite.name)
        case dataset if hasattr(dataset, "cases") and hasattr(dataset, "evaluators"):
            return dataset  # type: ignore[no-any-return]  # a Dataset by its shape
        case other:
            raise SuiteError(
                f"{suite.file}: the dataset is a {type(other).__name__}",
                hint="a dataset is a `Dataset`, or the path of a dataset file",
            )


def evaluators_of(suite: Suite) -> list[object]:
    """The evaluators for all cases of a suite."""
    return [*dataset_of(suite).evaluators, *suite.evaluators]


def cases_of(suite: Suite) -> Iterable[Named]:
    """The cases of a suite by name, with the evaluators that each has of its own."""
    dataset = dataset_of(suite)
    if not dataset.cases:
        return ()
    return supply_of(dataset.cases, custom=dataset.custom_evaluator_types, order="given").named()


def _replay(chosen: Effective, *, recording: str | None, record_only: bool) -> Replay:
    if record_only and (recording or chosen["replay"] in ("always", "off")):
        raise UsageError(
            "--record-only keeps calls and answers none again", hint="leave out --replay and --recording"
        )
    replay: Replay = "record" if record_only else chosen["replay"]
    if recording is not None and replay != "always":
        raise UsageError("--recording is for --replay always", hint="add --replay always")
    return replay


def _retry(chosen: Effective) -> Retry | None:
    return None if chosen.is_default("retries") else Retry(attempts=1 + chosen["retries"])


def _limits(chosen: Effective) -> dict[str, Any] | None:
    """The section `limits`, and what single settings say for all pools; the more specific one holds."""
    single = {name: chosen[name] for name in LIMIT_NAMES if chosen[name] is not None}
    return {**chosen["limits"], **single} or None


def _budget(chosen: Effective) -> dict[str, Any] | None:
    names = {
        "usd": "budget_usd",
        "tokens": "budget_tokens",
        "wall_s": "budget_time",
        "failures": "budget_failures",
    }
    given = {key: chosen[name] for key, name in names.items() if chosen[name] is not None}
    return given or None


# Which cases --------------------------------------------------------------------------------------


def selection(
    *, filter_: str | None, sample: int | None, limit: int | None, seed: int
) -> Callable[[Iterable[Named]], Iterable[Named]] | None:
    """What narrows the cases: a pattern first, then a sample, then a limit; None for all of them."""
    if filter_ is None and sample is None and limit is None:
        return None
    try:
        pattern = re.compile(filter_ or "")
    except re.error as error:
        raise UsageError(
            f"--filter {filter_!r} is not a regular expression: {error}",
            hint=r"what stands for itself takes a backslash: \( and \) for parentheses, \. for a point",
        )

    def keep(named: Iterable[Named]) -> Iterable[Named]:
        kept: Iterable[Named] = (pair for pair in named if pattern.search(pair[0]))
        if sample is not None:
            kept = drawn(kept, sample, seed)
        return kept if limit is None else islice(kept, limit)

    return keep


def drawn(named: Iterable[Named], count: int, seed: int) -> list[Named]:
    """A random sample, in the order of the cases; which are drawn depends on their names and the seed only.

    Those with the smallest hashes: so a million cases are gone through and no more than the sample is held.
    """

    def lot(numbered: tuple[int, Named]) -> bytes:
        name = numbered[1][0].encode("utf-8", "backslashreplace")
        return blake2b(name, key=b"%d" % seed, digest_size=16).digest()

    smallest = nsmallest(count, enumerate(named), key=lot)
    return [pair for _, pair in sorted(smallest, key=lambda numbered: numbered[0])]


# Debugging ----------------------------------------------------------------------------------------


def let_debugger_in(task: Callable[..., Any]) -> Callable[..., Any]:
    """The same task, with a debugger at the place where it raises, if somebody sits at the terminal."""
    if not (sys.stdin and sys.stdin.isatty()):
        return task

    def look(error: BaseException) -> None:
        import pdb

        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        pdb.post_mortem(error.__traceback__)

    if inspect.iscoroutinefunction(task):

        @functools.wraps(task)
        async def watched(inputs: Any) -> Any:
            try:
                return await task(inputs)
            except Exception as error:
                look(error)
                raise

        return watched

    @functools.wraps(task)
    def watched_sync(inputs: Any) -> Any:
        try:
            return task(inputs)
        except Exception as error:
            look(error)
            raise

    return watched_sync
