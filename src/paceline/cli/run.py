"""`paceline run`: carry out a suite, or go on with a run of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click

from paceline.cli import closed_from_the_start
from paceline.cli.check import RULE_NAMES, Asked, Gate, gate_of, rule_flags
from paceline.cli.options import (
    read_map,
    selection_flags,
    setting_flags,
    settings_among,
    view_flags,
)
from paceline.cli.verb import (
    StdoutLost,
    Verb,
    say,
    say_json,
    stdout_for_the_document,
    unless_gone,
    warn,
    written_arguments,
)

if TYPE_CHECKING:
    from paceline.conduct import Finished, Job
    from paceline.gates import Verdict
    from paceline.options import Progress
    from paceline.report import Report
    from paceline.settings import Effective

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def run_flags(command: CommandT) -> CommandT:
    """What `run` takes, and `resume` too."""
    options = (
        click.option(
            "--retry-errors", is_flag=True, help="Run cases again that ended in an error or a timeout."
        ),
        click.option("--accept-changes", is_flag=True, help="Go on although the suite has changed."),
        click.option("--dry-run", is_flag=True, help="Say what would run, and why; run nothing."),
        click.option(
            "--rehearse",
            is_flag=False,
            flag_value="rehearsal",
            metavar="[SCENARIO]",
            help="Send all calls of models to a simulated provider: free, and it tells time and cost.",
        ),
        click.option(
            "--recording", metavar="RUN", help="The run that --replay always answers from.  [the latest]"
        ),
        click.option("--record-only", is_flag=True, help="Keep calls, and answer none again."),
    )
    command = view_flags(setting_flags(command))
    for option in reversed(options):
        command = option(command)
    return command


def suite_flags(command: CommandT) -> CommandT:
    """What is run, and where that is recorded."""
    options = (
        click.option(
            "-o",
            "--output",
            metavar="PATH",
            help="Where the run is recorded; an existing run is gone on with.",
        ),
        click.option("--task", metavar="module:function", help="What to run, in place of the suite's task."),
        click.option(
            "--model",
            "models",
            metavar="NAME",
            multiple=True,
            help="A model to ask, such as openai:gpt-5.4-mini, in place of the suite's; several are "
            "variants.",
        ),
        click.option("--dataset", metavar="FILE", help="A dataset in place of the suite's."),
        click.option(
            "--evaluator",
            "--evaluators",
            "evaluators",
            metavar="SPEC",
            multiple=True,
            help="One more evaluator, such as EqualsExpected.",
        ),
        click.option(
            "--map",
            "mapping",
            metavar="OURS=THEIRS",
            multiple=True,
            help="How rows call our `inputs`, `expected_output`, `name`.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("run", cls=Verb)
@click.argument("target", required=False)
@suite_flags
@selection_flags
@run_flags
@click.option("--check", is_flag=True, help="Hold the run against the suite's rules when it is done.")
@rule_flags
@click.pass_context
def command(ctx: click.Context, /, target: str | None, **given: Any) -> int:
    """Run TARGET: a suite.yaml, a suite.py (with :NAME if it holds several), or a dataset with --task.

    Without TARGET, the one suite in this directory. Every result is on disk before it counts: kill the run
    at any moment, and the same command with the same -o goes on with it, as does `paceline resume`.
    """
    return start(["paceline", "run", *written_arguments(ctx)], {"target": target, **given})


def start(written: list[str], params: dict[str, Any]) -> int:
    """Carry out what was called in these words, with these parameters."""
    asked = Asked(**{name: params.pop(name) for name in RULE_NAMES})
    return carry_out(Call(written=written, flags=settings_among(params), asked=asked, **params))


@dataclass(frozen=True, kw_only=True)
class Call:
    """What `run` was called with."""

    written: list[str]
    """As it was typed. The record keeps it, for `resume`."""
    target: str | None
    output: str | None
    task: str | None
    models: tuple[str, ...]
    dataset: str | None
    evaluators: tuple[str, ...]
    mapping: tuple[str, ...]
    filter_: str | None
    sample: int | None
    limit: int | None
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
    check: bool = False
    asked: Asked = field(default_factory=Asked)
    """Rules given with the call; where there are any, they are checked."""
    flags: Mapping[str, Any]
    """Of settings."""


def carry_out(call: Call) -> int:
    """Load, run, report; the exit code of it."""
    with stdout_for_the_document(call.as_json):
        job, chosen = job_from(call)
        gate = gate_of(call.asked, job.check, wanted=call.check)
        if not call.dry_run:
            from paceline.api import run_job

            if call.output is None:
                _mention_unfinished(job)
            finished = run_job(job)
    if call.dry_run:
        return tell_plan(job, as_json=call.as_json)
    return tell(finished, fail_on=chosen["fail_on"], as_json=call.as_json, quiet=call.quiet, gate=gate)


def job_from(call: Call) -> tuple[Job, Effective]:
    """What is to be carried out, and the settings that hold for it."""
    from paceline.settings import effective

    if call.rehearse:
        from paceline.conduct.rehearsal import put_keys_away

        put_keys_away()  # before the suite is loaded: it may make its client at once
    from paceline.suite import load_suite

    here = Path.cwd()
    suite = load_suite(
        call.target or ".",
        task=call.task,
        models=call.models,
        dataset=call.dataset,
        evaluators=call.evaluators,
        field_map=read_map(call.mapping),
    )
    there = Path.cwd()
    os.chdir(here)
    chosen = effective(call.flags, suite=suite)
    for warning in chosen.warnings:
        warn(f"warning: {warning}")
    # Only now: a mistake in what was typed is told before the engine is loaded.
    from paceline.cli.jobs import job_for, options_for, selection

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
    job = job_for(
        suite,
        options,
        keep=selection(filter_=call.filter_, sample=call.sample, limit=call.limit, seed=chosen["seed"]),
        command=call.written,
    )
    if there != here:
        job = _held_to(here, job)
        os.chdir(there)
    return job, chosen


def _held_to(here: Path, job: Job) -> Job:
    """The same job where a suite has changed the directory when it was loaded: its code may rely on that, but
    what was typed starts from where it was typed."""
    options = job.options
    journal = here / options.journal if options.journal else options.journal
    options = replace(options, journal=journal, runs=here / (options.runs or "runs"))
    return replace(job, options=options, directory=str(here))


def _mention_unfinished(job: Job) -> None:
    """Say that there is a run to go on with: a new one pays again for what that has done."""
    from paceline.cli.find import done_of, unfinished_run
    from paceline.runs import runs_root

    found = unfinished_run(runs_root(job.options.runs), job.suite)
    if found is not None:
        warn(
            f"an unfinished run of {job.suite} exists ({done_of(found.path)}): "
            f"`paceline resume {quote(str(found.path))}` goes on with it; starting a new one"
        )


def view_of(style: str, *, quiet: bool, verbose: bool, debug: bool) -> Progress:
    from paceline.progress import progress_for

    # A bar would draw over the prompt of a debugger.
    style = "none" if quiet else "plain" if debug else style
    return progress_for(style, verbose=verbose or debug)  # type: ignore[arg-type]  # settings know the styles


def tell(finished: Finished, *, fail_on: Any, as_json: bool, quiet: bool, gate: Gate | None = None) -> int:
    """Show what a run has found, and what to do next; its exit code, or that of its gate."""
    from paceline.api import exit_code

    if finished.ending.error is not None:
        raise finished.ending.error
    report = finished.report
    verdict = gate.verdict_on(report) if gate is not None else None
    try:
        _show(report, verdict, as_json=as_json, quiet=quiet)
    except StdoutLost as error:
        # How the run went is not for its printing to say.
        warn(f"warning: {error}")
        _say_where(report)
    if report.path is not None and finished.ending.how != "complete":
        if quiet or as_json:  # else the report has said it
            warn(f"incomplete: {finished.ending.reason}")
        warn(f"go on with: paceline resume {report.path}")
    if verdict is not None:
        # The rules say what failures mean; what broke the run, or cut it off, they do not.
        broke = exit_code(finished, fail_on="none")
        return broke if broke in (3, 130) else verdict.exit_code or int(bool(finished.unknown_cost))
    return exit_code(finished, fail_on=fail_on)


def _show(report: Report[Any, Any, Any], verdict: Verdict | None, *, as_json: bool, quiet: bool) -> None:
    if 1 in closed_from_the_start and not quiet:
        _say_where(report)
    elif as_json and verdict is not None:
        say_json({**report.to_dict(), "check": verdict.to_dict()})
    elif as_json:
        say(report.to_json())
    elif not quiet:
        with unless_gone():
            report.print()
    if verdict is not None and not as_json:
        say(("" if quiet else "\n") + str(verdict))


def _say_where(report: Report[Any, Any, Any]) -> None:
    """Where the report is to be had that could not be printed."""
    if report.path is not None:
        path = quote(str(report.path))
        warn(f"the run is on record in {path}; `paceline report {path}` shows what it has found")


def tell_plan(job: Job, *, as_json: bool) -> int:
    """What would run, and why; nothing is run and nothing written."""
    from paceline.conduct import Conductor

    conductor = Conductor(job)
    todo = conductor.plan_only()
    source = todo.source
    while source.take() is not None:
        pass
    to_run = source.reasons.total()
    plan = {
        "suite": job.suite,
        "path": str(conductor.path) if todo.ledger is not None else None,
        "expected": source.expected,
        "repeat": job.options.repeat,
        "variants": list(job.tasks),
        "done": (source.expected or to_run) - to_run,
        "to_run": to_run,
        "reasons": dict(sorted(source.reasons.items())),
        "concurrency": conductor.plan.concurrency,
        "order": todo.order,
        "evaluators": [each.label for each in conductor.evaluators],
    }
    if as_json:
        say_json(plan)
    else:
        say(_plan_in_words(plan))
    return 0


def _plan_in_words(plan: dict[str, Any]) -> str:
    reasons = "".join(f"\n  {number:,} {reason}" for reason, number in plan["reasons"].items())
    times = [f"{plan['repeat']} times each"] if plan["repeat"] > 1 else []
    times += [f"{len(plan['variants'])} variants"] if len(plan["variants"]) > 1 else []
    return "\n".join(
        (
            f"{plan['suite']}: {plan['expected']:,} in all{''.join(f', {each}' for each in times)}",
            f"done already: {plan['done']:,}",
            f"would run: {plan['to_run']:,}{reasons}",
            f"at a time: {plan['concurrency'] or 'all'}, {plan['order']}",
            f"evaluators: {', '.join(plan['evaluators']) or 'none'}",
            f"record: {plan['path'] or 'a new one'}",
        )
    )
