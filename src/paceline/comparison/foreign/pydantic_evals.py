"""Reports of Pydantic Evals, as `EvaluationReportAdapter.dump_json` writes them, or the same as YAML.

Its failures are keys that have not passed; a case of which an evaluator has failed is not scored. Cases that
were repeated are told by `source_case_name` and the `[i/n]` behind their names.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from paceline.comparison.foreign.reading import amount, digest, finite, mapping_in, refuse, text_in
from paceline.comparison.sides import Side
from paceline.journal.records import Key
from paceline.report.sightings import Sighting

_REPEAT: Final = re.compile(r" \[(\d{1,9})/\d{1,9}\]\Z")


def read_document(place: Path, name: str, data: Any) -> Side:
    """A report."""
    failures = data.get("failures") or []
    if not isinstance(failures, list):
        refuse(str(place), "its failures are no list")
    seen: dict[Key, Sighting] = {}
    for kind, rows in (("case", data["cases"]), ("failure", failures)):
        for number, row in enumerate(rows, start=1):
            where = f"{place}: {kind} {number}"
            if not isinstance(row, dict):
                refuse(where, "it is no object")
            sighting = _case(row, where) if kind == "case" else _failure(row, where)
            if sighting.key in seen:
                refuse(where, f"{sighting.key} stands twice", "give each case a name of its own")
            seen[sighting.key] = sighting
    return Side(name=name, kind="pydantic_evals", suite=str(data.get("name") or "unknown"), seen=seen)


def _case(row: dict[str, Any], where: str) -> Sighting:
    assertions = {
        name: value for name, value in _results(row, "assertions", where).items() if isinstance(value, bool)
    }
    scored = _results(row, "scores", where)
    scores = {name: number for name, value in scored.items() if (number := finite(value)) is not None}
    broken = bool(row.get("evaluator_failures")) or len(scores) < len(scored)
    passed = all(assertions.values()) if assertions else None
    return Sighting(
        key=_key(row, where),
        outcome="evaluator_error" if broken else "scored",
        passed=False if broken else passed,
        assertions=assertions,
        scores=scores,
        seconds=amount(row.get("task_duration")),
        cost=amount(mapping_in(row, "metrics", where).get("cost")),
        content=_content(row),
    )


def _failure(row: dict[str, Any], where: str) -> Sighting:
    return Sighting(key=_key(row, where), outcome="task_error", passed=False, content=_content(row))


def _results(row: Mapping[str, Any], field: str, where: str) -> dict[str, Any]:
    found = mapping_in(row, field, where)
    return {name: each.get("value") if isinstance(each, dict) else each for name, each in found.items()}


def _key(row: dict[str, Any], where: str) -> Key:
    name = text_in(row, "name", where)
    if row.get("source_case_name") is None:
        return Key(name)
    repeat = _REPEAT.search(name)
    return Key(text_in(row, "source_case_name", where), int(repeat[1]) - 1 if repeat else 0)


def _content(row: Mapping[str, Any]) -> str:
    return digest("pydantic_evals", row.get("inputs"), row.get("expected_output"), row.get("metadata"))


__all__ = ["read_document"]
