"""Carrying a call out: threads and coroutines do the same, and whoever gives up leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from paceline.pace.hands import at_once
from paceline.pace.messages import Result
from tests.pace.stands import turns
from tests.pace.trips import USAGE, Stage, answer, chunk, events, refusal, streamed

SCRIPTS: dict[str, list[Any]] = {
    "answered": [answer],
    "mended": [lambda: refusal(500), lambda: httpx2.ReadError("reset"), answer],
    "refused": [lambda: refusal(401, "no", code="invalid_api_key")],
    "raised": [lambda: httpx2.ConnectError("refused")] * 6,
    "streamed": [lambda: streamed(*events(chunk(), chunk("Paris"), chunk(usage=USAGE)))],
    "broken off": [lambda: streamed(*events(chunk("Par"), done=False), httpx2.ReadError("reset"))],
}


def staged(script: str) -> Stage:
    stage = Stage()
    stage.says(*(make() for make in SCRIPTS[script]))
    return stage


def on_a_thread(stage: Stage) -> object:
    try:
        response = stage.call(stream=True)
        return response.status_code, response.read()
    except httpx2.TransportError as error:
        return type(error), str(error)


async def on_a_loop(stage: Stage) -> object:
    try:
        response = await stage.call_async(stream=True)
        return response.status_code, await response.aread()
    except httpx2.TransportError as error:
        return type(error), str(error)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_thread_and_a_coroutine_get_the_same(script: str) -> None:
    plain, waiting = staged(script), staged(script)
    assert on_a_thread(plain) == asyncio.run(on_a_loop(waiting))
    assert plain.told.words == waiting.told.words
    assert plain.told.calls == waiting.told.calls
    assert [body.closed for body in plain.bodies] == [body.closed for body in waiting.bodies]
    assert plain.at_rest()
    assert waiting.at_rest()


def test_what_a_thread_does_never_waits_for_a_loop() -> None:
    with pytest.raises(AssertionError, match="cannot wait"):
        at_once(asyncio.sleep(0))


# Giving up ----------------------------------------------------------------------------------------


@pytest.fixture
def only_new_garbage() -> Iterator[None]:
    """Collect only what was made since: after thousands of tests, each of a hundred times takes a second."""
    gc.freeze()
    yield
    gc.unfreeze()


def given_up(rounds: int) -> bool:
    """Make a call that has to wait, is mended, and is read; give it up after so many turns of the loop.
    Whether it was still being made."""
    stage = Stage(window=1)
    stage.says(
        refusal(500),
        streamed(*events(chunk(), done=False), httpx2.ReadError("reset")),
        streamed(*events(chunk(), chunk("Par"), chunk("is"), chunk(usage=USAGE))),
    )

    async def call() -> bytes:
        response = await stage.call_async(stream=True)
        try:
            return await response.aread()
        finally:
            await response.aclose()

    async def main() -> bool:
        before = await stage.desk.acquire(stage.pool)
        task = asyncio.create_task(call())
        for number in range(rounds):
            await asyncio.sleep(0)
            if number == 1:
                stage.desk.settle(before, Result())
        at_it = not task.done()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled() == at_it
        stage.desk.settle(before, Result())
        await turns()
        return at_it

    at_it = asyncio.run(main())
    gc.collect()
    assert stage.at_rest()
    assert all(body.closed for body in stage.bodies)
    outcomes = [call and call.outcome for call in stage.told.calls]
    if not at_it:
        assert outcomes == ["ok"]
    elif not stage.sent:
        assert outcomes in ([], [None], ["cancelled"])
    else:  # its last event may have passed: then it was answered
        assert outcomes in (["cancelled"], ["ok"])
    return at_it


@pytest.mark.usefixtures("only_new_garbage")
def test_a_cancellation_at_any_step_leaves_nothing_in_flight_and_no_connection_open() -> None:
    rounds = 0
    while given_up(rounds):
        rounds += 1
    assert rounds > 20


def test_a_coroutine_that_is_thrown_away_leaves_nothing_in_flight() -> None:
    rounds = 0
    while thrown_away(rounds):
        rounds += 1
    assert rounds > 10


def thrown_away(rounds: int) -> bool:
    stage = Stage()
    stage.says(refusal(500), answer())
    call = stage.call_async()

    def step() -> bool:
        try:
            call.send(None)
        except StopIteration:
            return False
        return True

    async def main() -> bool:
        at_it = all(step() for _ in range(rounds))
        call.close()
        return at_it

    at_it = asyncio.run(main())
    assert stage.at_rest()
    return at_it
