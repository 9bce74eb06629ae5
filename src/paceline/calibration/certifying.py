"""Writing a certificate, and what has to hold before one is written at all."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from paceline.calibration.findings import Calibration
from paceline.calibration.labels import DECLARED_IN, Labels
from paceline.engine.provenance import versions
from paceline.errors import UsageError
from paceline.evaluators.judges.certificate import sealed

ENDING: Final = ".calibration.json"


def place_for(written: str) -> Path:
    """Where a certificate goes; refused before anything is paid for, if it cannot go there."""
    path = Path(written)
    if not written or path.is_dir() or not path.absolute().parent.is_dir() or path.suffix != ".json":
        raise UsageError(
            f"-o {written!r} is no place for a certificate",
            hint=f"a file in a directory that is there, such as helpful{ENDING}",
        )
    return path


def check_declared(labels: Labels, *, are_human: bool) -> None:
    """Refuse a certificate on labels that nobody has declared to be people's."""
    if labels.undeclared and not are_human:
        raise UsageError(
            f"a certificate says that a judge agrees with people, and {labels.undeclared}",
            hint="add --labels-are-human if people gave these labels, or a field "
            f"{DECLARED_IN!r} with 'human' to each row; labels that a model gave prove nothing",
        )


def write_certificate(found: Calibration, path: Path, *, made: str) -> None:
    """Write what was found, whole or not at all. `made` is the moment, in ISO 8601."""
    document = sealed({"made": made, "versions": versions(), **found.document()})
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UsageError(f"{path} cannot be written: {error.strerror}", hint="name another file with -o")


__all__ = ["ENDING", "check_declared", "place_for", "write_certificate"]
