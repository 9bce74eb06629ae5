"""The fold over the lines of a journal that the ledger is made by.

Decodes of each line only the fields that it needs: a resume of a finished run waits for this loop and for
little else. Lines about the run as a whole, of which there are few, are decoded in full.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from paceline.journal.compact import (
    ATTEMPTS_SHIFT,
    BEGUN,
    CODES,
    CONTENT_BITS,
    CONTENT_SHIFT,
    FAILED,
    KEY_BITS,
    LAST_DONE,
    MANY,
    PASSED,
    UNASSERTED,
    Keys,
    Paid,
)
from paceline.journal.encoding import LineDamaged, parse, unseal, without_right_seal
from paceline.journal.reading import Chunk
from paceline.journal.records import (
    AFTER_TASK,
    NOTHING,
    EndedLine,
    ManifestLine,
    OutcomeKind,
    ResumedLine,
    RunLine,
    verdict,
)

_CODE_OF = {True: PASSED, False: FAILED, None: UNASSERTED}


class Fold:
    """Takes lines in the order of the file; what it knows after the last one is the ledger's."""

    def __init__(self) -> None:
        self.keys = Keys()
        self.run: RunLine | None = None
        self.fingerprint: dict[str, Any] | None = None
        self.manifest: ManifestLine | None = None
        self.expected: int | None = None
        self.ended: EndedLine | None = None
        self.resumes = 0
        self.wall = 0.0
        self.lines = 0
        self.damaged = 0
        self.unsealed = 0
        self._started: float | None = None
        """When the process began whose lines these are; None where it has ended in order."""
        self._last = b"{}"

    def take(self, chunk: Chunk) -> None:
        """Take some lines."""
        # Made anew for each chunk: kept, it would be a cycle that keeps a million keys until it is collected.
        takers: dict[type[_Narrow], Callable[[Any, int], None]] = {
            _Begin: self._begin,
            _Attempt: self._attempt,
            _Output: self._output,
            _Verdict: self._verdict,
            _Scores: self._scores,
            _Outcome: self._outcome,
        }
        unreadable = self._unreadable(chunk.lines)
        offset = chunk.offset
        for index, raw in enumerate(chunk.lines):
            if not unreadable or index not in unreadable:
                try:
                    line = _decode(raw)
                except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                    self._cannot_take(raw)
                else:
                    kind = type(line)
                    if kind in takers:
                        takers[kind](line, offset)
                    elif kind is not _Call:  # a call says what was spent, and not how its key stands
                        self._of_the_run(raw)
                    self._last = raw
            offset += len(raw) + 1

    def end_of_file(self) -> None:
        """Close the account of the process that wrote last, if it has not done so itself."""
        self._settle_wall()

    def _unreadable(self, lines: list[bytes]) -> set[int]:
        """Positions of the lines that cannot be read; counts those that can, and have no checksum."""
        unreadable = set()
        self.lines += len(lines)
        for index in without_right_seal(lines):
            try:
                unseal(lines[index])
                self.unsealed += 1
            except LineDamaged:
                unreadable.add(index)
                self.damaged += bool(lines[index].strip())
        return unreadable

    def _cannot_take(self, raw: bytes) -> None:
        """A line that is whole: of a kind that a later version has added, or with a field that cannot be."""
        try:
            parse(raw)
        except LineDamaged as damage:
            self.damaged += damage.reason != "unknown kind"

    def _begin(self, line: _Begin, _offset: int) -> None:
        key = hash((line.case, line.repeat, line.variant)) & KEY_BITS
        attempts = line.attempt if line.attempt < MANY else self._many(key, line.attempt)
        content = hash(line.hash) & CONTENT_BITS
        self.keys.known[key] = content << CONTENT_SHIFT | attempts << ATTEMPTS_SHIFT
        if self.keys.paid:
            self.keys.paid.pop(key, None)

    def _outcome(self, line: _Outcome, offset: int) -> None:
        keys = self.keys
        key = hash((line.case, line.repeat, line.variant)) & KEY_BITS
        attempts = line.attempt if line.attempt < MANY else self._many(key, line.attempt)
        paid = keys.paid.pop(key, None) if keys.paid else None
        if line.builds_on and line.builds_on > (0 if paid is None else paid.parts):
            code = BEGUN  # a line that it needs was damaged
        else:
            code = _code(line, paid) if line.outcome == "scored" else CODES[line.outcome]
        if code > LAST_DONE or code == BEGUN or (line.error is not None and line.error.stage in AFTER_TASK):
            self._keep_paid(key, line, offset, paid)
        elif keys.spent:
            keys.spent.pop(key, None)
        content = keys.known.get(key, 0) >> CONTENT_SHIFT
        keys.known[key] = content << CONTENT_SHIFT | attempts << ATTEMPTS_SHIFT | code

    def _keep_paid(self, key: int, line: _Outcome, offset: int, paid: Paid | None) -> None:
        """Whatever the outcome, a task that has answered is not asked again."""
        self._spend(key, line.seconds)
        if bytes(line.output):
            paid = Paid(offset)
        if paid is not None or line.scores:
            self.keys.paid[key] = paid = paid or Paid(None)
            if line.scores:
                _land(paid, line.scores, offset)

    def _attempt(self, line: _Attempt, _offset: int) -> None:
        key = self._reopen(line)
        self._spend(key, line.seconds)
        self.keys.paid.pop(key, None)

    def _output(self, line: _Output, offset: int) -> None:
        self.keys.paid[self._reopen(line)] = Paid(offset)

    def _scores(self, line: _Scores, offset: int) -> None:
        key = hash((line.case, line.repeat, line.variant)) & KEY_BITS
        if (paid := self.keys.paid.get(key)) is None:
            # Its output is lost in a damaged line; that an assertion was false must not be.
            paid = self.keys.paid[key] = Paid(None)
        _land(paid, line.scores, offset)

    def _verdict(self, line: _Verdict, offset: int) -> None:
        # Without the output that it is about it is about nothing: the task will be asked again.
        key = hash((line.case, line.repeat, line.variant)) & KEY_BITS
        if (paid := self.keys.paid.get(key)) is not None and paid.output is not None:
            if paid.verdicts is None:
                paid.verdicts = []
            paid.verdicts.append(offset)

    def _reopen(self, line: _Attempt | _Output) -> int:
        """The key's number. Its outcome goes, its content stays: the `begin` before may have been damaged."""
        key = hash((line.case, line.repeat, line.variant)) & KEY_BITS
        attempts = line.attempt if line.attempt < MANY else self._many(key, line.attempt)
        content = self.keys.known.get(key, 0) >> CONTENT_SHIFT
        self.keys.known[key] = content << CONTENT_SHIFT | attempts << ATTEMPTS_SHIFT
        return key

    def _spend(self, key: int, seconds: float) -> None:
        self.keys.spent[key] = self.keys.spent.get(key, 0.0) + seconds

    def _many(self, key: int, attempts: int) -> int:
        self.keys.many[key] = attempts
        return MANY

    def _of_the_run(self, raw: bytes) -> None:
        match parse(raw):
            case RunLine() as line:
                self.run = self.run or line
                self.fingerprint = line.fingerprint
                self.expected = line.expected
                self._started = line.started
            case ResumedLine() as line:
                self._settle_wall()
                self.resumes += 1
                self.fingerprint = line.fingerprint or self.fingerprint
                self.expected = self.expected if line.expected is None else line.expected
                self.ended = None
                self._started = line.at
            case ManifestLine() as line:
                self.manifest = line
            case EndedLine() as line:
                self.wall += line.wall
                self.ended = line
                self._started = None

    def _settle_wall(self) -> None:
        """Count the time of a process that was killed: from its first line to its last."""
        if self._started is not None:
            self.wall += max(0.0, _decode_at(self._last).at - self._started)
            self._started = None


class _Narrow(msgspec.Struct, tag_field="kind", gc=False):
    """The part of a line that the fold looks at."""


class _Value(msgspec.Struct, gc=False):
    value: bool | int | float | str


class _Begin(_Narrow, tag="begin", gc=False):
    case: str
    hash: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1


class _Call(_Narrow, tag="call", gc=False): ...


class _Attempt(_Narrow, tag="attempt", gc=False):
    case: str
    seconds: float
    repeat: int = 0
    variant: str = ""
    attempt: int = 1


class _Output(_Narrow, tag="output", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1


class _Verdict(_Narrow, tag="verdict", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""


class _Scores(_Narrow, tag="scores", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    scores: list[_Value] = []


class _Error(msgspec.Struct, gc=False):
    stage: str = "task"


class _Outcome(_Narrow, tag="outcome", gc=False):
    case: str
    outcome: OutcomeKind
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    seconds: float = 0.0
    scores: list[_Value] = []
    builds_on: int = 0
    failures: list[Any] = []
    error: _Error | None = None
    output: msgspec.Raw = NOTHING


class _Run(_Narrow, tag="run", gc=False): ...


class _Resumed(_Narrow, tag="resumed", gc=False): ...


class _Manifest(_Narrow, tag="manifest", gc=False): ...


class _Ended(_Narrow, tag="ended", gc=False): ...


class _At(msgspec.Struct, gc=False):
    at: float = 0.0


_decode = msgspec.json.Decoder(
    _Begin | _Call | _Attempt | _Output | _Verdict | _Scores | _Outcome | _Run | _Resumed | _Manifest | _Ended
).decode
_decode_at = msgspec.json.Decoder(_At).decode


def _land(paid: Paid, scores: list[_Value], offset: int) -> None:
    paid.scores.append(offset)
    paid.assertions += [score.value for score in scores if isinstance(score.value, bool)]


def _code(line: _Outcome, paid: Paid | None) -> int:
    """Whether a scored key passed: at least one assertion, all true, and no evaluator failed."""
    if line.failures or (paid is not None and not all(paid.assertions)):
        return FAILED
    said = verdict(line.scores)
    return PASSED if said is None and paid is not None and paid.assertions else _CODE_OF[said]
