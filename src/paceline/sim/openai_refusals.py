"""How OpenAI refuses, what its headers are called, and its list of models.

The kinds of 429 differ in the body (`type`, `code`, the words of the message), and not in the status: whoever
wants to know which limit was met has to read it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from paceline.pace.messages import Advertised
from paceline.sim.provider import Refused
from paceline.sim.wire import FINGERPRINT, Headers, shown_number, waiting


class OpenAI:
    """How OpenAI refuses."""

    def refusal(self, refused: Refused, model: str, number: int) -> bytes:
        kind, code, message = _reason(refused, model)
        return self._error(message, kind, code, number)

    def failure(self, status: int, message: str, number: int, *, param: str | None = None) -> bytes:
        kind = "server_error" if status >= 500 else "invalid_request_error"
        return self._error(message, kind, None, number, param)

    def headers(self, advertised: Advertised | None, number: int, now: float) -> Headers:  # noqa: ARG002
        headers = [("x-request-id", f"req_sim_{number:08}"), ("openai-version", "2020-10-01")]
        if advertised is not None:
            for name in ("requests", "tokens"):
                limit = getattr(advertised, name)
                if limit is not None:
                    headers += [
                        (f"x-ratelimit-limit-{name}", shown_number(limit)),
                        (
                            f"x-ratelimit-remaining-{name}",
                            shown_number(getattr(advertised, f"{name}_left") or 0.0),
                        ),
                        (
                            f"x-ratelimit-reset-{name}",
                            duration(getattr(advertised, f"{name}_reset") or 0.0),
                        ),
                    ]
        return headers

    def waits(self, seconds: float, *, exactly: bool) -> Headers:
        return [
            ("retry-after-ms", str(math.ceil(seconds * 1000))),
            ("retry-after", waiting(seconds, exactly=exactly)),
        ]

    def _error(
        self, message: str, kind: str, code: str | None, number: int, param: str | None = None
    ) -> bytes:
        message = f"{message} (simulated request req_sim_{number:08})"
        return msgspec.json.encode(
            {"error": {"message": message, "type": kind, "param": param, "code": code}}
        )


_OTHER_REFUSALS: Final[Mapping[str, tuple[str, str | None, str]]] = {
    "quota": (
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    "auth": ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    "ramp": (
        "requests",
        "slow_down",
        "Slow down: your traffic has grown too quickly. Lower your rate and raise it again step by step.",
    ),
    "concurrency": (
        "requests",
        "rate_limit_exceeded",
        "Too many concurrent requests: the limit of requests in flight is reached.",
    ),
}
_PER_MINUTE: Final = {"requests": "requests per min (RPM)", "tokens": "tokens per min (TPM)"}


def _reason(refused: Refused, model: str) -> tuple[str, str | None, str]:
    """Type, code and message of a refusal."""
    if refused.status in {503, 529}:
        return "server_error", "server_is_overloaded", "The server is overloaded. Please try again later."
    if refused.status == 404:
        return (
            "invalid_request_error",
            "model_not_found",
            f"The model `{model[:200]}` does not exist or you do not have access to it.",
        )
    if refused.status >= 500:
        return "server_error", None, "The server had an error while processing your request."
    if refused.cause in {"quota", "auth"} or (refused.told and refused.cause in _OTHER_REFUSALS):
        return _OTHER_REFUSALS[refused.cause]
    again = "" if refused.retry_after is None else f" Please try again in {duration(refused.retry_after)}."
    if not refused.told or refused.cause not in _PER_MINUTE:
        return "rate_limit_error", "rate_limit_exceeded", f"Rate limit reached, try again later.{again}"
    limit = refused.advertised and getattr(refused.advertised, refused.cause)
    of = f": Limit {shown_number(limit)}." if limit else "."
    message = f"Rate limit reached for {model[:200]} on {_PER_MINUTE[refused.cause]}{of}{again}"
    return refused.cause, "rate_limit_exceeded", message


def duration(seconds: float) -> str:
    """As in their headers: `120ms`, `1.5s`, `6m0s`, `1h0m0s`."""
    ms = math.ceil(seconds * 1000)
    if ms < 1000:
        return f"{ms}ms"
    minutes, left = divmod(ms / 1000, 60)
    text = f"{shown_number(left)}s"
    if minutes:
        hours, minutes = divmod(int(minutes), 60)
        text = f"{minutes}m{text}"
        if hours:
            text = f"{hours}h{text}"
    return text


def model_of(name: str) -> dict[str, Any]:
    """One model of the list."""
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": FINGERPRINT}


def models_of(names: tuple[str, ...]) -> dict[str, Any]:
    """`GET /v1/models`."""
    return {"object": "list", "data": [model_of(name) for name in names]}
