"""How many calls a second the simulated provider answers on one core.

It runs in a process of its own and is loaded over loopback and kept-alive connections, by one that does next
to nothing with the answers. What is counted is the processor time of the provider's process, so neither the
load's work nor that of others on the machine is in the figure: `per_core_per_s` is calls by seconds of it.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from bench.results import Bar, Result, program

BAR = 1000
CONNECTIONS = 64
ROUNDS = 5
CALLS = 10_000
CALLS_QUICK = 200
QUESTION = "Some context first, as prompts have it. " * 20 + "So which of these was number {number}?"


class Kind(NamedTuple):
    """A kind of call."""

    path: str
    fields: dict[str, Any]
    latency: float = 0.0
    connections: int = CONNECTIONS


KINDS = {
    "chat completion": Kind("/v1/chat/completions", {"model": "m"}),
    "chat completion, stream": Kind("/v1/chat/completions", {"model": "m", "stream": True}),
    "response, stream": Kind("/v1/responses", {"model": "m", "stream": True}),
    "message": Kind("/v1/messages", {"model": "m", "max_tokens": 1000}),
    "message, stream": Kind("/v1/messages", {"model": "m", "max_tokens": 1000, "stream": True}),
    "chat completion, stream over a second": Kind(
        "/v1/chat/completions", {"model": "m", "stream": True}, latency=1.0, connections=500
    ),
}


def request(kind: Kind, number: int) -> bytes:
    """The bytes of a call."""
    said = QUESTION.format(number=number)
    asks = (
        {"input": said} if kind.path == "/v1/responses" else {"messages": [{"role": "user", "content": said}]}
    )
    body = json.dumps({**kind.fields, **asks}).encode()
    head = (
        f"POST {kind.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer key\r\n"
        f"content-type: application/json\r\naccept: */*\r\nuser-agent: bench\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


# The load -----------------------------------------------------------------------------------------


@dataclass
class Load:
    """Calls that are still to be made, and what became of the others."""

    requests: Iterator[bytes]
    streamed: bool
    done: int = 0
    wrong: int = 0
    connections: list[Connection] = field(default_factory=list)


class Connection(asyncio.Protocol):
    """One connection: a call, its answer, the next."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.received = b""
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self._next()

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self._is_whole():
            self.load.done += 1
            self.load.wrong += not self.received.startswith(b"HTTP/1.1 200")
            self.received = b""
            self._next()

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  # the loop's signature
        if not self.over.done():
            self.over.set_result(None)

    def _next(self) -> None:
        call = next(self.load.requests, None)
        if call is None:
            self.transport.close()
        else:
            self.transport.write(call)

    def _is_whole(self) -> bool:
        if self.load.streamed:
            return self.received.endswith(b"\r\n0\r\n\r\n")
        head, found, body = self.received.partition(b"\r\n\r\n")
        if not found:
            return False
        _, _, length = head.lower().partition(b"content-length: ")
        return len(body) >= int(length.split(b"\r\n", 1)[0])


async def put_on(port: int, kind: Kind, calls: int) -> Load:
    """Make so many calls over all connections."""
    load = Load((request(kind, number) for number in range(calls)), bool(kind.fields.get("stream")))
    loop = asyncio.get_running_loop()
    opened = [
        await loop.create_connection(lambda: Connection(load), "127.0.0.1", port)
        for _ in range(kind.connections)
    ]
    await asyncio.gather(*(connection.over for _, connection in opened))
    return load


# The provider -------------------------------------------------------------------------------------

SERVE = "from bench.sim import serve; serve({latency})"


def serve(latency: float) -> None:
    """In a process of its own: serve, and tell the processor time so far for each line that comes in."""
    from paceline.sim import Scenario, start_in_thread

    with start_in_thread(Scenario.of({"latency": latency})) as sim:
        print(sim.url.rpartition(":")[2], flush=True)
        for _ in sys.stdin:
            print(time.process_time(), sim.stats().answered, flush=True)


@dataclass
class Served:
    """The process that serves."""

    process: subprocess.Popen[str]
    port: int

    def so_far(self) -> tuple[float, int]:
        """Seconds of processor time, and calls answered."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seconds, answered = self.process.stdout.readline().split()
        return float(seconds), int(answered)


@contextmanager
def provider(latency: float) -> Iterator[Served]:
    """One that serves for as long as it takes."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE.format(latency=latency)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Served(process, int(process.stdout.readline()))
        process.stdin.close()


class Took(NamedTuple):
    """One round."""

    calls: int
    wall_s: float
    cpu_s: float


def once(served: Served, kind: Kind, calls: int) -> Took:
    """One round of a kind; all of it has to be answered well."""
    cpu, answered = served.so_far()
    began = time.perf_counter()
    load = asyncio.run(put_on(served.port, kind, calls))
    wall = time.perf_counter() - began
    cpu_after, answered_after = served.so_far()
    if load.wrong or not load.done == calls == answered_after - answered:
        raise RuntimeError(f"{load.done} of {calls} calls came back, {load.wrong} were refused")
    return Took(calls, wall, cpu_after - cpu)


def measure(quick: bool) -> Result:
    """All kinds in turn, a round for warming up aside."""
    calls = CALLS_QUICK if quick else CALLS
    took: dict[str, list[Took]] = {name: [] for name in KINDS}
    with ExitStack() as stack:
        latencies = {kind.latency for kind in KINDS.values()}
        served = {latency: stack.enter_context(provider(latency)) for latency in latencies}
        for number in range(-1, 1 if quick else ROUNDS):
            for name, kind in KINDS.items():
                found = once(served[kind.latency], kind, calls)
                if number >= 0:
                    took[name].append(found)
    rows = [row(name, each) for name, each in took.items()]
    slowest = min(each["per_core_per_s"] for each in rows)
    return Result(
        title="The simulated provider",
        settings={"calls": calls, "rounds": ROUNDS, "connections": CONNECTIONS},
        rows=rows,
        bars=[
            Bar(
                what="calls a second on one core, of the slowest kind",
                bar=f"≥ {BAR:,}",
                found=slowest,
                met=slowest >= BAR,
            )
        ],
        notes=(
            "Prompts and answers of 200 tokens, all different; streams have 64 pieces. No limits, no faults.",
            "Where a stream takes a second, its pieces are sent as they come; elsewhere latency is 0.",
        ),
    )


def row(name: str, rounds: list[Took]) -> dict[str, Any]:
    """All rounds of a kind as one row."""
    calls, wall, cpu = (sum(column) for column in zip(*rounds, strict=True))
    return {
        "call": name,
        "per_call_cpu_us": cpu / calls * 1e6,
        "per_core_per_s": calls / cpu,
        "over_loopback_per_s": calls / wall,
    }


if __name__ == "__main__":
    program("sim", measure)
