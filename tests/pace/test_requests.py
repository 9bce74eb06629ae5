"""What is about to be asked: whose pool it is, how much it takes, and what of it tells one question from
another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paceline.pace.providers import PROVIDERS, endpoint_of
from paceline.pace.requests import Seen, fingerprint, key_in, read_request

CHAT = "/v1/chat/completions"
ASKED = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "a" * 400}]}
KEY = {"authorization": "Bearer sk-proj-abcdefghijklmnop"}


def read(
    body: Any = ASKED,
    *,
    host: str = "api.openai.com",
    path: str = CHAT,
    headers: Mapping[str, str] = KEY,
    method: str = "POST",
    query: str = "",
) -> Seen | None:
    raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    return read_request(method, f"https://{host}", host, path, headers, raw, query=query)


def seen(body: Any = ASKED, **where: Any) -> Seen:
    found = read(body, **where)
    assert found is not None
    return found


# Whose pool ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "path", "pool"),
    [
        ("api.openai.com", CHAT, "openai:gpt-5.4-mini"),
        ("api.openai.com", "/v1/responses", "openai:gpt-5.4-mini"),
        ("api.openai.com", "/v1/embeddings", "openai:gpt-5.4-mini"),
        ("api.anthropic.com", "/v1/messages", "anthropic:gpt-5.4-mini"),
        ("mine.openai.azure.com", "/openai/deployments/my%20gpt/chat/completions", "azure:my%20gpt"),
        ("mine.openai.azure.com", "/openai/v1/chat/completions", "azure:gpt-5.4-mini"),
        ("generativelanguage.googleapis.com", "/v1beta/models/gemini-3:generateContent", "gemini:gemini-3"),
        (
            "generativelanguage.googleapis.com",
            "/v1beta/openai/chat/completions",
            "gemini:gpt-5.4-mini",
        ),
        (
            "europe-west1-aiplatform.googleapis.com",
            "/v1/projects/p/locations/l/publishers/anthropic/models/claude-haiku-5-5:streamRawPredict",
            "vertex:claude-haiku-5-5",
        ),
        (
            "bedrock-runtime.eu-west-1.amazonaws.com",
            "/model/anthropic.claude-haiku/converse-stream",
            "bedrock:anthropic.claude-haiku",
        ),
        ("openrouter.ai", "/api/v1/chat/completions", "openrouter:gpt-5.4-mini"),
        ("localhost", CHAT, "openai-compatible:gpt-5.4-mini"),
        ("gateway.example", "/anthropic/v1/messages", "anthropic:gpt-5.4-mini"),
        ("notopenrouter.ai", CHAT, "openai-compatible:gpt-5.4-mini"),
    ],
)
def test_a_call_belongs_to_the_pool_of_its_provider_and_model(host: str, path: str, pool: str) -> None:
    assert str(seen(host=host, path=path).pool) == pool


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", CHAT, ASKED),
        ("DELETE", CHAT, ASKED),
        ("POST", "/v1/chat/completions/abc", ASKED),
        ("POST", "/v1/files", ASKED),
        ("POST", "/v1/models/gpt:tune", ASKED),
        ("POST", CHAT, {"messages": []}),
        ("POST", CHAT, {"model": ["a"]}),
        ("POST", CHAT, b"model=gpt"),
        ("POST", CHAT, b""),
        ("POST", CHAT, b'{"model": "gpt'),
        ("POST", CHAT, b"[1, 2]"),
        ("POST", "/", ASKED),
    ],
)
def test_what_names_no_model_or_goes_elsewhere_is_nobodys_business(method: str, path: str, body: Any) -> None:
    assert read(body, method=method, path=path) is None


def test_a_body_that_cannot_be_looked_at_is_paced_where_it_says_that_it_is_json() -> None:
    found = seen(None, headers={**KEY, "content-type": "application/json"})
    assert (found.pool.model, found.replayable, found.streamed) == ("unknown", False, False)
    assert read(None, headers={**KEY, "content-type": "multipart/form-data"}) is None


@pytest.mark.parametrize(
    ("headers", "query", "key"),
    [
        ({"authorization": "Bearer sk-1"}, "", "sk-1"),
        ({"x-api-key": " sk-2 "}, "", "sk-2"),
        ({"api-key": "0123"}, "", "0123"),
        ({"x-goog-api-key": "AIza"}, "", "AIza"),
        ({}, "alt=sse&key=AIza%20b", "AIza b"),
        ({"authorization": "AWS4-HMAC-SHA256 Credential=AKIA/20261119/x, Signature=new"}, "", "AKIA"),
        ({"authorization": "", "x-api-key": "sk-3"}, "", "sk-3"),
        ({}, "monkey=1", ""),
        ({}, "", ""),
    ],
)
def test_the_key_is_read_where_each_provider_has_it(headers: dict[str, str], query: str, key: str) -> None:
    assert key_in(headers, query) == key


def test_accounts_are_told_apart_by_a_fingerprint_that_says_nothing_of_the_key() -> None:
    key = "sk-proj-abcdefghijklmnop"
    first, again, other = seen(), seen(), seen(headers={"authorization": "Bearer sk-another"})
    assert first.pool.account == again.pool.account != other.pool.account
    assert first.pool.account not in ("", key)
    assert not any(key[at : at + 4] in first.pool.account for at in range(len(key) - 3))
    assert seen(headers={}).pool.account == ""
    organization = {**KEY, "openai-organization": "org-b"}
    assert fingerprint(key, KEY) != fingerprint(key, organization)


# How much -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "characters"),
    [
        ({"messages": [{"role": "user", "content": "abcd"}]}, 4 + 4),
        ({"messages": [], "system": "abcdef", "tools": [{"name": "t"}]}, 6 + 1),
        ({"input": ["ab", "cd"]}, 4),
        ({"input": [1, 2, 3]}, 12),
        ({"contents": [{"parts": [{"text": "abc"}]}]}, 3),
        ({"messages": [{"content": [{"image_url": "data:image/png;base64," + "A" * 90_000}]}]}, 4_000),
        ({"other": "abcdef"}, 0),
    ],
)
def test_the_prompt_is_measured_in_characters_and_pictures_by_what_they_cost(
    body: dict[str, Any], characters: int
) -> None:
    assert seen({"model": "m", **body}).characters == characters


@pytest.mark.parametrize(
    ("body", "most"),
    [
        ({"max_tokens": 9}, 9),
        ({"max_completion_tokens": 9}, 9),
        ({"max_output_tokens": 9}, 9),
        ({"generationConfig": {"maxOutputTokens": 9}}, 9),
        ({"inferenceConfig": {"maxTokens": 9}}, 9),
        ({"max_tokens": 9, "n": 3}, 27),
        ({"max_tokens": 9, "n": True}, 9),
        ({"max_tokens": True}, None),
        ({"max_tokens": -1}, None),
        ({"max_tokens": "9"}, None),
        ({}, None),
    ],
)
def test_what_answers_may_have_at_most_is_read_in_the_words_of_each_wire(
    body: dict[str, Any], most: int | None
) -> None:
    assert seen({"model": "m", **body}).max_tokens == most


# The same question --------------------------------------------------------------------------------


def test_the_same_question_has_the_same_name_whatever_is_said_beside_it() -> None:
    name = seen().request
    assert seen(dict(reversed(ASKED.items()))).request == name
    assert seen({**ASKED, "stream": True, "user": "ann", "metadata": {"a": 1}}).request == name
    assert seen(host="gateway.example", headers={}).request == name
    assert seen({**ASKED, "temperature": 0}).request != name
    assert seen(path="/v1/responses").request != name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(
    body=st.dictionaries(
        st.text() | st.sampled_from(["model", "messages", "max_tokens", "n", "stream", "generationConfig"]),
        JSON,
        max_size=6,
    ),
    path=st.sampled_from([CHAT, "/v1/messages", "/model/m/invoke", "/models/m:generateContent"]),
)
def test_whatever_is_asked_is_read_without_an_error_and_named_the_same_each_time(
    body: dict[str, Any], path: str
) -> None:
    raw = json.dumps(body).encode()
    first, second = read(raw, path=path), read(raw, path=path)
    assert first == second
    if first is not None:
        assert first.characters >= 0
        assert first.max_tokens is None or first.max_tokens > 0


@given(raw=st.binary(max_size=200), path=st.text(max_size=60))
def test_no_bytes_and_no_path_make_reading_raise(raw: bytes, path: str) -> None:
    read(raw, path=path)
    endpoint_of(path)


def test_every_provider_of_the_table_is_found_by_its_hosts() -> None:
    for row in PROVIDERS:
        for host in row.hosts:
            whole = f"eu{host}" if host[0] in ".-" else host
            path = {"anthropic": "/v1/messages", "gemini": "/models/m:generateContent"}.get(row.wire, CHAT)
            path = "/model/m/converse" if row.wire == "bedrock" else path
            assert seen(host=whole, path=path).provider is row
