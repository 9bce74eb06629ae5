"""The one stream of events that progress, service and logs are fed from.

A `CaseFinished` is sent only after its outcome is committed to the journal: what a listener has been told
survives a crash. Events are plain values and are sent on the thread of the event loop; a listener that
raises is reported once and not asked again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from paceline.journal.records import ErrorFacts, EvaluatorFailure, Key, OutcomeKind, Score


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """Base of all events; `at` is in seconds since the epoch."""

    at: float


class RunStarted(Event, frozen=True, kw_only=True, tag="run_started"):
    run_id: str
    suite: str
    path: str
    """The run directory or journal file; empty where the run lives in memory only."""
    expected: int | None
    """Keys that the whole run has; None while the source is still open-ended."""
    done_before: int = 0
    """Keys that an earlier process has brought to an end."""
    done_before_by: Mapping[str, int] = {}
    """Those by outcome, with `passed` beside them."""
    open_reasons: Mapping[str, int] = {}
    """Why keys are open: `new`, `interrupted`, `content changed`, `infra_error`, ..."""
    concurrency: int
    order: str = "as given"


class CaseStarted(Event, frozen=True, kw_only=True, tag="case_started"):
    key: Key
    attempt: int


class AttemptFailed(Event, frozen=True, kw_only=True, tag="attempt_failed"):
    key: Key
    attempt: int
    error: ErrorFacts
    error_class: str
    retry_in: float


class CaseFinished(Event, frozen=True, kw_only=True, tag="case_finished"):
    key: Key
    outcome: OutcomeKind
    passed: bool | None
    """None where the case has no assertion."""
    attempts: int
    seconds: float
    waited: float
    total: float
    scores: list[Score] = []
    failures: list[EvaluatorFailure] = []
    error: ErrorFacts | None = None


class LoopBlocked(Event, frozen=True, kw_only=True, tag="loop_blocked"):
    """The event loop did not come round: something in a coroutine blocks instead of awaiting."""

    seconds: float
    where: str
    """`file:line in function` of the innermost frame outside the standard library, where known."""
    key: Key | None = None


class Abandoned(Event, frozen=True, kw_only=True, tag="abandoned"):
    """Something ignored its deadline and was left behind."""

    key: Key
    what: str


class Draining(Event, frozen=True, kw_only=True, tag="draining"):
    """No new cases are started; what is in flight may finish."""

    reason: str
    in_flight: int


class RunEnded(Event, frozen=True, kw_only=True, tag="run_ended"):
    how: str
    reason: str = ""
    wall: float
    open: int = 0
    """Keys that a resume would run."""


class Warned(Event, frozen=True, kw_only=True, tag="warned"):
    """Something that a person should know; said once each."""

    message: str
    hint: str = ""


AnyEvent: TypeAlias = (
    RunStarted
    | CaseStarted
    | AttemptFailed
    | CaseFinished
    | LoopBlocked
    | Abandoned
    | Draining
    | RunEnded
    | Warned
)


class Gauge(msgspec.Struct, kw_only=True):
    """Where a run stands right now; the engine keeps it up to date, progress reads it when it draws."""

    expected: int | None = None
    done: int = 0
    """Keys with a committed outcome, earlier processes included."""
    passed: int = 0
    failed: int = 0
    """Scored, and an assertion is false."""
    unasserted: int = 0
    """Scored, without any assertion."""
    errors: int = 0
    """Ended without being scored."""
    in_flight: int = 0
    """Attempts under way."""
    scoring: int = 0
    retrying: int = 0
    """Waiting for another try."""
    retries: int = 0
    waited: float = 0.0
    """Seconds that attempts and retries have waited for limits, summed."""
    calls: int = 0
    """Model calls that have been seen."""
    queued: int = 0
    """Calls that wait for their turn right now."""
    expected_work: float = 0.0
    """Seconds of work that remain, as far as durations are known; 0 where not."""
    longest_left: float = 0.0
