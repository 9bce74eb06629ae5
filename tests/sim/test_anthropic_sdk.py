"""Anthropic's own SDK at the simulated provider: what it parses, streams and raises."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import anthropic as sdk
import pytest
from pydantic import BaseModel

from paceline.sim import RunningSim
from tests.sim.served import HELLO, anthropic, async_anthropic, served, user

ADD: Any = {
    "name": "add",
    "input_schema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
}


class Verdict(BaseModel):
    reason: str
    good: bool
    score: int


@pytest.fixture(scope="module")
def sim() -> Iterator[RunningSim]:
    with served() as sim:
        yield sim


def test_a_message_has_text_usage_and_a_mark(sim: RunningSim) -> None:
    with anthropic(sim) as client:
        raw = client.messages.with_raw_response.create(
            model="m", max_tokens=99, system="Be brief.", messages=user("What is 17 * 23?")
        )
    answer = raw.parse()
    assert text_of(answer) == "391"
    assert (answer.stop_reason, answer.role, answer.model) == ("end_turn", "assistant", "m")
    assert (answer.usage.output_tokens, answer.usage.input_tokens > 5) == (1, True)
    assert raw.headers["x-paceline-sim"] == "1"
    assert raw.headers["request-id"].startswith("req_sim_")


def text_of(message: sdk.types.Message) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def test_a_stream_says_the_same_in_pieces(sim: RunningSim) -> None:
    with anthropic(sim) as client:
        whole = client.messages.create(model="m", max_tokens=99, messages=user(HELLO))
        with client.messages.stream(model="m", max_tokens=99, messages=user(HELLO)) as stream:
            pieces = list(stream.text_stream)
            streamed = stream.get_final_message()
    assert len(pieces) > 5
    assert "".join(pieces) == text_of(streamed) == text_of(whole) == HELLO
    assert streamed.usage.output_tokens == whole.usage.output_tokens
    assert streamed.usage.input_tokens == whole.usage.input_tokens
    assert streamed.stop_reason == "end_turn"


def test_max_tokens_ends_a_message(sim: RunningSim) -> None:
    with anthropic(sim) as client:
        answer = client.messages.create(model="m", max_tokens=3, messages=user(HELLO))
    assert (answer.stop_reason, text_of(answer)) == ("max_tokens", HELLO[:12])


def test_a_tool_is_used_whole_and_as_a_stream_and_its_result_put_into_words(sim: RunningSim) -> None:
    asked: Any = {"model": "m", "max_tokens": 99, "tools": [ADD], "tool_choice": {"type": "any"}}
    with anthropic(sim) as client:
        first = client.messages.create(messages=user("What is 2 + 3?"), **asked)
        with client.messages.stream(messages=user("What is 2 + 3?"), **asked) as stream:
            streamed = stream.get_final_message()
        block = first.content[0]
        assert block.type == "tool_use"
        result: Any = {"type": "tool_result", "tool_use_id": block.id, "content": "5 it is"}
        talk: Any = [
            *user("What is 2 + 3?"),
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        last = client.messages.create(messages=talk, **asked)
    for each in (first, streamed):
        call: Any = each.content[0]
        assert (each.stop_reason, call.name, call.input) == ("tool_use", "add", {"a": 5, "b": 5})
    assert text_of(last) == "5 it is"


def test_a_type_is_parsed_from_what_it_says(sim: RunningSim) -> None:
    with anthropic(sim) as client:
        answer = client.messages.parse(
            model="m", max_tokens=99, messages=user("What is 2 * 21?"), output_format=Verdict
        )
    assert answer.parsed_output is not None
    assert (answer.parsed_output.reason, answer.parsed_output.score) == ("42", 42)


def test_tokens_are_counted_as_messages_count_them_and_for_nothing(sim: RunningSim) -> None:
    before = sim.stats().arrived
    with anthropic(sim) as client:
        counted = client.messages.count_tokens(
            model="m", messages=user(HELLO), tools=[ADD], system="Be brief."
        )
        assert sim.stats().arrived == before
        answer = client.messages.create(
            model="m", max_tokens=9, messages=user(HELLO), tools=[ADD], system="Be brief."
        )
    assert counted.input_tokens == answer.usage.input_tokens


def test_models_are_listed_and_found() -> None:
    with served(models=["alpha", "beta"]) as sim, anthropic(sim) as client:
        assert [model.id for model in client.models.list()] == ["alpha", "beta"]
        assert client.models.retrieve("beta").display_name == "beta (simulated)"
        with pytest.raises(sdk.NotFoundError):
            client.models.retrieve("gamma")


def test_the_async_client_is_served_as_many_at_once_as_it_asks(sim: RunningSim) -> None:
    async def all_at_once() -> list[str]:
        async with async_anthropic(sim) as client:
            answers = await asyncio.gather(
                *(
                    client.messages.create(model="m", max_tokens=9, messages=user(f"What is {n} + 1?"))
                    for n in range(50)
                )
            )
            async with client.messages.stream(model="m", max_tokens=99, messages=user(HELLO)) as stream:
                assert "".join([piece async for piece in stream.text_stream]) == HELLO
        return [text_of(answer) for answer in answers]

    assert asyncio.run(all_at_once()) == [str(n + 1) for n in range(50)]


def test_the_cache_is_written_and_read_where_it_is_asked_for(sim: RunningSim) -> None:
    def used(name: str, question: str, *, cache: bool) -> sdk.types.Usage:
        long: Any = {"type": "text", "text": f"a long instruction of {name} " * 400}
        if cache:
            long["cache_control"] = {"type": "ephemeral"}
        with anthropic(sim) as client:
            return client.messages.create(
                model="m", max_tokens=9, system=[long], messages=user(question)
            ).usage

    plain = [used("one", question, cache=False) for question in ("a", "b")]
    assert {(each.cache_read_input_tokens, each.cache_creation_input_tokens) for each in plain} == {(0, 0)}
    first, second = (used("two", question, cache=True) for question in ("a", "b"))
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    assert (first.cache_creation_input_tokens or 0) > 1024
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert total(first) == total(second)


def total(usage: sdk.types.Usage) -> int:
    cached = (usage.cache_read_input_tokens or 0) + (usage.cache_creation_input_tokens or 0)
    return usage.input_tokens + cached


# ---- refusals ----


def refusal(error: sdk.APIStatusError) -> dict[str, Any]:
    assert isinstance(error.body, dict)
    assert error.body["type"] == "error"
    found = error.body["error"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("fields", "words", "code"),
    [
        ({"rpm": 1, "headers": "anthropic"}, "rate limit of 1 requests per minute", None),
        ({"tpm": 60}, "rate limit tokens per minute", None),
        ({"ramp": {"above": 1}}, "grown too quickly", "ramp_limit_exceeded"),
        ({"quota": {"requests": 1}}, "usage limit", "enforced_spend_limit_reached"),
        ({"rpm": 1, "told": False}, "try again later", None),
    ],
)
def test_each_kind_of_429_is_told_in_its_own_words(fields: Any, words: str, code: str | None) -> None:
    with served(**fields) as sim, anthropic(sim) as client:
        client.messages.create(model="m", max_tokens=99, messages=user(HELLO))
        with pytest.raises(sdk.RateLimitError) as met:
            client.messages.create(model="m", max_tokens=99, messages=user(HELLO))
    told = refusal(met.value)
    assert told["type"] == "rate_limit_error"
    assert words in told["message"]
    assert told.get("details", {}).get("error_code") == code


@pytest.mark.parametrize(
    ("fields", "error", "kind"),
    [
        ({"keys": ["another"]}, sdk.AuthenticationError, "authentication_error"),
        ({"models": ["another"]}, sdk.NotFoundError, "not_found_error"),
        ({"overload": {"rate": 1, "status": 529}}, sdk.InternalServerError, "overloaded_error"),
        ({"outages": [{"at": 0, "until": 9, "status": 503}]}, sdk.InternalServerError, "overloaded_error"),
        ({"faults": {"error": 1}}, sdk.InternalServerError, "api_error"),
    ],
)
def test_other_refusals_are_the_errors_that_the_sdk_knows(fields: Any, error: Any, kind: str) -> None:
    with served(**fields) as sim, anthropic(sim) as client:
        with pytest.raises(error) as met:
            client.messages.create(model="m", max_tokens=99, messages=user(HELLO))
        with (
            pytest.raises(error),
            client.messages.stream(model="m", max_tokens=99, messages=user(HELLO)) as stream,
        ):
            stream.until_done()
    assert refusal(met.value)["type"] == kind
    assert met.value.request_id == "req_sim_00000001"


def test_a_key_that_is_not_accepted_counts_nothing_and_lists_nothing() -> None:
    with served(keys=["right"]) as sim:
        with anthropic(sim, "wrong") as client:
            for ask in (
                client.models.list,
                lambda: client.messages.count_tokens(model="m", messages=user("hi")),
            ):
                with pytest.raises(sdk.AuthenticationError, match="invalid x-api-key"):
                    ask()
        with anthropic(sim, "right") as client:
            assert client.messages.count_tokens(model="m", messages=user("hi")).input_tokens == 5
        assert sim.stats().refused == {"auth": 2}


def test_what_cannot_be_answered_is_a_bad_request(sim: RunningSim) -> None:
    wrong: list[Any] = [
        {"messages": []},
        {"messages": [{"role": "king", "content": "hm"}]},
        {"messages": user(HELLO), "tools": [{"name": "add"}]},
        {"messages": user(HELLO), "max_tokens": 0},
    ]
    with anthropic(sim) as client:
        for asked in wrong:
            with pytest.raises(sdk.BadRequestError) as met:
                client.messages.create(model="m", **{"max_tokens": 9, **asked})
            assert refusal(met.value)["type"] == "invalid_request_error"


def test_headers_tell_the_limits_and_when_they_are_whole_again() -> None:
    with served(rpm=6, tpm=60_000, headers="anthropic") as sim, anthropic(sim) as client:
        ask: Any = {"model": "m", "max_tokens": 9, "messages": user(HELLO)}
        headers = client.messages.with_raw_response.create(**ask).headers
        with pytest.raises(sdk.RateLimitError) as met:
            client.messages.create(**ask)
    name = "anthropic-ratelimit-requests"
    assert (headers[f"{name}-limit"], headers[f"{name}-remaining"]) == ("6", "5")
    assert headers["anthropic-ratelimit-tokens-limit"] == "60000"
    until = datetime.fromisoformat(headers[f"{name}-reset"])
    now = datetime.strptime(headers["date"], "%a, %d %b %Y %H:%M:%S %Z").astimezone(until.tzinfo)
    assert 0 <= (until.replace(tzinfo=None) - now.replace(tzinfo=None)).total_seconds() <= 12
    assert met.value.response.headers["retry-after"] == "10"
