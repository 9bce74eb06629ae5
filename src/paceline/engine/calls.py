"""The model calls of one attempt, as far as they are seen: who waits, what they used, how they ended.

A door (`pace.transport`, `pace.slots`) finds this through `pace.calls.current_listener` and tells it of each
call, from whatever thread the call is made on. While all calls of an attempt that are under way wait for
their turn, its clock stands still: waiting is neither latency nor lateness.

What is seen becomes metrics that budgets count, unless the task has counted by itself. Knows one attempt;
knows nothing of pools.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from paceline.engine.ports import Attempted, Work
from paceline.pace.listening import Listening, counting

if TYPE_CHECKING:
    from paceline.pace.calls import Call
    from paceline.pace.tape import Tape
    from paceline.trajectory.folding import Trajectory

METRIC_OF_USAGE: Final = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_tokens",
}


def _first_tape(work: Work) -> Tape | None:
    """The tape of an attempt whose first call this is; calls may begin on several threads at once."""
    with counting:
        if work.tape is None and work.taping is not None:
            work.tape = work.taping.tape(work.key, goes_on=False)
        return work.tape


class CallsOfAttempt(Listening, msgspec.Struct, eq=False):
    """Listens to the calls of one attempt. Made on the loop that the attempt is driven by (`here`).

    A `Struct` because most attempts make no call: making one costs a fifth of what a plain class does.
    """

    work: Work
    _now: Callable[[], float]
    _loop: asyncio.AbstractEventLoop
    _thread: int
    _live: int = 0
    _waiting: int = 0
    all_wait: bool = False
    _held_since: float | None = None
    _seen: list[Call] | None = None
    _trajectory: Trajectory | None = None
    _requests: int = 0
    over: bool = False

    @classmethod
    def here(cls, work: Work, now: Callable[[], float]) -> CallsOfAttempt:
        """For an attempt that is driven by the loop that runs here."""
        return cls(work, now, asyncio.get_running_loop(), threading.get_ident())

    @property
    def tape(self) -> Tape | None:
        """For doors: what keeps the calls, and may have their answers."""
        work = self.work
        return work.tape if work.tape is not None else _first_tape(work)

    def ended(self, call: Call | None) -> None:
        """A call is over; `call` is what is known of it, where it was one of a model."""
        super().ended(call)
        if call is not None:
            self.on_the_loop(self.note, self.work, call)

    # On the loop

    def turned(self) -> None:
        """Let the clock stand still, or run on."""
        if self.over or self.all_wait == (self._held_since is not None):
            return
        stopwatch = self.work.stopwatch
        if self.all_wait:
            self._held_since = self._now()
            if stopwatch is not None:
                stopwatch.hold()
        else:
            self._run_on()
            if stopwatch is not None:
                stopwatch.go()

    def _run_on(self) -> None:
        if self._held_since is not None:
            self.work.waited += self._now() - self._held_since
            self._held_since = None

    def note(self, work: Work, call: Call) -> None:
        """Put a call on record. What an attempt that has been given up leaves behind is paid for all the
        same."""
        work.calls += 1
        work.live += not call.replayed
        if work.record_call is not None:
            work.record_call(work, call)
        if not self.over:
            if self._seen is None:
                self._seen = []
            self._seen.append(call)
            if not work.by:
                self._tell(call)

    def _tell(self, call: Call) -> None:
        """What the call has said, for the trajectory of the attempt."""
        from paceline.pace.providers import endpoint_of
        from paceline.trajectory.folding import Trajectory
        from paceline.trajectory.reading import CONVERSING, read_call

        endpoint = endpoint_of(call.bodies.path) if call.bodies is not None else None
        if endpoint is not None and endpoint.name not in CONVERSING:
            return
        self._requests += 1 if call.tries or call.replayed else 0
        if self._trajectory is None:
            self._trajectory = Trajectory()
        if endpoint is not None and call.bodies is not None:
            exchange = read_call(endpoint, call.bodies.asked, call.bodies.answered)
            self._trajectory.add(exchange, call=self.work.calls)
        elif call.outcome == "ok" or call.first_token is not None:
            # Too long to be kept, or broken off by the caller: something was said, and nobody knows what.
            self._trajectory.unread(call=self.work.calls, model=call.model)

    @property
    def trajectory(self) -> list[dict[str, Any]] | None:
        """What the calls have said so far, as messages; None where nothing was heard."""
        heard = self._trajectory.messages if self._trajectory is not None else None
        return heard or None

    def close(self) -> None:
        """The attempt is over, however it went: add up what it used. Once is enough."""
        if self.over:
            return
        if self._held_since is not None:
            self._run_on()
            if self.work.stopwatch is not None:
                self.work.stopwatch.go()
        self.over = True
        if self._seen:
            used = usage_of(self._seen)
            if self._requests:
                used["requests"] = self._requests
            for name, amount in used.items():
                self.work.counted.setdefault(name, amount)

    def judge(self, attempted: Attempted) -> Attempted:
        """See a failure in the light of the calls: what was tried again below is not tried again above."""
        last = self._seen[-1] if self._seen else None
        if attempted.error is None or last is None or last.outcome == "ok":
            return attempted
        if last.outcome == "fatal":
            # The answer was never wrong: nobody has asked. A resume asks once the account is in order. Where
            # no call was even sent, because its pool had closed, the case was not run at all.
            sent = any(call.tries for call in self._seen or ())
            attempted.error_class = "infrastructure" if sent else "cancelled"
            attempted.exhausted = True
        elif attempted.error_class in ("rate_limited", "transient") and last.first_token is None:
            # An answer that broke off in its midst was not tried again below: the task had read a part of it.
            attempted.exhausted = True
        return attempted


class CallsOfPart:
    """Listens to the calls of a part of an evaluator: they wait and end as its others do, and are kept, and
    answered again, apart from them."""

    __slots__ = ("_whole", "_work", "begun", "going", "waiting")

    def __init__(self, whole: CallsOfAttempt, work: Work) -> None:
        self._whole = whole
        self._work = work
        self.begun, self.waiting, self.going = whole.begun, whole.waiting, whole.going

    @property
    def whole(self) -> CallsOfAttempt:
        """That of the evaluator."""
        return self._whole

    @property
    def tape(self) -> Tape | None:
        """For doors, as above."""
        return self._work.tape

    def ended(self, call: Call | None) -> None:
        """A call is over."""
        self._whole.ended(None)
        if call is not None:
            self._whole.on_the_loop(self._whole.note, self._work, call)

    def forgotten(self, call: Call | None) -> None:
        """The same, told by a finalizer."""
        self._whole.later(self.ended, call)


def usage_of(calls: list[Call]) -> dict[str, int | float]:
    """What calls have used together; a sum of which a part is unknown is left out, as it would be a lie."""
    used: dict[str, int | float] = {}
    paid = [call for call in calls if call.outcome == "ok" or call.usage is not None]
    for field, metric in METRIC_OF_USAGE.items():
        amounts = [getattr(call.usage, field) if call.usage is not None else None for call in paid]
        known = [amount for amount in amounts if amount is not None]
        if known and (len(known) == len(amounts) or field == "cached"):
            used[metric] = sum(known)
    prices = [call.price for call in paid]
    if prices and None not in prices:
        used["cost"] = sum(price for price in prices if price is not None)
    return used
