"""JSONL of any other harness: a row for each case, and a mapping that says what its fields are.

    case, repeat, variant     what the row is about; `case` also goes by the names that `rescore` knows
    passed                    true or false, or 1 or 0
    assertions.NAME           the same of one assertion; all of them make up `passed` where it is not there
    scores.NAME               a number
    seconds, cost             numbers that are not below 0
    error                     whatever is not empty: the row has failed

A mapping leads into objects with points: `passed=model.is_correct`. A field that is mapped and that no row
has is refused, and so is a value that is not what its field means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from paceline.comparison.foreign.reading import amount, digest, finite, refuse
from paceline.comparison.sides import Side
from paceline.conduct.foreign import NAMES, SECONDS
from paceline.dataset.fields import ALIASES, Refused
from paceline.dataset.streams import read_rows
from paceline.errors import UsageError
from paceline.journal.records import Key
from paceline.report.sightings import Sighting

FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "case": NAMES,
    "repeat": ("repeat",),
    "variant": ("variant",),
    "passed": ("passed",),
    "seconds": SECONDS,
    "cost": ("cost", "cost_usd"),
    "error": ("error",),
}
"""Our fields, and what they are called where nothing is mapped."""
FAMILIES: Final = ("assertions.", "scores.")


def read(place: Path, name: str, fields: Mapping[str, str]) -> Side:
    """The rows of a file."""
    for ours in fields:
        if ours not in FIELDS and not ours.startswith(FAMILIES):
            raise UsageError(
                f"there is no field {ours!r} to map to",
                hint=f"there is {', '.join(FIELDS)}, assertions.NAME and scores.NAME",
            )
    seen: dict[Key, Sighting] = {}
    found = dict.fromkeys(fields, 0)
    for number, row in read_rows(place, "jsonl"):
        where = f"{place}:{number}"
        if isinstance(row, Refused):
            refuse(where, row.what, row.hint)
        for ours, theirs in fields.items():
            found[ours] += _at(row, theirs) is not None
        sighting = _sighting(row, fields, where)
        if sighting.key in seen:
            refuse(where, f"{sighting.key} stands twice", "keep one of the two rows, or map `repeat`")
        seen[sighting.key] = sighting
    _check(place, seen.values(), [fields[ours] for ours, count in found.items() if not count])
    return Side(name=name, kind="rows", suite=place.stem, seen=seen)


def _check(place: Path, seen: Iterable[Sighting], absent: list[str]) -> None:
    if absent:
        refuse(str(place), f"no row has {', '.join(absent)}", "--map OURS=THEIRS names a field of theirs")
    if all(each.outcome == "evaluator_error" for each in seen):
        refuse(str(place), "no row says whether it passed, or how it was scored", "--map passed=THEIR_FIELD")


def _sighting(row: Mapping[str, Any], fields: Mapping[str, str], where: str) -> Sighting:
    def value(ours: str) -> Any:
        if ours in fields:
            return _at(row, fields[ours])
        return next((row[field] for field in FIELDS[ours] if row.get(field) is not None), None)

    def family(prefix: str, kind: Callable[[Any, str, str], Any]) -> dict[str, Any]:
        mapped = ((ours, _at(row, theirs)) for ours, theirs in fields.items() if ours.startswith(prefix))
        return {
            ours.removeprefix(prefix): kind(found, ours, where) for ours, found in mapped if found is not None
        }

    failed = value("error") not in (None, "", False)
    assertions: dict[str, bool] = family("assertions.", _truth)
    scores: dict[str, float] = family("scores.", _number)
    told = value("passed")
    passed = _truth(told, "passed", where) if told is not None else _all(assertions)
    silent = passed is None and not scores
    return Sighting(
        key=Key(_case(value("case"), where), _repeat(value("repeat"), where), str(value("variant") or "")),
        outcome="task_error" if failed else "evaluator_error" if silent else "scored",
        passed=False if failed or silent else passed,
        assertions={} if failed else assertions,
        scores={} if failed else scores,
        seconds=None if failed else _spent(value("seconds"), "seconds", where),
        cost=_spent(value("cost"), "cost", where),
        content=_content(row),
    )


def _at(row: Mapping[str, Any], path: str) -> Any:
    """What stands at a path; a field whose own name has points in it comes before one within another."""
    if path in row:
        return row[path]
    place: Any = row
    for part in path.split("."):
        place = place.get(part) if isinstance(place, dict) else None
    return place


def _all(assertions: Mapping[str, bool]) -> bool | None:
    return all(assertions.values()) if assertions else None


def _truth(found: Any, field: str, where: str) -> bool:
    if found not in (0, 1) or not isinstance(found, bool | int | float):
        refuse(where, f"{field} is {found!r:.60}", "it is true or false, or 1 or 0")
    return bool(found)


def _number(found: Any, field: str, where: str) -> float:
    number = finite(found)
    if number is None:
        refuse(where, f"{field} is {found!r:.60}", "it is a finite number, or not there")
    return number


def _spent(found: Any, field: str, where: str) -> float | None:
    if found is None:
        return None
    spent = amount(found)
    if spent is None:
        refuse(where, f"{field} is {found!r:.60}", "it is a number, not below 0, or not there")
    return spent


def _case(found: Any, where: str) -> str:
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found:
        refuse(where, "there is no name of a case", f"a row has one of {', '.join(NAMES)}; or --map case=...")
    return found


def _repeat(found: Any, where: str) -> int:
    if found is None:
        return 0
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        refuse(where, f"repeat is {found!r:.60}", "it is a whole number, counted from 0")
    return found


def _content(row: Mapping[str, Any]) -> str:
    asked = next((row[field] for field in ALIASES["inputs"] if row.get(field) is not None), None)
    return digest("rows", asked) if asked is not None else ""


__all__ = ["FIELDS", "read"]
