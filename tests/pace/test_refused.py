"""What a caller is told whose call was never sent: something that its SDK reads as the error that it is."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from paceline.errors import DeskClosed, PaceError, PoolClosed
from paceline.pace.refused import Refusal, masked, refusal_of, without_key
from tests.pace.trips import KEY

SPENT = PoolClosed("its quota is spent", hint="pay", pool="openai:gpt", cause="quota")
REFUSED = PoolClosed("the key is refused", hint="set another", pool="openai:gpt", cause="auth")
OVER = DeskClosed("no more calls are granted", hint="paceline resume")

ERRORS: list[tuple[PaceError, type[Exception], type[Exception]]] = [
    (SPENT, openai.RateLimitError, anthropic.RateLimitError),
    (REFUSED, openai.AuthenticationError, anthropic.AuthenticationError),
    (OVER, openai.InternalServerError, anthropic.InternalServerError),
]


class Counting:
    """Answers with one refusal, and counts how often it was asked."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        self.asked = 0

    def __call__(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        response: httpx2.Response = self.refusal.response(httpx2)
        return response


@pytest.mark.parametrize(("closed", "of_openai", "of_anthropic"), ERRORS)
def test_the_sdks_raise_the_error_that_it_is_once_with_the_reason_and_the_remedy(
    closed: PaceError, of_openai: type[Exception], of_anthropic: type[Exception]
) -> None:
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": "hm?"}]}
    provider = Counting(refusal_of(closed, "openai"))
    http = httpx2.Client(transport=httpx2.MockTransport(provider))
    with openai.OpenAI(api_key=KEY, http_client=http) as chat, pytest.raises(of_openai) as raised:
        chat.chat.completions.create(**asked)
    assert closed.message in str(raised.value)
    assert closed.hint in str(raised.value)
    other = Counting(refusal_of(closed, "anthropic"))
    http = httpx2.Client(transport=httpx2.MockTransport(other))
    with anthropic.Anthropic(api_key=KEY, http_client=http) as claude, pytest.raises(of_anthropic) as raised:
        claude.messages.create(max_tokens=9, **asked)
    assert closed.message in str(raised.value)
    assert (provider.asked, other.asked) == (1, 1), "the SDKs do not ask again"


def test_spent_money_has_the_code_by_which_callers_know_it() -> None:
    assert json.loads(refusal_of(SPENT, "openai").body)["error"]["code"] == "insufficient_quota"
    assert json.loads(refusal_of(SPENT, "gemini").body)["error"]["status"] == "RESOURCE_EXHAUSTED"
    assert json.loads(refusal_of(SPENT, "bedrock").body)["message"].startswith("its quota is spent")


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
def test_a_refusal_that_came_can_be_told_again(library: Any) -> None:
    came = library.Response(
        401, headers={"content-type": "application/json", "x-request-id": "r"}, content=b'{"error": {}}'
    )
    refusal = Refusal.of(came)
    for _ in range(2):
        again = refusal.response(library)
        assert (again.status_code, again.read(), again.headers["x-should-retry"]) == (
            401,
            b'{"error": {}}',
            "false",
        )
        assert "x-request-id" not in again.headers, "that was another answer"


def test_a_key_is_taken_out_and_what_has_none_stays_the_answer_that_it_was() -> None:
    assert masked(b"you came with sk-1234.", "sk-1234") == b"you came with [key]."
    assert masked(b"a b c", "b") == b"a b c", "what is so short is no secret"
    assert masked(b"you came", "") == b"you came"
    said = httpx2.Response(400, content=b"no", headers={"x-request-id": "r"})
    assert without_key(said, b"no", KEY, httpx2) is said
