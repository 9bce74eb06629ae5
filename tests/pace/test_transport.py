"""Standing under the HTTP libraries: whose calls go through which door, and what is left as it was.

Over a real connection to a provider on this machine, since it is the libraries that are entered.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import httpx2
import pytest

from paceline.pace.calls import current_listener
from paceline.pace.desk import Desk
from paceline.pace.door import Door
from paceline.pace.retrying import Patience
from paceline.pace.transport import current_door, install
from tests.models.loopback import CHAT, Loopback, loopback
from tests.pace.trips import KEY, Told

BOTH = pytest.mark.parametrize("library", [httpx2, httpx], ids=["httpx2", "httpx"])


@pytest.fixture
def here() -> Iterator[Loopback]:
    with loopback() as provider:
        provider.says(CHAT)
        yield provider


@pytest.fixture
def told() -> Iterator[Told]:
    listener = Told()
    token = current_listener.set(listener)
    yield listener
    current_listener.reset(token)


def door(**limits: Any) -> Door:
    return Door(Desk(adaptive=False, **limits))


ASKED = {"model": "gpt-5.4-mini", "messages": [{"role": "user", "content": "hm?"}]}
HEADERS = {"authorization": f"Bearer {KEY}"}


def on_a_thread(library: ModuleType, url: str, **asked: Any) -> Any:
    with library.Client() as client:
        return client.post(url, json={**ASKED, **asked}, headers=HEADERS).json()


def on_a_loop(library: ModuleType, url: str, **asked: Any) -> Any:
    async def main() -> Any:
        async with library.AsyncClient() as client:
            return (await client.post(url, json={**ASKED, **asked}, headers=HEADERS)).json()

    return asyncio.run(main())


WAYS = pytest.mark.parametrize("post", [on_a_thread, on_a_loop], ids=["thread", "loop"])


@BOTH
@WAYS
def test_calls_of_models_go_through_the_door_while_it_stands(
    library: ModuleType, post: Callable[..., Any], here: Loopback, told: Told
) -> None:
    url = f"{here.url}/v1/chat/completions"
    post(library, url)
    assert told.words == []
    with install(door()):
        assert post(library, url) == CHAT
    assert (told.call.pool, told.call.status, told.call.tries) == ("openai-compatible:gpt-5.4-mini", 200, 1)
    post(library, url)
    assert len(told.calls) == 1


@BOTH
@WAYS
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("/v1/files", {}),
        ("/v1/chat/completions/stored", {}),
        ("/v1/chat/completions", {"model": None}),
        ("/api/messages", {"model": 7}),
    ],
)
def test_whatever_else_is_posted_passes_untouched(
    library: ModuleType,
    post: Callable[..., Any],
    path: str,
    asked: dict[str, Any],
    here: Loopback,
    told: Told,
) -> None:
    with install(door()):
        post(library, here.url + path, **asked)
    assert told.words == []
    assert here.asked[-1].body == {**ASKED, **asked}


def test_a_client_that_was_made_before_and_kept_goes_through_the_door(here: Loopback, told: Told) -> None:
    with httpx2.Client() as client, install(door()):
        client.post(f"{here.url}/v1/chat/completions", json=ASKED)
    assert told.call.status == 200


@BOTH
def test_with_the_last_door_gone_the_transports_are_what_they_were(library: ModuleType) -> None:
    were = (library.HTTPTransport.handle_request, library.AsyncHTTPTransport.handle_async_request)
    with install(door()):
        with install(door()):
            assert library.HTTPTransport.handle_request is not were[0]
        assert library.HTTPTransport.handle_request is not were[0]
        assert library.AsyncHTTPTransport.handle_async_request is not were[1]
    assert (library.HTTPTransport.handle_request, library.AsyncHTTPTransport.handle_async_request) == were


LATER = """
import sys
from paceline.pace.desk import Desk
from paceline.pace.door import Door
from paceline.pace.transport import install
assert "httpx2" not in sys.modules and "httpx" not in sys.modules
with install(Door(Desk())):
    import httpx, httpx2
    for library in (httpx2, httpx):
        print(library.HTTPTransport.handle_request.__code__.co_filename)
    assert httpx2.__spec__.loader.get_source("httpx2") is not None
print(httpx2.HTTPTransport.handle_request.__code__.co_filename)
import importlib
assert importlib.reload(httpx2) is httpx2
"""


def test_a_library_that_is_imported_later_is_met_at_its_import() -> None:
    run = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    one, other, afterwards = (Path(line).parts[-2:] for line in run.stdout.splitlines())
    assert one == other == ("pace", "transport.py")
    assert afterwards == ("_transports", "default.py")


# Several doors ------------------------------------------------------------------------------------


def test_each_of_several_runs_goes_through_its_own_door(here: Loopback) -> None:
    url = f"{here.url}/v1/chat/completions"

    async def run() -> int:
        desk = Desk(adaptive=False)
        with install(Door(desk)):
            async with httpx2.AsyncClient() as client:
                for _ in range(3):
                    await client.post(url, json=ASKED)
                    await asyncio.sleep(0)
        return sum(facts.accepted for facts in desk.facts())

    async def main() -> list[int]:
        return list(await asyncio.gather(run(), run(), run()))

    assert asyncio.run(main()) == [3, 3, 3]


def test_doors_may_go_in_any_order_and_code_on_its_own_goes_through_the_last_that_stands() -> None:
    first, second, third = door(), door(), door()
    found: list[Door | None] = []

    def look() -> None:
        thread = threading.Thread(target=lambda: found.append(current_door()))
        thread.start()
        thread.join()

    opened, opened_later = ExitStack(), ExitStack()
    opened.enter_context(install(first))
    opened_later.enter_context(install(second))
    look()
    opened_later.close()
    look()
    opened_later.enter_context(install(third))
    opened.close()
    look()
    opened_later.close()
    look()
    assert found == [second, first, third, None]
    assert current_door() is None


def test_a_door_that_was_entered_in_one_context_may_be_left_in_another() -> None:
    async def main() -> None:
        stack = ExitStack()

        async def enter() -> None:
            stack.enter_context(install(door()))

        await asyncio.create_task(enter())
        assert current_door() is not None
        stack.close()

    asyncio.run(main())
    assert current_door() is None


def _ask_in_child(url: str, answer: Any) -> None:
    answer.put((current_door() is None, on_a_thread(httpx2, url)))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_has_no_door_of_its_parents(here: Loopback, told: Told) -> None:
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    with install(door()):
        child = context.Process(target=_ask_in_child, args=(f"{here.url}/v1/chat/completions", answer))
        child.start()
        assert answer.get(timeout=20) == (True, CHAT)
        child.join(20)
    assert told.words == []


# Errors -------------------------------------------------------------------------------------------


@BOTH
@WAYS
def test_what_the_library_raises_is_what_the_caller_gets(
    library: ModuleType, post: Callable[..., Any], told: Told
) -> None:
    impatient = Door(Desk(adaptive=False), patience=Patience(tries=1))
    with install(impatient), pytest.raises(library.ConnectError):
        post(library, "http://127.0.0.1:1/v1/chat/completions")
    assert (told.call.outcome, told.call.status) == ("transient", None)


@BOTH
def test_a_pool_timeout_of_the_callers_own_client_is_not_blamed_on_the_provider(
    library: ModuleType, here: Loopback, told: Told
) -> None:
    narrow = library.Client(limits=library.Limits(max_connections=1), timeout=library.Timeout(5, pool=0.01))
    impatient = Door(Desk(adaptive=False), patience=Patience(tries=1))
    url = f"{here.url}/v1/chat/completions"
    with ExitStack() as stack:
        client = stack.enter_context(narrow)
        stack.enter_context(client.stream("GET", here.url))
        stack.enter_context(install(impatient))
        with pytest.raises(library.PoolTimeout):
            client.post(url, json=ASKED)
    (facts,) = impatient.desk.facts()
    assert (facts.in_flight, facts.by_cause) == (0, {})
