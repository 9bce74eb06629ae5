"""Reading: foreign documents, with bounds; a number that is none is marked, and never counted as one."""

from __future__ import annotations

import json
import math
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NoReturn

from paceline.dataset import documents
from paceline.errors import DatasetError

MOST_BYTES: Final = 1 << 30
"""Of a document that is read whole."""


class NoNumber:
    """NaN or an infinity: whoever wrote it had no score to give."""


NO_NUMBER: Final = NoNumber()


def read_json(place: Path) -> Any:
    """A JSON file."""
    return parse_json(_bytes(place), str(place))


def read_yaml(place: Path) -> Any:
    """A YAML file, by the rules for datasets: no tags, no alias without measure."""
    return documents.read_yaml(documents.read_text(_bytes(place), str(place)), str(place)).data


def _bytes(place: Path) -> bytes:
    with place.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        refuse(str(place), f"it is larger than {MOST_BYTES >> 20} MiB")
    return raw


def parse_json(raw: bytes, where: str) -> Any:
    """JSON text, NaN and infinities as `NO_NUMBER`."""
    try:
        return json.loads(raw, parse_constant=lambda _: NO_NUMBER)
    except RecursionError:
        refuse(where, "it is nested beyond reason")
    except ValueError as error:  # of the text, its encoding, and integers of a million digits
        refuse(where, str(error))


def refuse(where: str, what: str, hint: str = "") -> NoReturn:
    """End the reading: a part that is passed over would be a figure made up."""
    raise DatasetError(
        f"{where} cannot be read: {what}", hint=hint or "write it again with the harness it is from"
    )


def text_in(data: dict[str, Any], field: str, where: str) -> str:
    """A field that names something: text, or a whole number."""
    found = data.get(field)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if not isinstance(found, str) or not found:
        refuse(where, f"it has no {field}")
    return found


def mapping_in(data: Any, field: str, where: str) -> dict[str, Any]:
    """A field with names in it; empty where there is none."""
    found = data.get(field)
    if found is None:
        return {}
    if not isinstance(found, dict):
        refuse(where, f"its {field} is no object")
    return found


def amount(found: object) -> float | None:
    """A finite number that is not below 0; None of all else."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def finite(found: object) -> float | None:
    """A finite number; None of all else."""
    if isinstance(found, bool) or not isinstance(found, int | float):
        return None
    try:
        number = float(found)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def digest(harness: str, *asked: Any) -> str:
    """What a case asks, as a digest that is compared with those of the same harness only."""
    raw = json.dumps(asked, sort_keys=True, default=repr).encode(errors="surrogatepass")
    return f"{harness}:{blake2b(raw, digest_size=8).hexdigest()}"


__all__ = [
    "NO_NUMBER",
    "amount",
    "digest",
    "finite",
    "mapping_in",
    "parse_json",
    "read_json",
    "read_yaml",
    "refuse",
    "text_in",
]
