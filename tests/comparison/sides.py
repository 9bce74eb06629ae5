"""Sides made by hand: what has become of each key, in a letter or a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paceline.comparison import Side
from paceline.journal.records import Key
from paceline.report.sightings import Sighting


def passed(case: str = "a", **fields: Any) -> Sighting:
    return _seen(case, {"outcome": "scored", "passed": True, "assertions": {"Right": True}, **fields})


def missed(case: str = "a", **fields: Any) -> Sighting:
    return _seen(case, {"outcome": "scored", "passed": False, "assertions": {"Right": False}, **fields})


def crashed(case: str = "a", outcome: str = "task_error", **fields: Any) -> Sighting:
    return _seen(case, {"outcome": outcome, "passed": False, **fields})


def graded(case: str, tone: float, **fields: Any) -> Sighting:
    return _seen(case, {"outcome": "scored", "scores": {"tone": tone}, **fields})


def _seen(case: str, fields: Mapping[str, Any]) -> Sighting:
    fields = dict(fields)
    key = Key(case, fields.pop("repeat", 0), fields.pop("variant", ""))
    return Sighting(key=key, **{"content": f"content of {case}", **fields})


def side(*seen: Sighting, **fields: Any) -> Side:
    written: dict[str, Any] = {
        "name": "a run",
        "kind": "run",
        "suite": "capitals",
        "settings": {},
        "tasks": {"": {"name": "task", "version": None}},
        "evaluators": {},
        "judges": {},
        "seen": {each.key: each for each in seen},
    }
    return Side(**{**written, **fields})


LETTERS = {"p": passed, "f": missed, "x": crashed}


def lettered(letters: str) -> Side:
    """One case per letter: `p` has passed, `f` has not, `x` has crashed."""
    return side(*(LETTERS[letter](f"case {place}") for place, letter in enumerate(letters)))
