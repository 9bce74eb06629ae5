"""The page: one file that holds a report, opens from disk, and asks for nothing else.

    opening, policy, style     what a browser needs first
    sheet                      figures and columns: all that the summary and the table show
    the program
    bodies                     cases in full, a few hundred a piece; read when one is opened, or searched in

Written from the journal in one pass, with one piece of the bodies in memory. What has been written so far
goes to a file beside it, and takes its name when it is whole: a page that was cut off is never taken for a
report.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Any, Final

from paceline.errors import UsageError
from paceline.pages.assembly import CLOSING, assembled
from paceline.pages.packing import block
from paceline.report.html.bodies import LEAST_SHOWN, SHOWN
from paceline.report.html.cases import Cases

PIECE: Final = 256 * 1024
"""Bytes of bodies that are packed together."""
MOST: Final = 256 * 1024 * 1024
"""Bytes of all bodies; values are cut sooner where there would be more."""


def write_html(path: Path, cases: Cases, facts: dict[str, Any]) -> Path:
    """Write the page, and answer where it is."""
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written", hint="name a file in a folder that is there")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as bodies:
            starts = list(_write_bodies(bodies, cases))
            bodies.seek(0)
            _write_whole(path, cases, {**facts, "starts": starts}, bodies)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", hint="name another place")
    return path


def _write_bodies(file: IO[bytes], cases: Cases) -> Iterator[int]:
    """Write all bodies, in pieces; answers the first row of each."""
    piece: list[bytes] = []
    size = written = first = 0
    rows = len(cases.table)
    for row in range(rows):
        # Whatever a value may be long: what is left of the page is shared by the rows that are left.
        cases.bodies.shown = max(LEAST_SHOWN, min(SHOWN, (MOST - written) // (rows - row)))
        body = cases.put(row)
        piece.append(body)
        size += len(body) + 1
        written += len(body) + 1
        if size >= PIECE or row == rows - 1:
            file.write(block(f"bodies-{first}", b"\n".join(piece)))
            yield first
            piece, size, first = [], 0, row + 1


def _write_whole(path: Path, cases: Cases, facts: dict[str, Any], bodies: IO[bytes]) -> None:
    report = facts["report"]
    page = assembled("report/main.mjs")
    place = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(place, "wb") as file:
            title = f"{report['name']} · Paceline"
            file.write(page.opening(title=title, facts=facts["overview"], source="here").encode())
            file.write(block("sheet", cases.sheet.packed(facts)))
            file.write(page.script.encode())
            copyfileobj(bodies, file, 1 << 20)
            file.write(CLOSING.encode())
        place.replace(path)
    except BaseException:
        with suppress(OSError):
            place.unlink()
        raise


__all__ = ["write_html"]
