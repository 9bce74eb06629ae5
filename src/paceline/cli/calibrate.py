"""`paceline calibrate`: hold a judge against what people have said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from paceline.cli.options import json_flag, read_map, setting_flags_but, settings_among
from paceline.cli.verb import Verb, say, say_json, stdout_for_the_document, warn, written_arguments
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.calibration.findings import Calibration
    from paceline.calibration.labels import Labels
    from paceline.conduct import Finished
    from paceline.options import Options
    from paceline.settings import Effective

WITHOUT_MEANING = ("fail_on", "repeat", "isolation", "order")
"""Settings of runs: a calibration has its own verdict, its own repeats, and no task."""
INCOMPLETE = 4


@click.command("calibrate", cls=Verb)
@click.argument("labels")
@click.option("--judge", metavar="SUITE:NAME", help="Ask this evaluator of a suite, or of a Python file.")
@click.option("--judge-column", metavar="COLUMN", help="Take the judge's scores from a column instead.")
@click.option(
    "--human-column", "human_columns", metavar="COLUMN", multiple=True, help="What people said; one for each."
)
@click.option("--cluster", metavar="COLUMN", help="Items that share a value of it hang together.")
@click.option("--levels", metavar="LOW,...,HIGH", help="Words that stand for numbers, lowest first.")
@click.option(
    "--map",
    "mapping",
    metavar="OURS=THEIRS",
    multiple=True,
    help="Which column is our `output`, `inputs`, `expected_output`, `name`, `metadata`.",
)
@click.option("--result", metavar="NAME", help="Which result of the judge, if it gives several.")
@click.option(
    "--retest", type=click.IntRange(min=0), default=0, metavar="N", help="Ask N times more about 30 items."
)
@click.option(
    "--retest-column",
    "retest_columns",
    metavar="COLUMN",
    multiple=True,
    help="Scores of the judge when it was asked again.",
)
@click.option("--swapped-column", metavar="COLUMN", help="Its scores of pairs shown in the other order.")
@click.option("--labels-are-human", is_flag=True, help="Declare that people gave the labels.")
@click.option("-o", "--output", metavar="FILE", help="Write the certificate here: NAME.calibration.json.")
@click.option("--run", metavar="PATH", help="Where the judge's scores are recorded, and gone on with.")
@click.option(
    "--rehearse",
    is_flag=False,
    flag_value="rehearsal",
    metavar="[SCENARIO]",
    help="Send all calls of models to a simulated provider: free, and it tells time and cost.",
)
@setting_flags_but(*WITHOUT_MEANING)
@json_flag
@click.option("-q", "--quiet", is_flag=True, help="No progress; only what was found.")
@click.pass_context
def command(ctx: click.Context, /, **given: Any) -> int:
    """Hold a judge against LABELS: items that people have scored (.json, .jsonl, .csv, .tsv).

    PASS (exit 0) if the 95 % interval of Spearman's correlation lies at 0.80 or above, FAIL if it lies
    below; else INCONCLUSIVE, with how many more labels would settle it. Never PASS on fewer than 30 items.
    A column is a field, or a path into one: `scores.overall`.

    A judge that is asked is asked once about each item, and every score is on record: killed or
    interrupted, the same command goes on, and labels that were added are judged in addition.
    """
    flags = settings_among(given)
    call = Call(written=["paceline", "calibrate", *written_arguments(ctx)], flags=flags, **given)
    return carry_out(call)


@dataclass(frozen=True, kw_only=True)
class Call:
    """What `calibrate` was called with."""

    written: list[str]
    labels: str
    judge: str | None
    judge_column: str | None
    human_columns: tuple[str, ...]
    cluster: str | None
    levels: str | None
    mapping: tuple[str, ...]
    result: str | None
    retest: int
    retest_columns: tuple[str, ...]
    swapped_column: str | None
    labels_are_human: bool
    output: str | None
    run: str | None
    rehearse: str | None
    as_json: bool
    quiet: bool
    flags: Mapping[str, Any]

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if not self.human_columns:
            raise UsageError(
                "no column of people's labels is named", hint="--human-column COLUMN, such as scores.overall"
            )
        if (self.judge is None) == (self.judge_column is None):
            raise UsageError(
                "a judge is either asked, or its scores stand in a column",
                hint="--judge suite.py:NAME, or --judge-column COLUMN",
            )
        for option, given in self._of_the_other_mode():
            if given:
                mode = "--judge-column" if self.judge is not None else "--judge"
                raise UsageError(f"{option} is for {mode}", hint=f"leave out {option}")

    def _of_the_other_mode(self) -> list[tuple[str, object]]:
        if self.judge is None:
            return [
                ("--result", self.result),
                ("--retest", self.retest),
                ("--run", self.run),
                ("--rehearse", self.rehearse),
            ]
        return [("--retest-column", self.retest_columns), ("--swapped-column", self.swapped_column)]


def carry_out(call: Call) -> int:
    """Read, ask, measure, tell; the exit code of it."""
    call.check()
    from paceline.calibration.certifying import check_declared, place_for
    from paceline.calibration.columns import read_levels
    from paceline.calibration.labels import Columns, read_labels

    columns = Columns(
        human=call.human_columns,
        judge=call.judge_column,
        cluster=call.cluster,
        levels=read_levels(call.levels),
    )
    labels = read_labels(Path(call.labels), columns)
    place = place_for(call.output) if call.output is not None else None
    if place is not None:
        check_declared(labels, are_human=call.labels_are_human)
    with stdout_for_the_document(call.as_json):
        if call.judge is None:
            found: Calibration | None = _from_column(call, labels)
            code = 0
        else:
            found, code = _by_asking(call, labels, call.judge)
    if found is None:
        return code
    if place is not None:
        _write(found, place)
    return _tell(found, call, place)


def _from_column(call: Call, labels: Labels) -> Calibration:
    from paceline.calibration.front import Aside, calibration_of, scored_by_column
    from paceline.settings import effective

    mapping = read_map(call.mapping)
    aside = Aside(
        output=mapping.pop("output", None), swapped=call.swapped_column, again=tuple(call.retest_columns)
    )
    if mapping:
        raise UsageError(
            f"--map {next(iter(mapping))}= is for a judge that is asked",
            hint="leave it out, or name a --judge",
        )
    return calibration_of(
        scored_by_column(labels, aside),
        labels,
        {"column": call.judge_column},
        seed=effective(call.flags)["seed"],
        are_human=call.labels_are_human,
    )


def _by_asking(call: Call, labels: Labels, judge: str) -> tuple[Calibration | None, int]:
    """What comes of asking the judge; None, and the exit code, where it could not be asked about all."""
    if call.rehearse:
        from paceline.conduct.rehearsal import put_keys_away

        put_keys_away()  # before the suite is loaded, as in `run`
    from paceline.api import exit_code, run_job
    from paceline.calibration.front import calibration_of
    from paceline.calibration.judging import judging_job, scored_by_judge, to_judge
    from paceline.cli.judges import find_judge

    asked, chosen = find_judge(judge, call.flags)
    for warning in chosen.warnings:
        warn(f"warning: {warning}")
    if call.output is not None and asked.fingerprint is None:
        raise UsageError(
            f"{asked.name} does not say which version of itself it is, so no certificate could ever expire",
            hint="give it an `evaluator_version`, and raise that with each change; LLMJudge has its own",
        )
    items = to_judge(labels, read_map(call.mapping))
    options = _options(call, chosen)
    job = judging_job(asked, items, labels, options, retest=call.retest, command=call.written)
    finished = run_job(job)
    if finished.ending.error is not None:
        raise finished.ending.error
    if finished.ending.how != "complete":
        return None, _incomplete(finished, exit_code(finished, fail_on="none"))
    report = finished.report
    scored, result = scored_by_judge(report, items, asked, levels=labels.columns.levels, result=call.result)
    return (
        calibration_of(
            scored,
            labels,
            asked.facts(result),
            seed=chosen["seed"],
            simulated=report.figures.is_simulated,
            are_human=call.labels_are_human,
            run=str(report.path) if report.path is not None else None,
        ),
        0,
    )


def _options(call: Call, chosen: Effective) -> Options:
    from paceline.cli.jobs import options_for
    from paceline.cli.run import view_of

    return options_for(
        chosen,
        journal=call.run,
        progress=view_of(chosen["progress"], quiet=call.quiet, verbose=False, debug=False),
        retry_errors=True,
        accept_changes=False,
        debug=False,
        rehearse=call.rehearse or False,
    )


def _incomplete(finished: Finished, code: int) -> int:
    warn(f"incomplete: {finished.ending.reason}")
    warn("the same command goes on where it has stopped; there is no verdict before all items are judged")
    return code or INCOMPLETE


def _write(found: Calibration, place: Path) -> None:
    from datetime import UTC, datetime

    from paceline.calibration.certifying import write_certificate

    write_certificate(found, place, made=datetime.now(UTC).isoformat(timespec="seconds"))


def _tell(found: Calibration, call: Call, place: Path | None) -> int:
    """Show what was found; the exit code of its verdict."""
    if call.as_json:
        say_json(found.document())
    else:
        from paceline.calibration.words import in_words

        say(in_words(found))
    if found.run is not None:
        warn(f"the judge's scores are on record in {quote(found.run)}")
    if place is not None:
        warn(f"the certificate is {quote(str(place))}")
    return 0 if found.verdict.kind == "PASS" else 1


__all__ = ["command"]
