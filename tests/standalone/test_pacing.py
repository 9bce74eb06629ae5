"""Standalone calls of hosted models are paced outside of runs, through the official SDK and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from paceline import aevaluate, evaluate
from paceline.pace import clients
from tests.sim.served import served

pytest.importorskip("openai")

GIVEN: dict[str, Any] = {
    "output": "Response 1: Python is a programming language.",
    "context": "Python is a high-level, general-purpose programming language.",
}


@pytest.fixture(autouse=True)
def _a_state_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PACELINE_STATE", str(tmp_path))
    yield
    clients._own_doors.close()


def test_a_provider_that_refuses_is_asked_again_and_no_item_is_lost() -> None:
    """Fifty items at once, where two calls are taken at a time: each gets its verdict, paid for once."""
    with served(in_flight=2, latency=0.01) as sim:
        model = f"openai-compatible:judge@{sim.url}/v1"

        async def program() -> list[Any]:
            return await asyncio.gather(*(aevaluate("groundedness", model=model, **GIVEN) for _ in range(50)))

        results = asyncio.run(program())
        seen = sim.stats()
    assert [(each.status, each.passed, each.simulated) for each in results] == [
        ("completed", True, True)
    ] * 50
    assert seen.accepted == 50
    assert seen.refused["concurrency"] > 0, "or nothing was tried here"


def test_threads_that_block_are_paced_too() -> None:
    with served(in_flight=2, latency=0.01) as sim:
        model = f"openai-compatible:judge@{sim.url}/v1"
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(lambda _: evaluate("groundedness", model=model, **GIVEN), range(24)))
        seen = sim.stats()
    assert [each.passed for each in results] == [True] * 24
    assert seen.accepted == 24


def test_a_provider_that_is_not_there_is_a_failure_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(keys=["right"]) as sim:
        monkeypatch.setenv("JUDGE_KEY", "wrong")
        model = {"name": f"openai-compatible:judge@{sim.url}/v1", "api_key_env": "JUDGE_KEY"}
        result = evaluate("groundedness", model=model, **GIVEN)
    assert (result.status, result.passed, result.score) == ("failed", None, None)
    assert "AuthenticationError" in str(result.error)
