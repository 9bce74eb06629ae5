"""The calls of a run, folded: sums for each pool, and where the calls of each key stand.

A call counts once, however often its line is there, and counts for its key whether or not anything else is on
record of it. Costs nothing where there are no calls; otherwise some 70 bytes for each, those for exact
percentiles included, and 37 for each key that calls.

Knows the lines of calls. Knows nothing of what became of their keys.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any, NamedTuple

from paceline.journal.records import CallLine, Key
from paceline.report.columns import RowIndex
from paceline.report.spending import Bill, used


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


class KeyUse(NamedTuple):
    """What the calls of one key have used."""

    calls: int
    input_tokens: float | None
    """None where a part is unknown, here and below."""
    output_tokens: float | None
    picodollars: float
    """Of those calls whose price is known."""
    unpriced: int
    """Calls of unknown price."""
    simulated: bool
    """Whether a simulated provider answered any of them."""


class Uses:
    """What the calls of each key have used, by the number of the key."""

    def __init__(self) -> None:
        self._calls = array("I")
        # As floats: exact to 9 quadrillion, and whatever a line says, it fits.
        self._input = array("d")
        self._output = array("d")
        self._picodollars = array("d")
        self._unknown_input = array("I")
        self._unknown_output = array("I")
        self._unpriced = array("I")
        self._simulated = array("B")

    def _columns(self) -> tuple[array[Any], ...]:
        return (
            *(self._calls, self._input, self._output, self._picodollars),
            *(self._unknown_input, self._unknown_output, self._unpriced, self._simulated),
        )

    def make_room(self) -> None:
        """For one more key."""
        for column in self._columns():
            column.append(0)

    def add(self, place: int, line: CallLine) -> None:
        """Add a call that was sent."""
        self._calls[place] += 1
        if line.simulated:
            self._simulated[place] = 1
        tokens_in, tokens_out, picodollars = used(line)
        if tokens_in is None:
            self._unknown_input[place] += 1
        else:
            self._input[place] += tokens_in
        if tokens_out is None:
            self._unknown_output[place] += 1
        else:
            self._output[place] += tokens_out
        if picodollars is None:
            self._unpriced[place] += 1
        else:
            self._picodollars[place] += picodollars

    def __getitem__(self, place: int) -> KeyUse:
        return KeyUse(
            self._calls[place],
            None if self._unknown_input[place] else self._input[place],
            None if self._unknown_output[place] else self._output[place],
            self._picodollars[place],
            self._unpriced[place],
            bool(self._simulated[place]),
        )


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
        self._uses = Uses()

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
            self._uses.make_room()
        if line.tries:
            self._uses.add(place, line)
        self._at.append(offset)
        self._before.append(self._last[place])
        self._last[place] = len(self._at)

    def uses(self) -> Iterator[KeyUse]:
        """What each key has used whose calls were sent, in the order in which they were first seen."""
        each = (self._uses[place] for place in range(len(self._last)))
        return (use for use in each if use.calls)

    def use_of(self, hashed: int) -> KeyUse | None:
        """What a key has used, by its hash; None where no call of it was sent."""
        place = self._keys.find(hashed)
        use = None if place is None else self._uses[place]
        return use if use is not None and use.calls else None

    def of(self, key: Key) -> list[int]:
        """Offsets of the lines of a key's calls, in the order of the journal."""
        place = self._keys.find(hash((key.case, key.repeat, key.variant)))
        offsets: list[int] = []
        link = 0 if place is None else self._last[place]
        while link:
            offsets.append(self._at[link - 1])
            link = self._before[link - 1]
        return offsets[::-1]


__all__ = ["Calls", "KeyUse", "PoolCalls", "PoolKey"]
