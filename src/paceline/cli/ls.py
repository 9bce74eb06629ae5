"""`paceline ls`: the runs there are, latest first."""

from __future__ import annotations

import time
from typing import Any

import click

from paceline.cli.options import json_flag
from paceline.cli.verb import Verb, say, say_json, table, warn


@click.command("ls", cls=Verb)
@click.argument("suite", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most this many.")
@json_flag
def command(suite: str | None, limit: int, as_json: bool) -> int:
    """List runs, latest first; those of SUITE only if one is named."""
    from itertools import islice

    from paceline.cli.find import runs_folder, standing_of
    from paceline.runs import find_runs

    root = runs_folder()
    standings = [standing_of(found.path, found.line) for found in islice(find_runs(root, suite), limit)]
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
    return 0


def _row(standing: Any) -> tuple[str, ...]:
    started = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(standing.line.started))
    return str(standing.path), standing.line.suite, started, standing.state, _counts(standing)


def _counts(standing: Any) -> str:
    tally = standing.tally
    if tally is None:
        return "not counted: big"
    errors = tally.done - tally.passed - tally.failed - tally.unasserted
    numbers = [
        (tally.passed, "passed"),
        (tally.failed, "failed"),
        (errors, "error" if errors == 1 else "errors"),
        (tally.unasserted, "unasserted"),
    ]
    told = ", ".join(f"{number:,} {word}" for number, word in numbers if number)
    of_all = f"{tally.done:,}/{standing.keys:,}" if standing.keys is not None else f"{tally.done:,}"
    return f"{of_all} ({told})" if told else of_all


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
        "outcomes": None if tally is None else tally.by_outcome,
    }
