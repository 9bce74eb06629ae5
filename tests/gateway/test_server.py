"""The real SDKs talk through the gateway, which knows whose each call is and what it has used."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from paceline.gateway.server import Gateway
from paceline.gateway.tickets import Allowance, Ticket
from paceline.pace.calls import Call
from paceline.pace.tape import Taped
from tests.gateway.stage import REAL_KEY, Ear, Recording, environ_of, gateway_to, simulated

TOOL: Any = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
ASKED: Any = [{"role": "user", "content": "What is 17 * 23?"}]


Clients = tuple[openai.AsyncOpenAI, anthropic.AsyncAnthropic]


@asynccontextmanager
async def through(gateway: Gateway, ticket: Ticket, **options: Any) -> AsyncIterator[Clients]:
    """Clients as a child would make them."""
    told = gateway.environment(ticket)
    async with (
        openai.AsyncOpenAI(
            base_url=told["OPENAI_BASE_URL"], api_key=told["OPENAI_API_KEY"], **options
        ) as one,
        anthropic.AsyncAnthropic(
            base_url=told["ANTHROPIC_BASE_URL"], api_key=told["ANTHROPIC_API_KEY"], **options
        ) as other,
    ):
        yield one, other


def test_both_sdks_are_answered_whole_and_streamed_and_each_call_is_heard_of() -> None:
    async def talk(environ: dict[str, str]) -> list[Call]:
        ear = Ear()
        async with gateway_to(environ) as gateway:
            with gateway.ticket(ear) as ticket:
                async with through(gateway, ticket) as (one, other):
                    chat = await one.chat.completions.create(model="m", messages=ASKED)
                    assert chat.choices[0].message.content == "391"
                    response = await one.responses.create(model="m", input="What is 17 * 23?")
                    assert response.output_text == "391"
                    message = await other.messages.create(model="m", max_tokens=99, messages=ASKED)
                    assert message.content[0].text == "391"  # type: ignore[union-attr]
                    text = ""
                    async for chunk in await one.chat.completions.create(
                        model="m", messages=ASKED, stream=True, stream_options={"include_usage": True}
                    ):
                        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
                    assert text == "391"
                    async with other.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream:
                        assert await stream.get_final_text() == "391"
        assert ear.live == 0
        assert ticket.calls == 5
        return ear.calls

    with simulated() as sim:
        calls = asyncio.run(talk(environ_of(sim)))
        assert sim.stats().answered == len(calls) == 5
    assert all(call.outcome == "ok" and call.usage and call.usage.input for call in calls)
    assert [call.streamed for call in calls] == [False, False, False, True, True]


def test_tools_pass_in_both_directions() -> None:
    rules = [{"when": "^List it", "call": "ls", "arguments": {"path": "."}}]

    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            with gateway.ticket() as ticket:
                async with through(gateway, ticket) as (one, other):
                    asked: Any = [{"role": "user", "content": "List it"}]
                    tools: Any = [{"type": "function", "function": {"name": "ls", "parameters": TOOL}}]
                    chat = await one.chat.completions.create(model="m", messages=asked, tools=tools)
                    called: Any = chat.choices[0].message.tool_calls
                    called = called[0]
                    assert json.loads(called.function.arguments) == {"path": "."}
                    message = await other.messages.create(
                        model="m", max_tokens=99, messages=asked, tools=[{"name": "ls", "input_schema": TOOL}]
                    )
                    assert message.content[-1].input == {"path": "."}  # type: ignore[union-attr]

    with simulated(answers={"rules": rules}) as sim:
        asyncio.run(talk(environ_of(sim)))


def test_refusals_are_mended_below_the_child() -> None:
    async def talk(environ: dict[str, str]) -> list[Call]:
        ear = Ear()
        async with gateway_to(environ) as gateway:
            with gateway.ticket(ear) as ticket:
                async with through(gateway, ticket, max_retries=0) as (one, _):
                    for _ in range(12):
                        await one.chat.completions.create(model="m", messages=ASKED)
        return ear.calls

    with simulated(faults={"error": 0.3, "reset": 0.2}, time_scale=50) as sim:
        calls = asyncio.run(talk(environ_of(sim)))
        assert sim.stats().answered == len(calls) == 12
    assert sum(call.tries for call in calls) > 12


def test_a_budget_ends_the_calls_of_its_attempt_and_of_no_other() -> None:
    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            with gateway.ticket(None, Allowance(calls=1)) as poor, gateway.ticket() as rich:
                async with through(gateway, poor) as (one, other):
                    await one.chat.completions.create(model="m", messages=ASKED)
                    with pytest.raises(openai.PermissionDeniedError, match="budget of 1 model calls"):
                        await one.chat.completions.create(model="m", messages=ASKED)
                    with pytest.raises(anthropic.PermissionDeniedError, match="budget of 1 model calls"):
                        await other.messages.create(model="m", max_tokens=9, messages=ASKED)
                async with through(gateway, rich) as (one, _):
                    await one.chat.completions.create(model="m", messages=ASKED)

    with simulated() as sim:
        asyncio.run(talk(environ_of(sim)))
        assert sim.stats().arrived == 2


def test_without_a_ticket_nobody_is_answered_and_nothing_is_asked() -> None:
    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            url = f"{gateway.url}/openai/v1"
            with gateway.ticket() as over:
                pass
            for key in ("sk-guess", REAL_KEY, over.token):
                async with openai.AsyncOpenAI(base_url=url, api_key=key) as client:
                    with pytest.raises(openai.AuthenticationError, match="none of an attempt"):
                        await client.chat.completions.create(model="m", messages=ASKED)

    with simulated() as sim:
        asyncio.run(talk(environ_of(sim)))
        assert sim.stats().arrived == 0


def test_a_provider_that_is_not_there_is_said_to_be_so() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"

    async def talk() -> None:
        environ = {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": REAL_KEY}
        async with gateway_to(environ) as gateway:
            with gateway.ticket() as ticket:
                # A path that is no model call, so that nothing below tries it again.
                told = gateway.environment(ticket)
                async with httpx2.AsyncClient() as client:
                    answer = await client.get(f"{told['OPENAI_BASE_URL']}/models")
                assert answer.status_code == 502
                assert "openai could not be reached" in answer.text

    asyncio.run(talk())


def test_the_first_piece_of_a_stream_passes_before_the_last_is_there() -> None:
    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            with gateway.ticket() as ticket:
                async with through(gateway, ticket) as (one, _):
                    stream = await one.chat.completions.create(model="m", messages=ASKED, stream=True)
                    await anext(aiter(stream))
                    assert sim.stats().in_flight == 1
                    await stream.close()

    with simulated(latency={"mean": 30.0, "first_token": 0.0}) as sim:
        asyncio.run(talk(environ_of(sim)))


class Disk:
    """A record that is slow: what is told to it is safe when the test says so."""

    def __init__(self) -> None:
        self.asked = 0
        self.is_safe = asyncio.Event()

    async def __call__(self) -> None:
        self.asked += 1
        await self.is_safe.wait()

    async def wait_asked(self) -> None:
        while not self.asked:
            await asyncio.sleep(0.001)


def test_an_answer_is_handed_over_when_it_is_on_record() -> None:
    async def talk(environ: dict[str, str]) -> None:
        disk, ear = Disk(), Recording()
        async with gateway_to(environ, on_record=disk) as gateway:
            with gateway.ticket(ear) as ticket:
                async with through(gateway, ticket) as (one, _):
                    asked = asyncio.ensure_future(one.chat.completions.create(model="m", messages=ASKED))
                    await disk.wait_asked()
                    assert [call.outcome for call in ear.calls] == ["ok"]
                    _done, waiting = await asyncio.wait([asked], timeout=0.05)
                    assert waiting
                    disk.is_safe.set()
                    assert (await asked).choices[0].message.content == "391"
        assert disk.asked == 1

    with simulated() as sim:
        asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 30))


def test_of_a_stream_only_the_end_waits_for_the_record() -> None:
    async def talk(environ: dict[str, str]) -> None:
        disk = Disk()
        async with gateway_to(environ, on_record=disk) as gateway:
            with gateway.ticket(Recording()) as ticket:
                async with through(gateway, ticket) as (_, other):
                    said: list[str] = []

                    async def listen() -> None:
                        stream = await other.messages.create(
                            model="m", max_tokens=99, messages=ASKED, stream=True
                        )
                        async for event in stream:
                            said.append(event.type)  # noqa: PERF401  # one after the other, as they come

                    listening = asyncio.ensure_future(listen())
                    await disk.wait_asked()
                    _done, waiting = await asyncio.wait([listening], timeout=0.05)
                    assert waiting
                    assert "content_block_delta" in said
                    assert "message_stop" not in said
                    disk.is_safe.set()
                    await listening
                    assert said[-1] == "message_stop"
        assert disk.asked == 1

    with simulated(latency={"mean": 0.2, "first_token": 0.0}) as sim:
        asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 30))


def test_nobody_waits_for_what_is_not_kept_or_is_on_record_already() -> None:
    async def talk(environ: dict[str, str]) -> None:
        disk, first = Disk(), Recording()
        disk.is_safe.set()
        async with gateway_to(environ, on_record=disk) as gateway:

            async def ask(ear: Ear) -> None:
                with gateway.ticket(ear) as ticket:
                    async with through(gateway, ticket) as (one, _):
                        await one.chat.completions.create(model="m", messages=ASKED)

            await ask(first)
            (call,) = first.calls
            assert call.bodies is not None
            assert disk.asked == 1
            await ask(Ear())
            again = Recording(Taped(request=call.request, began=0.0, ended=1.0, body=call.bodies.answered))
            await ask(again)
            assert [each.replayed for each in again.calls] == [True]
        assert disk.asked == 1

    with simulated() as sim:
        asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 30))


def test_a_stream_that_is_on_record_is_streamed_again() -> None:
    async def talk(environ: dict[str, str]) -> None:
        first = Recording()
        async with gateway_to(environ) as gateway:

            async def ask(ear: Ear) -> str:
                with gateway.ticket(ear) as ticket:
                    async with (
                        through(gateway, ticket) as (_, other),
                        other.messages.stream(model="m", max_tokens=99, messages=ASKED) as stream,
                    ):
                        return await stream.get_final_text()

            assert await ask(first) == "391"
            (call,) = first.calls
            assert call.bodies is not None
            again = Recording(
                Taped(
                    request=call.request,
                    began=0.0,
                    ended=1.0,
                    body=call.bodies.answered,
                    content_type=call.bodies.content_type,
                )
            )
            assert await ask(again) == "391"
            assert [each.replayed for each in again.calls] == [True]

    with simulated() as sim:
        asyncio.run(talk(environ_of(sim)))
        assert sim.stats().answered == 1


def test_a_child_that_goes_away_takes_its_call_with_it() -> None:
    async def talk(environ: dict[str, str]) -> None:
        ear = Ear()
        async with gateway_to(environ) as gateway:
            with gateway.ticket(ear) as ticket:
                async with through(gateway, ticket) as (one, _):
                    asked = asyncio.ensure_future(one.chat.completions.create(model="m", messages=ASKED))
                    while not sim.stats().in_flight:
                        await asyncio.sleep(0.01)
                    asked.cancel()
                    await asyncio.wait([asked])
                    await one.close()
                    while sim.stats().in_flight or ear.live:
                        await asyncio.sleep(0.01)
        assert [call.outcome for call in ear.calls] == ["cancelled"]

    with simulated(latency=600) as sim:
        asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 30))


async def told(gateway: Gateway, sent: bytes) -> bytes:
    """What comes back for these bytes, up to the end of its head."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(gateway.url.rpartition(":")[2]))
    writer.write(sent)
    try:
        return await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
    finally:
        writer.transport.abort()


def test_a_big_body_without_a_ticket_is_not_even_read() -> None:
    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            with gateway.ticket() as ticket:
                big = b"content-length: 50000000\r\n\r\n"
                for path in (b"/openai/v1/chat/completions", b"/pl-wrong/openai/v1/chat/completions"):
                    said = await told(gateway, b"POST " + path + b" HTTP/1.1\r\n" + big)
                    assert said.startswith(b"HTTP/1.1 413")
                asked = (
                    f"POST /{ticket.token}/openai/v1/chat/completions HTTP/1.1\r\nexpect: 100-continue\r\n"
                )
                assert (await told(gateway, asked.encode() + big)).startswith(b"HTTP/1.1 100")

    asyncio.run(talk({}))


def test_headers_that_are_no_text_stay_here() -> None:
    async def talk(environ: dict[str, str]) -> None:
        async with gateway_to(environ) as gateway:
            with gateway.ticket() as ticket:
                body = json.dumps({"model": "m", "messages": ASKED}).encode()
                for odd in (b"user-agent: \xff\xfe", b"openai-beta: a\x0bb", b"x-stainless-os: \xc3\xbc"):
                    said = await told(
                        gateway,
                        f"POST /{ticket.token}/openai/v1/chat/completions HTTP/1.1\r\n".encode()
                        + odd
                        + f"\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                        + body,
                    )
                    assert said.startswith(b"HTTP/1.1 200")

    with simulated() as sim:
        asyncio.run(talk(environ_of(sim)))


@pytest.mark.parametrize(
    "sent",
    [
        b"GARBAGE\r\n\r\n",
        b"POST /openai/v1/chat/completions HTTP/1.1\r\ncontent-length: 9\r\ncontent-length: 3\r\n\r\n",
        b"POST http://evil.example/v1/chat/completions HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"a" * 70_000 + b"\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\n\r\n",
    ],
)
def test_garbage_is_told_so_and_harms_nobody(sent: bytes) -> None:
    async def talk(environ: dict[str, str]) -> bytes:
        async with gateway_to(environ) as gateway:
            port = int(gateway.url.rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            answer = await reader.read(12)
            writer.close()
            with gateway.ticket() as ticket:
                async with through(gateway, ticket) as (one, _):
                    await one.chat.completions.create(model="m", messages=ASKED)
        return answer

    with simulated() as sim:
        answer = asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 30))
        assert sim.stats().arrived == 1
    assert answer.startswith(b"HTTP/1.1 4")
