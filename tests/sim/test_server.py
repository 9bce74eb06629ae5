"""The simulated provider over HTTP, as the official SDKs meet it."""

from __future__ import annotations

import socket

import pytest
from anthropic import Anthropic
from openai import OpenAI

from paceline.errors import UsageError
from paceline.sim.scenario import Scenario
from paceline.sim.server import start_in_thread

AT_ONCE = Scenario.of({"latency": 0})


def test_both_sdks_are_answered_and_what_they_asked_is_counted() -> None:
    with start_in_thread(AT_ONCE) as sim:
        with OpenAI(base_url=f"{sim.url}/v1", api_key="k", max_retries=0) as openai:
            said = openai.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "What is 17 * 23?"}]
            )
        with Anthropic(base_url=sim.url, api_key="k", max_retries=0) as anthropic:
            block = anthropic.messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "What is 17 * 23?"}]
            ).content[0]
    assert said.choices[0].message.content == "391"
    assert block.type == "text"
    assert block.text == "391"
    assert (sim.stats().accepted, sim.stats().answered) == (2, 2)


def test_a_server_that_was_stopped_can_be_stopped_again_and_still_tells_what_it_saw() -> None:
    sim = start_in_thread(AT_ONCE)
    sim.stop()
    sim.stop()
    assert sim.stats().arrived == 0


def test_a_port_in_use_is_said_with_the_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} on 127.0.0.1 is in use") as met:
            start_in_thread(AT_ONCE, port=port)
    assert "choose another port" in met.value.hint
