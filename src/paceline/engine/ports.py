"""The ports of the engine: where cases come from, where they are run, where it is written down.

    Source    hands out turns: keys that still have something to do
    Executor  carries out one attempt somewhere: in this process, in child processes, on a cluster
    Recorder  takes lines and says when they are safe

What passes through a port is a value. An executor that lives in another process can serve the same engine
with nothing but these values on the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from paceline.dataset.case import Case
from paceline.errors import JournalBroken
from paceline.journal.bodies import NONE_BEFORE, Before, CallBodies
from paceline.journal.records import ErrorClass, ErrorFacts, Key, Line, Score

if TYPE_CHECKING:
    from paceline.engine.taping import Taping
    from paceline.pace.calls import Call
    from paceline.pace.tape import Tape


class Said(NamedTuple):
    """What a verdict goes by: who has concluded it, in which part, and the digest of what that saw."""

    by: str
    part: str
    seen: str


@dataclass(slots=True, kw_only=True)
class Stored:
    """An answer that is there already: the task is not asked again, only what is missing is scored."""

    output: Any = None
    error: ErrorFacts | None = None
    """In place of an output, where a run that is scored anew has none."""
    error_class: ErrorClass = "permanent"
    on_record: bool = True
    """Whether it stands in this journal; False where it comes from another one."""
    seconds: float = 0.0
    waited: float = 0.0
    metrics: dict[str, int | float] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    trajectory: list[dict[str, Any]] | None = None
    scores: list[Score] = field(default_factory=list)
    """Results on record; their evaluators are not asked again."""
    verdicts: Mapping[Said, msgspec.Raw] = field(default_factory=dict)
    """What evaluators without a result have concluded in part."""


class Turn(msgspec.Struct, eq=False):
    """One key's turn: its case, the encoded content, and what happened to it before.

    Not a frozen value: one is made for each key and goes with it from the source to its outcome. A msgspec
    `Struct`, like `Work` and `Attempted`, because making one costs a fifth of what a plain class does.
    """

    key: Key
    case: Case[Any, Any, Any]
    hash: str
    inputs_raw: bytes
    expected_raw: bytes = b""
    metadata_raw: bytes = b""
    tried: int = 0
    """Attempts that earlier processes made."""
    on_record: bool = False
    """Whether the content stands in this journal already."""
    stored: Stored | None = None
    taped: bool = False
    """Whether its last attempt, or its scoring, was cut off: the calls of that need not be made again."""

    # What follows is the engine's own, from the first attempt to the outcome.
    tries: int = 0
    started: float = 0.0
    waited: float = 0.0
    abandoned: int = 0
    parts: int = 0
    """Lines on record that its outcome will build upon: the output, and each that tells scores."""
    lifecycle: Any = None
    context: Context | None = None

    @property
    def attempt(self) -> int:
        """The number of the current attempt, counted over all processes that worked on the run."""
        return self.tried + self.tries


class Source(Protocol):
    """Where turns come from. Called on the loop; never asked again after it was exhausted."""

    @property
    def expected(self) -> int | None:
        """Keys of the whole run, those already done included; None while that is not known."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether no turn will ever come again."""
        ...

    def take(self) -> Turn | None:
        """The next turn, or None where there is none now."""
        ...

    async def wait_for_more(self) -> None:
        """Return when `take` is worth another try. Only called while not exhausted."""
        ...


class Stopwatch(Protocol):
    """The clock of an attempt. Called on the loop."""

    def hold(self) -> None:
        """Stand still: the attempt waits for a place, or for a process that is not ready yet."""
        ...

    def go(self) -> None:
        """Run on."""
        ...


class Work(msgspec.Struct, eq=False):
    """What an executor needs to know to attempt a key."""

    key: Key
    attempt: int
    inputs: Any
    timeout: float | None = None
    """Seconds the attempt may take; the engine keeps the deadline, remote executors keep it too."""
    stopwatch: Stopwatch | None = None
    """For an executor that has the attempt wait; stays on this side of a wire."""
    waited: float = 0.0
    """Seconds for which the executor has had it wait."""
    counted: dict[str, int | float] = {}
    """What the attempt has counted so far, where that can be seen: it is not lost when it is cut off."""
    noted: dict[str, Any] = {}
    """The attributes that it has noted so far, likewise."""
    abandoned: int = 0
    """Threads that the executor could not end when it was told to give the attempt up."""
    calls: int = 0
    """Model calls of the attempt that have been seen."""
    live: int = 0
    """Of these, those that were made and not answered from the record."""
    record_call: Callable[[Work, Call], None] | None = None
    """Takes each of them, on the loop."""
    by: str = ""
    """Label of the evaluator whose work this is; empty where it is the task's."""
    part: str = ""
    """The part of the evaluator, where it is one that comes to a verdict of its own."""
    tape: Tape | None = None
    """What keeps its calls and may have their answers; None where they are not kept, or none was made yet."""
    taping: Taping | None = None
    """Makes an empty tape for the first call: most attempts of most tasks make none."""
    before: Before = NONE_BEFORE
    """The request that was kept last."""
    traced: Callable[[], list[dict[str, Any]] | None] | None = None
    """What its spans tell of its trajectory, where somebody traces."""


class Attempted(msgspec.Struct, eq=False, kw_only=True):
    """How an attempt went: an output, or an error as data."""

    output: Any = None
    raw: bytes = b""
    """The output as it was when it came, encoded; the engine's own."""
    error: ErrorFacts | None = None
    error_class: ErrorClass = "permanent"
    seconds: float = 0.0
    waited: float = 0.0
    metrics: dict[str, int | float] = {}
    attributes: dict[str, Any] = {}
    trajectory: list[dict[str, Any]] | None = None
    retry_after: float | None = None
    exception: BaseException | None = None
    """Only where the attempt was made in this process: for retry rules that look at it, and for debuggers."""
    exhausted: bool = False
    """Whether the call that it failed by was tried again already, below, as often as makes sense."""
    abandoned: int = 0


class Executor(Protocol):
    """Where attempts are carried out.

    Whatever the task raises comes back as data. An attempt is given up by cancelling the call; an executor
    then ends the work if it can (a child process), or leaves it behind (a thread) and counts it.
    """

    async def start(self) -> None:
        """Make ready; raises a `PacelineError` with a remedy if it cannot."""
        ...

    async def attempt(self, work: Work) -> Attempted:
        """Carry out one attempt."""
        ...

    async def stop(self) -> None:
        """Let go of everything, without waiting for what was left behind."""
        ...

    @property
    def left_behind(self) -> int:
        """Attempts given up that could not be ended and may still be running."""
        ...


class Recorder(Protocol):
    """Where lines go. `append` never waits for the disk; `on_commit` says, from any thread, what is safe."""

    on_commit: Callable[[int], None] | None
    on_broken: Callable[[JournalBroken], None] | None

    @property
    def lagging(self) -> bool:
        """Whether so much is waiting to be written that no more should be begun."""
        ...

    @property
    def committed(self) -> int:
        """Sequence number up to which all lines are safe."""
        ...

    def append(self, line: Line) -> int:
        """Take a line; returns its sequence number. Raises `JournalBroken` once the disk has refused one."""
        ...

    def keep_bodies(self, bodies: CallBodies, before: Before = NONE_BEFORE) -> Before:
        """Keep the bodies of a call, before the line of it is appended; what the next one is told by."""
        ...

    def keep(self, raw: bytes) -> msgspec.Raw:
        """An encoded value as it goes into a line: itself, or where it is stored if it is big."""
        ...
