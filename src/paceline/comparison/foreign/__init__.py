"""What other harnesses have written, read as sides of a comparison.

    inspect         logs of Inspect: `.eval`, and their JSON
    pydantic_evals  reports of Pydantic Evals, dumped as JSON or YAML
    rows            JSONL of any other, a row for each case, with a mapping of its fields

Such files may be damaged or hostile. They are read with bounds, nothing in them is ever run, and what cannot
be understood is refused with its place: a row that is passed over would be a figure made up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from paceline.comparison.foreign import inspect, pydantic_evals, rows
from paceline.comparison.foreign.reading import read_json, read_yaml
from paceline.comparison.sides import Side
from paceline.errors import UsageError

_ZIP: Final = b"PK\x03\x04"
_PICKLES: Final = (".pkl", ".pickle", ".dill")


def read_foreign(place: Path, name: str, fields: Mapping[str, str]) -> Side:
    """The side that a file of another harness is."""
    with place.open("rb") as file:
        start = file.read(len(_ZIP))
    if place.suffix.lower() in _PICKLES or start[:1] == b"\x80":
        raise UsageError(
            f"{place} is a pickle, and reading one runs what is in it", hint="dump the report as JSON instead"
        )
    if start == _ZIP:
        side = inspect.read_zip(place, name)
    elif place.suffix.lower() in (".json", ".yaml", ".yml"):
        data = read_json(place) if place.suffix.lower() == ".json" else read_yaml(place)
        side = _reader_of(place, data)(place, name, data)
    else:
        return rows.read(place, name, fields)
    if fields:
        raise UsageError(f"{place} says itself what its fields mean", hint="leave --map out; it is for JSONL")
    return side


def _reader_of(place: Path, data: Any) -> Callable[[Path, str, Any], Side]:
    if isinstance(data, dict) and isinstance(data.get("eval"), dict):
        return inspect.read_document
    if isinstance(data, dict) and isinstance(data.get("cases"), list):
        return pydantic_evals.read_document
    raise UsageError(
        f"{place} is neither a log of Inspect nor a report of Pydantic Evals",
        hint="rows of another harness are compared as JSONL, with --map",
    )


__all__ = ["read_foreign"]
