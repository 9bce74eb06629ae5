"""`paceline rescore`: score stored outputs again, without running the task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from paceline.cli.options import settings_among
from paceline.cli.run import run_flags, tell, tell_plan, view_of
from paceline.cli.verb import Verb, stdout_for_the_document, warn, written_arguments

if TYPE_CHECKING:
    from paceline.conduct import Job
    from paceline.settings import Effective


@click.command("rescore", cls=Verb)
@click.argument("run", required=False)
@click.option("-o", "--output", metavar="PATH", help="Where the new scores are recorded.")
@click.option(
    "--evaluator",
    "--evaluators",
    "evaluators",
    metavar="SPEC",
    multiple=True,
    help="An evaluator such as EqualsExpected, in place of those that the run had.",
)
@click.option("--suite", metavar="FILE", help="Take the evaluators of this suite.")
@click.option(
    "--expected", metavar="FILE", help="Rows of id and expected answer, in place of the cases' own."
)
@run_flags
@click.pass_context
def command(ctx: click.Context, /, run: str | None, **given: Any) -> int:
    """Score the outputs of RUN (a path, or an id; the latest by default) into a new run.

    RUN may be a results file of another harness: JSONL with an id and an output in each row. What is scored
    is never changed, and the task is not called.
    """
    return start(["paceline", "rescore", *written_arguments(ctx)], {"run": run, **given})


def start(written: list[str], params: dict[str, Any]) -> int:
    """Carry out what was called in these words, with these parameters."""
    return carry_out(Call(written=written, flags=settings_among(params), **params))


@dataclass(frozen=True, kw_only=True)
class Call:
    """What `rescore` was called with."""

    written: list[str]
    run: str | None
    output: str | None
    evaluators: tuple[str, ...]
    suite: str | None
    expected: str | None
    retry_errors: bool
    accept_changes: bool
    dry_run: bool
    rehearse: str | None
    recording: str | None
    record_only: bool
    as_json: bool
    quiet: bool
    verbose: bool
    debug: bool
    flags: Mapping[str, Any]


def carry_out(call: Call) -> int:
    """Score, report; the exit code of it."""
    with stdout_for_the_document(call.as_json):
        job, chosen = _job(call)
        if not call.dry_run:
            from paceline.api import run_job

            finished = run_job(job)
    if call.dry_run:
        return tell_plan(job, as_json=call.as_json)
    return tell(finished, fail_on=chosen["fail_on"], as_json=call.as_json, quiet=call.quiet)


def _job(call: Call) -> tuple[Job, Effective]:
    if call.rehearse:
        from paceline.conduct.rehearsal import put_keys_away

        put_keys_away()  # before the suite is loaded, as in `run`
    from paceline.cli.find import find_stored
    from paceline.cli.jobs import cases_of, evaluators_of, options_for
    from paceline.conduct.rescoring import rescoring_job
    from paceline.settings import effective
    from paceline.suite import built_evaluators, load_suite

    suite = None if call.suite is None else load_suite(call.suite, needs_task=False)
    chosen = effective(call.flags, suite=suite)
    for warning in chosen.warnings:
        warn(f"warning: {warning}")
    given: list[object] = [] if suite is None else evaluators_of(suite)
    given += built_evaluators(call.evaluators, () if suite is None else suite.custom_evaluators)
    options = options_for(
        chosen,
        journal=call.output,
        progress=view_of(chosen["progress"], quiet=call.quiet, verbose=call.verbose, debug=call.debug),
        retry_errors=call.retry_errors,
        accept_changes=call.accept_changes,
        debug=call.debug,
        rehearse=call.rehearse or False,
        recording=call.recording,
        record_only=call.record_only,
    )
    job = rescoring_job(
        find_stored(call.run),
        evaluators=given or None,
        expected=call.expected,
        options=options,
        command=call.written,
        suite=None if suite is None else lambda: cases_of(suite),
        warn=lambda note: warn(f"warning: {note}"),
    )
    if suite is not None:
        job = replace(job, check=suite.rules().written())
    return job, chosen
