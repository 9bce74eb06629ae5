"""Files that are written whole or not at all: a reader finds the old one or the new one, never half of it.

Knows paths and bytes. What is no file, such as a device, is written to as it is; a link is followed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from paceline.errors import UsageError


def write_whole(path: Path, content: bytes) -> None:
    """Put this at that place, on disk before it stands there."""
    place = Path(os.path.realpath(path))
    beside = place.with_name(f".{place.name[:100]}.{os.getpid()}.tmp")
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)  # a device or a pipe is not to be replaced by a file
            return
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            beside.chmod(place.stat().st_mode & 0o777)
        beside.replace(place)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise UsageError(
            f"{path} cannot be written: {error.strerror}",
            hint="name another file, where you may write",
        ) from error


__all__ = ["write_whole"]
