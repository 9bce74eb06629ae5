"""The verdicts of one evaluator about one key: found where the journal has them, written to it where not.

Made for each evaluator that waits, and for all of its tries: what an earlier try has concluded stands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from paceline.engine.ports import Said, Turn
from paceline.journal.records import Key

Record: TypeAlias = Callable[[Key, Said, msgspec.Raw], None]
"""Puts a verdict on record; from any thread."""


class VerdictsOnRecord:
    """A `Verdicts` (see `evaluators.verdicts`) on behalf of a run."""

    __slots__ = ("_by", "_found", "_record", "_turn")

    def __init__(self, turn: Turn, by: str, record: Record) -> None:
        self._turn = turn
        self._by = by
        self._record = record
        self._found: dict[Said, msgspec.Raw] | None = None
        """Of this process; a dict only once there is one."""

    def on_record(self, part: str, seen: str, *, of_this_run: bool = False) -> msgspec.Raw | None:
        """The verdict of this part that has seen the same; None where there is none yet."""
        said = Said(self._by, part, seen)
        if self._found is not None and (found := self._found.get(said)) is not None:
            return found
        stored = self._turn.stored
        if stored is None or (found := stored.verdicts.get(said)) is None:
            return None
        if of_this_run and not stored.on_record:
            return None
        if not stored.on_record:
            self.keep(part, seen, found)  # it is another run's, and a resume of this one will not look there
        return found

    def keep(self, part: str, seen: str, value: msgspec.Raw) -> None:
        """Put a verdict on record, now."""
        said = Said(self._by, part, seen)
        if self._found is None:
            self._found = {}
        self._found[said] = value
        self._record(self._turn.key, said, value)


__all__ = ["Record", "VerdictsOnRecord"]
