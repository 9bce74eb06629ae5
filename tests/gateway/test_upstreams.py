"""Keys are found in the environment of the harness, and a child is told others."""

from __future__ import annotations

from typing import Any

import pytest

from paceline.errors import UsageError
from paceline.gateway.upstreams import environment, upstreams_in


def test_known_upstreams_are_as_the_environment_has_them() -> None:
    found = upstreams_in({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1/", "OPENAI_API_KEY": "sk-real"})
    assert found["openai"].base_url == "http://127.0.0.1:9/v1"
    assert found["openai"].credentials == {"authorization": "Bearer sk-real"}
    assert found["anthropic"].base_url == "https://api.anthropic.com"
    assert found["anthropic"].credentials == {}


def test_a_child_is_told_the_gateway_and_its_ticket_and_no_key() -> None:
    found = upstreams_in({"OPENAI_API_KEY": "sk-real", "GOOGLE_API_KEY": "goo-real"})
    told = environment("http://127.0.0.1:7", "pl-t", found.values())
    assert told == {
        "OPENAI_BASE_URL": "http://127.0.0.1:7/pl-t/openai/v1",
        "OPENAI_API_BASE": "http://127.0.0.1:7/pl-t/openai/v1",
        "OPENAI_API_KEY": "pl-t",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:7/pl-t/anthropic",
        "ANTHROPIC_API_KEY": "pl-t",
        "GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:7/pl-t/gemini",
        "GEMINI_BASE_URL": "http://127.0.0.1:7/pl-t/gemini",
        "GEMINI_API_KEY": "pl-t",
        "GOOGLE_API_KEY": "pl-t",
    }


def test_further_upstreams_can_be_written() -> None:
    written = {
        "openrouter": {
            "base_url": "https://openrouter.ai/api/v1",
            "key_env": "OPENROUTER_API_KEY",
            "url_env": "OPENROUTER_BASE_URL",
        }
    }
    found = upstreams_in({"OPENROUTER_API_KEY": "or-real"}, written)
    assert found["openrouter"].credentials == {"authorization": "Bearer or-real"}
    told = environment("http://127.0.0.1:7", "pl-t", [found["openrouter"]])
    assert told == {
        "OPENROUTER_BASE_URL": "http://127.0.0.1:7/pl-t/openrouter",
        "OPENROUTER_API_KEY": "pl-t",
    }


def test_keys_stay_out_of_what_is_shown() -> None:
    assert "sk-real" not in repr(upstreams_in({"OPENAI_API_KEY": "sk-real"}))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ({"a/b": {"base_url": "https://x"}}, "no name"),
        ({"x": {}}, "no base_url"),
        ({"x": {"base_url": "ftp://x"}}, "no base_url"),
        ({"x": {"base_url": "https://x", "kye_env": "K"}}, "'kye_env'"),
        ({"x": {"base_url": "https://x", "auth": "basic"}}, "'basic'"),
    ],
)
def test_what_cannot_be_an_upstream_is_refused(written: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        upstreams_in({}, written)
