"""The ledger: what a journal says about each key, as far as a resume needs to know.

    ledger = Ledger.read("runs/demo")
    ledger.state(key, content_hash)     New | Interrupted | Done | Changed | ToScore | OpenAgain

A fold over the whole file that keeps two integers per key: a million finished keys take seconds and some
hundred megabytes. Only for keys whose output is on record and whose scores are not, more is kept: where those
lines stand, for `read_at`.

What counts, in the order of the file:

- `begin` opens a key, or opens it again: what stood before it no longer counts, the attempts do.
- `output` pays for the key: from then on only scoring is left, whatever outcome but a final one follows.
- the last `outcome` wins.
- a damaged line says nothing.

Decides nothing: what to do about a state is for the engine, which keys there are for the source.
"""

from __future__ import annotations

import os
from typing import Any

from paceline.journal.compact import KEY_BITS, Tally
from paceline.journal.fold import Fold
from paceline.journal.places import locate
from paceline.journal.reading import chunks, open_journal
from paceline.journal.records import EndedLine, Key, ManifestLine, RunLine
from paceline.journal.redaction import Redactor, as_written
from paceline.journal.states import Changed, Done, Interrupted, KeyState, New, OpenAgain, ToScore, Verdict


class Ledger:
    """What a journal says, folded. Made by `Ledger.read`."""

    def __init__(self, fold: Fold, redactor: Redactor | None = None) -> None:
        self.run: RunLine | None = fold.run
        """The first line; None where it is damaged."""
        self.fingerprint: dict[str, Any] | None = fold.fingerprint
        """What a resume is held against: the first line's, or that of the last resume to accept another."""
        self.manifest: ManifestLine | None = fold.manifest
        """The latest; None where the source was never seen to its end."""
        self.expected: int | None = fold.expected
        """How many keys the run has, as far as the processes that worked on it knew."""
        self.ended: EndedLine | None = fold.ended
        """How the last process left the run; None where it was killed, or is still at it."""
        self.resumes = fold.resumes
        self.wall = fold.wall
        """Seconds that all processes have worked on the run; of one that was killed, up to its last line."""
        self.lines = fold.lines
        self.damaged = fold.damaged
        """Lines that could not be read."""
        self.unsealed = fold.unsealed
        """Lines that were edited by hand."""
        self._keys = fold.keys
        self._redactor = redactor

    @classmethod
    def read(cls, path: str | os.PathLike[str], *, redactor: Redactor | None = None) -> Ledger:
        """Fold the journal of a run; it may be written meanwhile.

        With the `redactor` that the journal is written with, keys that hold a secret are found under the name
        that they have there.
        """
        fold = Fold()
        with open_journal(locate(path).journal) as file:
            for chunk in chunks(file):
                if chunk.whole:
                    fold.take(chunk)
        fold.end_of_file()
        return cls(fold, redactor)

    def __len__(self) -> int:
        """How many keys have any line."""
        return len(self._keys.known)

    def state(self, key: Key, content_hash: str = "", *, retry_errors: bool = False) -> KeyState:
        """Where a key stands. Without `content_hash` its content is taken to be what it was.

        `retry_errors` opens what ended as `task_error` or `timeout`.
        """
        number = hash(key) & KEY_BITS
        if number not in self._keys.known:
            number = hash(as_written(key, self._redactor)) & KEY_BITS
        return self._keys.state(number, content_hash, retry_errors=retry_errors)

    def spent(self, key: Key) -> float:
        """Seconds that the attempts at a key which is not done have taken, as far as they came to an end."""
        return self._keys.spent.get(hash(as_written(key, self._redactor)) & KEY_BITS, 0.0)

    def tally(self) -> Tally:
        """How the keys that are done have ended; errors count as done."""
        return self._keys.tally()


__all__ = [
    "Changed",
    "Done",
    "Interrupted",
    "KeyState",
    "Ledger",
    "New",
    "OpenAgain",
    "Tally",
    "ToScore",
    "Verdict",
]
