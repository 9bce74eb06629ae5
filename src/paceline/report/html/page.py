"""The page: one file that holds a report, opens from disk, and asks for nothing else.

    opening, policy, style     what a browser needs first
    sheet                      figures and columns: all that the summary and the table show
    the program
    bodies                     cases in full, a few hundred a piece; read when one is opened, or searched in

Made from the journal in one pass, with one piece of the bodies in memory: they are kept in a file until the
sheet is known, which stands before them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from paceline.errors import UsageError
from paceline.pages.packing import block
from paceline.pages.writing import write_page
from paceline.report.html.bodies import LEAST_SHOWN, SHOWN
from paceline.report.html.cases import Cases

PIECE: Final = 256 * 1024
"""Bytes of bodies that are packed together."""
MOST: Final = 256 * 1024 * 1024
"""Bytes of all bodies; values are cut sooner where there would be more."""


def write_html(path: Path, cases: Cases, facts: dict[str, Any]) -> Path:
    """Write the page, and answer where it is."""
    try:
        with tempfile.TemporaryFile() as bodies:
            starts = list(_write_bodies(bodies, cases))
            bodies.seek(0)
            return write_page(
                path,
                "report/main.mjs",
                title=f"{facts['report']['name']} · Paceline",
                facts=facts["overview"],
                before=[block("sheet", cases.sheet.packed({**facts, "starts": starts}))],
                after=iter(lambda: bodies.read(1 << 20), b""),
            )
    except OSError as error:
        raise UsageError(f"no page can be made: {error.strerror}", hint="`TMPDIR` names another place for it")


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


__all__ = ["write_html"]
