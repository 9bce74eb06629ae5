"""Facts: what a page is told of a run as a whole, beside its cases.

    report      the document of `paceline report --json`
    overview    what the terminal says above its tables, a label and a sentence each
    run         how it was started: command, settings, versions, commit
    ramp        the rows of `paceline ramp`, where it has climbed in this run

Knows reports. Knows nothing of HTML.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec

from paceline.journal.records import RunLine
from paceline.report.figures import Figures
from paceline.report.html.bodies import LAYOUT
from paceline.report.overview import lines_of
from paceline.report.table import Table

MAX_RAMP: Final = 4 * 1024 * 1024


def facts_of(told: dict[str, Any], figures: Figures, table: Table, *, path: Path | None) -> dict[str, Any]:
    """What the page is told, as plain data; `told` is the document of the report."""
    run = table.run
    return {
        "report": told,
        "overview": list(lines_of(figures)),
        "run": _how(run) if run else {},
        "repeat": run.repeat if run else 1,
        "began": table.processes[0].started if table.processes else None,
        "clustered_by": told["clustered_by"],
        "evaluators": table.evaluators,
        "ramp": _ramp(path),
        "layout": LAYOUT,
    }


def _how(run: RunLine) -> dict[str, Any]:
    return {
        "suite": run.suite,
        "command": run.command,
        "directory": run.directory,
        "settings": run.settings,
        "versions": run.versions,
        "git": run.git,
        "rescored_from": run.rescored_from or None,
    }


def _ramp(path: Path | None) -> Any:
    """What a climb has written beside the journal; None where there was none, or it cannot be read."""
    if path is None:
        return None
    place = path.with_suffix(".ramp.json") if path.suffix == ".jsonl" else path / "ramp.json"
    try:
        if place.stat().st_size > MAX_RAMP:
            return None
        return msgspec.json.decode(place.read_bytes())
    except (OSError, msgspec.DecodeError, RecursionError):
        return None


__all__ = ["facts_of"]
