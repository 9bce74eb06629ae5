"""The wire between processes that share their pools: what they say, and how it goes over a socket.

A frame is four bytes of length and a message in MessagePack. Whatever is no such frame, or is longer than a
message ever is, breaks the wire: who wrote it is none of ours. To send never waits: what a socket does not
take at once is kept and sent by whoever watches it, up to a bound beyond which the other side counts as gone.

Knows bytes and sockets. Knows nothing of pools and elections.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Final, TypeAlias

import msgspec

from paceline.pace.messages import Ask, Grant, Limits, PoolId, Result
from paceline.pace.pool import Closed, PoolFacts
from paceline.pace.turnstile import Turnstile

VERSION: Final = 1
"""Of these messages. Runs of different versions do not share."""
LONGEST_FRAME: Final = 1 << 20
MOST_UNSENT: Final = 16 << 20
_AT_ONCE: Final = 1 << 16
_LENGTH: Final = struct.Struct("!I")


class _Message(msgspec.Struct, frozen=True, tag=str.lower, array_like=True):
    pass


# ---- to the holder


class Hello(_Message, frozen=True, tag="hello"):
    """The first word: who comes, and which limits they were given."""

    version: int
    limits: Limits
    per_pool: dict[str, Limits]


class Holding(_Message, frozen=True, tag="holding"):
    """A call is in flight that another holder has granted. Said before `Ready`."""

    grant: Grant


class Ready(_Message, frozen=True, tag="ready"):
    """All that is in flight here has been said."""


class Wanted(_Message, frozen=True, tag="wanted"):
    """A call is to be made; its number is the client's."""

    ask: Ask


class Withdrawn(_Message, frozen=True, tag="withdrawn"):
    """It is not wanted any more, granted or not."""

    id: int


class Settled(_Message, frozen=True, tag="settled"):
    """A call has ended."""

    id: int
    result: Result


class Asked(_Message, frozen=True, tag="asked"):
    """How do all pools stand? Also the way to find out whether the holder is awake."""


# ---- from the holder


class Welcome(_Message, frozen=True, tag="welcome"):
    """Come in."""

    version: int


class Present(_Message, frozen=True, tag="present"):
    """So many clients are there now."""

    clients: int


class Granted(_Message, frozen=True, tag="granted"):
    """The call of this number may be made now."""

    id: int
    fruitless: bool = False


class Shut(_Message, frozen=True, tag="shut"):
    """A pool grants nothing any more; no ask for it will be answered."""

    pool: PoolId
    closed: Closed


class Facts(_Message, frozen=True, tag="facts"):
    """How all pools stand."""

    pools: list[PoolFacts]


ToHolder: TypeAlias = Hello | Holding | Ready | Wanted | Withdrawn | Settled | Asked
FromHolder: TypeAlias = Welcome | Present | Granted | Shut | Facts

of_client: Final = msgspec.msgpack.Decoder(ToHolder)
of_holder: Final = msgspec.msgpack.Decoder(FromHolder)
_encoder: Final = msgspec.msgpack.Encoder()


class WireBroken(Exception):
    """The other side has gone, or talks nonsense."""


class Wire:
    """One end of a connection. `send` from anywhere, finalizers included; the rest by who watches it."""

    def __init__(self, sock: socket.socket, *, on_unsent: Callable[[], None]) -> None:
        self._socket = sock
        sock.setblocking(False)
        self._received = bytearray()
        self._unsent = bytearray()
        self._on_unsent = on_unsent
        """Called when something is kept that the socket did not take."""
        self.broken = False
        self._inside: Turnstile[bytes] = Turnstile(self._push, _nothing)

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: ToHolder | FromHolder) -> None:
        """Send it soon, and after what was sent before. Never waits, never raises."""
        body = _encoder.encode(message)
        if len(body) > LONGEST_FRAME:
            self.broken = True  # rather than be taken for a stranger by the other side
            return
        self._inside.leave(_LENGTH.pack(len(body)) + body)

    @property
    def unsent(self) -> bool:
        return bool(self._unsent)

    def flush(self) -> None:
        """Send what has been kept, as far as the socket takes it now."""
        with self._inside:
            self._write()

    def receive(self) -> list[bytes]:
        """The messages that have come, still encoded; raises `WireBroken` when no more will."""
        try:
            chunk = self._socket.recv(_AT_ONCE)
        except (BlockingIOError, InterruptedError):
            return []
        except OSError as error:
            raise WireBroken(str(error)) from None
        if not chunk or self.broken:
            raise WireBroken("the other side has gone")
        self._received += chunk
        return self._frames()

    def close(self) -> None:
        with self._inside:
            self.broken = True
            self._socket.close()

    def _frames(self) -> list[bytes]:
        found, at, received = [], 0, self._received
        while len(received) - at >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(received, at)
            if length > LONGEST_FRAME:
                raise WireBroken(f"a frame of {length} bytes")
            end = at + _LENGTH.size + length
            if end > len(received):
                break
            found.append(bytes(received[at + _LENGTH.size : end]))
            at = end
        del received[:at]
        return found

    def _push(self, frame: bytes) -> None:
        if self.broken:
            return
        kept = bool(self._unsent)
        self._unsent += frame
        if not kept:
            self._write()
            if self._unsent:
                self._on_unsent()
        elif len(self._unsent) > MOST_UNSENT:
            self.broken = True
            self._on_unsent()

    def _write(self) -> None:
        try:
            while self._unsent and not self.broken:
                del self._unsent[: self._socket.send(self._unsent)]
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.broken = True


def _nothing() -> None:
    pass
