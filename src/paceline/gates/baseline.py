"""Baselines: how the keys of a run ended, kept in a small file that can be stored and compared with later.

    {"format": "paceline-baseline", "version": 1, "suite": "capitals", "run_id": "1a2b3c4d", "started": ...,
     "keys": [{"case": "France", "outcome": "scored", "passed": true}, ...]}

A key has `repeat` and `variant` where it has any. `passed` is null where nothing is asserted; whatever was
not scored has not passed. One line per key, in the order of their names, so that a difference can be read.

Knows keys and how they ended. A run can stand for a baseline, and then nothing has to be saved.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import msgspec

from paceline.errors import UsageError
from paceline.files import write_whole
from paceline.journal.records import Key, OutcomeKind
from paceline.report.report import Report

FORMAT: Final = "paceline-baseline"
VERSION: Final = 1


class Ended(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=False):
    """How a key ended, as it is written."""

    case: str
    repeat: int = 0
    variant: str = ""
    outcome: OutcomeKind
    passed: bool | None


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A saved baseline."""

    format: str
    version: int
    suite: str
    run_id: str
    started: float | None
    keys: list[Ended]


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """How the keys of a run ended."""

    suite: str
    run_id: str
    passed: dict[Key, bool | None]
    """None where nothing was asserted."""
    whole: bool = True
    """Whether all keys of that run had come to an end."""


def baseline_of(report: Report[Any, Any, Any]) -> Baseline:
    """What a run can be compared with later."""
    return Baseline(
        suite=report.dataset_name,
        run_id=report.run_id,
        passed={seen.key: seen.passed for seen in report.observations.verdicts()},
        whole=report.verdict not in ("empty", "incomplete"),
    )


def write_baseline(report: Report[Any, Any, Any], path: str | os.PathLike[str]) -> Path:
    """Keep how the keys of a run ended. One that is not whole is none to compare with, and is refused."""
    if report.verdict in ("empty", "incomplete"):
        raise UsageError(
            f"{report.path or report.run_id} is {report.verdict}: it cannot be a baseline",
            hint="go on with it first: `paceline resume`",
        )
    keys = [
        Ended(
            case=seen.key.case,
            repeat=seen.key.repeat,
            variant=seen.key.variant,
            outcome=seen.outcome,
            passed=seen.passed,
        )
        for seen in report.observations.verdicts()
    ]
    keys.sort(key=lambda each: (each.case, each.variant, each.repeat))
    head = Written(
        format=FORMAT,
        version=VERSION,
        suite=report.dataset_name,
        run_id=report.run_id,
        started=report.run.started if report.run else None,
        keys=[],
    )
    opening = msgspec.json.encode(head).removesuffix(b"[]}")
    lines = b",\n".join(msgspec.json.encode(each) for each in keys)
    written = Path(path)
    write_whole(written, b"".join((opening, b"[\n", lines, b"\n]}\n")))
    return written


def read_baseline(named: str | os.PathLike[str]) -> Baseline:
    """A baseline from a file with a saved one, or from a run."""
    path = Path(named)
    if not path.exists():
        raise UsageError(
            f"there is no baseline {path}", hint="name a run, or what `--save-baseline FILE` has written"
        )
    if path.is_dir() or path.suffix == ".jsonl":
        return baseline_of(Report.read(path))
    written = read_saved(path)
    return Baseline(
        suite=written.suite,
        run_id=written.run_id,
        passed={
            # Whatever else the file says: what was not scored has not passed.
            Key(each.case, each.repeat, each.variant): each.passed if each.outcome == "scored" else False
            for each in written.keys
        },
    )


def read_saved(path: Path) -> Written:
    """A saved baseline, as it is written."""
    try:
        written = msgspec.json.decode(path.read_bytes(), type=Written)
    except (OSError, msgspec.MsgspecError) as error:
        raise UsageError(
            f"{path} is no baseline: {error}", hint="`paceline check RUN --save-baseline FILE` writes one"
        ) from error
    if (written.format, written.version) != (FORMAT, VERSION):
        raise UsageError(
            f"{path} is a {written.format} of version {written.version}",
            hint=f"this Paceline reads {FORMAT} of version {VERSION}: save it again",
        )
    return written


__all__ = ["FORMAT", "Baseline", "Written", "baseline_of", "read_baseline", "read_saved", "write_baseline"]
