"""Taping: how the calls of a run are kept, and which are answered again from what was kept.

An attempt that goes on where another was cut off has the tape of that one; every other attempt has an empty
tape, on which its calls are kept. With `always`, every attempt has the tape of a run that was recorded, and
nothing is asked of a provider.

Knows keys. Where calls are recorded is the business of whoever hands `recorded` in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from paceline.journal.records import Key
from paceline.pace.tape import Normal, Tape, Taped

Recorded = Callable[[Key, str, str], Sequence[Taped]]
"""The calls on record of a key, made by its task or by the evaluator that is named, or by a part of it."""


def nothing_recorded(key: Key, by: str, part: str) -> Sequence[Taped]:  # noqa: ARG001  # the shape of `Recorded`
    """A run without a record."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taping:
    """What is decided of the tapes of a run."""

    recorded: Recorded = nothing_recorded
    normal: Normal | None = None
    """Takes out of requests what is new each time."""
    always: bool = False
    """Whether every attempt is answered from the record, and from nowhere else."""
    keeps: bool = True
    """Whether calls go on record. Where they do not, they are looked at all the same: for trajectories."""

    def tape(self, key: Key, by: str = "", part: str = "", *, goes_on: bool) -> Tape:
        """The tape of an attempt, or of what an evaluator, or a part of one, asks about it."""
        calls = self.recorded(key, by, part) if goes_on or self.always else ()
        return Tape(calls, normal=self.normal, closed=self.always, kept=self.keeps)
