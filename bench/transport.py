"""What the door under the HTTP libraries costs: calls through it against the same calls without.

One process, one client with its connections open, a provider on the loopback interface that answers at once.
Blocks of calls are made in turn, bare and through the door, and the processor time of a pair of blocks is
compared; the middle of all pairs is told. Calls are what they are in a run: a listener takes each of them
with its bodies, its price is looked up, and the desk is one that other runs may share. Writing the journal is
not in it.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import httpx2
import openai

from bench.answering import PIECES
from bench.contest import ROOT, scratch
from bench.results import Result, at_most, program
from paceline.pace.calls import Call, current_listener
from paceline.pace.door import Door
from paceline.pace.opening import Opening
from paceline.pace.tape import Tape
from paceline.pace.transport import install

CALLS = 100
"""In a block."""
PAIRS = 60
LIMIT_US = 200.0
PROMPT = "word " * 200
ASKED: dict[str, Any] = {
    "model": "gpt-5.4-mini",
    "messages": [{"role": "system", "content": PROMPT}, {"role": "user", "content": "What comes next?"}],
}
HEADERS = {
    "authorization": "Bearer sk-proj-0123456789",
    "user-agent": "bench",
    **{f"x-stainless-{number}": "some value" for number in range(7)},
}

Block = Callable[[], None]
"""Makes `CALLS` calls."""


class Listening:
    """Takes calls as a run does, and keeps how many there were."""

    def __init__(self) -> None:
        self.calls = 0
        self.tape = Tape(())
        """Bodies are kept, as for an attempt that may be gone on with."""

    def begun(self) -> None:
        """A call is live."""

    def waiting(self) -> None:
        """It waits."""

    def going(self) -> None:
        """It waits no longer."""

    def ended(self, call: Call | None) -> None:
        """It is over."""
        assert call is not None
        assert call.price is not None
        self.calls += 1


@contextmanager
def provider() -> Iterator[str]:
    """Its base URL."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.answering"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.stdin.close()
        process.wait()


# The ways to call ---------------------------------------------------------------------------------


def on_a_thread(client: Any, url: str, *, streamed: bool) -> None:
    """Calls one after the other, without an SDK."""
    for _ in range(CALLS):
        asked = {**ASKED, "stream": True, "stream_options": {"include_usage": True}} if streamed else ASKED
        with client.stream("POST", url, json=asked, headers=HEADERS) as response:
            for _ in response.iter_raw():
                pass


async def on_a_loop(client: Any, url: str, *, streamed: bool) -> None:
    """Calls one after the other, without an SDK."""
    for _ in range(CALLS):
        asked = {**ASKED, "stream": True, "stream_options": {"include_usage": True}} if streamed else ASKED
        async with client.stream("POST", url, json=asked, headers=HEADERS) as response:
            async for _ in response.aiter_raw():
                pass


async def through_sdk(client: openai.AsyncOpenAI) -> None:
    """Calls as most tasks make them."""
    for _ in range(CALLS):
        await client.chat.completions.create(**ASKED)


@contextmanager
def ways(url: str) -> Iterator[dict[str, Block]]:
    """Everything that is measured."""
    loop = asyncio.new_event_loop()
    chat = f"{url}/chat/completions"
    with ExitStack() as stack:
        stack.callback(loop.close)

        def opened(client: Any) -> Any:
            stack.callback(lambda: loop.run_until_complete(client.__aexit__(None, None, None)))
            return loop.run_until_complete(client.__aenter__())

        plain, older = stack.enter_context(httpx2.Client()), stack.enter_context(httpx.Client())
        waiting = opened(httpx2.AsyncClient())
        sdk = opened(openai.AsyncOpenAI(api_key="sk-proj-0123456789", base_url=url))

        def in_loop(make: Callable[[], Any]) -> Block:
            return lambda: loop.run_until_complete(make())

        yield {
            "httpx2, async": in_loop(partial(on_a_loop, waiting, chat, streamed=False)),
            "httpx2, sync": partial(on_a_thread, plain, chat, streamed=False),
            "httpx, sync": partial(on_a_thread, older, chat, streamed=False),
            "openai SDK, async": in_loop(partial(through_sdk, sdk)),
            "httpx2, async, streamed": in_loop(partial(on_a_loop, waiting, chat, streamed=True)),
            "httpx2, sync, streamed": partial(on_a_thread, plain, chat, streamed=True),
        }


# Measuring ----------------------------------------------------------------------------------------


def cost_us(block: Block) -> float:
    """Processor time of one call in a block, in microseconds, of all threads."""
    before = time.process_time()
    block()
    return (time.process_time() - before) / CALLS * 1e6


def measure(quick: bool) -> Result:
    """All ways, pair by pair."""
    pairs = 2 if quick else PAIRS
    listening = Listening()
    current_listener.set(listening)
    bare: dict[str, list[float]] = {}
    extra: dict[str, list[float]] = {}
    with (
        provider() as url,
        ways(url) as blocks,
        scratch() as state,
        Opening(http=False, state=Path(state))() as desk,
    ):
        door = Door(desk)
        for number in range(-1, pairs):
            for name, block in blocks.items():
                found = {}
                for paced in (False, True) if number % 2 else (True, False):
                    with install(door) if paced else nullcontext():
                        found[paced] = cost_us(block)
                if number >= 0:  # the first one warms up
                    bare.setdefault(name, []).append(found[False])
                    extra.setdefault(name, []).append(found[True] - found[False])
    assert listening.calls == (pairs + 1) * CALLS * len(bare), "every call went through the door"
    middle = {name: statistics.median(each) for name, each in extra.items()}
    return Result(
        title="The door under the HTTP libraries, processor time of one call",
        settings={"calls": CALLS, "pairs": pairs},
        rows=[
            {
                "calls": name,
                "bare_us": statistics.median(bare[name]),
                "extra_us": middle[name],
                "quartiles": " to ".join(f"{each:.0f}" for each in statistics.quantiles(extra[name])[::2]),
            }
            for name in bare
        ],
        bars=[
            at_most(f"extra processor time of a call: {name}", LIMIT_US, middle[name], "µs")
            for name in middle
            if "streamed" not in name
        ],
        notes=(
            f"An answer that is streamed has {PIECES + 4} events, each of which is looked at as it passes.",
        ),
    )


if __name__ == "__main__":
    program("transport", measure)
