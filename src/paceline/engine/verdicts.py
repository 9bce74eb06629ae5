"""The verdicts of one evaluator about one key: found where the journal has them, written to it where not.

Made for each evaluator that waits, and for all of its tries: what an earlier try has concluded stands.

The calls that a part makes are a conversation of its own, with a tape of its own. Parts do not depend on each
other, and one whose verdict is on record asks nothing any more: on one tape for all, its calls would stand in
the way of those that the others ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from paceline.engine.calls import CallsOfAttempt, CallsOfPart
from paceline.engine.ports import Said, Turn, Work
from paceline.journal.records import Key
from paceline.pace.calls import current_listener

if TYPE_CHECKING:
    from paceline.engine.taping import Taping

Record: TypeAlias = Callable[[Key, Said, msgspec.Raw], None]
"""Puts a verdict on record; from any thread."""


class VerdictsOnRecord:
    """A `Verdicts` (see `evaluators.verdicts`) on behalf of a run."""

    __slots__ = ("_by", "_found", "_record", "_taping", "_turn", "_works")

    def __init__(self, turn: Turn, by: str, record: Record, taping: Taping | None = None) -> None:
        self._turn = turn
        self._by = by
        self._record = record
        self._taping = taping
        self._found: dict[Said, msgspec.Raw] | None = None
        """Of this process; a dict only once there is one, as below."""
        self._works: dict[str, Work] | None = None

    @property
    def goes_on(self) -> bool:
        """Whether scoring was cut off before: what was asked then is answered from the record."""
        return self._turn.stored is not None and self._turn.taped

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

    @contextmanager
    def concluding(self, part: str, seen: str) -> Iterator[None]:
        """Within: this part comes to its verdict, and the calls that are made are its own."""
        listener = current_listener.get()
        whole = listener.whole if isinstance(listener, CallsOfPart) else listener
        if not isinstance(whole, CallsOfAttempt) or self._taping is None:
            yield
            return
        # Two evaluators in one, a cascade say, may have parts of the same name: each is a conversation.
        work = self._work_of(f"{part} {seen[:16]}", whole.work)
        token = current_listener.set(CallsOfPart(whole, work))
        try:
            yield
        finally:
            current_listener.reset(token)

    def keep(self, part: str, seen: str, value: msgspec.Raw) -> None:
        """Put a verdict on record, now."""
        said = Said(self._by, part, seen)
        if self._found is None:
            self._found = {}
        self._found[said] = value
        self._record(self._turn.key, said, value)

    def _work_of(self, part: str, whole: Work) -> Work:
        """What the calls of a part are kept by; the same for all tries, as the whole's tape is."""
        assert self._taping is not None
        if self._works is None:
            self._works = {}
        if (work := self._works.get(part)) is None:
            tape = self._taping.tape(whole.key, self._by, part, goes_on=self.goes_on)
            work = Work(whole.key, whole.attempt, None, record_call=whole.record_call, counted=whole.counted)
            work.by, work.part, work.tape = self._by, part, tape
            self._works[part] = work
        return work


__all__ = ["Record", "VerdictsOnRecord"]
