"""The journal: the only record of a run, and all that resume, report, rescore and verify read.

Names are loaded when they are first used: the records alone are needed by many who never write a journal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paceline.journal.audit import Audit, Finding
    from paceline.journal.digest import KeyDigest
    from paceline.journal.journal import Journal
    from paceline.journal.ledger import Ledger
    from paceline.journal.memory import MemoryJournal
    from paceline.journal.places import Places, locate
    from paceline.journal.reading import (
        Damaged,
        Entry,
        FileSource,
        JournalSource,
        Recorded,
        read_at,
        read_lines,
    )
    from paceline.journal.redaction import Redactor

_ROOMS = {
    "Audit": "audit",
    "Damaged": "reading",
    "Entry": "reading",
    "FileSource": "reading",
    "Finding": "audit",
    "Journal": "journal",
    "JournalSource": "reading",
    "KeyDigest": "digest",
    "Ledger": "ledger",
    "MemoryJournal": "memory",
    "Places": "places",
    "Recorded": "reading",
    "Redactor": "redaction",
    "locate": "places",
    "read_at": "reading",
    "read_lines": "reading",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Audit",
    "Damaged",
    "Entry",
    "FileSource",
    "Finding",
    "Journal",
    "JournalSource",
    "KeyDigest",
    "Ledger",
    "MemoryJournal",
    "Places",
    "Recorded",
    "Redactor",
    "locate",
    "read_at",
    "read_lines",
]
