"""What is known of one call: how it is recorded, and who is told of it while it is made.

A call is what the caller asked for once, however often it was sent. The door under the HTTP library tells the
listener of the attempt that made it when it begins, when it waits (for its pool, or before it is sent again),
when it goes on, and when it has ended. Keys never enter: an account is a fingerprint, and messages come
masked.

Knows the words. Knows nothing of HTTP libraries, journals or deadlines.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any, Final, Protocol

import msgspec

from paceline.pace.messages import Cause, Outcome

VOLATILE: Final = frozenset(
    {"metadata", "prompt_cache_key", "safety_identifier", "store", "stream", "stream_options", "user"}
)
"""Fields of a body that do not change what is asked: two requests that differ in these only are the same."""


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one call as the provider counted them; None where it did not say."""

    input: int | None = None
    """All of the input, what came from a cache or went into one included."""
    output: int | None = None
    """All of the output, reasoning included."""
    cached: int | None = None
    """Of the input, read from a cache."""
    cache_write: int | None = None
    """Of the input, written to a cache."""
    reasoning: int | None = None
    """Of the output, not shown."""


class Bodies(msgspec.Struct, frozen=True, kw_only=True):
    """What a call has asked and what it was answered, for a record from which it can be answered again."""

    asked: bytes
    answered: bytes
    path: str
    """Where it was asked, without the host."""
    content_type: str = ""


class Call(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call that has ended, however it ended."""

    at: float
    """When it began, seconds since the epoch."""
    pool: str
    """`provider:model`."""
    host: str = ""
    model: str = ""
    account: str = ""
    """A fingerprint of the key."""
    request: str = ""
    """A hash of what was asked, see `request_hash`."""
    status: int | None = None
    """Of the last answer; None where there was none."""
    outcome: Outcome = "ok"
    cause: Cause | None = None
    usage: Usage | None = None
    """None: the answer did not say."""
    price: float | None = None
    """US dollars; None: unknown."""
    seconds: float = 0.0
    """From sending it for the last time to the end of the answer."""
    first_token: float | None = None
    """Of an answer that came as a stream: from sending to its first content."""
    waited: float = 0.0
    """Seconds in the pool and before being sent again, over all tries."""
    tries: int = 1
    """How often it was sent; 0 where its pool was closed before it could be."""
    streamed: bool = False
    simulated: bool = False
    """Whether a simulated provider answered in place of the one that was asked."""
    replayed: bool = False
    """Whether it was answered from the record: it has cost what it costs before, and nothing now."""
    bodies: Bodies | None = None
    """Of a call that was answered well, where the attempt keeps them."""
    error: str = ""
    """The provider's words or the name of the exception, without secrets; empty where all is well."""


class Listener(Protocol):
    """Who is told of the calls of one attempt. Called from any thread; must neither wait nor raise.

    One that has a `forgotten`, with the arguments of `ended`, is told by it instead where a finalizer tells
    of a call that nobody has ended: that may be in the midst of anything, on any thread.
    """

    def begun(self) -> None:
        """A call is live."""

    def waiting(self) -> None:
        """It waits for its pool, or before it is sent again: nothing is being done for the caller."""

    def going(self) -> None:
        """It waits no longer."""

    def ended(self, call: Call | None) -> None:
        """It is over; None where it was never sent."""


current_listener: ContextVar[Listener | None] = ContextVar("paceline_listener", default=None)
"""The listener of the attempt that is being made here; set by whoever makes attempts."""


def request_hash(method: str, path: str, body: Mapping[str, Any] | bytes | None) -> str:
    """A name for what was asked: the same for the same question, whatever host, key or field order it had."""
    digest = hashlib.blake2b(f"{method} {path}\n".encode("utf-8", "surrogatepass"), digest_size=12)
    digest.update(body if isinstance(body, bytes) else _canonical(body))
    return digest.hexdigest()


def _canonical(body: Mapping[str, Any] | None) -> bytes:
    told = {name: value for name, value in (body or {}).items() if name not in VOLATILE}
    try:
        return msgspec.json.encode(told, order="sorted")
    except (OverflowError, RecursionError, TypeError, ValueError):  # numbers of any size are legal JSON
        return repr(sorted(told.items(), key=lambda item: item[0])).encode("utf-8", "surrogatepass")
