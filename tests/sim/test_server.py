"""The simulated provider as a whole: its time, what it has seen, and how it begins and ends."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic as anthropic_sdk
import openai as openai_sdk
import pytest

from paceline import sim as room
from paceline.errors import UsageError
from paceline.pace.messages import Advertised
from paceline.sim import Scenario, SimServer, start_in_thread
from paceline.sim.era import Era
from paceline.sim.server import url_of
from tests.sim.served import HELLO, anthropic, async_openai, openai, served, user

AT_ONCE = Scenario.of({"latency": 0})


# ---- it begins and ends ----


def test_a_server_that_was_stopped_can_be_stopped_again_and_still_tells_what_it_saw() -> None:
    before = threading.active_count()
    sim = start_in_thread(AT_ONCE)
    with openai(sim) as client:
        client.responses.create(model="m", input=HELLO)
    sim.stop()
    sim.stop()
    assert (sim.stats().answered, sim.stats().connections) == (1, 0)
    assert threading.active_count() == before
    with openai(sim) as client, pytest.raises(openai_sdk.APIConnectionError):
        client.responses.create(model="m", input=HELLO)


def test_a_server_that_is_stopped_lets_its_callers_go() -> None:
    with served(latency=3600) as sim, ThreadPoolExecutor() as threads, openai(sim) as client:
        waiting = threads.submit(client.responses.create, model="m", input=HELLO)
        while not sim.stats().in_flight:
            time.sleep(0.01)
        sim.stop()
        with pytest.raises(openai_sdk.APIConnectionError):
            waiting.result(timeout=10)


def test_several_serve_side_by_side_and_know_nothing_of_each_other() -> None:
    with served(rpm=60) as one, served(rpm=60) as other:
        assert one.url != other.url
        for sim in (one, other):
            with openai(sim) as client:
                client.responses.create(model="m", input=HELLO)
        assert (one.stats().answered, other.stats().answered) == (1, 1)


def test_a_port_in_use_is_said_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} on 127.0.0.1 is in use") as met:
            start_in_thread(AT_ONCE, port=port)
    assert "choose another port" in met.value.hint


def test_within_a_running_loop_it_serves_that_loop_too() -> None:
    async def main() -> str:
        async with SimServer(AT_ONCE) as sim, async_openai(sim) as client:
            return (await client.responses.create(model="m", input="What is 1 + 2?")).output_text

    assert asyncio.run(main()) == "3"


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:7"),
        ("0.0.0.0", "http://127.0.0.1:7"),  # what is told of it
        ("::", "http://[::1]:7"),
        ("localhost", "http://localhost:7"),
    ],
)
def test_the_address_told_is_one_that_can_be_called(host: str, url: str) -> None:
    assert url_of(host, 7) == url


def test_what_the_room_gives_to_others_is_there() -> None:
    assert {name: hasattr(room, name) for name in room.__all__} == dict.fromkeys(room.__all__, True)
    with pytest.raises(AttributeError, match="no attribute 'Sim'"):
        room.Sim  # noqa: B018  # the access is what is tested


# ---- its time ----


def test_its_clock_stands_until_the_first_call_and_then_runs_at_its_scale() -> None:
    now = 100.0
    era = Era(AT_ONCE.changed({"time_scale": 10}), lambda: now)
    assert era.now() == 0
    now = 200.0
    assert (era.begin(), era.now()) == (0, 0)
    now = 203.0
    assert (era.begin(), era.now()) == (30, 30)
    assert era.outside(30) == 3


def test_limits_are_told_in_the_minutes_and_seconds_of_whoever_is_told() -> None:
    era = Era(AT_ONCE.changed({"time_scale": 10}), lambda: 0.0)
    own = Advertised(requests=600, requests_left=500, requests_reset=20, tokens_reset=5)
    told = Advertised(requests=6000, requests_left=500, requests_reset=2, tokens_reset=0.5)
    assert era.told(own) == told
    assert era.told(None) is None
    assert Era(AT_ONCE, lambda: 0.0).told(own) is own


def test_at_a_time_scale_all_of_it_is_so_much_faster() -> None:
    with served(latency=20, rpm=0.6, time_scale=100, headers="openai") as sim, openai(sim) as client:
        begun = time.monotonic()
        headers = client.responses.with_raw_response.create(model="m", input=HELLO).headers
        assert 0.2 <= time.monotonic() - begun < 5
        with pytest.raises(openai_sdk.RateLimitError) as met:
            client.responses.create(model="m", input=HELLO)
        assert sim.stats().seconds >= 20
    assert (headers["x-ratelimit-limit-requests"], headers["x-ratelimit-remaining-requests"]) == ("60", "59")
    refused = met.value.response.headers
    assert 0 < float(refused["retry-after"]) == int(refused["retry-after-ms"]) / 1000 <= 0.8


def test_what_changes_over_time_changes_from_the_first_call_on() -> None:
    fields: dict[str, Any] = {"steps": [{"at": 100, "set": {"models": ["other"]}}], "time_scale": 1000}
    with served(**fields) as sim, openai(sim) as client:
        time.sleep(0.15)  # nobody has called: its time stands still
        client.responses.create(model="m", input=HELLO)
        while sim.stats().seconds < 100:
            time.sleep(0.01)
        with pytest.raises(openai_sdk.NotFoundError):
            client.responses.create(model="m", input=HELLO)


# ---- chance ----


def test_the_same_calls_get_the_same_answers_and_the_same_usage_each_time() -> None:
    def told() -> list[dict[str, Any]]:
        with served(seed=3, answers={"script": ["one", "two", "three"]}) as sim:
            found = []
            with openai(sim) as client, anthropic(sim) as other:
                for number in range(5):
                    talk = user(f"{number} {HELLO}" * 100)
                    found.append(client.chat.completions.create(model="m", messages=talk).model_dump())
                    found.append(other.messages.create(model="m", max_tokens=9, messages=talk).model_dump())
        for each in found:
            each.pop("created", None)
        return found

    assert told() == told()


# ---- what it has seen ----


def test_stats_tell_what_arrived_and_what_became_of_it() -> None:
    with served(rpm=1.2, burst=100, keys=["k"]) as sim:
        with openai(sim) as client:
            client.responses.create(model="m", input=HELLO)
            list(client.chat.completions.create(model="n", messages=user(HELLO), stream=True))
            client.embeddings.create(model="e", input="a b c")
            client.responses.create(model="m", input=HELLO)
            with pytest.raises(openai_sdk.RateLimitError):
                client.responses.create(model="m", input="more")
            with pytest.raises(openai_sdk.BadRequestError):
                client.chat.completions.create(model="m", messages=[])
            with pytest.raises(openai_sdk.NotFoundError):
                client.files.retrieve("f")
        with openai(sim, "wrong") as client, pytest.raises(openai_sdk.AuthenticationError):
            client.responses.create(model="m", input=HELLO)
        seen = sim.stats()
    assert (seen.arrived, seen.accepted, seen.answered) == (6, 4, 4)
    assert (seen.refused, seen.refused_by_status) == ({"requests": 1, "auth": 1}, {"401": 1, "429": 1})
    assert (seen.invalid, seen.hung_up, seen.in_flight, seen.streamed) == (2, 0, 0, 1)
    assert (seen.in_flight_peak, sum(seen.goodput), seen.faults) == (1, 4, {})
    assert (seen.prompts.different, seen.prompts.accepted_twice, seen.prompts.answered_twice) == (3, 1, 1)
    assert seen.tokens.output == 3 * 13


def test_what_is_told_over_http_is_what_is_told_in_python_and_no_key_is_in_it() -> None:
    with served(name="mine", keys=["sk-secret-0123456789"]) as sim:
        with openai(sim, "sk-secret-0123456789") as client:
            client.responses.create(model="m", input="a private prompt")
            told = client.get("/../stats", cast_to=object)
        assert isinstance(told, dict)
        assert (told["scenario"], told["answered"]) == ("mine", 1)
        assert told.keys() == set(type(sim.stats()).__struct_fields__)
        text = json.dumps(told)
    assert "secret" not in text
    assert "private" not in text


def test_a_reset_tells_what_was_and_begins_anew_while_calls_under_way_end_as_they_would() -> None:
    with served(rpm=1, latency=0.3) as sim, ThreadPoolExecutor() as threads, openai(sim) as client:
        under_way = threads.submit(client.responses.create, model="m", input=HELLO)
        while not sim.stats().in_flight:
            time.sleep(0.01)
        with pytest.raises(openai_sdk.RateLimitError):
            client.responses.create(model="m", input=HELLO)
        before = sim.reset()
        assert (before.accepted, before.refused) == (1, {"requests": 1})
        assert (sim.stats().arrived, sim.stats().seconds) == (0, 0)
        assert client.responses.create(model="m", input=HELLO).output_text == HELLO  # full buckets again
        assert under_way.result(timeout=10).output_text == HELLO
        assert sim.stats().answered == 1


def test_a_quota_that_is_spent_stays_spent() -> None:
    with served(quota={"tokens": 40}, headers="anthropic") as sim, anthropic(sim) as client:
        asked: Any = {"model": "m", "max_tokens": 99, "messages": user(HELLO)}
        client.messages.create(**asked)
        client.messages.create(**asked)
        for _ in range(3):
            with pytest.raises(anthropic_sdk.RateLimitError):
                client.messages.create(**asked)
        assert sim.stats().refused == {"quota": 3}
