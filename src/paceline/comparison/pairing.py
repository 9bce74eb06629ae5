"""Pairing: which keys are in both runs, and what has become of each of them.

Keys are matched by case, repeat and variant. One that was begun and not ended, or that no budget was left
for, has not been run: it is told, and is in no figure. Whatever crashed, timed out or could not be scored was
run, and has not passed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from paceline.journal.records import Key
from paceline.report.sightings import Sighting
from paceline.report.text import natural

NOT_RUN: Final = frozenset({None, "cancelled", "skipped_budget"})
"""Outcomes of keys that were not run to their end."""

Change = Literal["better", "worse", "crashed", "recovered", "new", "gone", "not_run"]
CHANGES: Final[dict[Change, str]] = {
    "better": "passes in B and did not in A",
    "worse": "passed in A and does not in B, crashes included",
    "crashed": "was scored in A and was not in B: an error, a timeout, an evaluator that failed",
    "recovered": "was not scored in A and is in B",
    "new": "is in B only",
    "gone": "is in A only",
    "not_run": "is in both, and was not run to its end in one of them: in no figure",
}
"""What may have become of a key. It may be in more than one of these."""


class Both(NamedTuple):
    """A key that was run in both."""

    first: Sighting
    second: Sighting

    @property
    def case(self) -> str:
        return self.first.key.case

    @property
    def passes(self) -> tuple[bool, bool] | None:
        """Whether it passed; None where nothing is asserted on either side.

        On one side only it has not passed there, or taking evaluators away would make a run better.
        """
        if self.first.passed is None and self.second.passed is None:
            return None
        return self.first.passed is True, self.second.passed is True


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What has become of a key."""

    key: Key
    first: str | None
    """How it ended in A (`passed`, `not passed`, `no assertion`, `not run`, an outcome); None: not there."""
    second: str | None


def paired(first: Mapping[Key, Sighting], second: Mapping[Key, Sighting]) -> list[Both]:
    """The keys that were run in both, in the order of their names: it is the same whichever comes first."""
    shared = (
        Both(first[key], second[key])
        for key in in_order(first)
        if key in second and first[key].outcome not in NOT_RUN
    )
    return [both for both in shared if both.second.outcome not in NOT_RUN]


def in_order(keys: Mapping[Key, Sighting]) -> list[Key]:
    """Keys as people count: `case 2` before `case 10`."""
    return sorted(keys, key=lambda key: (natural(key.variant), natural(key.case), key))


def changes(first: Mapping[Key, Sighting], second: Mapping[Key, Sighting]) -> dict[Change, list[Changed]]:
    """What has become of each key, by what it is."""
    found: dict[Change, list[Changed]] = {change: [] for change in CHANGES}
    for key in in_order({**second, **first}):
        before, after = first.get(key), second.get(key)
        for change in _changes_of(before, after):
            found[change].append(Changed(key=key, first=ending(before), second=ending(after)))
    return found


def _changes_of(before: Sighting | None, after: Sighting | None) -> Iterator[Change]:
    if before is None or after is None:
        yield "new" if before is None else "gone"
        return
    if before.outcome in NOT_RUN or after.outcome in NOT_RUN:
        if not (before.outcome in NOT_RUN and after.outcome in NOT_RUN):
            yield "not_run"
        return
    passes = Both(before, after).passes
    if passes == (False, True):
        yield "better"
    elif passes == (True, False):
        yield "worse"
    if before.outcome == "scored" != after.outcome:
        yield "crashed"
    elif before.outcome != "scored" == after.outcome:
        yield "recovered"


def ending(seen: Sighting | None) -> str | None:
    """How a key ended, in a word."""
    if seen is None:
        return None
    if seen.outcome is None:
        return "not run"
    if seen.outcome != "scored":
        return seen.outcome
    return {True: "passed", False: "not passed", None: "no assertion"}[seen.passed]


__all__ = ["CHANGES", "NOT_RUN", "Both", "Change", "Changed", "changes", "ending", "in_order", "paired"]
