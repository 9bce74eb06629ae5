"""The listing: the runs below a folder, how each stands, and how far it has come.

A run is known by a name made of its place, which is all that an address may say of it. What a journal
amounts to is counted once, and again from where it was when it has grown; of a run that is over only the
numbers are kept. Counting many or long journals takes its time: a run that was not counted yet says so.

Knows folders, locks and journals. Knows nothing of HTTP.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any, Final, Literal

import msgspec

from paceline.errors import JournalError
from paceline.journal.fold import Fold
from paceline.journal.ledger import Ledger
from paceline.journal.lock import Owner, owner_of
from paceline.journal.places import locate
from paceline.journal.reading import chunks, open_journal
from paceline.journal.records import RunLine
from paceline.runs import FoundRun, find_runs, first_line
from paceline.statistics.proportions import wilson

State = Literal["running", "complete", "interrupted", "killed", "out of budget", "broken off"]
_ENDS: Final[dict[str, State]] = {
    "complete": "complete",
    "interrupted": "interrupted",
    "budget": "out of budget",
    "failed": "broken off",
}
ERRORS: Final = ("task_error", "timeout", "infra_error", "evaluator_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How far a run has come."""

    keys: int | None
    """How many it has, where that is known."""
    passed: int
    failed: int
    unasserted: int
    errors: int
    how: str | None
    """How its last process has left it; None where it was killed, or is at it."""


class Counter:
    """Counts what a journal says, and goes on from there when it has grown."""

    def __init__(self, path: Path) -> None:
        self._journal = locate(path).journal
        self._fold: Fold | None = Fold()
        self._offset = 0
        self._seen: tuple[int, int] | None = None
        """Inode and size of the file that was counted."""
        self._counted: Counted | None = None

    def count(self, *, again: bool) -> Counted:
        """What the journal says by now; `again` where it may grow soon, so that the fold is kept."""
        with open_journal(self._journal) as file:
            status = os.fstat(file.fileno())
            seen = status.st_ino, status.st_size
            if seen == self._seen and self._counted is not None:
                return self._counted
            if self._fold is None or self._seen is None or seen[0] != self._seen[0] or seen[1] < self._offset:
                self._fold, self._offset = Fold(), 0
            file.seek(self._offset)
            for chunk in chunks(file, self._offset):
                if chunk.whole:
                    self._fold.take(chunk)
                    self._offset = chunk.end
        self._seen = seen
        self._counted = _counted(Ledger(self._fold))
        if not again:
            self._fold = None
        return self._counted


def _counted(ledger: Ledger) -> Counted:
    tally = ledger.tally()
    ended = {**tally.by_outcome, **tally.not_done}
    return Counted(
        keys=ledger.manifest.keys if ledger.manifest is not None else ledger.expected,
        passed=tally.passed,
        failed=tally.failed,
        unasserted=tally.unasserted,
        errors=sum(number for outcome, number in ended.items() if outcome in ERRORS),
        how=ledger.ended.how if ledger.ended is not None else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One run, as a list shows it."""

    id: str
    path: Path
    line: RunLine
    owner: Owner | None
    counted: Counted | None
    """None where it was not counted yet."""

    @property
    def state(self) -> State | None:
        """How it stands; None where that takes counting that was not done yet."""
        if self.owner is not None:
            return "running"
        if self.counted is None:
            return None
        return "killed" if self.counted.how is None else _ENDS[self.counted.how]

    def document(self) -> dict[str, Any]:
        """As plain data. What is unknown is null."""
        counted, line = self.counted, self.line
        told: dict[str, Any] = {
            "id": self.id,
            "path": os.fsencode(self.path).decode(errors="backslashreplace"),
            "run_id": line.run_id,
            "suite": line.suite,
            "name": line.name or line.suite,
            "started": line.started,
            "state": self.state,
            "process": None if self.owner is None else msgspec.to_builtins(self.owner),
            "rescored_from": line.rescored_from or None,
            "simulated": bool(line.fingerprint.get("simulated")),
            "keys": None,
        }
        for name in ("passed", "failed", "errors", "unasserted", "not_run", "pass_rate", "interval"):
            told[name] = None
        return told if counted is None else {**told, **_figures(counted, line)}


def _figures(counted: Counted, line: RunLine) -> dict[str, Any]:
    ended = counted.passed + counted.failed + counted.unasserted + counted.errors
    left = None if counted.keys is None else max(0, counted.keys - ended)
    of = counted.passed + counted.failed + counted.errors
    # While cases are left to run, there is no rate of all; a report says what that of those run is.
    whole = left == 0 and of > 0
    # What repeats are worth is not told by counts: a report reckons it from the cases.
    bounds = wilson(counted.passed, of) if whole and line.repeat == 1 else None
    return {
        "keys": counted.keys,
        "passed": counted.passed,
        "failed": counted.failed,
        "errors": counted.errors,
        "unasserted": counted.unasserted,
        "not_run": left,
        "pass_rate": counted.passed / of if whole else None,
        "interval": msgspec.to_builtins(bounds),
    }


class Listing:
    """The runs below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._counters: dict[str, Counter] = {}
        self._known: dict[str, FoundRun] = {}
        self._lock = Lock()

    def runs(self, *, patience: float, now: Any) -> list[Listed]:
        """All runs, latest first. Counting goes on for so many seconds; what is not counted then says so."""
        with self._lock:
            found = {_id_of(self.root, run.path): run for run in _found(self.root)}
            self._known = found
            self._counters = {
                name: self._counters.get(name) or Counter(run.path) for name, run in found.items()
            }
            end = now() + patience
            return [self._listed(name, run, counts=now() < end) for name, run in found.items()]

    def _listed(self, name: str, run: FoundRun, *, counts: bool) -> Listed:
        owner = owner_of(locate(run.path).lock)
        counter, counted = self._counters[name], None
        if counts:
            try:
                counted = counter.count(again=owner is not None)
            except JournalError:  # it was removed a moment ago
                counted = None
        return Listed(id=name, path=run.path, line=run.line, owner=owner, counted=counted)

    def path_of(self, name: str) -> Path | None:
        """Where a run lies that was listed; None for any other name, whatever it looks like."""
        with self._lock:
            run = self._known.get(name)
        return None if run is None else run.path


def _found(root: Path) -> Iterator[FoundRun]:
    """The run that the folder itself is, or the runs below it."""
    if (line := first_line(root)) is not None:
        yield FoundRun(root, line)
    else:
        yield from find_runs(root)


def _id_of(root: Path, path: Path) -> str:
    """A name for a run that tells nothing of the disk and leads nowhere by itself."""
    place = os.fsencode(os.path.relpath(path, root))
    return blake2b(place, digest_size=6).hexdigest()


__all__ = ["Counted", "Counter", "Listed", "Listing", "State"]
