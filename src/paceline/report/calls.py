"""The calls of a run, folded: sums for each pool, and where the calls of each key stand.

A call counts once, however often its line is there, and counts for its key whether or not anything else is on
record of it. Costs nothing where there are no calls; otherwise some 70 bytes for each, those for exact
percentiles included.

Knows the lines of calls. Knows nothing of what became of their keys.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from paceline.journal.records import CallLine, Key
from paceline.report.columns import RowIndex
from paceline.report.spending import Bill


class PoolKey(NamedTuple):
    """Calls that are counted together."""

    pool: str
    host: str
    account: str
    simulated: bool


class PoolCalls:
    """The calls of one pool."""

    __slots__ = ("bills", "first_token", "seconds")

    def __init__(self) -> None:
        self.bills: dict[str, Bill] = {}
        """By the evaluator that has asked; empty for the task."""
        self.seconds = array("d")
        """Of those that were answered."""
        self.first_token = array("d")

    def add(self, line: CallLine) -> None:
        if (bill := self.bills.get(line.by)) is None:
            bill = self.bills[line.by] = Bill()
        bill.add(line)
        if line.outcome == "ok" and not line.replayed:
            self.seconds.append(line.seconds)
            if line.first_token is not None:
                self.first_token.append(line.first_token)


class Calls:
    """All calls of a journal."""

    def __init__(self) -> None:
        self.pools: dict[PoolKey, PoolCalls] = {}
        self._seen = RowIndex()
        self._keys = RowIndex()
        self._last = array("I")
        """By key: its last call, counted from 1."""
        self._at = array("Q")
        self._before = array("I")
        """By call: the one before it of the same key; 0 for none."""

    def __len__(self) -> int:
        return len(self._at)

    def take(self, offset: int, line: CallLine) -> None:
        """Take a call, unless it was taken before."""
        key = (line.case, line.repeat, line.variant)
        if self._seen.find_or_add(hash((key, line.by, line.attempt, line.ordinal, line.at))) != len(self._at):
            return
        if line.tries or line.replayed:  # else it was turned away before it was sent: no pool has seen it
            pool = PoolKey(line.pool, line.host, line.account, line.simulated)
            if (calls := self.pools.get(pool)) is None:
                calls = self.pools[pool] = PoolCalls()
            calls.add(line)
        place = self._keys.find_or_add(hash(key))
        if place == len(self._last):
            self._last.append(0)
        self._at.append(offset)
        self._before.append(self._last[place])
        self._last[place] = len(self._at)

    def of(self, key: Key) -> list[int]:
        """Offsets of the lines of a key's calls, in the order of the journal."""
        place = self._keys.find(hash((key.case, key.repeat, key.variant)))
        offsets: list[int] = []
        link = 0 if place is None else self._last[place]
        while link:
            offsets.append(self._at[link - 1])
            link = self._before[link - 1]
        return offsets[::-1]


__all__ = ["Calls", "PoolCalls", "PoolKey"]
