"""Calls of the real SDKs are kept with their bodies, and answered again from them without being sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import anthropic
import openai
import pytest

from paceline.pace.calls import Call, current_listener
from paceline.pace.desk import Desk, installed
from paceline.pace.door import Door
from paceline.pace.tape import Normal, Tape, Taped
from paceline.pace.transport import install
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread


class Attempt:
    """Listens to the calls of one attempt, and keeps them."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.calls: list[Call] = []

    def begun(self) -> None:
        pass

    def waiting(self) -> None:
        pass

    def going(self) -> None:
        pass

    def ended(self, call: Call | None) -> None:
        if call is not None:
            self.calls.append(call)

    @property
    def kept(self) -> list[Taped]:
        """What another attempt is answered from."""
        return [
            Taped(
                request=call.request,
                began=call.at,
                ended=call.at,
                ordinal=number,
                content_type=call.bodies.content_type,
                simulated=call.simulated,
                body=call.bodies.answered,
            )
            for number, call in enumerate(self.calls)
            if call.bodies is not None
        ]


Talk = Callable[[str], Coroutine[Any, Any, Any]]


async def chat(url: str) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
        answer = await client.chat.completions.create(model="m", messages=ASKED)
        return answer.choices[0].message.content, answer.usage


async def chat_in_pieces(url: str) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
        stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])


async def response(url: str) -> Any:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
        return (await client.responses.create(model="m", input="What is 17 * 23?")).output_text


async def message(url: str) -> Any:
    async with anthropic.AsyncAnthropic(base_url=url, api_key="k") as client:
        answer = await client.messages.create(model="m", max_tokens=99, messages=ASKED)
        return answer.content, answer.usage


async def message_in_pieces(url: str) -> Any:
    async with (
        anthropic.AsyncAnthropic(base_url=url, api_key="k") as client,
        client.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream,
    ):
        return await stream.get_final_text()


async def on_a_thread(url: str) -> Any:
    def ask() -> Any:
        with openai.OpenAI(base_url=f"{url}/v1", api_key="k") as client:
            return client.chat.completions.create(model="m", messages=ASKED).choices[0].message.content

    return await asyncio.to_thread(ask)


ASKED: Any = [{"role": "user", "content": "What is 17 * 23?"}]
TALKS = [chat, chat_in_pieces, response, message, message_in_pieces, on_a_thread]


def attempted(talk: Talk, url: str, tape: Tape) -> tuple[Any, Attempt]:
    attempt = Attempt(tape)

    async def within() -> Any:
        current_listener.set(attempt)
        return await talk(url)

    desk = Desk()
    try:
        with installed(desk), install(Door(desk)):
            return asyncio.run(within()), attempt
    finally:
        desk.close()


def simulated(**scenario: Any) -> RunningSim:
    return start_in_thread(Scenario.of({"latency": 0, **scenario}))


@pytest.mark.parametrize("talk", TALKS)
def test_what_was_answered_is_answered_again_without_being_asked(talk: Talk) -> None:
    with simulated() as sim:
        said, first = attempted(talk, sim.url, Tape())
        again, second = attempted(talk, sim.url, Tape(first.kept))
        assert sim.stats().arrived == 1
    assert again == said
    (made,), (played,) = first.calls, second.calls
    assert (made.replayed, played.replayed) == (False, True)
    assert played.usage == made.usage
    assert played.simulated
    assert (played.tries, played.waited) == (0, 0.0)
    assert played.bodies == made.bodies


def test_bodies_are_those_of_the_wire_unpacked() -> None:
    with simulated() as sim:
        _, attempt = attempted(chat, sim.url, Tape())
    (call,) = attempt.calls
    assert call.bodies is not None
    assert b'"What is 17 * 23?"' in call.bodies.asked
    assert b'"391"' in call.bodies.answered
    assert call.bodies.path == "/v1/chat/completions"


def test_nothing_is_kept_where_nobody_keeps() -> None:
    class Ear(Attempt):
        def __init__(self) -> None:
            self.calls = []

    ear = Ear()

    async def within(url: str) -> None:
        current_listener.set(ear)
        await chat(url)

    desk = Desk()
    with simulated() as sim, installed(desk), install(Door(desk)):
        asyncio.run(within(sim.url))
    desk.close()
    assert ear.calls[0].bodies is None


def test_what_went_wrong_or_was_cut_short_is_not_kept() -> None:
    async def refused(url: str) -> None:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
            with pytest.raises(openai.BadRequestError):
                await client.chat.completions.create(model="m", messages=[])

    async def cut(url: str) -> None:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
            stream = await client.chat.completions.create(model="m", messages=ASKED, stream=True)
            await anext(aiter(stream))
            await stream.close()

    for talk, scenario in ((refused, {}), (cut, {"latency": 5, "time_scale": 10})):
        with simulated(**scenario) as sim:
            _, attempt = attempted(talk, sim.url, Tape())
        assert [call.bodies for call in attempt.calls] == [None]


def test_where_only_the_record_may_answer_the_sdk_is_told_what_is_not_there() -> None:
    async def other(url: str) -> None:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
            with pytest.raises(openai.BadRequestError, match="call 1 is not the one on record"):
                await client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": "something else"}]
                )

    with simulated() as sim:
        _, first = attempted(chat, sim.url, Tape())
        _, second = attempted(other, sim.url, Tape(first.kept, closed=True))
        assert sim.stats().arrived == 1
    assert [call.outcome for call in second.calls] == ["fatal"]


def test_what_is_new_each_time_can_be_passed_over() -> None:
    def asking(stamp: str) -> Talk:
        async def ask(url: str) -> None:
            async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="k") as client:
                told: Any = [{"role": "user", "content": f"It is {stamp}. What is 1 + 1?"}]
                await client.chat.completions.create(model="m", messages=told)

        return ask

    normal = Normal([r"\d\d:\d\d"])
    with simulated() as sim:
        _, first = attempted(asking("09:17"), sim.url, Tape(normal=normal))
        attempted(asking("11:42"), sim.url, Tape(first.kept, normal=normal))
        assert sim.stats().arrived == 1
        attempted(asking("11:42"), sim.url, Tape(first.kept))
        assert sim.stats().arrived == 2
