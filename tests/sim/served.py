"""A simulated provider that listens, and the official SDKs that speak to it: with no retries of their own."""

from __future__ import annotations

from typing import Any

import anthropic as anthropic_sdk
import openai as openai_sdk
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from paceline.sim import RunningSim, Scenario, SimServer, start_in_thread

HELLO = "hello there old friend of mine, how are you today?"


def served(**fields: Any) -> RunningSim:
    """One of these fields, which answers at once unless they say otherwise."""
    return start_in_thread(Scenario.of({"latency": 0, "refusal_seconds": 0, **fields}))


def openai(sim: RunningSim, key: str = "k", **more: Any) -> OpenAI:
    plain = openai_sdk.DefaultHttpxClient(verify=False)  # no certificates to be loaded for http
    return OpenAI(base_url=f"{sim.url}/v1", api_key=key, http_client=plain, **{"max_retries": 0, **more})


def async_openai(sim: RunningSim | SimServer) -> AsyncOpenAI:
    plain = openai_sdk.DefaultAsyncHttpxClient(verify=False)
    return AsyncOpenAI(base_url=f"{sim.url}/v1", api_key="k", http_client=plain, max_retries=0)


def anthropic(sim: RunningSim, key: str = "k", **more: Any) -> Anthropic:
    plain = anthropic_sdk.DefaultHttpxClient(verify=False)
    return Anthropic(base_url=sim.url, api_key=key, http_client=plain, **{"max_retries": 0, **more})


def async_anthropic(sim: RunningSim) -> AsyncAnthropic:
    plain = anthropic_sdk.DefaultAsyncHttpxClient(verify=False)
    return AsyncAnthropic(base_url=sim.url, api_key="k", http_client=plain, max_retries=0)


def user(text: str) -> Any:
    """The messages of a prompt that says only this."""
    return [{"role": "user", "content": text}]
