"""Containment: a command that may use no more than it was given, whatever it was told to do.

    cell        what a contained command may see, write and use; what came of it: an argv and its gaps
    means       what this machine can contain with: bubblewrap, else Landlock, else nothing but limits
    view        which files the command sees: the system's, its interpreter's, and what it was given
    bubblewrap  the argv that puts a command into namespaces of its own
    gate        the program that runs inside, before the command, and shuts the door behind it

A sandbox is a matter of the argv: this room starts nothing that lasts, and whoever starts commands
(`processes`) knows nothing of it. What a machine cannot contain is told in words, never passed over.
"""

from __future__ import annotations

from paceline.containment.cell import IN_WORDS, Cell, Contained, Gap, Source, check, contained, gaps_of
from paceline.containment.means import Means, means

__all__ = [
    "IN_WORDS",
    "Cell",
    "Contained",
    "Gap",
    "Means",
    "Source",
    "check",
    "contained",
    "gaps_of",
    "means",
]
