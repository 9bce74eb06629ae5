"""The ways of containing that this machine has, for tests that hold each of them to the same promises."""

from __future__ import annotations

import shutil
import sys

import pytest

from paceline.containment.means import LANDLOCK_NEEDED, Means, found_out, landlock_version

WAYS = ("bubblewrap", "landlock", "limits")


def means_of(way: str) -> Means:
    """What a machine has that contains in this way; skips where this one cannot be made to look like it."""
    if way == "bubblewrap":
        found = found_out(shutil.which("bwrap") or "")
        if found.way != way:
            pytest.skip(found.why_not)
        return found
    if way == "landlock" and (sys.platform != "linux" or landlock_version() < LANDLOCK_NEEDED):
        pytest.skip("this kernel has no Landlock that is good enough")
    found = found_out("", landlock=None if way == "landlock" else 0)
    if found.way != way:
        pytest.skip(f"this machine contains by {found.way}")
    return found
