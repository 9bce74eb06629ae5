"""The official SDKs against the simulated provider: every API, through our adapters, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from paceline.models import Answer, Image, System, Text, ToolResult, User, close_clients, model
from paceline.sim import Scenario, start_in_thread
from paceline.sim.server import RunningSim

APIS = ("openai:gpt-5.4-mini", "openai-responses:gpt-5.4-mini", "anthropic:claude-haiku-5-5", "compatible")
SEARCH = {
    "name": "search",
    "description": "Looks things up.",
    "parameters": {
        "type": "object",
        "properties": {"q": {"type": "string"}},
        "required": ["q"],
        "additionalProperties": False,
    },
}
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def sim() -> Iterator[RunningSim]:
    scenario = {"latency": 0, "answers": {"rules": [{"when": "whisper (\\w+)", "reply": "…\\1"}]}}
    with start_in_thread(Scenario.of(scenario)) as running:
        yield running


@pytest.fixture(autouse=True)
def _led_there(sim: RunningSim, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{sim.url}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", sim.url)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "any")


def ask(api: str, sim: RunningSim, *what: Any, **options: Any) -> Answer:
    name = f"openai-compatible:llama@{sim.url}/v1" if api == "compatible" else api

    async def once() -> Answer:
        answer = await model(name).ask(*what, **options)
        await close_clients()
        return answer

    return asyncio.run(once())


@pytest.mark.parametrize("api", APIS)
def test_each_api_answers_with_text_tokens_and_a_mark(api: str, sim: RunningSim) -> None:
    answer = ask(api, sim, [System("You add."), User("What is 19 + 4?")])
    assert (answer.text, answer.stop, answer.simulated) == ("23", "end", True)
    assert answer.usage is not None
    assert answer.usage.input
    assert answer.usage.output == 1
    assert answer.model
    assert answer.request_id


@pytest.mark.parametrize("api", APIS)
def test_each_api_carries_a_tool_call_there_and_its_result_back(api: str, sim: RunningSim) -> None:
    asked = ask(api, sim, "Please search for it.", tools=[SEARCH], tool_choice="search")
    (call,) = asked.tool_calls
    assert (asked.stop, call.name) == ("tool_calls", "search")
    assert isinstance(call.arguments, dict)
    assert set(call.arguments) == {"q"}
    said = [
        User("Please search for it."),
        asked.as_message(),
        ToolResult(call_id=call.id, content="here it is"),
    ]
    assert ask(api, sim, said, tools=[SEARCH]).text == "here it is"


@pytest.mark.parametrize("api", APIS)
def test_each_api_gives_a_value_that_fits_a_schema(api: str, sim: RunningSim) -> None:
    parsed = ask(api, sim, "What is 2 + 2?", schema=SCHEMA).parsed
    assert set(parsed) == {"answer", "sure"}
    assert isinstance(parsed["sure"], bool)


@pytest.mark.parametrize("api", APIS)
def test_each_api_says_when_it_was_cut_off(api: str, sim: RunningSim) -> None:
    answer = ask(api, sim, "a long story " * 20, max_tokens=16)
    assert answer.stop == "length"


@pytest.mark.parametrize("api", APIS)
def test_pictures_and_text_go_together(api: str, sim: RunningSim) -> None:
    dot = "data:image/png;base64,iVBORw0KGgo="
    assert ask(api, sim, [User((Text("whisper cats"), Image(dot)))]).text == "…cats"


@pytest.mark.parametrize("api", APIS)
def test_a_conversation_of_several_turns_is_taken_as_it_is(api: str, sim: RunningSim) -> None:
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "hi"},
        {"role": "user", "content": "whisper dogs"},
    ]
    assert ask(api, sim, said).text == "…dogs"


@pytest.mark.parametrize("api", APIS[:3])
def test_errors_of_the_provider_are_those_of_the_sdk(api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with start_in_thread(Scenario.of({"latency": 0, "models": ["another"]})) as narrow:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{narrow.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", narrow.url)
        with pytest.raises(Exception, match=r"does not exist|not_found") as caught:
            ask(api, narrow, "hm")
        assert type(caught.value).__name__ == "NotFoundError"
        assert sum(narrow.stats().refused_by_status.values()) == 1  # it was asked once
