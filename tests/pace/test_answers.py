"""What answers mean: one row per thing that a provider has been seen to say."""

from __future__ import annotations

import json
import ssl
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.answers import Reading, read_answer, read_error, read_exception
from paceline.pace.calls import Usage
from paceline.pace.providers import (
    ANTHROPIC,
    COMPATIBLE,
    GEMINI,
    OPENAI,
    OPENROUTER,
    PROVIDERS,
    Provider,
)
from tests.pace.seen import NOW, ROWS, RPM, Row, anthropic, openai


def body_of(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


@pytest.mark.parametrize("row", ROWS, ids=[row.what for row in ROWS])
def test_an_answer_means_what_the_table_says(row: Row) -> None:
    read = read_answer(row.status, row.headers, body_of(row.body), provider=row.provider, now=NOW)
    assert (read.outcome, read.cause) == (row.outcome, row.cause)
    assert read.retry_after == (pytest.approx(row.retry_after) if row.retry_after is not None else None)


EVENTS = [
    (ANTHROPIC, anthropic("overloaded_error", "Overloaded"), "overloaded"),
    (ANTHROPIC, anthropic("rate_limit_error", "slow"), "rate_limited"),
    (ANTHROPIC, anthropic("api_error", "Internal server error"), "transient"),
    (OPENAI, {"type": "error", "code": "rate_limit_exceeded", "message": RPM, "param": None}, "rate_limited"),
    (OPENAI, {"type": "error", "code": None, "message": "odd", "sequence_number": 3}, "transient"),
    (OPENAI, openai("The server had an error", kind="server_error"), "transient"),
    (OPENAI, openai("flagged", code="content_policy_violation"), "ok"),
    (
        OPENROUTER,
        {"id": "x", "error": {"code": 502, "message": "Provider disconnected"}, "choices": []},
        "transient",
    ),
    (OPENROUTER, {"error": {"code": "insufficient_quota", "message": "spent"}}, "fatal"),
    (COMPATIBLE, "it broke", "transient"),
]


@pytest.mark.parametrize(("provider", "event", "outcome"), EVENTS)
def test_an_error_inside_a_stream_means_what_it_would_mean_outside(
    provider: Provider, event: Any, outcome: str
) -> None:
    assert read_error(event, provider=provider).outcome == outcome


def test_the_limits_that_an_answer_tells_of_are_read_from_its_headers() -> None:
    headers = {
        "x-ratelimit-limit-requests": "600",
        "x-ratelimit-remaining-requests": "599",
        "x-ratelimit-reset-requests": "100ms",
        "x-ratelimit-limit-tokens": "150000",
        "x-ratelimit-remaining-tokens": "149000",
        "x-ratelimit-reset-tokens": "0.4s",
    }
    told = read_answer(200, headers, b"{}", provider=OPENAI, now=NOW).advertised
    assert told is not None
    assert (told.requests, told.requests_left, told.requests_reset) == (600, 599, 0.1)
    assert (told.tokens, told.tokens_left, told.tokens_reset) == (150_000, 149_000, 0.4)


def test_resets_at_an_instant_are_compared_with_the_clock_of_the_provider() -> None:
    headers = {
        "date": "Thu, 19 Nov 2026 06:00:00 GMT",
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "0",
        "anthropic-ratelimit-requests-reset": "2026-11-19T06:00:07Z",
        "anthropic-ratelimit-tokens-limit": "80,000",
        "anthropic-ratelimit-tokens-remaining": "79000",
        "anthropic-ratelimit-tokens-reset": "2026-11-19T06:00:01+00:00",
    }
    told = read_answer(200, headers, b"{}", provider=ANTHROPIC, now=0.0).advertised
    assert told is not None
    assert (told.requests, told.requests_left, told.requests_reset) == (50, 0, 7.0)
    assert (told.tokens, told.tokens_reset) == (80_000, 1.0)


def test_a_limit_per_day_is_no_rate_until_nothing_is_left_of_it() -> None:
    headers = {"x-ratelimit-limit-requests": "14400", "x-ratelimit-remaining-requests": "14370"}
    slow = {**headers, "x-ratelimit-reset-requests": "2m59s"}
    assert read_answer(200, slow, b"{}", provider=OPENAI).advertised is None
    groq = next(row for row in PROVIDERS if row.name == "groq")
    assert read_answer(200, headers, b"{}", provider=groq).advertised is None
    spent = {**slow, "x-ratelimit-remaining-requests": "0"}
    told = read_answer(200, spent, b"{}", provider=OPENAI).advertised
    assert told is not None
    assert (told.requests, told.requests_left, told.requests_reset) == (None, 0.0, 179.0)


USAGES = [
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
        Usage(input=100, output=20, cached=64, reasoning=5),
    ),
    (
        {
            "input_tokens": 7,
            "output_tokens": 3,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 2},
        },
        Usage(input=7, output=3, cached=0, reasoning=2),
    ),
    (
        {
            "input_tokens": 7,
            "output_tokens": 3,
            "cache_read_input_tokens": 40,
            "cache_creation_input_tokens": 8,
        },
        Usage(input=55, output=3, cached=40, cache_write=8),
    ),
    ({"prompt_tokens": "many", "completion_tokens": -1}, None),
    ({"prompt_tokens": True, "completion_tokens": 9}, Usage(output=9)),
    ([1, 2], None),
    ({}, None),
]


@pytest.mark.parametrize(("told", "usage"), USAGES)
def test_usage_is_read_in_the_words_of_each_wire(told: Any, usage: Usage | None) -> None:
    assert read_answer(200, {}, json.dumps({"usage": told}).encode()).usage == usage


def test_gemini_counts_thoughts_beside_its_answer_and_we_count_them_in() -> None:
    told = {
        "promptTokenCount": 8,
        "candidatesTokenCount": 10,
        "thoughtsTokenCount": 30,
        "cachedContentTokenCount": 4,
    }
    usage = read_answer(200, {}, json.dumps({"usageMetadata": told}).encode(), provider=GEMINI).usage
    assert usage == Usage(input=8, output=40, cached=4, reasoning=30)


def test_who_says_that_trying_again_is_useless_is_believed() -> None:
    assert read_answer(500, {"x-should-retry": "false"}, b"").final
    assert not read_answer(500, {}, b"").final


@pytest.mark.parametrize(
    ("error", "outcome", "local", "final"),
    [
        (httpx2.ReadError(""), "transient", False, False),
        (httpx2.ConnectTimeout("slow"), "transient", False, False),
        (httpx2.RemoteProtocolError("peer closed connection"), "transient", False, False),
        (ConnectionResetError(104, "reset"), "transient", False, False),
        (httpx2.PoolTimeout(""), "transient", True, False),
        (httpx2.UnsupportedProtocol("ftp"), "ok", True, True),
        (httpx2.LocalProtocolError("bad header"), "ok", True, True),
        (ValueError("a bug"), "ok", True, True),
    ],
)
def test_an_exception_in_place_of_an_answer_is_read_by_its_name(
    error: Exception, outcome: str, local: bool, final: bool
) -> None:
    read = read_exception(error)
    assert (read.outcome, read.local, read.final) == (outcome, local, final)
    assert type(error).__name__ in read.message


def test_a_certificate_that_is_refused_is_not_asked_for_again() -> None:
    error = httpx2.ConnectError("certificate verify failed")
    error.__cause__ = ssl.SSLCertVerificationError(1, "expired")
    assert read_exception(error).final


# Keys and garbage ----------------------------------------------------------------------------------

KEYS = [
    "sk-proj-Ab3dEf6hIj9kLmNoPqRsTuVwXyZ012345",
    "sk-ant-api03-Ab3dEf6hIj9kLmNoPqRsTuVwXyZ012345",
    "AIzaSyAb3dEf6hIj9kLmNoPqRsTuVwXyZ0123456",
    "gsk_Ab3dEf6hIj9kLmNoPqRsTuVwXyZ",
    "xai-Ab3dEf6hIj9kLmNoPqRsTuVwXyZ",
    "sk-abc***************wxyz",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "said",
    [
        "Incorrect API key provided: {}. Find yours.",
        "Authorization: Bearer {}",
        '{{"x-api-key": "{}"}}',
        "({})",
    ],
)
def test_no_key_stands_in_a_message(key: str, said: str) -> None:
    message = read_answer(401, {}, json.dumps(openai(said.format(key))).encode()).message
    assert message
    assert key not in message
    assert key[:12] not in message


def test_a_key_of_no_known_form_is_taken_out_where_it_is_the_one_that_was_sent() -> None:
    body = json.dumps(openai("who is swordfish-9?")).encode()
    assert read_answer(401, {}, body, secret="swordfish-9").message == "who is [key]?"


def test_a_message_is_one_line_and_not_long() -> None:
    message = read_answer(500, {}, json.dumps(openai("a\n b " * 10_000)).encode()).message
    assert "\n" not in message
    assert len(message) <= 500


words = st.sampled_from(
    [
        "error",
        "type",
        "code",
        "message",
        "details",
        "metadata",
        "usage",
        "errors",
        "violations",
        "status",
        "retryDelay",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4),
    max_leaves=12,
)
header_names = st.sampled_from(
    [
        "retry-after",
        "retry-after-ms",
        "date",
        "x-amzn-errortype",
        "x-should-retry",
        "x-ratelimit-reset",
        "x-ratelimit-remaining",
        "x-ratelimit-limit-requests",
        "x-ratelimit-remaining-requests",
        "x-ratelimit-reset-requests",
        "x-ratelimit-reset-tokens",
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-reset",
    ]
)
header_values = st.text(max_size=80) | st.from_regex(r"\A[0-9]{1,400}(ms|m|s|h|T)?[0-9:.,-]{0,20}\Z")
headers = st.dictionaries(header_names, header_values, max_size=6)


@given(
    status=st.integers(100, 599),
    headers=headers,
    body=st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()),
    provider=st.sampled_from([*PROVIDERS, COMPATIBLE]),
)
def test_whatever_is_answered_is_read_without_an_error(
    status: int, headers: dict[str, str], body: bytes, provider: Provider
) -> None:
    check(read_answer(status, headers, body, provider=provider, now=NOW))


@given(error=json_values, headers=headers, provider=st.sampled_from([*PROVIDERS, COMPATIBLE]))
def test_whatever_stands_in_a_stream_is_read_without_an_error(
    error: Any, headers: dict[str, str], provider: Provider
) -> None:
    check(read_error(error, headers, provider=provider, now=NOW))


def check(read: Reading) -> None:
    assert read.retry_after is None or 0 <= read.retry_after <= 86_400
    assert len(read.message) <= 500
    assert (read.cause is None) == (read.outcome in ("ok", "transient"))
    read.message.encode()


def test_a_refusal_of_fifty_megabytes_is_read_in_no_time() -> None:
    read = read_answer(429, {}, b'{"error": {"message": "' + b"requests per min " * 3_000_000)
    assert (read.outcome, read.cause) == ("rate_limited", "requests")


def test_json_that_is_nested_without_end_is_read_without_an_error() -> None:
    assert read_answer(500, {}, b"[" * 100_000).outcome == "transient"
    assert read_answer(200, {}, b'{"usage":' * 50_000).outcome == "transient"
