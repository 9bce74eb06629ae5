"""What is kept of each key while a journal is folded: two integers, so that a million keys fit into memory.

    known[hash of the key] = content (48 bits) | attempts (8 bits) | code (4 bits)

Only what cannot be told in so few bits stands beside: where the lines of a paid output are, attempts beyond
254, seconds spent on keys that are not done.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from paceline.journal.records import OutcomeKind
from paceline.journal.states import Changed, Done, Interrupted, KeyState, New, OpenAgain, ToScore

KEY_BITS = (1 << 60) - 1
"""An integer of 60 bits takes 32 bytes, one of 64 bits 48. Among a million keys two share a hash with a
probability of 4 in 10 million."""
CONTENT_BITS = (1 << 48) - 1
CONTENT_SHIFT = 12
ATTEMPTS_SHIFT = 4
MANY = 0xFF
"""This many attempts or more: the number stands in `Keys.many`."""
CODE_BITS = 0xF

BEGUN = 0
FAILED = 1
PASSED = 2
UNASSERTED = 3
TASK_ERROR = 4
TIMEOUT = 5
LAST_DONE = TIMEOUT
CODES: dict[OutcomeKind, int] = {
    "task_error": TASK_ERROR,
    "timeout": TIMEOUT,
    "infra_error": 6,
    "evaluator_error": 7,
    "skipped_budget": 8,
    "cancelled": 9,
}
"""Of every outcome but `scored`, which is FAILED, PASSED or UNASSERTED."""

_OUTCOMES = {code: outcome for outcome, code in CODES.items()}
_DONE: dict[int, Done] = {
    FAILED: Done("scored", "failed"),
    PASSED: Done("scored", "passed"),
    UNASSERTED: Done("scored", "unasserted"),
    TASK_ERROR: Done("task_error"),
    TIMEOUT: Done("timeout"),
}
_ERRORS = frozenset({TASK_ERROR, TIMEOUT})
_NEW = New()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How the keys that are done have ended."""

    by_outcome: dict[OutcomeKind, int]
    passed: int
    """Scored, with at least one assertion, and all are true."""
    failed: int
    unasserted: int
    not_done: dict[OutcomeKind, int] = field(default_factory=dict)
    """Those that have ended in a way that a resume does not leave alone."""

    @property
    def done(self) -> int:
        return sum(self.by_outcome.values())


@dataclass(slots=True)
class Paid:
    """What is on record of a key that is being scored."""

    output: int | None
    """Offset of the line that holds the output; None where that line is lost."""
    scores: list[int] = field(default_factory=list)
    assertions: list[bool] = field(default_factory=list)
    """What those say that are true or false."""
    verdicts: list[int] | None = None
    """Offsets of the lines that hold what parts of evaluators have concluded about this output."""

    @property
    def parts(self) -> int:
        """How many lines these are."""
        return (self.output is not None) + len(self.scores)


class Keys:
    """The keys of a journal, by hash."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self.paid: dict[int, Paid] = {}
        self.many: dict[int, int] = {}
        self.spent: dict[int, float] = {}

    def state(self, number: int, content_hash: str, *, retry_errors: bool) -> KeyState:
        """Where the key with this hash stands."""
        record = self.known.get(number)
        if record is None:
            return _NEW
        code, content = record & CODE_BITS, record >> CONTENT_SHIFT
        if content and content_hash and content != hash(content_hash) & CONTENT_BITS:
            return Changed(self._attempts(number, record))
        done = _DONE.get(code)
        if done is not None and not (retry_errors and code in _ERRORS):
            return done
        attempts = self._attempts(number, record)
        if (paid := self.paid.get(number)) is not None and paid.output is not None:
            scores, verdicts = tuple(paid.scores), tuple(paid.verdicts or ())
            return ToScore(attempts, paid.output, scores, _OUTCOMES.get(code), verdicts)
        return Interrupted(attempts) if code == BEGUN else OpenAgain(_OUTCOMES[code], attempts)

    def tally(self) -> Tally:
        """How those that are done have ended."""
        codes = Counter([record & CODE_BITS for record in self.known.values()])
        by_outcome: Counter[OutcomeKind] = Counter()
        for code, done in _DONE.items():
            if codes[code]:
                by_outcome[done.outcome] += codes[code]
        return Tally(
            by_outcome=dict(by_outcome),
            passed=codes[PASSED],
            failed=codes[FAILED],
            unasserted=codes[UNASSERTED],
            not_done={
                outcome: codes[code] for outcome, code in CODES.items() if code > LAST_DONE and codes[code]
            },
        )

    def _attempts(self, number: int, record: int) -> int:
        attempts = record >> ATTEMPTS_SHIFT & MANY
        return attempts if attempts < MANY else self.many[number]
