"""What an answer means for the pool of a call, read from status, headers, body or exception.

    429                                           rate_limited, with what it was about as far as told
    503, 529, "overloaded", "slow down"           overloaded
    408, 409, 425, other 5xx, resets, timeouts    transient
    spent money (402, many a 429), refused key    fatal: no call of this pool will be answered
    everything else, 400s, content filters        ok: the provider has done its work

Errors come inside answers of status 200 too, as a body or as an event of a stream; the same table reads them.
Nothing that a provider or a proxy writes makes reading raise, and no message leaves here with a key in it.

Knows the words of providers. Knows nothing of whether a call is sent again (`retrying`).
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final

import msgspec

from paceline.pace.calls import Usage
from paceline.pace.complaints import Complaint, complaint_in, complaint_of, safe
from paceline.pace.headers import advertised
from paceline.pace.messages import Advertised, Cause, Outcome
from paceline.pace.providers import COMPATIBLE, Provider
from paceline.pace.refusals import cause_of, outcome_of, spent, wait_of
from paceline.pace.usages import usage_of


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What one answer, or one exception in its place, means."""

    outcome: Outcome = "ok"
    cause: Cause | None = None
    retry_after: float | None = None
    advertised: Advertised | None = None
    usage: Usage | None = None
    message: str = ""
    """Of a failure; safe to record and to show."""
    final: bool = False
    """Whether the provider says that sending it again is useless, whatever the outcome."""
    local: bool = False
    """Whether nothing has reached the provider: it is not to blame."""


def read_answer(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    provider: Provider = COMPATIBLE,
    now: float = 0.0,
    secret: str = "",
) -> Reading:
    """What a whole answer means. `headers` by names in lower case; `now` in seconds since the epoch."""
    if status < 400:
        return _read_success(headers, body, provider, now, secret)
    return _judged(status, headers, complaint_in(body), provider, now, secret)


def read_head(headers: Mapping[str, str], *, provider: Provider = COMPATIBLE, now: float = 0.0) -> Reading:
    """What an answer of status 200 means as long as nothing is known of its body."""
    return Reading(advertised=advertised(headers, provider, now=now))


BROKEN_OFF: Final = Reading(outcome="transient", message="the answer breaks off: its stream has no end")


def read_error(
    error: object,
    headers: Mapping[str, str] | None = None,
    *,
    provider: Provider = COMPATIBLE,
    now: float = 0.0,
    secret: str = "",
) -> Reading:
    """What an error means that came inside an answer of status 200, as decoded JSON."""
    complaint = complaint_of(error)
    if not (complaint.codes or complaint.message or complaint.status):
        complaint = complaint_of({"error": error})
    return _judged(complaint.status or 200, headers or {}, complaint, provider, now, secret)


class _Body(msgspec.Struct):
    """What of an answer is of interest; the rest is not even decoded."""

    usage: object = None
    usageMetadata: object = None  # noqa: N815  # Gemini's word
    error: object = None


_BODY: Final = msgspec.json.Decoder(_Body)


def _read_success(
    headers: Mapping[str, str], body: bytes, provider: Provider, now: float, secret: str
) -> Reading:
    limits = advertised(headers, provider, now=now)
    if body.lstrip()[:1] != b"{":
        return Reading(advertised=limits)
    try:
        told = _BODY.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # It says that it is JSON and is not: what the caller would get is of no use to anybody.
        return Reading(
            outcome="transient", advertised=limits, message="the answer breaks off: it is no whole JSON"
        )
    usage = usage_of(told.usage) or usage_of(told.usageMetadata)
    if not told.error:
        return Reading(advertised=limits, usage=usage)
    inside = read_error({"error": told.error}, headers, provider=provider, now=now, secret=secret)
    return msgspec.structs.replace(inside, usage=usage)


def _judged(
    status: int,
    headers: Mapping[str, str],
    complaint: Complaint,
    provider: Provider,
    now: float,
    secret: str,
) -> Reading:
    codes = complaint.codes | frozenset(
        filter(None, [headers.get("x-amzn-errortype", "").partition(":")[0].lower()])
    )
    words = f"{complaint.message}\n" + "\n".join(sorted(codes)) + f"\n{complaint.quotas}"
    outcome = outcome_of(status, codes, words, complaint, provider)
    limits = advertised(headers, provider, now=now)
    cause: Cause | None = None
    if outcome == "fatal":
        cause = "auth" if not spent(status, codes, words, provider) else "quota"
    elif outcome in ("rate_limited", "overloaded"):
        cause = cause_of(words, limits, provider)
    return Reading(
        outcome=outcome,
        cause=cause,
        retry_after=None if outcome in ("ok", "fatal") else wait_of(headers, complaint, cause, limits, now),
        advertised=limits,
        message=safe(complaint.message or " ".join(sorted(codes)) or f"status {status}", secret=secret),
        final=outcome != "rate_limited" and headers.get("x-should-retry") == "false",
    )


# Exceptions ----------------------------------------------------------------------------------------

_LOCAL: Final = frozenset({"PoolTimeout"})
"""No connection was free in the caller's own client: nobody else's fault, and worth another try."""
_OURS: Final = frozenset(
    {
        "UnsupportedProtocol",
        "LocalProtocolError",
        "InvalidURL",
        "CookieConflict",
        "StreamConsumed",
        "DecodingError",
    }
)
"""What no other try can help."""


def read_exception(error: BaseException, *, secret: str = "") -> Reading:
    """What it means that an exception came in place of an answer: by class names, so that no library is
    imported."""
    names = {kind.__name__ for kind in type(error).__mro__}
    message = safe(f"{type(error).__name__}: {_text_of(error)}".rstrip(": "), secret=secret)
    if names & _OURS or not names & {"TransportError", "OSError", "TimeoutError", "SSLError", "EndOfStream"}:
        return Reading(outcome="ok", message=message, final=True, local=True)
    # A certificate that is refused today is refused in a second, too.
    return Reading(
        outcome="transient",
        message=message,
        final=_certificate_refused(error),
        local=bool(names & _LOCAL),
    )


def _certificate_refused(error: BaseException | None) -> bool:
    for _ in range(5):
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        if error is None:
            return False
        error = error.__cause__ or error.__context__
    return False


def _text_of(error: BaseException) -> str:
    try:
        return str.__str__(str(error))
    except BaseException:  # a foreign __str__ may raise anything
        return ""
