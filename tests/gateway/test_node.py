"""The `openai` package for Node talks through the gateway: streams, tools, and a budget that ends it."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from paceline.gateway.tickets import Allowance
from tests.gateway.stage import REAL_KEY, Ear, environ_of, gateway_to, simulated

HERE = Path(__file__).parent / "node"
RULES = [{"when": "^List it", "call": "ls", "arguments": {}}]


@pytest.mark.slow
def test_an_agent_in_another_language_is_answered_and_knows_no_real_key() -> None:
    node = shutil.which("node")
    if node is None or not (HERE / "node_modules" / "openai").exists():
        pytest.skip("node, or its openai package, is not installed: `npm install` in tests/gateway/node")

    async def talk(environ: dict[str, str]) -> tuple[bytes, Ear]:
        ear = Ear()
        async with gateway_to(environ) as gateway:
            with gateway.ticket(ear, Allowance(calls=4)) as ticket:
                kept = {"PATH": os.environ["PATH"], **gateway.environment(ticket)}
                assert REAL_KEY not in kept.values()
                process = await asyncio.create_subprocess_exec(
                    node, "talk.mjs", cwd=HERE, env=kept, stdout=subprocess.PIPE
                )
                said, _ = await process.communicate()
        return said, ear

    with simulated(answers={"rules": RULES}) as sim:
        said, ear = asyncio.run(asyncio.wait_for(talk(environ_of(sim)), 60))
        assert sim.stats().answered == len(ear.calls) == 4
    told = json.loads(said)
    assert told == {
        "key": "pl-",
        "chat": "391",
        "response": "391",
        "streamed": "391",
        "called": {"name": "ls", "arguments": "{}"},
        "refused": 403,
    }
