"""One desk for all runs of a user on one machine: those on the same account share its pools.

    desk = open_desk(limits=Limits(rpm=600))       whoever is first holds the desk, the others ask it
    grant = await desk.acquire(pool)               the same words as those of a `Desk`

One process holds the desk (`holder`), elected by a lock; the others are its clients, over a socket. To the
holder a grant costs what it costs at a plain desk. A client asks and is told; no caller's loop is ever
blocked.

When the holder ends, however it ends, the clients elect another among them. It starts with what was learned,
waits a moment until each of the others has said what it has in flight, and goes on; whoever waited waits on,
in the new line. Where nobody can be reached for a while, because a holder has been stopped, say, a process
works alone.

Shares nothing where there are no such sockets, or no directory that is the user's own: then it is a plain
`Desk`.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from paceline.pace.ceilings import limits_for
from paceline.pace.desk import NO_LIMITS, Desk, Granting, OnSettled, Start, desk_closed, pool_closed
from paceline.pace.holder import Holder
from paceline.pace.learned import NAME, LearnedLimits, state_directory
from paceline.pace.meeting import Lock, Meeting, not_for_children
from paceline.pace.messages import Ask, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed, PoolFacts
from paceline.pace.turnstile import Turnstile
from paceline.pace.waiters import Acquiring, Waiter, WaiterT
from paceline.pace.wire import (
    VERSION,
    Asked,
    Facts,
    FromHolder,
    Granted,
    Hello,
    Holding,
    Present,
    Ready,
    Settled,
    Shut,
    Wanted,
    Welcome,
    Wire,
    WireBroken,
    Withdrawn,
    of_holder,
)

LONGEST_SEARCH_S: Final = 3.0
"""For a holder, before working alone."""
AGAIN_S: Final = 0.005
LONGEST_SILENCE_S: Final = 5.0
"""Of a holder that is asked every second how it is."""
PULSE_S: Final = 1.0
FACTS_S: Final = 0.1
LONGEST_MESSAGE: Final = 2_000
_GIVEN_BACK: Final = Result(outcome="cancelled")


def open_desk(
    *,
    limits: Limits = NO_LIMITS,
    per_pool: Mapping[str, Limits] | None = None,
    adaptive: bool = True,
    share: bool = True,
    learn: bool = True,
    state: Path | None = None,
    meet: Path | None = None,
) -> Granting:
    """The desk of a run. `state`: where what is learned is kept and where runs meet, else as `learned` says.

    With `share`, runs of one user on one machine share their pools. Without `adaptive`, nothing is shared:
    whoever sets the pace by hand, to measure, wants nobody else's calls in it. Those who name the same place
    in `meet` share with each other, and with nobody else.
    """
    state = state or state_directory(os.environ)
    learned = LearnedLimits(state / NAME, clock=time.time) if learn and adaptive else None
    make = partial(Desk, limits=limits, per_pool=per_pool, learned=learned, adaptive=adaptive)
    if not hasattr(socket, "AF_UNIX") or not (meet is not None or (share and adaptive)):
        return make()
    try:
        meeting = Meeting(meet or state)
    except OSError:
        return make()
    return SharedDesk(meeting, make, limits=limits, per_pool=dict(per_pool or {}))


class SharedDesk(Acquiring):
    """A desk that is here, or in another process."""

    def __init__(
        self, meeting: Meeting, make: Callable[[], Desk], *, limits: Limits, per_pool: dict[str, Limits]
    ) -> None:
        """`make`: a desk for when this process holds it."""
        super().__init__()
        self.on_closed: Callable[[PoolId, Closed], None] | None = None
        self._meeting = meeting
        self._make = make
        self._limits = limits
        self._per_pool = per_pool
        self._inside: Turnstile[Waiter | tuple[Grant, Result]] = Turnstile(self._run, self._catch_up)
        """Around all that a client has. With a desk of its own, it is the desk's lock that counts."""
        self._waiters: dict[int, Waiter] = {}
        self._held: dict[int, Grant] = {}
        self._shut: dict[PoolId, Closed] = {}
        self._late: deque[Waiter | tuple[Grant, Result]] = deque()
        """Errands that were meant for another holder, and that go to the desk that is here now."""
        self._wire: Wire | None = None
        self._desk: Desk | None = None
        self._holder: Holder | None = None
        self._lock: Lock | None = None
        self._was_client = False
        self._others = 0
        """Clients beside this one, as the holder last said."""
        self._closed = False
        self._ending = threading.Event()
        self._facts: list[PoolFacts] = []
        self._facts_came = threading.Event()
        self._bell, self._rope = socket.socketpair()
        for end in (self._bell, self._rope):
            end.setblocking(False)
            not_for_children(end)
        self._find_holder()
        self._thread = threading.Thread(target=self._live, name="paceline-sharing", daemon=True)
        self._thread.start()

    @property
    def holds(self) -> bool:
        """Whether the desk is in this process."""
        return self._desk is not None

    def enter(self, ask: Ask, waiter: Callable[[Ask, float], WaiterT]) -> Grant | WaiterT:
        if self._desk is None:
            with self._inside:
                if self._desk is None:
                    return self._ask_holder(ask, waiter)
        return self._desk.enter(ask, waiter)

    def leave(self, waiter: Waiter) -> None:
        if self._desk is None:
            self._inside.leave(waiter)
        else:
            self._desk.leave(waiter)

    def settle(self, grant: Grant, result: Result) -> None:
        if self._desk is None:
            self._inside.leave((grant, result))
        else:
            self._desk.settle(grant, result)

    def limit(
        self,
        ceiling: Callable[[PoolId], Limits],
        *,
        adaptive: bool | None = None,
        start: Start | None = None,
    ) -> None:
        """As a desk does it; only for whoever holds it."""
        assert self._desk is not None, "the limits of a desk are set where it is"
        if self._holder is not None:
            self._holder.limit(ceiling, adaptive=adaptive, start=start)
        else:
            self._desk.limit(ceiling, adaptive=adaptive, start=start)

    def when_settled(self, tell: OnSettled | None) -> None:
        """As a desk does it; only for whoever holds it."""
        assert self._desk is not None, "calls are settled where the desk is"
        self._desk.when_settled(tell)

    def facts(self) -> list[PoolFacts]:
        """How all pools stand, with the calls of other runs. A client asks, and does not wait for long."""
        if self._desk is not None:
            return self._desk.facts()
        if (wire := self._wire) is not None:
            self._facts_came.clear()
            wire.send(Asked())
            self._facts_came.wait(FACTS_S)
        return self._facts

    def close(self) -> None:
        if not self._closed:
            self.facts()  # the last ones: they are wanted for the report
        with self._inside:
            if self._closed:
                return
            self._closed = True
            for waiter in self._waiters.values():
                waiter.resolve(desk_closed())
            self._waiters.clear()
            wire, self._wire = self._wire, None
        self._ending.set()
        self._ring()
        if self._holder is not None:
            self._holder.stop()
        if self._thread is not threading.current_thread():
            self._thread.join()
        if self._desk is not None:
            self._desk.close()
        if wire is not None:
            wire.close()
        if self._lock is not None:
            self._lock.close()  # after what was learned is on disk: the next holder starts from it
        for end in (self._bell, self._rope):
            end.close()

    # ---- as a client, with the lock held

    def _ask_holder(self, ask: Ask, waiter: Callable[[Ask, float], WaiterT]) -> WaiterT:
        if self._closed:
            raise desk_closed()
        if closed := self._shut.get(ask.pool):
            raise pool_closed(ask.pool, closed)
        waiting = waiter(ask, time.monotonic())
        self._waiters[ask.id] = waiting
        if self._wire is not None:
            self._wire.send(Wanted(ask))
        return waiting

    def _run(self, errand: Waiter | tuple[Grant, Result]) -> None:
        if self._desk is not None:
            self._late.append(errand)
        elif not isinstance(errand, Waiter):
            self._end(*errand)
        elif self._waiters.pop(errand.ask.id, None) is not None:
            if self._wire is not None:
                self._wire.send(Withdrawn(errand.ask.id))
        elif isinstance(errand.outcome, Grant):
            self._end(errand.outcome, _GIVEN_BACK)

    def _end(self, grant: Grant, result: Result) -> None:
        if self._held.pop(grant.id, None) is None:
            return  # settled before
        if len(result.message) > LONGEST_MESSAGE:
            result = msgspec.structs.replace(result, message=result.message[:LONGEST_MESSAGE])
        if self._wire is not None:
            self._wire.send(Settled(grant.id, result))

    def _take_desk(self, desk: Desk) -> None:
        """Go on at a desk of one's own, with all that is waited for and held here."""
        desk.ids = self.ids
        desk.on_closed = self._tell
        if self._was_client:
            desk.succeed()
        with self._inside:
            desk.take_over(self._waiters.values(), self._held.values())
            self._waiters, self._held, self._wire = {}, {}, None
            self._desk = desk

    # ---- without it

    def _catch_up(self) -> None:
        while self._late and self._desk is not None:
            with contextlib.suppress(IndexError):  # another thread has it
                errand = self._late.popleft()
                if isinstance(errand, Waiter):
                    self._desk.leave(errand)
                else:
                    self._desk.settle(*errand)

    def _tell(self, pool: PoolId, closed: Closed) -> None:
        if self._holder is not None:
            self._holder.shut(pool, closed)
        if self.on_closed is not None:
            self.on_closed(pool, closed)

    def _ring(self) -> None:
        with contextlib.suppress(OSError):
            self._rope.send(b"\0")

    # ---- the thread that listens

    def _live(self) -> None:
        """Follow whoever holds the desk; when it is gone, the next, which may be this process."""
        while self._desk is None and not self._closed:
            if (wire := self._wire) is not None:
                with contextlib.suppress(WireBroken, msgspec.DecodeError):
                    self._follow(wire)
                self._leave_holder(wire)
            if not self._closed:
                self._find_holder()
        if self._holder is not None:
            if self._closed:
                self._holder.stop()
            self._holder.serve(awaited=self._others)

    def _leave_holder(self, wire: Wire) -> None:
        with self._inside:
            if self._wire is wire:
                self._wire = None
        wire.close()

    def _find_holder(self) -> None:
        """Become the holder, or its client; or work alone where neither can be."""
        until = time.monotonic() + LONGEST_SEARCH_S
        try:
            while not self._closed:
                if (lock := self._meeting.elect()) is not None:
                    self._hold(lock)
                    return
                if self._knock() or self._ending.wait(AGAIN_S):
                    return
                if time.monotonic() > until:
                    break
        except OSError:
            pass  # the directory has gone, or no more files can be opened
        if not self._closed and self._desk is None:
            self._take_desk(self._make())

    def _hold(self, lock: Lock) -> None:
        desk = self._make()
        own = partial(limits_for, general=self._limits, per_pool=self._per_pool)
        try:
            self._holder = Holder(desk, self._meeting.listen, own)
        except OSError:
            lock.close()
            raise
        self._lock = lock
        if self._others:
            desk.pause()  # until they have said what is in flight
        self._take_desk(desk)

    def _knock(self) -> bool:
        """Come to whoever holds the desk, with all that is waited for and held here; False if nobody is."""
        sock = self._meeting.connect(timeout_s=PULSE_S)
        if sock is None:
            return False
        with contextlib.ExitStack() as in_vain:
            wire = Wire(sock, on_unsent=self._ring)
            in_vain.callback(wire.close)  # whoever was there may be gone with the first word
            wire.send(Hello(VERSION, self._limits, self._per_pool))
            if not self._is_welcome(wire):
                return False
            with self._inside:
                for grant in self._held.values():
                    wire.send(Holding(grant))
                wire.send(Ready())
                for waiter in self._waiters.values():
                    wire.send(Wanted(waiter.ask))
                self._wire = wire
                self._was_client = True
            in_vain.pop_all()
        return True

    def _is_welcome(self, wire: Wire) -> bool:
        with contextlib.suppress(WireBroken, msgspec.DecodeError):  # it has just gone, or is none of ours
            for message in self._messages(wire, time.monotonic() + PULSE_S):
                if isinstance(message, Welcome):
                    return message.version == VERSION
                self._heed(message)
        return False

    def _messages(self, wire: Wire, until: float) -> Iterator[FromHolder]:
        """What comes until a time, or until somebody rings with nothing left to be sent."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._bell, selectors.EVENT_READ)
            selector.register(wire, selectors.EVENT_READ)
            while (left := until - time.monotonic()) > 0 and not self._closed:
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if wire.unsent else 0)
                selector.modify(wire, wanted)
                for key, events in selector.select(left):
                    if key.fileobj is self._bell:
                        with contextlib.suppress(OSError):
                            self._bell.recv(4096)
                        continue
                    if events & selectors.EVENT_WRITE:
                        wire.flush()
                    if events & selectors.EVENT_READ:
                        for frame in wire.receive():
                            yield of_holder.decode(frame)

    def _follow(self, wire: Wire) -> None:
        """Heed the holder until it goes, or is silent for too long."""
        heard = time.monotonic()
        while not self._closed and time.monotonic() - heard < LONGEST_SILENCE_S:
            for message in self._messages(wire, time.monotonic() + PULSE_S):
                heard = time.monotonic()
                self._heed(message)
            wire.send(Asked())

    def _heed(self, message: FromHolder) -> None:
        match message:
            case Granted():
                self._granted(message)
            case Shut(pool, closed):
                self._close_pool(pool, closed)
            case Present(clients):
                self._others = clients - 1
            case Facts(pools):
                self._facts = pools
                self._facts_came.set()
            case Welcome():
                pass

    def _granted(self, message: Granted) -> None:
        with self._inside:
            waiter = self._waiters.pop(message.id, None)
            if waiter is None:
                return  # withdrawn; the holder will read of it
            now = time.monotonic()
            ask = waiter.ask
            grant = Grant(
                id=ask.id,
                pool=ask.pool,
                at=now,
                tokens=ask.tokens,
                waited=now - waiter.since,
                fruitless=message.fruitless,
            )
            self._held[ask.id] = grant
            if not waiter.resolve(grant):
                self._inside.leave(waiter)

    def _close_pool(self, pool: PoolId, closed: Closed) -> None:
        with self._inside:
            is_news = pool not in self._shut
            self._shut[pool] = closed
            for waiter in [one for one in self._waiters.values() if one.ask.pool == pool]:
                del self._waiters[waiter.ask.id]
                waiter.resolve(pool_closed(pool, closed))
        if is_news:
            self._tell(pool, closed)
