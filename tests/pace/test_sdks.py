"""The official SDKs, unchanged, against a simulated provider with limits and faults: all is answered, once.

Real clients, real connections, real retries of the SDKs above those of the door. What the provider has seen
has to agree with what is on record.
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any, NamedTuple

import anthropic
import openai
import pytest

from paceline.pace.calls import Call, current_listener
from paceline.pace.desk import Desk
from paceline.pace.door import Door
from paceline.pace.messages import Limits
from paceline.pace.retrying import Patience
from paceline.pace.transport import install
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

CALLS = 16
KEY = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
GPT, CLAUDE = "gpt-5.4-mini", "claude-haiku-5-5"

LIMITS: dict[str, Any] = {
    "in_flight": 8,
    "latency": {"mean": 0.02, "sigma": 0.3},
    "overload": {"rate": 0.1, "status": 529},
    "refusal_seconds": 0.005,
    "seed": 7,
}
FAULTS: dict[str, Any] = {
    **LIMITS,
    "faults": {
        "error": 0.08,
        "reset": 0.08,
        "truncate": 0.05,
        "stream_error": 0.08,
        "slow": 0.05,
        "slow_seconds": 0.1,
    },
}


class Kept:
    """A listener that keeps the calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.live = 0
        self._guard = threading.Lock()

    def begun(self) -> None:
        with self._guard:
            self.live += 1

    def waiting(self) -> None:
        pass

    def going(self) -> None:
        pass

    def ended(self, call: Call | None) -> None:
        with self._guard:
            self.live -= 1
            if call is not None:
                self.calls.append(call)


class World(NamedTuple):
    """A provider, a door, and who listens."""

    sim: RunningSim
    kept: Kept
    desk: Desk


@contextmanager
def world(**scenario: Any) -> Iterator[World]:
    kept = Kept()
    # How fast to go is not what is asked here, so nothing is found out about it.
    desk = Desk(limits=Limits(window=8), adaptive=False, dice=random.Random(7))
    door = Door(desk, patience=Patience(base=0.02), dice=random.Random(7))
    token = current_listener.set(kept)
    try:
        with start_in_thread(Scenario.of(scenario)) as sim, install(door):
            yield World(sim, kept, desk)
    finally:
        current_listener.reset(token)
        desk.close()


def prompt(number: int) -> str:
    return f"What is {number} + {number}?"


# The ways to ask ----------------------------------------------------------------------------------

MESSAGES_OF: Callable[[int], Any] = lambda number: [{"role": "user", "content": prompt(number)}]  # noqa: E731


def chat(client: openai.OpenAI, number: int) -> str:
    said = client.chat.completions.create(model=GPT, messages=MESSAGES_OF(number))
    return said.choices[0].message.content or ""


def chat_streamed(client: openai.OpenAI, number: int) -> str:
    options: Any = {"include_usage": True}
    pieces = client.chat.completions.create(
        model=GPT, messages=MESSAGES_OF(number), stream=True, stream_options=options
    )
    return "".join(piece.choices[0].delta.content or "" for piece in pieces if piece.choices)


def responses(client: openai.OpenAI, number: int) -> str:
    return client.responses.create(model=GPT, input=prompt(number)).output_text


def responses_streamed(client: openai.OpenAI, number: int) -> str:
    with client.responses.stream(model=GPT, input=prompt(number)) as stream:
        return stream.get_final_response().output_text


def messages(client: anthropic.Anthropic, number: int) -> str:
    said = client.messages.create(model=CLAUDE, max_tokens=64, messages=MESSAGES_OF(number))
    return "".join(block.text for block in said.content if block.type == "text")


def messages_streamed(client: anthropic.Anthropic, number: int) -> str:
    with client.messages.stream(model=CLAUDE, max_tokens=64, messages=MESSAGES_OF(number)) as stream:
        return stream.get_final_text()


async def chat_async(client: openai.AsyncOpenAI, number: int) -> str:
    said = await client.chat.completions.create(model=GPT, messages=MESSAGES_OF(number))
    return said.choices[0].message.content or ""


async def chat_streamed_async(client: openai.AsyncOpenAI, number: int) -> str:
    options: Any = {"include_usage": True}
    pieces = await client.chat.completions.create(
        model=GPT, messages=MESSAGES_OF(number), stream=True, stream_options=options
    )
    return "".join([piece.choices[0].delta.content or "" async for piece in pieces if piece.choices])


async def responses_async(client: openai.AsyncOpenAI, number: int) -> str:
    return (await client.responses.create(model=GPT, input=prompt(number))).output_text


async def responses_streamed_async(client: openai.AsyncOpenAI, number: int) -> str:
    async with client.responses.stream(model=GPT, input=prompt(number)) as stream:
        return (await stream.get_final_response()).output_text


async def messages_async(client: anthropic.AsyncAnthropic, number: int) -> str:
    said = await client.messages.create(model=CLAUDE, max_tokens=64, messages=MESSAGES_OF(number))
    return "".join(block.text for block in said.content if block.type == "text")


async def messages_streamed_async(client: anthropic.AsyncAnthropic, number: int) -> str:
    async with client.messages.stream(model=CLAUDE, max_tokens=64, messages=MESSAGES_OF(number)) as stream:
        return await stream.get_final_text()


def on_threads(ask: Callable[[Any, int], str], url: str) -> list[str]:
    """All questions, ten at a time."""
    kind: Any = anthropic.Anthropic if ask.__name__.startswith("messages") else openai.OpenAI
    base = url if kind is anthropic.Anthropic else f"{url}/v1"
    with kind(api_key=KEY, base_url=base) as client, ThreadPoolExecutor(10) as pool:
        jobs = [pool.submit(copy_context().run, ask, client, number) for number in range(CALLS)]
        return [job.result() for job in jobs]


def on_a_loop(ask: Callable[[Any, int], Any], url: str, *, calls: int = CALLS) -> list[str]:
    """All questions at once."""
    kind: Any = anthropic.AsyncAnthropic if ask.__name__.startswith("messages") else openai.AsyncOpenAI
    base = url if kind is anthropic.AsyncAnthropic else f"{url}/v1"

    async def main() -> list[str]:
        async with kind(api_key=KEY, base_url=base) as client:
            return list(await asyncio.gather(*(ask(client, number) for number in range(calls))))

    return asyncio.run(main())


WAYS: list[tuple[Callable[..., list[str]], Callable[[Any, int], Any]]] = [
    *((on_threads, ask) for ask in (chat, chat_streamed, responses, responses_streamed)),
    *((on_threads, ask) for ask in (messages, messages_streamed)),
    *((on_a_loop, ask) for ask in (chat_async, chat_streamed_async, responses_async)),
    *((on_a_loop, ask) for ask in (responses_streamed_async, messages_async, messages_streamed_async)),
]
EVERY_WAY = pytest.mark.parametrize(("run", "ask"), WAYS, ids=[ask.__name__ for _, ask in WAYS])


# All is answered, once ----------------------------------------------------------------------------


@pytest.mark.slow
@EVERY_WAY
def test_under_limits_and_overload_every_question_is_answered_once_and_all_is_on_record(
    run: Callable[..., list[str]], ask: Callable[[Any, int], Any]
) -> None:
    with world(**LIMITS) as (sim, kept, desk):
        said = run(ask, sim.url)
        seen = sim.stats()
    assert [str(2 * number) in text for number, text in enumerate(said)] == [True] * CALLS
    assert (seen.answered, seen.prompts.different, seen.prompts.answered_twice) == (CALLS, CALLS, 0)
    assert seen.refused, "there were refusals"
    # What it has seen is what is on record.
    assert [call.outcome for call in kept.calls] == ["ok"] * CALLS
    assert sum(call.tries for call in kept.calls) == seen.arrived
    assert sum(call.usage.input or 0 for call in kept.calls if call.usage) == seen.tokens.input
    assert sum(call.usage.output or 0 for call in kept.calls if call.usage) == seen.tokens.output
    assert all(call.price for call in kept.calls)
    assert all(call.simulated for call in kept.calls)
    assert len({call.request for call in kept.calls}) == CALLS
    assert kept.live == 0
    assert all((facts.in_flight, facts.waiting) == (0, 0) for facts in desk.facts())
    streamed = "streamed" in ask.__name__
    assert all((call.first_token is not None) == streamed == call.streamed for call in kept.calls)


@pytest.mark.slow
@pytest.mark.parametrize("ask", [chat_async, messages_streamed_async], ids=["openai", "anthropic"])
def test_a_rejected_call_waits_as_long_as_it_is_told_to_and_is_answered(
    ask: Callable[[Any, int], Any],
) -> None:
    with world(rpm=60, latency=0.01) as (sim, kept, _):
        said = on_a_loop(ask, sim.url, calls=3)
        seen = sim.stats()
    assert [str(2 * number) in text for number, text in enumerate(said)] == [True] * 3
    assert seen.refused["requests"] == seen.refused_by_status["429"] >= 1
    assert sum(call.tries for call in kept.calls) == seen.arrived <= 6
    assert sum(call.waited for call in kept.calls) > 0.9
    assert all(call.seconds < 0.9 for call in kept.calls)


@pytest.mark.slow
@EVERY_WAY
def test_under_faults_of_every_kind_every_question_is_answered(
    run: Callable[..., list[str]], ask: Callable[[Any, int], Any]
) -> None:
    with world(**FAULTS) as (sim, kept, desk):
        said = retried(run, ask, sim.url)
        seen = sim.stats()
    assert [str(2 * number) in text for number, text in enumerate(said)] == [True] * CALLS
    assert sum(seen.faults.values()) > 0
    assert seen.prompts.answered_twice == 0
    assert sum(call.tries for call in kept.calls) == seen.arrived
    assert kept.live == 0
    assert all((facts.in_flight, facts.waiting) == (0, 0) for facts in desk.facts())


def retried(run: Callable[..., list[str]], ask: Callable[[Any, int], Any], url: str) -> list[str]:
    """With a caller that asks again where a stream breaks off in its midst: nobody below can do that."""
    import httpx2

    broken = (openai.APIError, anthropic.APIError, httpx2.TransportError, RuntimeError)

    def again(client: Any, number: int) -> str:
        while True:
            try:
                return str(ask(client, number))
            except broken:
                assert "streamed" in ask.__name__

    async def again_async(client: Any, number: int) -> str:
        while True:
            try:
                return str(await ask(client, number))
            except broken:
                assert "streamed" in ask.__name__

    wrapped: Any = again if run is on_threads else again_async
    wrapped.__name__ = ask.__name__
    return run(wrapped, url)


# Tools --------------------------------------------------------------------------------------------

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
RULES = {"rules": [{"when": "weather in (\\w+)", "call": "weather", "arguments": {"city": "Lima"}}]}


def test_tools_are_called_through_the_door() -> None:
    tool: Any = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}
    other: Any = {"name": "weather", "input_schema": PARAMETERS}
    asked: Any = [{"role": "user", "content": "What is the weather in Lima?"}]
    with (
        world(answers=RULES, **LIMITS) as (sim, kept, _),
        openai.OpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as chats,
        anthropic.Anthropic(api_key=KEY, base_url=sim.url) as claude,
    ):
        said = chats.chat.completions.create(model=GPT, messages=asked, tools=[tool])
        (call,) = said.choices[0].message.tool_calls or []
        assert call.type == "function"
        assert json.loads(call.function.arguments) == {"city": "Lima"}
        block = next(
            block
            for block in claude.messages.create(
                model=CLAUDE, max_tokens=99, messages=asked, tools=[other]
            ).content
            if block.type == "tool_use"
        )
        assert block.input == {"city": "Lima"}
    assert [call.outcome for call in kept.calls] == ["ok", "ok"]


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_refused_key_is_asked_about_once_and_told_to_everybody(kind: str) -> None:
    with world(keys=["sk-the-right-one"]) as (sim, kept, _):
        if kind == "openai":
            client: Any = openai.OpenAI(api_key=KEY, base_url=f"{sim.url}/v1")
            ask, error = chat, openai.AuthenticationError
        else:
            client = anthropic.Anthropic(api_key=KEY, base_url=sim.url)
            ask, error = messages, anthropic.AuthenticationError  # type: ignore[assignment]
        with client:
            for number in range(5):
                with pytest.raises(error) as raised:
                    ask(client, number)
                assert KEY not in str(raised.value)
        assert sum(sim.stats().refused_by_status.values()) == 1
    assert [(call.outcome, call.tries) for call in kept.calls] == [("fatal", 1)] + [("fatal", 0)] * 4


def test_spent_money_is_asked_about_once_and_the_sdk_does_not_ask_again() -> None:
    with (
        world(quota={"requests": 3}, latency=0.01) as (sim, kept, _),
        openai.OpenAI(api_key=KEY, base_url=f"{sim.url}/v1") as client,
    ):
        for number in range(3):
            chat(client, number)
        for number in range(3, 6):
            with pytest.raises(openai.RateLimitError) as raised:
                chat(client, number)
            assert raised.value.code == "insufficient_quota"
        assert sim.stats().refused == {"quota": 1}
    assert [call.cause for call in kept.calls[3:]] == ["quota"] * 3


def test_what_no_try_could_mend_is_raised_once_and_not_tried_again_by_the_sdk() -> None:
    with (
        world(overload={"rate": 1.0, "status": 503}) as (sim, kept, _),
        openai.OpenAI(api_key=KEY, base_url=f"{sim.url}/v1", max_retries=2) as client,
    ):
        with pytest.raises(openai.InternalServerError):
            chat(client, 1)
        assert sim.stats().arrived == 6, "the door's tries, and none of the SDK's"
    assert [(call.outcome, call.tries) for call in kept.calls] == [("overloaded", 6)]


def test_an_sdk_that_asks_again_after_an_exception_sends_nothing_more() -> None:
    with world() as (sim, kept, _):
        url = sim.url
        sim.stop()
        with (
            openai.OpenAI(api_key=KEY, base_url=f"{url}/v1", max_retries=1) as client,
            pytest.raises(openai.APIConnectionError),
        ):
            chat(client, 1)
    assert [(call.outcome, call.tries) for call in kept.calls] == [("transient", 6)]
