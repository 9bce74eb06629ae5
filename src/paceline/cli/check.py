"""`paceline check`: hold a run against rules; the exit code says whether it keeps them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, warn
from paceline.errors import UsageError

if TYPE_CHECKING:
    from paceline.gates import Rules, Verdict
    from paceline.gates.baseline import Baseline
    from paceline.report import Report

CommandT = TypeVar("CommandT", bound=Callable[..., Any])


def rule_flags(command: CommandT) -> CommandT:
    """The rules themselves."""
    options = (
        click.option(
            "--min", "least", metavar="FIGURE=BOUND", multiple=True, help="The least that a figure may be."
        ),
        click.option(
            "--max", "most", metavar="FIGURE=BOUND", multiple=True, help="The most that a figure may be."
        ),
        click.option("--min-coverage", metavar="SHARE", help="The least share of keys to be scored."),
        click.option(
            "--no-regression",
            metavar="BASELINE",
            help="A run, or a saved baseline, that this one must not be significantly worse than.",
        ),
        click.option(
            "--require-calibrated-judges",
            is_flag=True,
            help="Every judge has to have been shown to agree with people.",
        ),
        click.option(
            "--confidence",
            metavar="SHARE",
            help="Hold rules to the bound of the interval at this confidence, not to the figure.",
        ),
        click.option("--allow-simulated", is_flag=True, help="Let a rehearsal be green."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Rules as they were typed."""

    least: tuple[str, ...] = ()
    most: tuple[str, ...] = ()
    min_coverage: str | None = None
    no_regression: str | None = None
    require_calibrated_judges: bool = False
    confidence: str | None = None
    allow_simulated: bool = False

    def rules(self) -> Rules:
        """The rules that these words say."""
        from paceline.gates.rules import pairs_of, rules_from

        return rules_from(
            min=pairs_of(self.least, "--min"),
            max=pairs_of(self.most, "--max"),
            min_coverage=self.min_coverage,
            no_regression=_baseline_place(self.no_regression),
            require_calibrated_judges=self.require_calibrated_judges,
            confidence=self.confidence,
            allow_simulated=self.allow_simulated,
        )


def _baseline_place(named: str | None) -> str | None:
    """A file with a saved baseline, or the run that was named."""
    if named is None or Path(named).exists():
        return named
    from paceline.cli.find import find_run

    try:
        return str(find_run(named))
    except UsageError as error:
        raise UsageError(
            f"there is no baseline {named!r}: neither a file nor a run",
            hint=f"`--save-baseline {named}` writes one from a run that is good",
        ) from error


RULE_NAMES: Final = tuple(Asked.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Rules that a run is going to be held against."""

    rules: Rules
    baseline: Baseline | None
    """Read before the run is paid for: it may be misspelt."""

    def verdict_on(self, report: Report[Any, Any, Any]) -> Verdict:
        from paceline.gates import judged

        return judged(report, self.rules, baseline=self.baseline)


def gate_of(asked: Asked, of_the_suite: Mapping[str, Any], *, wanted: bool) -> Gate | None:
    """The gate of a run that is to be checked; None where nobody asks for one."""
    given = asked.rules()
    if not (wanted or given):
        return None
    from paceline.gates.baseline import read_baseline
    from paceline.gates.rules import rules_written

    rules = rules_written(of_the_suite).and_then(given)
    if not rules:
        raise UsageError(
            "--check: there is no rule to hold the run against",
            hint="`check:` in the suite, or --min pass_rate=0.9",
        )
    return Gate(rules=rules, baseline=read_baseline(rules.no_regression) if rules.no_regression else None)


@click.command("check", cls=Verb)
@click.argument("run", required=False)
@rule_flags
@click.option("--suite", metavar="FILE", help="Take the rules of this suite, not those on record.")
@click.option("--save-baseline", metavar="FILE", help="Keep how the keys of RUN ended, for later.")
@click.option("--markdown", is_flag=True, help="Print the verdict and the report for GitHub.")
@json_flag
def command(
    run: str | None,
    suite: str | None,
    save_baseline: str | None,
    markdown: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Hold RUN (a path, or an id; the latest by default) against rules.

    Rules are those of its suite and those given here; a figure that both name keeps to what is given here.
    Figures are those of `paceline report --json`. Ends with 0 where all rules hold, 1 where one does not or
    cannot be known to, 4 where the run is not whole.
    """
    from paceline.cli.find import find_run
    from paceline.report import Report

    given = Asked(**asked).rules()
    report = Report.read(find_run(run))
    rules = _rules_of(report, suite).and_then(given)
    if save_baseline is None or rules:
        from paceline.gates import judged

        verdict = judged(report, rules)  # first: it may be the baseline itself that is written anew
    if save_baseline is not None:
        from paceline.gates import write_baseline

        warn(f"baseline: {write_baseline(report, save_baseline)}")
        if not rules:
            return 0
    if markdown and not as_json:
        say(f"{verdict.to_markdown()}\n{report.to_markdown()}".rstrip("\n"))
    elif as_json:
        say_json(verdict.to_dict())
    else:
        say(str(verdict))
    return verdict.exit_code


def _rules_of(report: Report[Any, Any, Any], suite: str | None) -> Rules:
    from paceline.gates.rules import rules_written

    if suite is not None:
        from paceline.suite import load_suite

        return load_suite(suite, needs_task=False).rules()
    return rules_written(report.run.check if report.run else {}, where="the suite of the run")
