"""What a refusal is about: tables of codes and words, and the order in which they are asked.

The code first, where there is one: it is the provider's own word, while a status may be that of a proxy, and
words change. Words decide what kind of limit was reached, because most providers tell it nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from paceline.pace.complaints import Complaint
from paceline.pace.headers import asked_wait, seconds_of
from paceline.pace.messages import Advertised, Cause, Outcome
from paceline.pace.providers import Provider

# Codes ---------------------------------------------------------------------------------------------

SPENT_CODES: Final = frozenset(
    {
        *("insufficient_quota", "credit_balance_exhausted", "billing_error", "billing_not_active"),
        *("billing_hard_limit_reached", "enforced_spend_limit_reached", "contract_spend_limit_reached"),
        *("spend_limit_reached", "spending_limit_reached", "usage_limit_reached", "payment_required"),
        *("linked_organization_spend_limit_reached", "linked_organization_billing_unavailable"),
        *(
            "insufficient_balance",
            "insufficient_credits",
            "insufficient_funds",
            "exceeded_current_quota_error",
        ),
    }
)
AUTH_CODES: Final = frozenset(
    {
        *("authentication_error", "invalid_api_key", "api_key_invalid", "invalid_authentication_error"),
        *("unauthenticated", "incorrect_api_key", "account_deactivated", "organization_on_hold"),
        *("unrecognizedclientexception", "invalidsignatureexception", "permission_error"),
    }
)
RATE_CODES: Final = frozenset(
    {
        *("rate_limit_exceeded", "rate_limit_error", "rate_limited", "rate_limit", "ratelimitreached"),
        *("resource_exhausted", "throttlingexception", "too_many_requests", "toomanyrequests", "requests"),
        *("tokens", "ramp_limit_exceeded", "modelnotreadyexception", "toomanyrequestsexception"),
    }
)
OVERLOAD_CODES: Final = frozenset(
    {
        *("overloaded_error", "server_is_overloaded", "slow_down", "overloaded", "engine_overloaded"),
        *("unavailable", "service_unavailable", "serviceunavailableexception", "capacity_exceeded"),
        *("engine_overloaded_error", "service_unavailable_error"),
    }
)
TRANSIENT_CODES: Final = frozenset(
    {
        *("server_error", "api_error", "internal_error", "internal_server_error", "internal", "timeout"),
        *("timeout_error", "internalserverexception", "modeltimeoutexception", "deadline_exceeded"),
        *("modelerrorexception", "modelstreamerrorexception", "bad_gateway", "gateway_timeout", "aborted"),
    }
)
OVERLOAD_STATUS: Final = frozenset({498, 503, 529})
TRANSIENT_STATUS: Final = frozenset({408, 409, 424, 425})

# Words ---------------------------------------------------------------------------------------------

_SPENT_WORDS: Final = re.compile(
    r"credit balance is too low|insufficient (?:credits?|funds|balance|quota)|spend(?:ing)? limit"
    r"|billing hard limit|run out of credits|free-models-per-day|requires more credits|payment required",
    re.IGNORECASE,
)
_SPENT_QUOTA: Final = re.compile(r"exceeded your (?:current|monthly) quota", re.IGNORECASE)
_REFUSED_KEY: Final = re.compile(
    r"(?:api key|credentials?|token) (?:not|is not|is in|are in|in)valid", re.IGNORECASE
)
_STALE_SIGNATURE: Final = re.compile(
    r"signature (?:has )?expired|signature not yet current|skewed", re.IGNORECASE
)
_TOO_LARGE: Final = re.compile(r"request too large|too large for .{1,80} on tokens", re.IGNORECASE)
_LIMIT_AND_ASKED: Final = re.compile(
    r"\blimit:?\s{0,3}([\d,]{1,15})\b.{0,80}?\brequested:?\s{0,3}([\d,]{1,15})", re.IGNORECASE | re.DOTALL
)
_TRY_AGAIN: Final = re.compile(
    r"(?:try again|retry|wait)\s(?:in|after|for)?\s?((?:\d{1,9}(?:\.\d{1,9})?\s?(?:ms|h|m|s)){1,3})"
    r"(ec|in|our|illi)?",
    re.IGNORECASE,
)
_LIMIT_0: Final = re.compile(r"\blimit: 0\b")
_PER_DAY: Final = re.compile(r"per_?day", re.IGNORECASE)

KINDS: Final[tuple[tuple[Cause, re.Pattern[str]], ...]] = (
    # What a rejection is about, by its codes and words; the first that fits.
    (
        "ramp",
        re.compile(
            r"\bramp|accelerat|slow_?down|gradual|sharp(?:ly)?.{0,20}increas"
            r"|increas\w{0,3}.{0,30}(?:fast|quick|rapid|sharp)",
            re.IGNORECASE,
        ),
    ),
    (
        "concurrency",
        re.compile(
            r"concurren|simultaneous|parallel (?:request|call|connection)|in[- ]flight|queue is full|queued"
            r"|too many (?:active|open|running) ",
            re.IGNORECASE,
        ),
    ),
    (
        "tokens",
        re.compile(
            r"tokens?[ _-]{0,2}per|\bTP[SMHD]\b|tokens?\b.{0,60}(?:per[ _-]?|/)(?:min|sec|hour|day)"
            r"|too many tokens"
            r"|token[ _](?:rate|quota|limit)|(?:input|output|prompt)[ _]tokens?|_tokens\b|^tokens$"
            r"|TokensPer|TokenCount",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    (
        "requests",
        re.compile(
            r"(?:requests?|calls?|queries)[ _-]{0,2}per|\bRP[SMHD]\b|\bQP[SMD]\b|^requests$|_requests\b"
            r"|RequestsPer|call rate limit"
            r"|(?:requests?|calls?)\b.{0,60}(?:per[ _-]?|/)(?:min|sec|hour|day)|free-models-per-min",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
)


def outcome_of(
    status: int, codes: frozenset[str], words: str, complaint: Complaint, provider: Provider
) -> Outcome:
    if complaint.flagged or _STALE_SIGNATURE.search(words):
        return "ok"
    if spent(status, codes, words, provider) or _refused(status, codes, words, complaint):
        return "fatal"
    # The code first: it is the provider's own word, while a status may be that of a proxy.
    if codes & OVERLOAD_CODES or status in OVERLOAD_STATUS:
        return "overloaded"
    if status == 429 or (status in (200, 400) and codes & RATE_CODES):
        return "ok" if _never_fits(words) else "rate_limited"
    if status >= 500 or status in TRANSIENT_STATUS:
        return "transient"
    if status < 400:
        return "transient" if codes & TRANSIENT_CODES or not _about_the_request(codes) else "ok"
    return "ok"


def spent(status: int, codes: frozenset[str], words: str, provider: Provider) -> bool:
    if status == 402 or codes & SPENT_CODES:
        return True
    if status not in (200, 400, 403, 429):
        return False
    if provider.quota_words:
        return bool(
            _SPENT_WORDS.search(words) or ("resource_exhausted" not in codes and _SPENT_QUOTA.search(words))
        )
    # Gemini speaks of plan and billing in each refusal; what is over for good is told by the name of the
    # quota.
    return bool(_PER_DAY.search(words) or _LIMIT_0.search(words))


def _refused(status: int, codes: frozenset[str], words: str, complaint: Complaint) -> bool:
    if status == 401:
        return True
    if status == 403:
        # A firewall that takes offence at a prompt answers in HTML: that is about this request, not about the
        # key.
        return complaint.as_json or not complaint.message
    return status in (200, 400) and bool(codes & AUTH_CODES or _REFUSED_KEY.search(words))


def _never_fits(words: str) -> bool:
    """Whether it asks for more at once than the limit is: waiting does not help."""
    if _TOO_LARGE.search(words):
        return True
    told = _LIMIT_AND_ASKED.search(words)
    limit, asked = (_whole(each) for each in told.groups()) if told else (0, 0)
    return 0 < limit < asked


def _whole(text: str) -> int:
    digits = text.replace(",", "")
    return int(digits) if digits else 0


_ABOUT_THE_REQUEST: Final = re.compile(
    r"invalid|content|policy|filter|context_length|not_found|unsupported|too_(?:large|small)|image|mismatch"
    r"|max_tokens|length|safety|refus"
)


def _about_the_request(codes: frozenset[str]) -> bool:
    return any(_ABOUT_THE_REQUEST.search(code) for code in codes)


def cause_of(words: str, limits: Advertised | None, provider: Provider) -> Cause:
    for cause, pattern in KINDS:
        if pattern.search(words):
            return cause
    if limits is not None:
        if limits.tokens_left == 0 and limits.requests_left != 0:
            return "tokens"
        if limits.requests_left == 0 and limits.tokens_left != 0:
            return "requests"
    return provider.plain_429 if "too many requests" in words.lower() else "unknown"


def wait_of(
    headers: Mapping[str, str],
    complaint: Complaint,
    cause: Cause | None,
    limits: Advertised | None,
    now: float,
) -> float | None:
    """How long it asks to wait: in a header made for it, in the body, in its words, or by when the limit is
    whole."""
    asked = asked_wait(headers, now=now)
    if asked is None and complaint.delay:
        asked = seconds_of(complaint.delay, now=now)
    if asked is None and (told := _TRY_AGAIN.search(complaint.message)):
        # "6 seconds", "2 minutes" and "1 hour" begin like the units that are read here; "5 milliseconds" does
        # not.
        text = told[1].replace(" ", "").lower()
        asked = seconds_of(f"{text}s" if (told[2] or "").lower() == "illi" else text, now=now)
    if asked is None and limits is not None:
        if cause == "requests" and limits.requests_left == 0:
            asked = limits.requests_reset
        elif cause == "tokens" and limits.tokens_left == 0:
            asked = limits.tokens_reset
    return asked
