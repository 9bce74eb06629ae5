"""What headers say of waiting and of limits: numbers, durations, instants, dates.

Foreign text: whatever stands there, the answer is a number of seconds or None, and nothing is raised.
Instants are compared with the provider's own clock (`date`) where it tells it, so that ours may be wrong.
"""

from __future__ import annotations

import email.utils
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from paceline.pace.messages import Advertised
from paceline.pace.providers import Provider

LONGEST: Final = 86_400.0
"""Seconds; nobody asks for more than a day."""
_NOT_PER_MINUTE: Final = 90.0
"""A limit per minute is whole again within a minute; one that needs longer than this is not one."""

_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|h|m|s))+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|h|m|s)", re.ASCII)
_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_EPOCH_MS: Final = 1e11
_EPOCH: Final = 1e9


def seconds_of(text: str | None, *, now: float) -> float | None:
    """A duration (`6m0s`, `120ms`, `41.7`), an instant (RFC 3339, HTTP date, epoch) or nothing, as seconds
    from now."""
    text = (text or "").strip()
    if not text or len(text) > 64:
        return None
    number = _number(text)
    if number is not None:
        if number >= _EPOCH_MS:
            return _bounded(number / 1000 - now)
        return _bounded(number - now if number >= _EPOCH else number)
    if _DURATION.fullmatch(text):
        return _bounded(sum(float(amount) * _UNITS[unit] for amount, unit in _PART.findall(text)))
    instant = _instant(text)
    return None if instant is None else _bounded(instant - now)


def asked_wait(headers: Mapping[str, str], *, now: float) -> float | None:
    """How long the provider asks to wait, in the words made for it."""
    ms = _number(headers.get("retry-after-ms"))
    if ms is not None:
        return _bounded(ms / 1000)
    return seconds_of(headers.get("retry-after"), now=provider_now(headers, now))


def provider_now(headers: Mapping[str, str], now: float) -> float:
    """The provider's clock, as far as it shows it."""
    told = _instant(headers.get("date", "")[:64]) if "date" in headers else None
    return now if told is None else told


def advertised(headers: Mapping[str, str], provider: Provider, *, now: float) -> Advertised | None:
    """The limits that an answer tells of, per minute; None where it tells of none."""
    if "anthropic-ratelimit-requests-limit" in headers or "anthropic-ratelimit-tokens-limit" in headers:
        now = provider_now(headers, now)
        return _advertised(_anthropic(headers, "requests", now), _anthropic(headers, "tokens", now))
    requests = _openai(headers, "-requests", now)
    if provider.daily_requests and requests[0] is not None:
        requests = (None, 0.0, requests[2]) if requests[1] == 0 else (None, None, None)
    if requests == (None, None, None) and "x-ratelimit-remaining" in headers:
        bare = _openai(
            headers, "", provider_now(headers, now)
        )  # of an unknown span: only that nothing is left can be used
        requests = (None, 0.0, bare[2]) if bare[1] == 0 and bare[2] is not None else requests
    return _advertised(requests, _openai(headers, "-tokens", now))


_Told = tuple[float | None, float | None, float | None]
"""Limit, what is left of it, seconds until it is whole."""


def _openai(headers: Mapping[str, str], what: str, now: float) -> _Told:
    limit = _number(headers.get(f"x-ratelimit-limit{what}"))
    left = _number(headers.get(f"x-ratelimit-remaining{what}"))
    reset = seconds_of(headers.get(f"x-ratelimit-reset{what}"), now=now)
    return _per_minute(limit, left, reset)


def _anthropic(headers: Mapping[str, str], what: str, now: float) -> _Told:
    name = f"anthropic-ratelimit-{what}-"
    limit = _number(headers.get(f"{name}limit"))
    left = _number(headers.get(f"{name}remaining"))
    return _per_minute(limit, left, seconds_of(headers.get(f"{name}reset"), now=now))


def _per_minute(limit: float | None, left: float | None, reset: float | None) -> _Told:
    if reset is not None and reset > _NOT_PER_MINUTE:
        # One per day, say: no rate to go by, but that nothing is left of it holds all the same.
        return (None, 0.0, reset) if left == 0 else (None, None, None)
    return limit or None, left, reset  # a limit of 0 is no limit that anyone could keep


def _advertised(requests: _Told, tokens: _Told) -> Advertised | None:
    if requests == tokens == (None, None, None):
        return None
    return Advertised(
        requests=requests[0],
        requests_left=requests[1],
        requests_reset=requests[2],
        tokens=tokens[0],
        tokens_left=tokens[1],
        tokens_reset=tokens[2],
    )


def _number(text: str | None) -> float | None:
    if not text or len(text) > 64:
        return None
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _instant(text: str) -> float | None:
    try:
        if text[:4].isdigit():
            at = datetime.fromisoformat(text)
            return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError):
        return None


def _bounded(seconds: float) -> float | None:
    return min(max(seconds, 0.0), LONGEST) if math.isfinite(seconds) else None
