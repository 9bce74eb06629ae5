"""Clients that are paced wherever they are used."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

import paceline
from paceline.errors import UsageError
from paceline.pace import clients
from paceline.pace.desk import Desk
from paceline.pace.door import Door
from paceline.pace.transport import install
from tests.models.loopback import CHAT, MESSAGE, Loopback, loopback
from tests.pace.trips import KEY

ASKED: dict[str, Any] = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hm?"}]}


@pytest.fixture
def here() -> Iterator[Loopback]:
    with loopback() as provider:
        provider.says(CHAT)
        yield provider


@pytest.fixture(autouse=True)
def _a_state_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path))
    yield
    clients._own_doors.close()


def own_doors() -> list[Door]:
    return list(clients._own_doors._doors.values())


def accepted(door: Door) -> int:
    return sum(facts.accepted for facts in door.desk.facts())


def test_outside_a_run_calls_go_through_a_door_of_their_own(here: Loopback) -> None:
    with paceline.paced_client() as client:
        assert isinstance(client, httpx2.Client)
        assert own_doors() == [], "nothing is opened before the first call"
        assert client.post(f"{here.url}/v1/chat/completions", json=ASKED).json() == CHAT
        client.get(here.url)
    (door,) = own_doors()
    assert accepted(door) == 1


@pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])
def test_any_kind_of_client_of_both_libraries_is_made(library: ModuleType, here: Loopback) -> None:
    async def main() -> Any:
        async with paceline.paced_client(library.AsyncClient, headers={"x-team": "evals"}) as client:
            assert type(client) is library.AsyncClient
            return (await client.post(f"{here.url}/v1/chat/completions", json=ASKED)).json()

    assert asyncio.run(main()) == CHAT
    with paceline.paced_client(library.Client) as client:
        assert client.post(f"{here.url}/v1/chat/completions", json=ASKED).json() == CHAT
    assert accepted(own_doors()[0]) == 2
    assert here.asked[0].headers["x-team"] == "evals"


def test_the_official_sdks_take_them(here: Loopback) -> None:
    with openai.OpenAI(api_key=KEY, base_url=f"{here.url}/v1", http_client=paceline.paced_client()) as chat:
        assert chat.chat.completions.create(**ASKED).choices[0].message.content == "Paris"
    here.answers[:] = [(200, MESSAGE)]
    with anthropic.Anthropic(api_key=KEY, base_url=here.url, http_client=paceline.paced_client()) as claude:
        said = claude.messages.create(
            model="claude-haiku-5-5", max_tokens=9, messages=[{"role": "user", "content": "hm?"}]
        )
    assert said.content[0].text == "Paris"  # type: ignore[union-attr]  # that is what was said

    async def main() -> None:
        for kind in (httpx2.AsyncClient, openai.DefaultAsyncHttpxClient):
            async with openai.AsyncOpenAI(
                api_key=KEY, base_url=f"{here.url}/v1", http_client=paceline.paced_client(kind)
            ) as client:
                here.answers[:] = [(200, CHAT)]
                await client.chat.completions.create(**ASKED)

    asyncio.run(main())
    assert accepted(own_doors()[0]) == 4


def test_within_a_run_they_go_through_its_door(here: Loopback) -> None:
    door = Door(Desk(adaptive=False))
    with paceline.paced_client(limits={"rpm": 600}) as client, install(door):
        client.post(f"{here.url}/v1/chat/completions", json=ASKED)
    assert own_doors() == []
    assert accepted(door) == 1


def test_their_limits_hold_and_those_with_the_same_share_a_door(here: Loopback) -> None:
    url = f"{here.url}/v1/chat/completions"
    for limits in ({"rpm": 600}, {"rpm": 600.0}, {"window": 3}):
        with paceline.paced_client(limits=limits) as client:
            client.post(url, json=ASKED)
    first, _second = own_doors()
    (facts,) = first.desk.facts()
    assert facts.rate is not None
    assert facts.rate <= 10


def test_their_own_hooks_and_options_stay(here: Loopback) -> None:
    seen: list[str] = []
    hooks = {"request": [lambda request: seen.append(request.method)]}
    with paceline.paced_client(httpx2.Client, event_hooks=hooks, timeout=7) as client:
        client.post(f"{here.url}/v1/chat/completions", json=ASKED)
        assert client.timeout == httpx2.Timeout(7)
    assert seen == ["POST"]
    with paceline.paced_client() as client:
        assert client.timeout == httpx2.Timeout(600, connect=5)


def test_a_client_that_is_gone_leaves_the_transports_as_they_were() -> None:
    gc.collect()
    plain = httpx2.HTTPTransport.handle_request
    client = paceline.paced_client()
    assert httpx2.HTTPTransport.handle_request is not plain
    client.close()
    del client
    gc.collect()
    assert httpx2.HTTPTransport.handle_request is plain


class Own(httpx2.BaseTransport):
    """A transport that nobody here knows."""


@pytest.mark.parametrize(
    ("kind", "options", "complaint"),
    [
        (dict, {}, "cannot make a <class 'dict'>"),
        (3, {}, "cannot make a 3"),
        (httpx2.Client, {"transport": Own()}, "calls over a Own cannot be paced"),
        (httpx2.Client, {"mounts": {"https://": Own()}}, "calls over a Own cannot be paced"),
        (httpx2.Client, {"limits": {"rpm": "many"}}, "cannot be read"),
        (httpx2.Client, {"limits": {"rpms": 3}}, "cannot be read"),
    ],
)
def test_what_cannot_be_paced_is_refused_with_the_remedy(
    kind: Any, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint) as refused:
        paceline.paced_client(kind, **options)
    assert refused.value.hint


def test_transports_of_the_library_itself_are_paced(here: Loopback) -> None:
    with paceline.paced_client(transport=httpx2.HTTPTransport(retries=1)) as client:
        client.post(f"{here.url}/v1/chat/completions", json=ASKED)
    assert accepted(own_doors()[0]) == 1


SCRIPT = """
import sys
import paceline
with paceline.paced_client() as client:
    for _ in range(3):
        client.post(sys.argv[1] + "/v1/chat/completions", json={"model": "gpt-5.4-mini", "messages": []})
"""


def test_a_script_ends_by_itself_and_keeps_what_it_learned(here: Loopback, tmp_path: Path) -> None:
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-X", "dev", "-c", SCRIPT, here.url],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (run.returncode, run.stderr) == (0, "")
    assert len(here.asked) == 6


# Calls of ours, whoever has made their clients -----------------------------------------------------


def test_within_paced_here_calls_of_any_client_go_through_a_door_of_their_own(here: Loopback) -> None:
    async def ask() -> None:
        async with httpx2.AsyncClient() as client:
            with clients.paced_here():
                await client.post(f"{here.url}/v1/chat/completions", json=ASKED)
            await client.post(f"{here.url}/v1/chat/completions", json=ASKED)

    asyncio.run(ask())
    (door,) = own_doors()
    assert accepted(door) == 1, "only the first of the two"


def test_calls_that_others_make_meanwhile_are_left_alone(here: Loopback) -> None:
    async def ask(client: httpx2.AsyncClient) -> None:
        await client.post(f"{here.url}/v1/chat/completions", json=ASKED)

    async def program() -> None:
        async with httpx2.AsyncClient() as client:
            others = asyncio.create_task(ask(client))
            with clients.paced_here():
                await ask(client)
                await others

    asyncio.run(program())
    (door,) = own_doors()
    assert accepted(door) == 1


def test_within_a_run_its_door_prevails_over_paced_here(here: Loopback) -> None:
    desk = Desk()
    door = Door(desk)

    async def ask() -> None:
        async with httpx2.AsyncClient() as client:
            with install(door), clients.paced_here():
                await client.post(f"{here.url}/v1/chat/completions", json=ASKED)

    asyncio.run(ask())
    assert own_doors() == []
    assert accepted(door) == 1
    desk.close()
