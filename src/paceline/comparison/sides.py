"""Sides: what is compared. Whatever a side is read from, it is keys with what has become of each of them.

    a run directory or a journal        all that is on record
    one variant of a run                its keys, without the variant's name
    a saved baseline                    how keys have ended, and no more
    results of another harness          see `foreign`

What a side does not say (content of cases, deadlines, judges) cannot differ, and `differing` says that it is
not known.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from paceline.errors import UsageError
from paceline.gates.baseline import FORMAT, read_saved
from paceline.journal.journal import Journal
from paceline.journal.records import JudgeStanding, Key
from paceline.report.report import Report
from paceline.report.sightings import Sighting

Kind = Literal["run", "baseline", "inspect", "pydantic_evals", "rows"]

MOST_BYTES: Final = 1 << 30
"""Of a file that is read whole."""


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the things that are compared."""

    name: str
    """As it was named: a path, or an id."""
    kind: Kind
    suite: str
    seen: Mapping[Key, Sighting]
    whole: bool = True
    """Whether all its keys have come to an end."""
    simulated: bool = False
    settings: Mapping[str, Any] | None = None
    """Those that were given; None where nothing is known of them."""
    tasks: Any = None
    """What was tested, as far as it is known: names, versions, models and their settings."""
    evaluators: Mapping[str, Any] | None = None
    """How they are written, by label."""
    judges: Mapping[str, JudgeStanding] | None = None


def side_of(report: Report[Any, Any, Any], name: str = "") -> Side:
    """A run as it is on record."""
    run = report.run
    figures = report.figures
    fingerprint = run.fingerprint if run else {}
    return Side(
        name=name or (str(report.path) if report.path else report.run_id),
        kind="run",
        suite=report.dataset_name,
        seen={seen.key: seen for seen in report.sightings()},
        whole=figures.verdict not in ("empty", "incomplete"),
        simulated=figures.is_simulated,
        settings=run.settings if run else None,
        tasks=fingerprint.get("tasks"),
        evaluators=fingerprint.get("evaluators"),
        judges=figures.judges,
    )


def read_side(path: str | os.PathLike[str], fields: Mapping[str, str] | None = None) -> Side:
    """What lies at a path; `fields` says how rows of another harness call our fields."""
    place = Path(path)
    if place.is_dir() or (place.is_file() and _is_journal(place)):
        if fields:
            raise UsageError(f"{place} is a run: nothing of it is mapped", hint="leave --map out")
        return side_of(Report.read(place), str(path))
    if not place.is_file():
        raise UsageError(
            f"there is nothing to compare at {place}",
            hint="name a run, a saved baseline, a log of Inspect, a report of Pydantic Evals, or JSONL",
        )
    from paceline.comparison.foreign import read_foreign

    return _saved(place, str(path)) or read_foreign(place, str(path), fields or {})


def _is_journal(place: Path) -> bool:
    from paceline.conduct.foreign import is_foreign

    return place.suffix == ".jsonl" and not is_foreign(place) and Journal.exists(place)


def variants_of(side: Side) -> list[Side]:
    """Each variant of a run as a side of its own."""
    names = list(dict.fromkeys(key.variant for key in side.seen))
    if len(names) < 2:
        raise UsageError(
            f"{side.name} has no variants to compare", hint="name two runs, or a run of several variants"
        )
    return [
        msgspec.structs.replace(
            side,
            name=name or "(unnamed)",
            seen=_without_variant(seen for key, seen in side.seen.items() if key.variant == name),
            tasks=side.tasks.get(name) if isinstance(side.tasks, Mapping) else None,
        )
        for name in names
    ]


def matched(sides: Sequence[Side]) -> list[Side]:
    """The same sides; where each has one variant, their names do not keep the keys apart."""
    if any(len({key.variant for key in side.seen}) > 1 for side in sides):
        return list(sides)
    return [
        msgspec.structs.replace(side, seen=_without_variant(side.seen.values()), tasks=_only(side.tasks))
        for side in sides
    ]


def _only(tasks: Any) -> Any:
    return next(iter(tasks.values())) if isinstance(tasks, Mapping) and len(tasks) == 1 else tasks


def _without_variant(seen: Iterable[Sighting]) -> dict[Key, Sighting]:
    bare = (msgspec.structs.replace(each, key=each.key._replace(variant="")) for each in seen)
    return {each.key: each for each in bare}


# Saved baselines -----------------------------------------------------------------------------------


def _saved(place: Path, name: str) -> Side | None:
    """A baseline that `paceline check --save-baseline` has written; None where it is none."""
    with place.open("rb") as file:
        start = file.read(4096)
    if FORMAT.encode() not in start.split(b"keys", 1)[0]:
        return None
    if place.stat().st_size > MOST_BYTES:
        raise UsageError(f"{place} is too big for a baseline", hint="name the run that it was made from")
    written = read_saved(place)
    seen = (
        Sighting(
            key=Key(each.case, each.repeat, each.variant),
            outcome=each.outcome,
            # Whatever else the file says: what was not scored has not passed.
            passed=each.passed if each.outcome == "scored" else False,
        )
        for each in written.keys
    )
    return Side(name=name, kind="baseline", suite=written.suite, seen={each.key: each for each in seen})


__all__ = ["MOST_BYTES", "Kind", "Side", "matched", "read_side", "side_of", "variants_of"]
