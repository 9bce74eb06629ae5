"""OpenAI's own SDK at the simulated provider: what it parses, streams and raises."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any

import openai as sdk
import pytest
from pydantic import BaseModel

from paceline.sim import RunningSim
from tests.sim.served import HELLO, async_openai, openai, served, user

ADD: Any = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    },
}
ADD_FLAT: Any = {"type": "function", **ADD["function"]}


class Verdict(BaseModel):
    reason: str
    good: bool
    score: int


@pytest.fixture(scope="module")
def sim() -> Iterator[RunningSim]:
    with served() as sim:
        yield sim


# ---- chat completions ----


def test_a_chat_completion_has_text_usage_and_a_mark(sim: RunningSim) -> None:
    with openai(sim) as client:
        raw = client.chat.completions.with_raw_response.create(model="m", messages=user("What is 17 * 23?"))
    answer = raw.parse()
    assert (answer.choices[0].message.content, answer.choices[0].finish_reason) == ("391", "stop")
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.usage.completion_tokens == 1
    assert answer.model == "m"
    assert raw.headers["x-paceline-sim"] == "1"
    assert raw.headers["x-request-id"].startswith("req_sim_")
    assert answer.id.startswith("chatcmpl-sim-")


def test_a_stream_says_the_same_in_pieces_and_usage_where_it_is_asked_for(sim: RunningSim) -> None:
    with openai(sim) as client:
        whole = client.chat.completions.create(model="m", messages=user(HELLO))
        chunks = list(
            client.chat.completions.create(
                model="m", messages=user(HELLO), stream=True, stream_options={"include_usage": True}
            )
        )
    *spoken, last = chunks
    pieces = [chunk.choices[0].delta.content for chunk in spoken if chunk.choices[0].delta.content]
    assert len(pieces) > 5
    assert "".join(pieces) == whole.choices[0].message.content == HELLO
    assert [chunk.choices[0].finish_reason for chunk in spoken][-2:] == [None, "stop"]
    assert last.usage == whole.usage


def test_several_choices_are_given_and_paid_for(sim: RunningSim) -> None:
    with openai(sim) as client:
        one = client.chat.completions.create(model="m", messages=user(HELLO))
        three = client.chat.completions.create(model="m", messages=user(HELLO), n=3)
        streamed = client.chat.completions.create(model="m", messages=user(HELLO), n=2, stream=True)
        said = {0: "", 1: ""}
        for chunk in streamed:
            said[chunk.choices[0].index] += chunk.choices[0].delta.content or ""
    assert [choice.index for choice in three.choices] == [0, 1, 2]
    assert {choice.message.content for choice in three.choices} == {HELLO}
    assert one.usage is not None
    assert three.usage is not None
    assert three.usage.completion_tokens == 3 * one.usage.completion_tokens
    assert said == {0: HELLO, 1: HELLO}


def test_max_tokens_ends_an_answer(sim: RunningSim) -> None:
    with openai(sim) as client:
        for name in ("max_tokens", "max_completion_tokens"):
            limit: Any = {name: 3}
            answer = client.chat.completions.create(model="m", messages=user(HELLO), **limit)
            assert answer.choices[0].finish_reason == "length"
            assert answer.choices[0].message.content == HELLO[:12]


def test_a_tool_is_called_whole_and_as_a_stream(sim: RunningSim) -> None:
    asked: Any = {"model": "m", "messages": user("What is 2 + 3?"), "tools": [ADD], "tool_choice": "required"}
    with openai(sim) as client:
        answer = client.chat.completions.create(**asked)
        with client.chat.completions.stream(**asked) as stream:
            streamed = stream.get_final_completion()
    for each in (answer.choices[0], streamed.choices[0]):
        assert each.finish_reason == "tool_calls"
        assert each.message.tool_calls is not None
        call: Any = each.message.tool_calls[0]
        assert call.function.name == "add"
        assert json.loads(call.function.arguments) == {"a": 5, "b": 5}


def test_the_result_of_a_tool_is_put_into_words(sim: RunningSim) -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    talk: Any = [
        *user("add them"),
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "it is 5"},
    ]
    with openai(sim) as client:
        answer = client.chat.completions.create(model="m", messages=talk, tools=[ADD])
    assert answer.choices[0].message.content == "it is 5"


def test_a_type_is_parsed_from_what_it_says(sim: RunningSim) -> None:
    with openai(sim) as client:
        chat = client.chat.completions.parse(
            model="m", messages=user("What is 2 * 21?"), response_format=Verdict
        )
        response = client.responses.parse(model="m", input="What is 2 * 21?", text_format=Verdict)
    assert chat.choices[0].message.parsed == response.output_parsed
    assert response.output_parsed is not None
    assert (response.output_parsed.reason, response.output_parsed.score) == ("42", 42)


def test_json_that_is_asked_for_without_a_schema_is_json(sim: RunningSim) -> None:
    with openai(sim) as client:
        answer = client.chat.completions.create(
            model="m", messages=user("json, please"), response_format={"type": "json_object"}
        )
    assert json.loads(answer.choices[0].message.content or "") == {"answer": "json, please"}


# ---- responses ----


def test_a_response_has_text_and_usage(sim: RunningSim) -> None:
    with openai(sim) as client:
        response = client.responses.create(model="m", instructions="Be brief.", input="What is 17 * 23?")
    assert (response.output_text, response.status) == ("391", "completed")
    assert response.usage is not None
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_a_response_as_a_stream_ends_with_the_whole(sim: RunningSim) -> None:
    with openai(sim) as client:
        with client.responses.stream(model="m", input=HELLO) as stream:
            said = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
            whole = stream.get_final_response()
        cut = client.responses.create(model="m", input=HELLO, max_output_tokens=2)
    assert said == whole.output_text == HELLO
    assert (cut.status, cut.output_text) == ("incomplete", HELLO[:8])
    assert cut.incomplete_details is not None
    assert cut.incomplete_details.reason == "max_output_tokens"


def test_a_function_is_called_by_a_response_and_its_output_put_into_words(sim: RunningSim) -> None:
    with openai(sim) as client:
        first = client.responses.create(
            model="m",
            input="What is 2 + 3?",
            tools=[ADD_FLAT],
            tool_choice={"type": "function", "name": "add"},
        )
        with client.responses.stream(model="m", input="add these", tools=[ADD_FLAT]) as stream:
            streamed = stream.get_final_response()
        call: Any = first.output[0]
        talk: Any = [
            {"role": "user", "content": "What is 2 + 3?"},
            call.model_dump(),
            {"type": "function_call_output", "call_id": call.call_id, "output": "5 it is"},
        ]
        second = client.responses.create(model="m", input=talk, tools=[ADD_FLAT])
    assert (call.type, call.name, json.loads(call.arguments)) == ("function_call", "add", {"a": 5, "b": 5})
    assert streamed.output[0].type == "function_call"
    assert second.output_text == "5 it is"


# ---- embeddings and models ----


def test_like_texts_have_like_vectors(sim: RunningSim) -> None:
    texts = ["the cat sat on the mat", "the cat lay on the mat", "quarterly revenue grew by ten percent"]
    wishes: list[dict[str, Any]] = [{}, {"encoding_format": "float"}, {"dimensions": 256}]
    with openai(sim) as client:
        for more in wishes:
            data = client.embeddings.create(model="m", input=texts, **more).data
            cat, like, other = (each.embedding for each in data)
            assert len(cat) == more.get("dimensions", 32)
            assert product(cat, cat) == pytest.approx(1, abs=1e-5)
            assert product(cat, like) > product(cat, other)
        tokens = client.embeddings.create(model="m", input=[[1, 2, 3], [4]])
    assert len(tokens.data) == 2


def product(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_models_are_listed_and_found() -> None:
    with served(models=["alpha", "org/beta"]) as sim, openai(sim) as client:
        assert [model.id for model in client.models.list()] == ["alpha", "org/beta"]
        assert client.models.retrieve("org/beta").id == "org/beta"
        with pytest.raises(sdk.NotFoundError):
            client.models.retrieve("gamma")


# ---- async ----


def test_the_async_client_is_served_as_many_at_once_as_it_asks(sim: RunningSim) -> None:
    async def all_at_once() -> list[str | None]:
        async with async_openai(sim) as client:
            answers = await asyncio.gather(
                *(
                    client.chat.completions.create(model="m", messages=user(f"What is {n} + 1?"))
                    for n in range(50)
                )
            )
            stream = await client.chat.completions.create(model="m", messages=user(HELLO), stream=True)
            said = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert said == HELLO
        return [answer.choices[0].message.content for answer in answers]

    assert asyncio.run(all_at_once()) == [str(n + 1) for n in range(50)]


# ---- refusals ----


def refusal(error: sdk.APIStatusError) -> dict[str, Any]:
    assert isinstance(error.body, dict)
    return error.body


@pytest.mark.parametrize(
    ("fields", "kind", "code", "words"),
    [
        ({"rpm": 1}, "requests", "rate_limit_exceeded", "requests per min (RPM)"),
        ({"tpm": 60}, "tokens", "rate_limit_exceeded", "tokens per min (TPM)"),
        ({"ramp": {"above": 1}}, "requests", "slow_down", "grown too quickly"),
        ({"quota": {"requests": 1}}, "insufficient_quota", "insufficient_quota", "billing"),
        ({"rpm": 1, "told": False}, "rate_limit_error", "rate_limit_exceeded", "try again later"),
    ],
)
def test_each_kind_of_429_is_told_in_its_own_words(fields: Any, kind: str, code: str, words: str) -> None:
    with served(**fields) as sim, openai(sim) as client:
        client.chat.completions.create(model="m", messages=user(HELLO))
        with pytest.raises(sdk.RateLimitError) as met:
            client.chat.completions.create(model="m", messages=user(HELLO))
    assert refusal(met.value)["type"] == kind
    assert met.value.code == code
    assert words in met.value.message


def test_too_many_at_once_is_a_429_of_its_own() -> None:
    async def two(sim: RunningSim) -> list[object]:
        async with async_openai(sim) as client:
            calls = [client.responses.create(model="m", input=HELLO) for _ in range(2)]
            return await asyncio.gather(*calls, return_exceptions=True)

    with served(in_flight=1, latency=0.3) as sim:
        first, second = asyncio.run(two(sim))
        assert sim.stats().refused == {"concurrency": 1}
    (met,) = [each for each in (first, second) if isinstance(each, sdk.RateLimitError)]
    assert "in flight" in met.message


@pytest.mark.parametrize(
    ("fields", "error", "code"),
    [
        ({"keys": ["another"]}, sdk.AuthenticationError, "invalid_api_key"),
        ({"models": ["another"]}, sdk.NotFoundError, "model_not_found"),
        ({"overload": {"rate": 1}}, sdk.InternalServerError, "server_is_overloaded"),
        ({"overload": {"rate": 1, "status": 529}}, sdk.InternalServerError, "server_is_overloaded"),
        ({"outages": [{"at": 0, "until": 9, "status": 502}]}, sdk.InternalServerError, None),
        ({"outages": [{"at": 0, "until": 9, "status": 429}]}, sdk.RateLimitError, "rate_limit_exceeded"),
        ({"faults": {"error": 1}}, sdk.InternalServerError, None),
    ],
)
def test_other_refusals_are_the_errors_that_the_sdk_knows(fields: Any, error: Any, code: str | None) -> None:
    with served(**fields) as sim, openai(sim) as client:
        with pytest.raises(error) as met:
            client.chat.completions.create(model="m", messages=user(HELLO))
        with pytest.raises(error):
            client.responses.create(model="m", input=HELLO, stream=True)
    assert met.value.code == code
    assert met.value.request_id == "req_sim_00000001"


@pytest.mark.parametrize(
    ("asked", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": user(HELLO), "n": 1000}, "n"),
        ({"messages": user(HELLO), "max_tokens": 0}, "max_tokens"),
        ({"messages": [{"role": "king", "content": "hm"}]}, "messages[0]"),
        ({"messages": user(HELLO), "tools": [{"type": "function", "function": {}}]}, "tools[0]"),
        ({"messages": user(HELLO), "response_format": {"type": "json_schema"}}, "response_format"),
    ],
)
def test_what_cannot_be_answered_is_a_bad_request_that_names_its_field(
    asked: Any, param: str, sim: RunningSim
) -> None:
    before = sim.stats()
    with openai(sim) as client, pytest.raises(sdk.BadRequestError) as met:
        client.chat.completions.create(model="m", **asked)
    assert met.value.param == param
    after = sim.stats()
    assert (after.invalid, after.arrived) == (before.invalid + 1, before.arrived)


def test_a_schema_that_is_none_is_a_bad_request(sim: RunningSim) -> None:
    form: Any = {
        "type": "json_schema",
        "json_schema": {"name": "x", "schema": {"type": "array", "minItems": "many"}},
    }
    with openai(sim) as client, pytest.raises(sdk.BadRequestError, match="Invalid schema"):
        client.chat.completions.create(model="m", messages=user(HELLO), response_format=form)


def test_headers_tell_the_limits_what_is_left_and_how_long_to_wait() -> None:
    with served(rpm=6, tpm=60_000, headers="openai") as sim, openai(sim) as client:
        headers = client.responses.with_raw_response.create(model="m", input=HELLO).headers
        with pytest.raises(sdk.RateLimitError) as met:
            client.responses.create(model="m", input=HELLO)
    assert (headers["x-ratelimit-limit-requests"], headers["x-ratelimit-limit-tokens"]) == ("6", "60000")
    assert headers["x-ratelimit-remaining-requests"] == "5"
    assert headers["x-ratelimit-reset-requests"] == "10s"
    refused = met.value.response.headers
    assert 9000 < int(refused["retry-after-ms"]) <= 10_000
    assert refused["retry-after"] == "10"
    assert refused["x-ratelimit-remaining-requests"] == "5"


def test_the_sdk_that_waits_as_it_is_told_is_let_in_again() -> None:
    with served(rpm=60) as sim, openai(sim, max_retries=3) as client:
        for _ in range(2):
            client.responses.create(model="m", input=HELLO)
        seen = sim.stats()
    assert (seen.answered, seen.refused) == (2, {"requests": 1})


def test_cached_tokens_are_those_that_were_said_before(sim: RunningSim) -> None:
    beginning = {"role": "system", "content": "a long instruction " * 400}
    with openai(sim) as client:

        def cached(question: str) -> tuple[int, int]:
            talk: Any = [beginning, *user(question)]
            usage = client.chat.completions.create(model="cache", messages=talk).usage
            assert usage is not None
            assert usage.prompt_tokens_details is not None
            return usage.prompt_tokens_details.cached_tokens or 0, usage.prompt_tokens

        assert cached("one")[0] == 0
        again, of = cached("two")
    assert again % 128 == 0
    assert 0.9 * of < again < of


def test_a_stream_begins_when_its_first_token_is_there_and_not_before() -> None:
    with served(latency={"mean": 0.4, "first_token": 0.5}) as sim, openai(sim) as client:
        begun = time.monotonic()
        stream = client.chat.completions.create(model="m", messages=user(HELLO), stream=True)
        arrived = [time.monotonic() - begun for _ in stream]
    assert arrived[0] >= 0.2
    assert arrived[-1] >= 0.4
    assert arrived[0] < arrived[len(arrived) // 2] < arrived[-1]
