"""Writing: a page and its data as one file, whole or not at all.

    write_page(path, "report/main.mjs", title="...", before=[block("sheet", ...)], after=bodies)

What stands `before` the program is there when it starts; what comes `after` is read while the page is shown
already. Blocks may be made as they are written: nothing is gathered.

Knows files and pages. Knows nothing of what is in the blocks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from paceline.errors import UsageError
from paceline.pages.assembly import CLOSING, assembled


def write_page(
    path: Path,
    entry: str,
    *,
    title: str,
    facts: Sequence[tuple[str, str]] = (),
    before: Iterable[bytes] = (),
    after: Iterable[bytes] = (),
) -> Path:
    """Write a page whose program starts in the module `entry`, and answer where it is.

    `facts` are for readers without scripts. The file of before stays until the new one is whole.
    """
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written", hint="name a file in a folder that is there")
    page = assembled(entry)
    opening = page.opening(title=title, facts=facts, source="here").encode()
    try:
        with _put_in_place(Path(os.path.realpath(path))) as file:
            for part in ([opening], before, [page.script.encode()], after, [CLOSING.encode()]):
                file.writelines(part)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}", hint="name another place")
    return path


@contextmanager
def _put_in_place(whole: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of the one before when all is in it."""
    if whole.exists() and not whole.is_file():  # a device is not to be replaced by a file
        with open(whole, "wb") as file:
            yield file
        return
    place = whole.with_name(f".{whole.name[:100]}.{os.getpid()}.tmp")
    try:
        with open(place, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        place.replace(whole)
    finally:
        with suppress(OSError):
            place.unlink()


__all__ = ["write_page"]
