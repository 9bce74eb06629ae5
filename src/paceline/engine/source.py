"""Turns from cases: which keys a run has, in which order, and what each still needs.

A key is repeat × case × variant, in that order, so that the repeats of a case lie apart and the variants of a
case lie together. Content is encoded when a turn is taken, never before: a million cases pass through, one at
a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, Protocol, TypeAlias

from paceline import values
from paceline.dataset.case import Case
from paceline.engine.ports import Stored, Turn
from paceline.errors import JournalError
from paceline.evaluators.prepare import prepare
from paceline.journal.digest import KeyDigest
from paceline.journal.ledger import Changed, Done, Interrupted, KeyState, New, OpenAgain, ToScore
from paceline.journal.records import FINAL, Key

AnyCase = Case[Any, Any, Any]
Named = tuple[str, AnyCase]


ENVELOPE: Final = b'{"$paceline"'
"""How an encoded value begins that is not plain JSON."""


class Standings(Protocol):
    """What is on record about a key: the ledger, seen from here."""

    def state(self, key: Key, content_hash: str, *, retry_errors: bool) -> KeyState:
        """What a resume has to do about a key."""
        ...


class OpenKeys:
    """A Source of those turns among many that still have something to do."""

    def __init__(
        self,
        turns: Iterable[Turn],
        *,
        expected: int | None,
        standings: Standings | None = None,
        stored: Callable[[ToScore], Stored] | None = None,
        retry_errors: bool = False,
    ) -> None:
        self.expected = expected
        self.exhausted = False
        self.reasons: Counter[str] = Counter()
        """Why the turns handed out were open."""
        self.vague = 0
        """Keys whose inputs could not be recorded as what they are."""
        self.digest = KeyDigest()
        """Of all keys that were gone through, done ones included."""
        self._standings = standings
        self._stored = stored
        self._retry_errors = retry_errors
        self._open = self._go_through(turns)

    def gather(self) -> list[Turn]:
        """Go through all turns now, for cases that are in memory anyway; they are handed out afterwards
        all the same."""
        gathered = list(self._open)
        self._open = iter(gathered)
        return gathered

    def take(self) -> Turn | None:
        """The next key that has something to do."""
        turn = next(self._open, None)
        if turn is None:
            self.exhausted = True
        return turn

    def let_go(self) -> None:
        """Forget what is on record: for a million keys that is some hundred megabytes."""
        self._standings, self._open = None, iter(())

    async def wait_for_more(self) -> None:
        """Cases do not grow: what is not there now never will be."""
        raise AssertionError("asked for more after `take` had none")

    def _go_through(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        add, standings, reasons = self.digest.add, self._standings, self.reasons
        for turn in turns:
            add(turn.key)
            if turn.inputs_raw.startswith(ENVELOPE) and values.is_lossy(turn.inputs_raw):
                self.vague += 1
            reason = "new" if standings is None else self._why_open(turn, standings)
            if reason is not None:
                reasons[reason] += 1
                yield turn

    def _why_open(self, turn: Turn, standings: Standings) -> str | None:
        """Why a key has something to do, or None; notes in its turn what is on record."""
        match standings.state(turn.key, turn.hash, retry_errors=self._retry_errors):
            case New():
                return "new"
            case Done():
                return None
            case Interrupted(attempts):
                turn.tried, turn.on_record, turn.taped = attempts, True, True
                return "interrupted"
            case OpenAgain(outcome, attempts):
                turn.tried, turn.on_record = attempts, attempts > 0
                turn.taped = outcome not in FINAL
                return outcome
            case Changed(attempts):
                turn.tried = attempts
                return "content changed"
            case ToScore(attempts) as paid:
                turn.tried = attempts
                if there := self._bring_answer(turn, paid):
                    turn.on_record, turn.parts = True, 1 + len(paid.scores)
                    # What evaluators have asked and failed by, they are to ask anew.
                    turn.taped = paid.outcome != "evaluator_error"
                # Told by how it ended where that was an end: it counts as done as long as nobody retries it.
                if paid.outcome in FINAL:
                    return paid.outcome
                return "not scored" if there else "output lost"

    def _bring_answer(self, turn: Turn, paid: ToScore) -> bool:
        """Give the turn its answer that is on record; whether that is there. It may have lain beside the
        journal, and be gone or damaged: then there is nothing to score."""
        if self._stored is not None:
            try:
                turn.stored = self._stored(paid)
            except JournalError:
                return False
        return True


_Content: TypeAlias = tuple[str, bytes, bytes, bytes]
"""The hash of what a case asks, and that itself, encoded: inputs, expected output, metadata.
As a `Turn` has them, and no named tuple, since one is made for each case."""


def turns_of(
    cases: Callable[[], Iterable[Named]],
    *,
    repeat: int = 1,
    variants: Sequence[str] = ("",),
    in_memory: bool = False,
) -> Iterator[Turn]:
    """The turns of cases that can be gone through once per repeat.

    Of cases that are the same objects each time (`in_memory`) the content is that of the first time: what
    hooks and evaluators have done to a case meanwhile does not make another one of it.
    """
    kept: list[_Content] = []
    keeps = in_memory and repeat > 1
    for number in range(repeat):
        for place, (name, case) in enumerate(cases()):
            content = kept[place] if number and in_memory else _content_of(case)
            if keeps and not number:
                kept.append(content)
            for variant in variants:
                yield Turn(Key(name, number, variant), case, *content)


def _content_of(case: AnyCase) -> _Content:
    inputs, expected, metadata = _encoded(case)
    own = (_own_evaluators(case),) if case.evaluators else ()
    return values.content_hash(inputs, expected, metadata, *own), inputs, expected, metadata


def _encoded(case: AnyCase) -> tuple[bytes, bytes, bytes]:
    encode = values.encode
    return (
        encode(case.inputs),
        b"" if case.expected_output is None else encode(case.expected_output),
        b"" if case.metadata is None else encode(case.metadata),
    )


def _own_evaluators(case: AnyCase) -> bytes:
    """A case's own evaluators, encoded: they belong to its content, for they decide about it alone."""
    return values.encode([[each.label, each.written, each.version] for each in prepare(case.evaluators)])


def stored_turn(key: Key, case: AnyCase, stored: Stored, *, tried: int) -> Turn:
    """The turn of a key whose output comes from elsewhere and is only to be scored here."""
    inputs, expected, metadata = _encoded(case)
    return Turn(
        key,
        case,
        hash=values.content_hash(inputs, expected, metadata),
        inputs_raw=inputs,
        expected_raw=expected,
        metadata_raw=metadata,
        tried=tried,
        stored=stored,
    )
