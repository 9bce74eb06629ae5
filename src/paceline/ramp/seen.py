"""What was seen while a level was held: plain values, from whoever holds levels to whoever judges them.

A *try* is a call as the provider saw it: one that was rejected and sent again is two tries. Where calls
cannot be seen, an attempt of the task stands for one.

Knows the words. Knows nothing of suites, journals or HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Literal, Protocol, TypeVar

import msgspec

from paceline.pace.messages import Advertised, Cause, Outcome
from paceline.pace.pool import Binding

CaseT = TypeVar("CaseT")
CaseT_contra = TypeVar("CaseT_contra", contravariant=True)

Unit = Literal["call", "case"]
"""What a try is: a call of a model, or an attempt of the task where its calls cannot be seen."""

HaltKind = Literal["enough", "limit", "errors", "closed", "budget", "interrupt"]


class Try(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One try, from sending to the end of its answer; seconds are of the clock of whoever holds the level."""

    start: float
    end: float
    outcome: Outcome = "ok"
    cause: Cause | None = None
    tokens: float | None = None
    pool: str = ""
    message: str = ""
    """Of a failure, without secrets."""

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        return self.end - self.start


class Done(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One case that has come to its end."""

    start: float
    end: float
    ok: bool = True
    """Whether the task has answered, whatever the answer was worth."""
    cost: float | None = None
    """US dollars; None: unknown."""
    error: str = ""


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How busy this process was meanwhile."""

    cpu: float = 0.0
    """Share of one core."""
    starved: float = 0.0
    """Share of the time for which the event loop had to wait for a processor that others used."""
    late: float = 0.0
    """Share of the time for which something blocked the event loop."""
    where: str = ""
    """What it was in, `file:line in function`, where that was seen."""

    @property
    def busy(self) -> float:
        """Share of the time for which it computed, or could have."""
        return self.cpu + self.starved


class Halt(msgspec.Struct, frozen=True, kw_only=True):
    """Why a level was given no further cases."""

    kind: HaltKind
    reason: str


class LevelRun(msgspec.Struct, frozen=True, kw_only=True):
    """A level from its first case to its last."""

    level: int
    paced: float | None = None
    """Requests per second that it was held to, if it was."""
    begun: int
    """Cases that were begun; those handed over beyond that can be used again."""
    started: float
    held_until: float
    """When the last of them was begun: from then on there is nothing to fill a place with that gets free."""
    ended: float
    tries: Sequence[Try] = ()
    done: Sequence[Done] = ()
    unit: Unit = "call"
    machine: Machine = Machine()
    halt: Halt | None = None
    halted: float | None = None
    """When that was; what is sent later only brings to an end what was begun."""
    waits: Mapping[Binding, float] = {}
    """Of all looks at the level, the share at which calls waited for leave, by what held them back."""
    advertised: Advertised | None = None
    """What the provider's answers say of its limits."""
    interrupts: int = 0


class Glimpse(msgspec.Struct, frozen=True, kw_only=True):
    """A level in its midst."""

    level: int
    now: float
    started: float
    tries: Sequence[Try]
    done: Sequence[Done]


Heed = Callable[[Glimpse], Halt | None]
"""Whether a level should be given no further cases. Asked a few times a second."""


class Stage(Protocol[CaseT_contra]):
    """Whoever can hold a level."""

    async def hold(
        self, level: int, cases: Sequence[CaseT_contra], heed: Heed, *, rps: float | None = None
    ) -> LevelRun:
        """Carry out these cases in order, `level` at a time, until they are done or `heed` says to stop.

        With `rps`, no more requests per second than that are sent. What has been begun is let finish, and is
        on record when this returns.
        """
        ...


class Supply(Generic[CaseT]):
    """Cases to hold levels with, each used once."""

    def __init__(self, cases: Sequence[CaseT]) -> None:
        self._cases = list(cases)
        self._next = 0

    def __len__(self) -> int:
        return len(self._cases) - self._next

    def peek(self, count: int) -> Sequence[CaseT]:
        """The next ones, as many as there are."""
        return self._cases[self._next : self._next + count]

    def use(self, count: int) -> None:
        """So many of them are begun, and not there any more."""
        self._next += count
