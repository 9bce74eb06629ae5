"""A word on stderr, where somebody may be reading: a stderr that is closed or gone never ends a run."""

from __future__ import annotations

import contextlib
import sys

from paceline.printable import harmless


def complain(text: str) -> None:
    """Say something on stderr, if it is there."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{harmless(text)}\n")
        sys.stderr.flush()
