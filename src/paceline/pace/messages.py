"""What callers and pools say to each other: plain values, so that anything may stand between the two.

    Ask ──▶ pool ──▶ Grant ──▶ the call is made ──▶ Result ──▶ pool

A thread, a child process, the gateway or a worker on another machine sends an `Ask`, is given a `Grant` some
time later, and settles it with a `Result`. A grant is a lease: whoever vanishes with one holds it no longer
than its time to live.

Knows the words. Knows nothing of who waits for whom, or of HTTP.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

RETRY: Final = 0
"""Priority of a call that was rejected before: it has waited already."""
FRESH: Final = 1
"""Priority of a call that is made for the first time."""

Outcome = Literal["ok", "rate_limited", "overloaded", "transient", "fatal", "cancelled"]
"""How a call went, as far as its pool is concerned. A refusal that is about the request itself (400, a
content filter) is `ok`: the provider has done its work."""

Cause = Literal["requests", "tokens", "concurrency", "ramp", "unknown", "quota", "auth"]
"""What a rejection was about: requests or tokens per minute, calls at once, growing too fast, nobody knows;
or, for good, spent money and refused keys (`fatal`)."""


class PoolId(NamedTuple):
    """One quota that calls share."""

    provider: str
    """`openai`, `anthropic`, ...; `slot` for a resource that the user named."""
    host: str
    """Scheme, host and port of the base URL; empty for slots."""
    model: str
    """The model, or the name of a slot."""
    account: str = ""
    """A fingerprint of the key, never the key."""

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


class Limits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Ceilings that somebody has set for pools; None is none. The pace may stay below, never goes above."""

    window: int | None = None
    """Calls in flight."""
    rps: float | None = None
    rpm: float | None = None
    tpm: float | None = None


class Advertised(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a provider's answer says of its own limits, per minute, and of what is left of them now."""

    requests: float | None = None
    requests_left: float | None = None
    requests_reset: float | None = None
    """Seconds from the answer until all of it is there again."""
    tokens: float | None = None
    tokens_left: float | None = None
    tokens_reset: float | None = None


class Ask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody wants to make a call."""

    id: int
    pool: PoolId
    tokens: float = 0.0
    """What the call will probably be charged, input and output; 0 where that means nothing."""
    priority: int = FRESH


class Grant(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call may be made now."""

    id: int
    """That of the ask."""
    pool: PoolId
    at: float
    """When it was given, on the pool's clock."""
    tokens: float = 0.0
    waited: float = 0.0
    """Seconds between the ask and the grant."""
    fruitless: bool = False
    """Whether lately no call of its pool was answered: if this one fails too, that says nothing of it."""


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a granted call went."""

    outcome: Outcome = "ok"
    cause: Cause | None = None
    """Of `rate_limited`, `overloaded` and `fatal`."""
    retry_after: float | None = None
    """Seconds that the provider asked to wait."""
    tokens: float | None = None
    """What was charged; None where the answer does not say."""
    seconds: float = 0.0
    """From sending to the end of the answer."""
    advertised: Advertised | None = None
    message: str = ""
    """Of a failure, in the provider's words, without secrets: what a person is told when the pool closes."""
