"""The lines of a journal, as frozen values.

    {"kind":"run", ...}       first line: what was started, with which settings, versions, fingerprint
    {"kind":"begin", ...}     an attempt starts; the first one of a key carries the case's content
    {"kind":"call", ...}      one model call of an attempt, when it has come to its end
    {"kind":"attempt", ...}   an attempt failed and another one follows
    {"kind":"output", ...}    the task's output, written before an evaluator that waits is started
    {"kind":"verdict", ...}   what a part of an evaluator has concluded, while the rest of it goes on
    {"kind":"scores", ...}    what evaluators found, each result once
    {"kind":"outcome", ...}   always the last for its key; with it whatever is not on record yet
    {"kind":"manifest", ...}  the source is exhausted: how many keys there are, and their digest
    {"kind":"resumed", ...}   another process took the run up again
    {"kind":"ended", ...}     a process left the run in order, and how

Fields that are at their default are left out of a line. Times are seconds since the epoch; durations are
seconds. Readers ignore fields they do not know, so a newer Paceline can add some.

Knows what is written. Knows nothing of how (`encoding`, `writer`) or of what it means for a
resume (`ledger`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import msgspec

FORMAT = 1
"""Version of the format, in the first line. A reader refuses a higher one."""

OutcomeKind = Literal[
    "scored", "task_error", "timeout", "infra_error", "evaluator_error", "skipped_budget", "cancelled"
]
OUTCOMES: tuple[OutcomeKind, ...] = (
    "scored",
    "task_error",
    "timeout",
    "infra_error",
    "evaluator_error",
    "skipped_budget",
    "cancelled",
)
FINAL: frozenset[str] = frozenset({"scored", "task_error", "timeout"})
"""Outcomes that a resume leaves alone, unless told to retry errors."""

ErrorClass = Literal["rate_limited", "transient", "permanent", "timeout", "infrastructure", "cancelled"]

CallOutcome = Literal["ok", "rate_limited", "overloaded", "transient", "fatal", "cancelled"]
"""How a call went, as far as its pool is concerned. A refusal of the request itself (400) is `ok`."""

Limit = Literal[
    "cases",
    "window",
    "requests",
    "tokens",
    "blocked",
    "outage",
    "backoff",
    "stragglers",
    "scoring",
    "loop",
    "machine",
    "journal",
    "idle",
]
LIMITS: tuple[Limit, ...] = get_args(Limit)
"""What can limit a run at a moment; `docs/design/limits-of-a-run.md` says when it is which."""


AFTER_TASK: frozenset[str] = frozenset({"prepare_context", "teardown"})
"""Stages of a failure that came after the task's answer: that is on record, and not asked for again."""


NOTHING = msgspec.Raw()
"""An encoded value that is not there. Only this very object is left out of a line, as the default it is."""


class Key(NamedTuple):
    """What a record is about: one repeat of one case under one variant."""

    case: str
    repeat: int = 0
    variant: str = ""

    def __str__(self) -> str:
        suffix = f" [{self.repeat + 1}]" if self.repeat else ""
        prefix = f"{self.variant}: " if self.variant else ""
        return f"{prefix}{self.case}{suffix}"


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind", gc=False):
    """Base of all lines."""


class ErrorFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An exception as data."""

    type: str
    message: str = ""
    trace: str = ""
    """The last frames, outermost first; bounded."""
    stage: str = "task"
    """`task`, `setup`, `prepare_context`, `teardown`, `evaluator` or `engine`."""


class Score(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One result of one evaluator."""

    name: str
    value: bool | int | float | str
    reason: str | None = None
    by: str = ""
    """Label of the evaluator that said so, unique among those of the case."""
    seconds: float = 0.0
    spared: int = 0
    """Calls of models that were not made because this could be said without them."""


class EvaluatorFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An evaluator that could not say anything."""

    by: str
    error: ErrorFacts
    seconds: float = 0.0


class EvaluatorFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """An evaluator of the suite, as the first line names it."""

    label: str
    spec: Any = None
    version: str | None = None


WITHIN = ": "
"""Between the label of an evaluator and that of a judge inside of it."""


class JudgeStanding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """Whether a judge has been shown to agree with people, when the run was begun or taken up."""

    state: Literal["calibrated", "uncalibrated", "expired"]
    why: str
    fingerprint: str | None = None
    """Of the judge as it is in this run; None where it does not say what it is."""
    spearman: float | None = None
    """What its certificate says, with the ends of the interval."""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """Items that it was held against people on."""
    made: str = ""
    """The day its certificate is of."""


class RunLine(_Line, frozen=True, kw_only=True, tag="run", gc=False):
    """First line of a journal."""

    format: int = 0
    run_id: str
    suite: str
    name: str = ""
    """What the caller calls this run, if anything."""
    started: float
    fingerprint: dict[str, Any]
    settings: dict[str, Any] = {}
    evaluators: list[EvaluatorFacts] = []
    repeat: int = 1
    variants: tuple[str, ...] = ("",)
    metadata: dict[str, Any] | None = None
    versions: dict[str, str] = {}
    """Python, Paceline and the packages that matter."""
    git: dict[str, Any] | None = None
    command: list[str] = []
    """The command line to run again, for `paceline resume`."""
    directory: str = ""
    """Where it was started."""
    rescored_from: str = ""
    expected: int | None = None
    """Keys that the run will have, where that is known when it starts: a report of a killed run needs it."""
    judges: dict[str, JudgeStanding] = {}
    """Evaluators that ask a model, by label."""
    check: dict[str, Any] = {}
    """The rules that the suite had, for a gate that does not have the suite."""


class BeginLine(_Line, frozen=True, kw_only=True, tag="begin", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    at: float
    hash: str
    """Digest of the case's content: inputs, expected output, metadata."""
    inputs: msgspec.Raw = NOTHING
    """Encoded values (see `values`); on the first attempt of a key only, in this file."""
    expected_output: msgspec.Raw = NOTHING
    metadata: msgspec.Raw = NOTHING
    evaluators: list[Any] = []
    """The case's own, as a dataset file would write them; None for one that cannot be written."""


class CallLine(_Line, frozen=True, kw_only=True, tag="call", gc=False):
    """One model call that was seen. It says what was spent, and nothing of how its key stands."""

    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    """The attempt that it was made in, or whose output was being scored."""
    ordinal: int = 1
    """Which call of the attempt it is, counted from 1 in each process."""
    at: float
    """When it came to its end."""
    pool: str
    """The quota that it used, as `provider:model`."""
    host: str = ""
    model: str = ""
    account: str = ""
    """A fingerprint of the key, never the key."""
    request: str = ""
    """Hash of what was asked: two calls that ask the same have the same."""
    status: int | None = None
    """Of the last answer; None where none came."""
    outcome: CallOutcome = "ok"
    cause: str = ""
    """What a rejection was about: `requests`, `tokens`, ...; empty where there was none."""
    input_tokens: int | None = None
    """None is unknown, here and below."""
    output_tokens: int | None = None
    cached_tokens: int | None = None
    """Of the input: read from the provider's cache."""
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    """Of the output."""
    price: float | None = None
    """US dollars; None is unknown."""
    seconds: float = 0.0
    """From sending to the end of the answer, in the try that decided."""
    first_token: float | None = None
    """From sending to the first token, where the answer was streamed."""
    waited: float = 0.0
    """For its pool, and between tries."""
    tries: int = 1
    """How often it was sent; 0 where it never could be."""
    streamed: bool = False
    simulated: bool = False
    """Answered by a simulated provider: nothing was paid, and nothing is known of a model by it."""
    by: str = ""
    """Label of the evaluator that made it; empty where it was the task."""
    replayed: bool = False
    """Answered from the record: its price was paid before, and not again."""
    error: str = ""


class AttemptLine(_Line, frozen=True, kw_only=True, tag="attempt", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    at: float
    error: ErrorFacts
    error_class: ErrorClass
    seconds: float
    waited: float = 0.0
    retry_in: float = 0.0
    metrics: dict[str, int | float] = {}
    attributes: msgspec.Raw = NOTHING


class OutputLine(_Line, frozen=True, kw_only=True, tag="output", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    at: float
    seconds: float
    waited: float = 0.0
    output: msgspec.Raw
    metrics: dict[str, int | float] = {}
    attributes: msgspec.Raw = NOTHING
    trajectory: msgspec.Raw = NOTHING


class VerdictLine(_Line, frozen=True, kw_only=True, tag="verdict", gc=False):
    """What a part of an evaluator has concluded: a vote, a requirement. It is no result, and says nothing of
    how its key stands; the evaluator that asks for it again finds it here."""

    case: str
    repeat: int = 0
    variant: str = ""
    at: float
    by: str
    """Label of the evaluator."""
    part: str
    """Its name within the evaluator."""
    seen: str
    """Digest of all that has decided it: the same part that sees something else has to conclude anew."""
    value: msgspec.Raw
    """Plain JSON, or where it is stored if it is big."""


class ScoresLine(_Line, frozen=True, kw_only=True, tag="scores", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    at: float
    scores: list[Score] = []
    failures: list[EvaluatorFailure] = []


class OutcomeLine(_Line, frozen=True, kw_only=True, tag="outcome", gc=False):
    case: str
    repeat: int = 0
    variant: str = ""
    attempt: int = 1
    """Attempts that the key has had so far, over all processes that worked on the run."""
    at: float
    outcome: OutcomeKind
    seconds: float = 0.0
    """Working time of the attempt that decided (the task's latency)."""
    waited: float = 0.0
    """Time spent waiting for limits, back-off between attempts included."""
    total: float = 0.0
    """From setup to teardown, scoring included."""
    error: ErrorFacts | None = None
    output: msgspec.Raw = NOTHING
    """Only where no output line stands before."""
    metrics: dict[str, int | float] = {}
    attributes: msgspec.Raw = NOTHING
    trajectory: msgspec.Raw = NOTHING
    scores: list[Score] = []
    """Those that no scores line has told yet."""
    failures: list[EvaluatorFailure] = []
    abandoned: int = 0
    """Threads or coroutines of this key that ignored their deadline and were left behind."""
    builds_on: int = 0
    """Lines before this one that it says nothing of and needs: the output, and each that tells scores.
    Where one of them cannot be read any more, the key has not come to its end."""


class ManifestLine(_Line, frozen=True, kw_only=True, tag="manifest", gc=False):
    keys: int
    digest: str
    """Order-independent digest of the keys."""
    dataset: str = ""
    """Digest of the file that the cases were streamed from."""


class ResumedLine(_Line, frozen=True, kw_only=True, tag="resumed", gc=False):
    at: float
    pid: int
    host: str = ""
    open: int = 0
    reasons: dict[str, int] = {}
    """Why keys were open: `new`, `interrupted`, `content changed`, `infra_error`, ..."""
    fingerprint: dict[str, Any] | None = None
    """Where a changed suite was accepted: the new one, which the next resume is held against."""
    settings: dict[str, Any] = {}
    expected: int | None = None
    """Keys that the run has by now."""
    judges: dict[str, JudgeStanding] = {}
    """How they stand by now."""


class PoolEnd(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A pool, as a process that used it has left it."""

    pool: str
    """`provider:model`, as in a call line."""
    host: str = ""
    account: str = ""
    window: float | None = None
    """Calls at once that it let through in the end; None where there was no bound."""
    rate: float | None = None
    """Requests a second that it let through in the end."""
    token_rate: float | None = None
    """Tokens a second, likewise."""
    accepted: int = 0
    rejected: int = 0
    """Tries that the provider has turned away."""
    by_cause: dict[str, int] = {}
    """Those by what they were about."""
    peak: int = 0
    """Most calls in flight that were seen at once."""
    knee: bool = False
    """Whether more at once was tried, and brought nothing or was rejected."""
    limited: dict[str, float] = {}
    """Seconds that it limited the run, by `Limit`."""
    closed: str = ""
    """Why it let nothing through any more."""


class EndedLine(_Line, frozen=True, kw_only=True, tag="ended", gc=False):
    at: float
    how: Literal["complete", "interrupted", "budget", "failed"]
    wall: float
    """Seconds that this process worked on the run."""
    reason: str = ""
    limited: dict[str, float] = {}
    """How these seconds divide by what limited the run (`Limit`)."""
    pools: list[PoolEnd] = []
    places: int = 0
    """Cases that could be in progress at once; 0 where there was no bound."""
    blocker: str = ""
    """What blocked the event loop longest, as `file:line in function`."""


Line: TypeAlias = (
    RunLine
    | BeginLine
    | CallLine
    | AttemptLine
    | OutputLine
    | VerdictLine
    | ScoresLine
    | OutcomeLine
    | ManifestLine
    | ResumedLine
    | EndedLine
)
KeyedLine: TypeAlias = (
    BeginLine | CallLine | AttemptLine | OutputLine | VerdictLine | ScoresLine | OutcomeLine
)


class Valued(Protocol):
    """What an evaluator said, as far as it matters for whether a case passed."""

    @property
    def value(self) -> bool | int | float | str: ...


def verdict(scores: Iterable[Valued]) -> bool | None:
    """Whether all assertions among the scores are true; None where there is none."""
    passed: bool | None = None
    for score in scores:
        if score.value is False:
            return False
        if score.value is True:
            passed = True
    return passed


def key_of(line: KeyedLine) -> Key:
    """The key that a line is about."""
    return Key(line.case, line.repeat, line.variant)
