"""A rehearsed call goes to the simulated provider, and the key of the real one stays here."""

from __future__ import annotations

from types import ModuleType

import httpx
import httpx2
import pytest

from paceline.errors import UsageError
from paceline.pace.redirecting import redirected
from paceline.pace.requests import read_request
from tests.pace.trips import CHAT, KEY, MESSAGES, MODEL, RESPONSES


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
@pytest.mark.parametrize(
    ("url", "place"),
    [
        (CHAT, "/v1/chat/completions"),
        (RESPONSES, "/v1/responses"),
        (f"{MESSAGES}?beta=true&key={KEY}", "/v1/messages"),
        ("https://mine.openai.azure.com/openai/deployments/gpt/chat/completions", "/v1/chat/completions"),
    ],
)
def test_only_the_place_and_the_key_of_a_request_are_others(
    library: ModuleType, url: str, place: str
) -> None:
    headers = {"x-api-key": KEY, "api-key": KEY, "Authorization": f"Bearer {KEY}", "x-team": "evals"}
    asked = library.Request("POST", url, json={"model": MODEL}, headers=headers)
    seen = read_request("POST", "https://h", asked.url.host, asked.url.path, {}, asked.content)
    assert seen is not None
    sent = redirected(asked, seen, "http://127.0.0.1:8123/")
    assert (str(sent.url), sent.method) == (f"http://127.0.0.1:8123{place}", "POST")
    assert b"".join(sent.stream) == asked.content
    assert (sent.headers["host"], sent.headers["x-team"]) == ("127.0.0.1:8123", "evals")
    assert sent.headers["content-length"] == asked.headers["content-length"]
    assert KEY not in f"{sent.url}{sent.headers.raw}"
    assert asked.headers["x-api-key"] == KEY, "the request of the caller is as it was"


def test_a_wire_that_nobody_simulates_is_refused_with_the_reason() -> None:
    path = "/v1beta/models/gemini-3:generateContent"
    seen = read_request("POST", "https://h", "generativelanguage.googleapis.com", path, {}, b"{}")
    assert seen is not None
    with pytest.raises(UsageError, match="gemini:gemini-3 cannot be rehearsed") as refused:
        redirected(httpx2.Request("POST", f"https://h{path}"), seen, "http://127.0.0.1:1")
    assert "Anthropic" in refused.value.hint
