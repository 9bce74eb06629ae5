"""`paceline ls`: the runs there are, latest first."""

from __future__ import annotations

import time
from pathlib import Path
from shlex import quote
from typing import Any

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, table, warn

ERRORS = ("task_error", "timeout", "infra_error", "evaluator_error")
"""Outcomes of a case that ran and got no score."""
STATES = {"failed": "broken off", "budget": "out of budget"}
"""What is said of a run, where the record has a word that means something else of a case."""


@click.command("ls", cls=Verb)
@click.argument("named", metavar="[SUITE|DIRECTORY]", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most this many.")
@json_flag
def command(named: str | None, limit: int, as_json: bool) -> int:
    """List runs, latest first; only those of SUITE, or those in DIRECTORY, if one is named."""
    from itertools import islice

    from paceline.cli.find import runs_folder, standing_of
    from paceline.runs import find_runs, nameless_runs

    root = runs_folder()
    runs = list(find_runs(root, named))
    if not runs and named is not None and Path(named).is_dir():
        root = Path(named)
        runs = list(find_runs(root))
    standings = [standing_of(found.path, found.line) for found in islice(runs, limit)]
    if as_json:
        say_json([_document(standing) for standing in standings])
    elif standings:
        say(
            table(
                [_row(standing) for standing in standings], head=("RUN", "SUITE", "STARTED", "STATE", "CASES")
            )
        )
    else:
        warn(f"no runs under {root}")
    for path in nameless_runs(root):
        warn(
            f"{path} is not listed: its first line is damaged; `paceline verify {quote(str(path))}` says more"
        )
    return 0


def _row(standing: Any) -> tuple[str, ...]:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(standing.line.started))
    suite = f"{standing.line.suite} (rescored)" if standing.line.rescored_from else standing.line.suite
    return str(standing.path), suite, started, STATES.get(standing.state, standing.state), _counts(standing)


def _counts(standing: Any) -> str:
    tally = standing.tally
    if tally is None:
        return "not counted: big"
    scored = tally.passed + tally.failed + tally.unasserted
    errors = _errors(tally)
    numbers = [
        (tally.passed, "passed"),
        (tally.failed, "failed"),
        (errors, "error" if errors == 1 else "errors"),
        (tally.unasserted, "without assertion"),
        ((standing.keys or 0) - scored - errors, "not run"),
    ]
    told = ", ".join(f"{number:,} {word}" for number, word in numbers if number)
    of_all = f"{scored:,}/{standing.keys:,}" if standing.keys is not None else f"{scored:,}"
    return f"{of_all} ({told})" if told else of_all


def _errors(tally: Any) -> int:
    """Keys that ended without a score. Those that a budget or an interrupt has kept from running did not."""
    ended = {**tally.by_outcome, **tally.not_done}
    return sum(number for outcome, number in ended.items() if outcome in ERRORS)


def _document(standing: Any) -> dict[str, Any]:
    tally, owner, line = standing.tally, standing.owner, standing.line
    return {
        "path": str(standing.path),
        "run_id": line.run_id,
        "suite": line.suite,
        "started": line.started,
        "state": standing.state,
        "process": None if owner is None else {"pid": owner.pid, "host": owner.host, "since": owner.since},
        "keys": standing.keys,
        "done": None if tally is None else tally.done,
        "passed": None if tally is None else tally.passed,
        "failed": None if tally is None else tally.failed,
        "unasserted": None if tally is None else tally.unasserted,
        "errors": None if tally is None else _errors(tally),
        "outcomes": None if tally is None else {**tally.by_outcome, **tally.not_done},
        "rescored_from": line.rescored_from or None,
    }
