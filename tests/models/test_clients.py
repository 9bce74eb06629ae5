"""Clients: one for each place on each event loop, closed when their loop ends, wide enough for any window."""

from __future__ import annotations

import asyncio
import gc

import pytest

from paceline.models import clients, close_clients, model
from paceline.models.clients import Connection, client_for
from tests.models.loopback import Loopback, loopback, usual

ONE, OTHER = Connection("openai", "http://a", "k"), Connection("openai", "http://b", "k")


class Spied:
    """A client that tells when it is closed."""

    def __init__(self, connection: Connection, told: list[str]) -> None:
        self.connection = connection
        self.told = told

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.told.append(str(self.connection.base_url))


def test_calls_of_one_connection_share_a_client_and_others_do_not() -> None:
    async def work() -> None:
        made = [await client_for(place, lambda place: Spied(place, [])) for place in (ONE, OTHER, ONE)]
        assert made[0] is made[2]
        assert made[0] is not made[1]

    asyncio.run(work())


def test_every_loop_has_clients_of_its_own_which_it_closes_in_order_when_it_ends() -> None:
    told: list[str] = []
    seen = []

    async def work() -> None:
        seen.extend([await client_for(place, lambda place: Spied(place, told)) for place in (ONE, OTHER)])

    asyncio.run(work())
    assert told == ["http://a", "http://b"]
    asyncio.run(work())
    assert len(set(map(id, seen))) == 4
    assert clients._of_loops == {}  # nothing is kept of loops that are gone


def test_a_client_that_cannot_be_closed_does_not_keep_the_next_from_it() -> None:
    told: list[str] = []

    class Broken(Spied):
        async def close(self) -> None:
            raise OSError

    async def work() -> None:
        await client_for(ONE, lambda place: Broken(place, told))
        await client_for(OTHER, lambda place: Spied(place, told))

    asyncio.run(work())
    assert told == ["http://b"]


def test_clients_can_be_closed_before_their_loop_ends_and_are_made_anew() -> None:
    told: list[str] = []

    async def work() -> None:
        first = await client_for(ONE, lambda place: Spied(place, told))
        await close_clients()
        assert told == ["http://a"]
        assert await client_for(ONE, lambda place: Spied(place, told)) is not first
        await close_clients()
        await close_clients()

    asyncio.run(work())
    assert told == ["http://a", "http://a"]


async def ask_many(here: Loopback, calls: int) -> None:
    asked = model(f"openai-compatible:m@{here.url}/v1")
    await asyncio.gather(*(asked.ask("Hm?") for _ in range(calls)))
    await asyncio.gather(*(asked.ask("Hm?") for _ in range(calls)))


def test_connections_are_used_again_and_none_is_left_open() -> None:
    with loopback() as here:
        here.says(usual("openai"))
        asyncio.run(ask_many(here, 8))
        gc.collect()  # an open socket would warn here, and warnings are errors
        assert len(here.asked) == 16
        assert len({each.connection for each in here.asked}) <= 8


@pytest.mark.parametrize("written", ["openai:m", "anthropic:m"])
def test_a_client_has_more_connections_than_any_window(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from paceline.models.hosted import Hosted

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    asked = model(written)
    assert isinstance(asked, Hosted)
    client = asked.client(Connection("", None, "k"))
    pool = client._client._transport._pool  # type: ignore[attr-defined]  # nobody else tells
    assert pool._max_connections >= 1_000
    assert pool._max_keepalive_connections >= 1_000
    assert client.max_retries == 0  # type: ignore[attr-defined]  # both SDKs have it
    asyncio.run(client.close())
