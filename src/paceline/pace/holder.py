"""The holder: serves the desk of one process to the other processes of its user on this machine.

One thread watches all connections. A client is a connection: what it waits for and what it has in flight ends
with it, so a process that is killed leaves nothing behind. Nonsense on a connection ends that connection and
nothing else; a flood is read in turns with the others, and bounded.

The limits of a pool are the strictest that anyone gives who is there now. A limit that somebody sets is
about an account, not about a process.
"""

from __future__ import annotations

import contextlib
import math
import selectors
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from paceline.errors import DeskClosed, PoolClosed
from paceline.pace.ceilings import limits_for, strictest
from paceline.pace.desk import Desk, Start
from paceline.pace.meeting import not_for_children
from paceline.pace.messages import Ask, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed
from paceline.pace.waiters import Waiter
from paceline.pace.wire import (
    VERSION,
    Asked,
    Facts,
    Granted,
    Hello,
    Holding,
    Present,
    Ready,
    Settled,
    Shut,
    ToHolder,
    Wanted,
    Welcome,
    Wire,
    WireBroken,
    Withdrawn,
    of_client,
)

MOST_CLIENTS: Final = 256
MOST_ASKS: Final = 100_000
"""Of one client, waiting or in flight."""
_GONE: Final = Result(outcome="cancelled")

Ceiling = Callable[[PoolId], Limits]


class RemoteWaiter(Waiter):
    """Somebody in another process."""

    __slots__ = ("_client", "_theirs")

    def __init__(self, ask: Ask, since: float, *, client: Client, theirs: int) -> None:
        super().__init__(ask, since)
        self._client = client
        self._theirs = theirs
        """The client's number for the ask."""
        client.waiting[theirs] = self

    def wake(self) -> bool:
        if isinstance(self.outcome, Grant):
            return self._client.grant(self._theirs, self.outcome)
        # Of a pool that has closed the client is told once, for all its asks. Of a desk that has, by the end
        # of the connection.
        self._client.waiting.pop(self._theirs, None)
        return True


class Client:
    """One connection, and what is waited for and held over it."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.ceiling: Ceiling | None = None
        """Its limits; None before it has said hello."""
        self.ready = False
        self.gone = False
        self.waiting: dict[int, Waiter] = {}
        self.held: dict[int, Grant] = {}

    def grant(self, theirs: int, grant: Grant) -> bool:
        """Tell it of a grant; False if it has gone."""
        if self.gone:
            return False
        # In this order: whoever clears up after it, on another thread, finds it in one of the two.
        self.held[theirs] = grant
        self.waiting.pop(theirs, None)
        self.wire.send(Granted(theirs, grant.fruitless))
        return True


class Holder:
    """Serves `desk` to whoever connects to what `listen` opens. Raises `OSError` where it cannot."""

    def __init__(self, desk: Desk, listen: Callable[[], socket.socket], own: Ceiling) -> None:
        self._desk = desk
        self._own = own
        """The limits of the process that holds the desk."""
        self._clients: list[Client] = []
        self._selector = selectors.DefaultSelector()
        self._bell, self._rope = socket.socketpair()
        self._listener = listen()
        self._stopped = False
        self._awaited = 0
        """Clients of an earlier holder that have not come yet: nothing is granted before they have."""
        for end in (self._bell, self._rope):
            end.setblocking(False)
            not_for_children(end)
        self._selector.register(self._bell, selectors.EVENT_READ, None)
        self._selector.register(self._listener, selectors.EVENT_READ, None)

    # ---- called by others

    def stop(self) -> None:
        """End all connections, and `serve`."""
        self._stopped = True
        self._ring()

    def limit(self, own: Ceiling, *, adaptive: bool | None = None, start: Start | None = None) -> None:
        """Other limits of this process from now on; see `Desk.limit`."""
        self._own = own
        self._set_limits(adaptive=adaptive, start=start)

    def shut(self, pool: PoolId, closed: Closed) -> None:
        """Tell everybody that a pool has closed."""
        for client in list(self._clients):
            client.wire.send(Shut(pool, closed))

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # full, so it rings; or closed, so there is nothing to be told
            self._rope.send(b"\0")

    # ---- the thread that serves

    def serve(self, *, awaited: int = 0, patience_s: float = 1.0) -> None:
        """Until `stop`. Grant nothing before `awaited` clients have said what they hold, or patience ends."""
        self._awaited = awaited
        until = self._desk.now() + patience_s
        if awaited:
            self._desk.pause()
        try:
            while not self._stopped:
                if self._awaited and self._desk.now() >= until:
                    self._go_on(0)
                self._turn(max(0.0, until - self._desk.now()) if self._awaited else None)
        finally:
            self._end()

    def _turn(self, timeout_s: float | None) -> None:
        for key, events in self._selector.select(timeout_s):
            if key.fileobj is self._listener:
                self._welcome()
            elif key.fileobj is self._bell:
                with contextlib.suppress(OSError):
                    self._bell.recv(4096)
                self._see_to_unsent()
            else:
                self._see_to(key.data, events)

    def _welcome(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError:
            time.sleep(0.01)  # it has gone already; or no more files can be opened, which may take a while
            return
        if len(self._clients) >= MOST_CLIENTS:
            sock.close()
            return
        not_for_children(sock)
        client = Client(Wire(sock, on_unsent=self._ring))
        self._clients.append(client)
        self._selector.register(client.wire, selectors.EVENT_READ, client)

    def _see_to_unsent(self) -> None:
        for client in list(self._clients):
            if client.wire.broken:
                self._lose(client)
            elif client.wire.unsent:
                self._selector.modify(client.wire, selectors.EVENT_READ | selectors.EVENT_WRITE, client)

    def _see_to(self, client: Client, events: int) -> None:
        try:
            if events & selectors.EVENT_WRITE:
                client.wire.flush()
                if not client.wire.unsent:
                    self._selector.modify(client.wire, selectors.EVENT_READ, client)
            if events & selectors.EVENT_READ:
                for frame in client.wire.receive():
                    self._heed(client, of_client.decode(frame))
        except (WireBroken, msgspec.DecodeError, RecursionError, ArithmeticError, ValueError):
            self._lose(client)

    def _heed(self, client: Client, message: ToHolder) -> None:
        if client.ceiling is None and not isinstance(message, Hello):
            raise WireBroken("it did not say hello")
        match message:
            case Wanted(ask):
                self._ask(client, ask)
            case Settled(theirs, result):
                if grant := client.held.pop(theirs, None):
                    self._desk.settle(grant, result)
            case Withdrawn(theirs):
                self._withdraw(client, theirs)
            case Asked():
                client.wire.send(Facts(self._desk.facts()))
            case Holding(grant):
                _refuse_second(client, grant.id)
                ours = msgspec.structs.replace(grant, id=next(self._desk.ids))
                client.held[grant.id] = ours
                self._desk.take_over((), (ours,))
            case Ready():
                if not client.ready:
                    client.ready = True
                    self._tell_how_many()
                    self._go_on(max(0, self._awaited - 1))
            case Hello():
                self._greet(client, message)

    def _greet(self, client: Client, hello: Hello) -> None:
        client.wire.send(Welcome(VERSION))
        if hello.version != VERSION or client.ceiling is not None:
            raise WireBroken("it talks otherwise")
        if not all(map(_makes_sense, (hello.limits, *hello.per_pool.values()))):
            raise WireBroken("its limits would let nothing through, for anybody")
        client.ceiling = partial(limits_for, general=hello.limits, per_pool=hello.per_pool)
        self._set_limits()

    def _ask(self, client: Client, ask: Ask) -> None:
        _refuse_second(client, ask.id)
        if not 0 <= ask.tokens < math.inf:
            raise WireBroken("no call is charged that")
        ours = msgspec.structs.replace(ask, id=next(self._desk.ids))
        try:
            entered = self._desk.enter(ours, partial(RemoteWaiter, client=client, theirs=ask.id))
        except PoolClosed:
            if closed := self._desk.closed(ask.pool):
                client.wire.send(Shut(ask.pool, closed))
        except DeskClosed:
            pass  # the connection is about to end, which says it
        else:
            if isinstance(entered, Grant):
                client.grant(ask.id, entered)

    def _withdraw(self, client: Client, theirs: int) -> None:
        # Either may have it: the grant may be on its way to one who has just gone.
        if waiter := client.waiting.pop(theirs, None):
            self._desk.leave(waiter)
        if grant := client.held.pop(theirs, None):
            self._desk.settle(grant, _GONE)

    def _lose(self, client: Client) -> None:
        """Take back all that a client waits for and holds."""
        if client.gone:
            return
        client.gone = True
        self._clients.remove(client)
        self._selector.unregister(client.wire)
        client.wire.close()
        for waiter in list(client.waiting.values()):
            self._desk.leave(waiter)
        for grant in list(client.held.values()):
            self._desk.settle(grant, _GONE)
        if client.ceiling is not None:
            self._set_limits()
            self._tell_how_many()

    def _set_limits(self, *, adaptive: bool | None = None, start: Start | None = None) -> None:
        clients = [client.ceiling for client in list(self._clients) if client.ceiling is not None]
        ceilings = [self._own, *clients]
        self._desk.limit(
            lambda pool: strictest(ceiling(pool) for ceiling in ceilings), adaptive=adaptive, start=start
        )

    def _tell_how_many(self) -> None:
        ready = [client for client in self._clients if client.ready]
        for client in ready:
            client.wire.send(Present(len(ready)))

    def _go_on(self, awaited: int) -> None:
        if self._awaited and not awaited:
            self._desk.resume()
        self._awaited = awaited

    def _end(self) -> None:
        for client in list(self._clients):
            client.gone = True
            client.wire.close()
        self._selector.close()
        for end in (self._listener, self._bell, self._rope):
            end.close()


def _refuse_second(client: Client, theirs: int) -> None:
    if theirs in client.waiting or theirs in client.held:
        raise WireBroken("it uses a number twice")
    if len(client.waiting) + len(client.held) >= MOST_ASKS:
        raise WireBroken("it wants too much")


def _makes_sense(limits: Limits) -> bool:
    return all(value is None or value > 0 for value in msgspec.structs.astuple(limits))
