"""What providers have been seen to answer, one row each, with what it means for the pool of a call."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from paceline.pace.providers import (
    ANTHROPIC,
    AZURE,
    BEDROCK,
    COMPATIBLE,
    GEMINI,
    OPENAI,
    OPENROUTER,
    Provider,
)

NOW = 1_795_000_000.0


class Row(NamedTuple):
    what: str
    provider: Provider
    status: int
    body: Any
    outcome: str
    cause: str | None = None
    retry_after: float | None = None
    headers: Mapping[str, str] = MappingProxyType({})


def openai(message: str, *, kind: str | None = None, code: str | int | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic(kind: str, message: str, **details: Any) -> dict[str, Any]:
    error = {"type": kind, "message": message} | ({"details": details} if details else {})
    return {"type": "error", "error": error, "request_id": "req_011CQ"}


def gemini(message: str, quota: str, *, delay: str = "46s", value: str = "15") -> dict[str, Any]:
    violation = {"quotaMetric": "generativelanguage.googleapis.com/requests", "quotaId": quota}
    return {
        "error": {
            "code": 429,
            "message": message,
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
            ],
        }
    }


RPM = (
    "Rate limit reached for gpt-4o-mini in organization org-abc on requests per min (RPM): "
    "Limit 500, Used 500, Requested 1. Please try again in 120ms."
)
TPM = (
    "Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): "
    "Limit 30000, Used 29500, Requested 1200. Please try again in 1.4s."
)
TOO_LARGE = (
    "Request too large for gpt-4o in organization org-abc on tokens per min (TPM): "
    "Limit 30000, Requested 41200."
)
SPENT = "You exceeded your current quota, please check your plan and billing details."
GEMINI_SAYS = (
    "You exceeded your current quota, please check your plan and billing details. "
    "* Quota exceeded for metric: generate_content_free_tier_requests, limit: {}. Please retry in 46.1s."
)

ROWS = [
    Row(
        "OpenAI, requests per minute",
        OPENAI,
        429,
        openai(RPM, kind="requests", code="rate_limit_exceeded"),
        "rate_limited",
        "requests",
        0.12,
    ),
    Row(
        "OpenAI, tokens per minute",
        OPENAI,
        429,
        openai(TPM, kind="tokens", code="rate_limit_exceeded"),
        "rate_limited",
        "tokens",
        1.4,
    ),
    Row(
        "OpenAI, by its type alone",
        OPENAI,
        429,
        openai("Rate limit reached", kind="tokens"),
        "rate_limited",
        "tokens",
    ),
    Row(
        "OpenAI, the header goes before the words",
        OPENAI,
        429,
        openai(RPM, code="rate_limit_exceeded"),
        "rate_limited",
        "requests",
        0.25,
        {"retry-after-ms": "250", "retry-after": "1"},
    ),
    Row(
        "OpenAI, requests per day",
        OPENAI,
        429,
        openai(RPM.replace("per min (RPM)", "per day (RPD)").replace("120ms", "7m12s")),
        "rate_limited",
        "requests",
        432.0,
    ),
    Row(
        "OpenAI, more at once than the limit",
        OPENAI,
        429,
        openai(TOO_LARGE, kind="tokens", code="rate_limit_exceeded"),
        "ok",
    ),
    Row(
        "OpenAI, spent quota",
        OPENAI,
        429,
        openai(SPENT, kind="insufficient_quota", code="insufficient_quota"),
        "fatal",
        "quota",
    ),
    Row(
        "OpenAI, spent credit",
        OPENAI,
        429,
        openai("No credit left.", code="credit_balance_exhausted"),
        "fatal",
        "quota",
    ),
    Row(
        "OpenAI, hard limit",
        OPENAI,
        400,
        openai("Billing hard limit has been reached", code="billing_hard_limit_reached"),
        "fatal",
        "quota",
    ),
    Row(
        "OpenAI, growing too fast",
        OPENAI,
        429,
        openai("Slow down. Your usage has increased too quickly.", code="slow_down"),
        "overloaded",
        "ramp",
    ),
    Row(
        "OpenAI, overloaded",
        OPENAI,
        503,
        openai("The server is overloaded", code="server_is_overloaded"),
        "overloaded",
        "unknown",
    ),
    Row("OpenAI, broken", OPENAI, 500, openai("The server had an error", kind="server_error"), "transient"),
    Row(
        "OpenAI, wrong key",
        OPENAI,
        401,
        openai("Incorrect API key provided", code="invalid_api_key"),
        "fatal",
        "auth",
    ),
    Row(
        "OpenAI, key without leave", OPENAI, 403, openai("You have no access to model gpt-9"), "fatal", "auth"
    ),
    Row(
        "OpenAI, bad request",
        OPENAI,
        400,
        openai("max_tokens is too large", kind="invalid_request_error"),
        "ok",
    ),
    Row(
        "OpenAI, too long a context",
        OPENAI,
        400,
        openai("maximum context length", code="context_length_exceeded"),
        "ok",
    ),
    Row("OpenAI, no such model", OPENAI, 404, openai("does not exist", code="model_not_found"), "ok"),
    Row("OpenAI, bad field", OPENAI, 422, {"detail": [{"msg": "field required"}]}, "ok"),
    Row("OpenAI, content filter", AZURE, 400, openai("filtered", code="content_filter"), "ok"),
    Row(
        "Anthropic, requests per minute",
        ANTHROPIC,
        429,
        anthropic(
            "rate_limit_error", "would exceed your organization's rate limit of 50 requests per minute."
        ),
        "rate_limited",
        "requests",
        12.0,
        {"retry-after": "12"},
    ),
    Row(
        "Anthropic, input tokens",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "would exceed the rate limit of 40,000 input tokens per minute."),
        "rate_limited",
        "tokens",
    ),
    Row(
        "Anthropic, the older words for tokens",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit"),
        "rate_limited",
        "tokens",
    ),
    Row(
        "Anthropic, the older words for requests",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "Number of requests has exceeded your per-minute rate limit"),
        "rate_limited",
        "requests",
    ),
    Row(
        "Anthropic, at once",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "Number of concurrent connections has exceeded your rate limit."),
        "rate_limited",
        "concurrency",
    ),
    Row(
        "Anthropic, growing too fast",
        ANTHROPIC,
        429,
        anthropic(
            "rate_limit_error",
            "This would exceed your organization's limit.",
            error_code="ramp_limit_exceeded",
        ),
        "rate_limited",
        "ramp",
        5.0,
        {"retry-after": "5"},
    ),
    Row(
        "Anthropic, acceleration",
        ANTHROPIC,
        429,
        anthropic(
            "rate_limit_error", "would exceed the maximum usage increase rate. Please scale gradually."
        ),
        "rate_limited",
        "ramp",
    ),
    Row(
        "Anthropic, spend limit",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "Threshold.", error_code="enforced_spend_limit_reached"),
        "fatal",
        "quota",
    ),
    Row(
        "Anthropic, contract",
        ANTHROPIC,
        429,
        anthropic("rate_limit_error", "Threshold.", error_code="contract_spend_limit_reached"),
        "fatal",
        "quota",
    ),
    Row(
        "Anthropic, low balance",
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        "fatal",
        "quota",
    ),
    Row(
        "Anthropic, billing", ANTHROPIC, 402, anthropic("billing_error", "Check your plan."), "fatal", "quota"
    ),
    Row(
        "Anthropic, overloaded",
        ANTHROPIC,
        529,
        anthropic("overloaded_error", "Overloaded"),
        "overloaded",
        "unknown",
    ),
    Row("Anthropic, broken", ANTHROPIC, 500, anthropic("api_error", "Internal server error"), "transient"),
    Row(
        "Anthropic, wrong key",
        ANTHROPIC,
        401,
        anthropic("authentication_error", "invalid x-api-key"),
        "fatal",
        "auth",
    ),
    Row(
        "Anthropic, on hold",
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "Disabled.", error_code="organization_on_hold"),
        "fatal",
        "auth",
    ),
    Row(
        "Anthropic, bad request",
        ANTHROPIC,
        400,
        anthropic("invalid_request_error", "max_tokens: required"),
        "ok",
    ),
    Row(
        "Azure, tokens",
        AZURE,
        429,
        openai(
            "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of "
            "your current OpenAI S0 pricing tier. Please retry after 6 seconds.",
            code="429",
        ),
        "rate_limited",
        "tokens",
        6.0,
    ),
    Row(
        "Azure, calls",
        AZURE,
        429,
        openai(
            "Requests have exceeded call rate limit of your current OpenAI S0 pricing tier. "
            "Please retry after 2 seconds.",
            code="429",
        ),
        "rate_limited",
        "requests",
        2.0,
        {},
    ),
    Row(
        "Azure, in milliseconds",
        AZURE,
        429,
        openai("RateLimitReached", code="RateLimitReached"),
        "rate_limited",
        "unknown",
        0.8,
        {"retry-after-ms": "800"},
    ),
    Row(
        "Gemini, per minute",
        GEMINI,
        429,
        gemini(GEMINI_SAYS.format(15), "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
        "rate_limited",
        "requests",
        46.0,
    ),
    Row(
        "Gemini, tokens per minute",
        GEMINI,
        429,
        gemini(
            "You exceeded your current quota",
            "GenerateContentInputTokensPerModelPerMinute-FreeTier",
            delay="12.5s",
        ),
        "rate_limited",
        "tokens",
        12.5,
    ),
    Row(
        "Gemini, per day",
        GEMINI,
        429,
        gemini(GEMINI_SAYS.format(200), "GenerateRequestsPerDayPerProjectPerModel-FreeTier", delay="36000s"),
        "fatal",
        "quota",
    ),
    Row(
        "Gemini, none at all",
        GEMINI,
        429,
        gemini(GEMINI_SAYS.format(0), "GenerateRequestsPerMinutePerProject"),
        "fatal",
        "quota",
    ),
    Row(
        "Gemini, speaking like OpenAI",
        GEMINI,
        429,
        [gemini(GEMINI_SAYS.format(15), "GenerateRequestsPerMinute")],
        "rate_limited",
        "requests",
        46.0,
    ),
    Row(
        "Gemini, overloaded",
        GEMINI,
        503,
        {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}},
        "overloaded",
        "unknown",
    ),
    Row(
        "Gemini, wrong key",
        GEMINI,
        400,
        {
            "error": {
                "code": 400,
                "message": "API key not valid.",
                "status": "INVALID_ARGUMENT",
                "details": [
                    {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
                ],
            }
        },
        "fatal",
        "auth",
    ),
    Row(
        "Bedrock, requests",
        BEDROCK,
        429,
        {"message": "Too many requests, please wait before trying again."},
        "rate_limited",
        "requests",
        None,
        {"x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/"},
    ),
    Row(
        "Bedrock, tokens",
        BEDROCK,
        429,
        {"message": "Too many tokens, please wait before trying again."},
        "rate_limited",
        "tokens",
    ),
    Row(
        "Bedrock, throttled by status 400",
        BEDROCK,
        400,
        {"__type": "ThrottlingException", "message": "Rate exceeded"},
        "rate_limited",
        "unknown",
    ),
    Row(
        "Bedrock, not ready",
        BEDROCK,
        429,
        {"__type": "ModelNotReadyException", "message": "warming up"},
        "rate_limited",
        "unknown",
    ),
    Row(
        "Bedrock, timeout",
        BEDROCK,
        424,
        {"__type": "ModelTimeoutException", "message": "timeout"},
        "transient",
    ),
    Row(
        "Bedrock, a signature that grew old",
        BEDROCK,
        403,
        {"message": "Signature expired: 20261119T000000Z is now earlier"},
        "ok",
    ),
    Row(
        "OpenRouter, credits",
        OPENROUTER,
        402,
        {"error": {"code": 402, "message": "This request requires more credits"}},
        "fatal",
        "quota",
    ),
    Row(
        "OpenRouter, upstream",
        OPENROUTER,
        429,
        {
            "error": {
                "code": 429,
                "message": "Provider returned error",
                "metadata": {"raw": "temporarily rate-limited upstream", "provider_name": "X"},
            }
        },
        "rate_limited",
        "unknown",
    ),
    Row(
        "OpenRouter, free models per day",
        OPENROUTER,
        429,
        openai("Rate limit exceeded: free-models-per-day", code=429),
        "fatal",
        "quota",
    ),
    Row(
        "OpenRouter, free models per minute",
        OPENROUTER,
        429,
        openai("Rate limit exceeded: free-models-per-min.", code=429),
        "rate_limited",
        "requests",
        30.0,
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{(NOW + 30) * 1000:.0f}"},
    ),
    Row(
        "OpenRouter, flagged",
        OPENROUTER,
        403,
        {
            "error": {
                "code": 403,
                "message": "flagged",
                "metadata": {"reasons": ["violence"], "flagged_input": "…"},
            }
        },
        "ok",
    ),
    Row(
        "OpenRouter, upstream down",
        OPENROUTER,
        502,
        {"error": {"code": 502, "message": "Provider returned error"}},
        "transient",
    ),
    Row(
        "OpenRouter, an error in an answer of status 200",
        OPENROUTER,
        200,
        {"error": {"code": 429, "message": "too many concurrent requests"}},
        "rate_limited",
        "concurrency",
    ),
    Row(
        "OpenAI, a failed response",
        OPENAI,
        200,
        {"status": "failed", "error": {"code": "server_error", "message": "sorry"}},
        "transient",
    ),
    Row(
        "OpenAI, a response that may not be",
        OPENAI,
        200,
        {"status": "failed", "error": {"code": "invalid_prompt", "message": "no"}},
        "ok",
    ),
    Row(
        "vLLM, its queue is full",
        COMPATIBLE,
        429,
        openai("The server is busy: queue is full", kind="TooManyRequests", code=429),
        "rate_limited",
        "concurrency",
    ),
    Row(
        "vLLM, older form",
        COMPATIBLE,
        400,
        {"object": "error", "message": "maximum context length is 4096", "code": 400},
        "ok",
    ),
    Row("a proxy, bare 429", COMPATIBLE, 429, b"Too Many Requests", "rate_limited", "unknown"),
    Row(
        "told by headers: requests",
        COMPATIBLE,
        429,
        {},
        "rate_limited",
        "requests",
        3.5,
        {
            "x-ratelimit-remaining-requests": "0",
            "x-ratelimit-remaining-tokens": "500",
            "x-ratelimit-reset-requests": "3.5s",
        },
    ),
    Row(
        "told by headers: tokens",
        COMPATIBLE,
        429,
        {},
        "rate_limited",
        "tokens",
        61.0,
        {
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-remaining-requests": "5",
            "x-ratelimit-reset-tokens": "1m1s",
        },
    ),
    Row(
        "asked to wait until a date",
        COMPATIBLE,
        503,
        b"",
        "overloaded",
        "unknown",
        90.0,
        {"date": "Thu, 19 Nov 2026 06:00:00 GMT", "retry-after": "Thu, 19 Nov 2026 06:01:30 GMT"},
    ),
    Row("a gateway that gave up", COMPATIBLE, 504, b"<html>Gateway Timeout</html>", "transient"),
    Row("Cloudflare", COMPATIBLE, 524, b"error code: 524", "transient"),
    Row("busy elsewhere", COMPATIBLE, 409, openai("lock"), "transient"),
    Row("took too long", COMPATIBLE, 408, b"", "transient"),
    Row("a firewall that dislikes the prompt", COMPATIBLE, 403, b"<html>Blocked</html>", "ok"),
    Row("an empty 403", COMPATIBLE, 403, b"", "fatal", "auth"),
    Row("half an answer", COMPATIBLE, 200, b'{"choices": [{"mess', "transient"),
    Row("a redirect", COMPATIBLE, 307, b"", "ok"),
]
