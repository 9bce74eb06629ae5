"""The adapters: the same question goes out in each provider's words, and the same answer comes back in ours.

With the real SDKs, against a provider on this machine.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from paceline.models import (
    Answer,
    AnswerNotJson,
    Assistant,
    Image,
    Model,
    System,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    User,
)
from tests.models.loopback import APIS, KEY, Loopback, calling, provider_of, saying, usual

EVERY_API = pytest.mark.parametrize("api", APIS)
PATHS = {"openai": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
SCHEMA = {
    "type": "object",
    "title": "a city",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
SEARCH = Tool(
    name="search",
    description="Look something up.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)


def ask(asked: Model, *what: Any, **options: Any) -> Answer:
    return asyncio.run(asked.ask(*what, **options))


def asked_once(
    api: str, shell: pytest.MonkeyPatch, answer: dict[str, Any], *what: Any, **options: Any
) -> tuple[Answer, Loopback]:
    with provider_of(api, shell) as (asked, here):
        here.says(answer)
        return ask(asked, *(what or ("Which is the capital of France?",)), **options), here


@EVERY_API
def test_an_answer_says_the_same_whatever_api_it_came_from(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, here = asked_once(api, monkeypatch, usual(api))
    assert (answer.text, answer.stop, answer.tool_calls, answer.parsed) == ("Paris", "end", (), None)
    assert answer.request_id == "req_1"
    assert answer.model == APIS[api][1]["model"]
    assert answer.usage is not None
    assert (answer.usage.input, answer.usage.output, answer.usage.cached) == (12, 5, 4)
    assert answer.raw.id == APIS[api][1]["id"]
    assert here.asked[-1].path == PATHS[api]
    assert KEY in str(here.asked[-1].headers)


@EVERY_API
def test_reasoning_tokens_are_told_where_the_provider_does(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, _ = asked_once(api, monkeypatch, usual(api))
    assert answer.usage is not None
    assert answer.usage.reasoning == (None if api == "anthropic" else 3)
    assert answer.usage.cache_write == (2 if api == "anthropic" else None)


@EVERY_API
def test_an_answer_without_usage_has_none_instead_of_zeros(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, _ = asked_once(api, monkeypatch, {**usual(api), "usage": None})
    assert answer.usage is None


@EVERY_API
def test_the_words_for_options_are_translated(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "reasoning": "low",
        "extra": {"service_tier": "flex"},
    }
    _, here = asked_once(api, monkeypatch, usual(api), "Hm?", tools=[SEARCH], **options)
    sent = here.body
    assert (sent["temperature"], sent["top_p"], sent["service_tier"]) == (0.5, 0.9, "flex")
    match api:
        case "openai":
            assert (sent["max_completion_tokens"], sent["reasoning_effort"]) == (100, "low")
            assert (sent["tool_choice"], sent["parallel_tool_calls"]) == ("required", False)
        case "openai-responses":
            assert (sent["max_output_tokens"], sent["reasoning"], sent["store"]) == (
                100,
                {"effort": "low"},
                False,
            )
            assert (sent["tool_choice"], sent["parallel_tool_calls"]) == ("required", False)
        case _:
            assert (sent["max_tokens"], sent["output_config"]) == (100, {"effort": "low"})
            assert sent["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}


@EVERY_API
def test_what_is_not_said_is_not_sent(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _, here = asked_once(api, monkeypatch, usual(api))
    always = {
        "openai": {"model", "messages"},
        "openai-responses": {"model", "input", "store"},
        "anthropic": {"model", "messages", "max_tokens"},
    }
    assert set(here.body) == always[api]


@pytest.mark.parametrize(
    ("api", "sent"),
    [
        ("openai", {"type": "function", "function": {"name": "search"}}),
        ("openai-responses", {"type": "function", "name": "search"}),
        ("anthropic", {"type": "tool", "name": "search"}),
    ],
)
def test_a_tool_that_has_to_be_called_is_named(
    api: str, sent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, here = asked_once(api, monkeypatch, usual(api), "Hm?", tools=[SEARCH], tool_choice="search")
    assert here.body["tool_choice"] == sent


@EVERY_API
def test_options_of_one_call_replace_those_of_the_model(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider_of(api, monkeypatch, temperature=1, top_p=0.5) as (asked, here):
        here.says(usual(api))
        ask(asked, "Hm?", temperature=0)
        assert (here.body["temperature"], here.body["top_p"]) == (0, 0.5)


@EVERY_API
def test_tools_are_described_and_their_calls_come_back_read(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, here = asked_once(
        api, monkeypatch, calling(api, "search", '{"query": "Paris"}'), "Hm?", tools=[SEARCH]
    )
    assert answer.tool_calls == (ToolCall(id="call_1", name="search", arguments={"query": "Paris"}),)
    assert (answer.text, answer.stop) == ("", "tool_calls")
    (tool,) = here.body["tools"]
    function = tool.get("function", tool)
    assert (function["name"], function["description"]) == ("search", "Look something up.")
    assert function.get("parameters", function.get("input_schema")) == SEARCH.parameters


@pytest.mark.parametrize("api", ["openai", "openai-responses"])
@pytest.mark.parametrize("written", ['{"query": ', "[1, 2]", "Paris"])
def test_arguments_that_are_no_object_come_back_as_they_were_written(
    api: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, _ = asked_once(api, monkeypatch, calling(api, "search", written), "Hm?", tools=[SEARCH])
    assert answer.tool_calls[0].arguments == written


CONVERSATION = [
    System("Be brief."),
    User("What is on this picture?"),
    User(
        (
            Text("And on this one?"),
            Image("data:image/png;base64,iVBORw0="),
            Image("https://example.org/a.png"),
        )
    ),
    Assistant("I will look it up.", (ToolCall(id="a", name="search", arguments={"query": "x"}),)),
    ToolResult(call_id="a", content="a cat"),
    Assistant("", (ToolCall(id="b", name="search", arguments="broken"),)),
    ToolResult(call_id="b", content="no such thing", is_error=True),
    User("So?"),
]


def test_a_conversation_in_the_words_of_chat_completions(monkeypatch: pytest.MonkeyPatch) -> None:
    _, here = asked_once("openai", monkeypatch, usual("openai"), CONVERSATION)
    call = {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"query":"x"}'}}
    broken = {"id": "b", "type": "function", "function": {"name": "search", "arguments": "broken"}}
    assert here.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "What is on this picture?"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "And on this one?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0="}},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
        {"role": "assistant", "content": "I will look it up.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": "a cat"},
        {"role": "assistant", "content": None, "tool_calls": [broken]},
        {"role": "tool", "tool_call_id": "b", "content": "no such thing"},
        {"role": "user", "content": "So?"},
    ]


def test_a_conversation_in_the_words_of_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    _, here = asked_once("openai-responses", monkeypatch, usual("openai-responses"), CONVERSATION)
    items = here.body["input"]
    assert [item.get("role", item.get("type")) for item in items] == [
        *("system", "user", "user", "assistant", "function_call", "function_call_output"),
        *("function_call", "function_call_output", "user"),
    ]
    assert items[2]["content"][1]["image_url"] == "data:image/png;base64,iVBORw0="
    assert items[4] == {
        "type": "function_call",
        "call_id": "a",
        "name": "search",
        "arguments": '{"query":"x"}',
    }
    assert items[5] == {"type": "function_call_output", "call_id": "a", "output": "a cat"}


def test_a_conversation_in_the_words_of_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    _, here = asked_once("anthropic", monkeypatch, usual("anthropic"), CONVERSATION)
    turns = here.body["messages"]
    assert here.body["system"] == "Be brief."
    assert [turn["role"] for turn in turns] == [
        "user",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "user",
    ]
    assert [part.get("source", part.get("text")) for part in turns[1]["content"]] == [
        "And on this one?",
        {"type": "base64", "media_type": "image/png", "data": "iVBORw0="},
        {"type": "url", "url": "https://example.org/a.png"},
    ]
    assert turns[2]["content"][1] == {
        "type": "tool_use",
        "id": "a",
        "name": "search",
        "input": {"query": "x"},
    }
    assert turns[3]["content"] == [{"type": "tool_result", "tool_use_id": "a", "content": "a cat"}]
    assert turns[5]["content"][0]["is_error"] is True


def test_results_of_tools_that_were_called_together_are_one_turn_for_anthropic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = tuple(ToolCall(id=name, name="search", arguments={}) for name in "ab")
    results = [ToolResult(call_id=name, content=name) for name in "ab"]
    _, here = asked_once(
        "anthropic", monkeypatch, usual("anthropic"), [User("?"), Assistant("", calls), *results]
    )
    (*_, last) = here.body["messages"]
    assert [block["tool_use_id"] for block in last["content"]] == ["a", "b"]


@EVERY_API
def test_an_answer_can_go_on_as_a_message(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider_of(api, monkeypatch) as (asked, here):
        here.says(calling(api, "search", '{"query": "Paris"}'))
        here.says(usual(api))
        first = ask(asked, "Hm?", tools=[SEARCH])
        result = ToolResult(call_id=first.tool_calls[0].id, content="a city")
        then = ask(asked, [User("Hm?"), first.as_message(), result], tools=[SEARCH])
    assert then.text == "Paris"


# Schemas


@EVERY_API
def test_an_answer_with_a_schema_is_read(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, here = asked_once(api, monkeypatch, saying(api, '{"city": "Paris"}'), "Hm?", schema=SCHEMA)
    assert answer.parsed == {"city": "Paris"}
    match api:
        case "openai":
            wanted = here.body["response_format"]["json_schema"]
            assert wanted == {"name": "a_city", "schema": SCHEMA, "strict": True}
        case "openai-responses":
            wanted = here.body["text"]["format"]
            assert wanted == {"type": "json_schema", "name": "a_city", "schema": SCHEMA, "strict": True}
        case _:
            assert here.body["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}


@EVERY_API
@pytest.mark.parametrize("said", ["The city is Paris.", "", '{"city": "Par'])
def test_an_answer_that_is_no_json_is_an_error_which_keeps_the_answer(
    api: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AnswerNotJson, match="did not answer in JSON") as caught:
        asked_once(api, monkeypatch, saying(api, said), "Hm?", schema=SCHEMA)
    assert caught.value.answer is not None
    assert caught.value.answer.text == said
    assert caught.value.answer.usage is not None


@pytest.mark.parametrize(
    ("api", "stop"),
    [("openai", "length"), ("openai-responses", "max_output_tokens"), ("anthropic", "max_tokens")],
)
def test_an_answer_that_was_cut_off_says_so(api: str, stop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, _ = asked_once(api, monkeypatch, saying(api, "Par", stop=stop))
    assert answer.stop == "length"
    with pytest.raises(AnswerNotJson, match="raise max_tokens"):
        asked_once(api, monkeypatch, saying(api, '{"city": "Par', stop=stop), "Hm?", schema=SCHEMA)


@EVERY_API
def test_a_model_that_wants_tools_called_first_has_no_json_yet(
    api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = calling(api, "search", "{}")
    answer, _ = asked_once(api, monkeypatch, said, "Hm?", tools=[SEARCH], schema=SCHEMA)
    assert answer.parsed is None
    assert len(answer.tool_calls) == 1


def test_anthropic_is_given_a_schema_that_it_can_enforce(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
    _, here = asked_once("anthropic", monkeypatch, saying("anthropic", "{}"), "Hm?", schema=loose)
    sent = here.body["output_config"]["format"]["schema"]
    assert sent["additionalProperties"] is False
    assert "minimum" not in sent["properties"]["n"]


def test_a_loose_schema_is_not_called_strict(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = {"type": "object", "properties": {"n": {"type": "integer"}}}
    _, here = asked_once("openai", monkeypatch, saying("openai", "{}"), "Hm?", schema=loose)
    assert here.body["response_format"]["json_schema"]["strict"] is False


# Refusals and errors


def test_a_refusal_is_told_apart_from_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    no = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "refusal": "No."}}
    answer, _ = asked_once("openai", monkeypatch, usual("openai", choices=[no]))
    assert (answer.text, answer.stop) == ("No.", "refusal")
    part = {"type": "refusal", "refusal": "No."}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    answer, _ = asked_once("openai-responses", monkeypatch, usual("openai-responses", output=[item]))
    assert (answer.text, answer.stop) == ("No.", "refusal")
    answer, _ = asked_once("anthropic", monkeypatch, saying("anthropic", "", stop="refusal"))
    assert answer.stop == "refusal"


@EVERY_API
@pytest.mark.parametrize(("status", "name"), [(429, "RateLimitError"), (500, "InternalServerError")])
def test_errors_of_the_sdk_pass_as_they_are_and_nothing_is_sent_twice(
    api: str, status: int, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider_of(api, monkeypatch) as (asked, here):
        here.says({"error": {"message": "later", "type": "x"}, "type": "error"}, status=status)
        with pytest.raises(Exception, match="later") as caught:
            ask(asked, "Hm?")
        assert type(caught.value).__name__ == name
        assert KEY not in f"{caught.value!r}{caught.value}"
        assert len(here.asked) == 1


def test_an_answer_without_a_choice_is_an_error_that_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="answered without a choice"):
        asked_once("openai", monkeypatch, usual("openai", choices=[]))
    failed = usual(
        "openai-responses", status="failed", error={"code": "server_error", "message": "oh"}, output=[]
    )
    with pytest.raises(ValueError, match="server_error: oh"):
        asked_once("openai-responses", monkeypatch, failed)


# Where calls go


def test_a_compatible_server_is_asked_at_its_address_without_the_key_of_openai(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from paceline.models import model

    with provider_of("openai", monkeypatch) as (_, here):
        here.says(usual("openai"))
        local = model(f"openai-compatible:llama-3@{here.url}/api/v1", max_tokens=9)
        assert ask(local, "Hm?").text == "Paris"
        assert here.asked[-1].path == "/api/v1/chat/completions"
        assert KEY not in str(here.asked[-1].headers)
        assert (here.body["model"], here.body["max_tokens"]) == ("llama-3", 9)
        monkeypatch.setenv("LOCAL_KEY", "local-secret")
        ask(model(f"openai-compatible:llama-3@{here.url}/v1", api_key_env="LOCAL_KEY"), "Hm?")
        assert here.asked[-1].headers["authorization"] == "Bearer local-secret"
        ask(model("openai-compatible:m", base_url=f"{here.url}/v1", headers={"X-Team": "evals"}), "Hm?")
        assert here.asked[-1].headers["x-team"] == "evals"


def test_the_responses_api_can_be_chosen_by_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    from paceline.models import model

    with provider_of("openai-responses", monkeypatch) as (_, here):
        here.says(usual("openai-responses"))
        assert ask(model("openai:gpt-5.4-mini", api="responses"), "Hm?").text == "Paris"
        assert here.asked[-1].path == "/v1/responses"
