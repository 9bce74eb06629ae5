"""What the gateway costs: calls a second through it on one core, and by how much it delays them.

Provider, gateway and load are a process each. Processor time is that of the gateway's process alone, so
`per_core_per_s` is calls by seconds of it. Delays are those of calls that take the provider a while, 64 at
once, made directly and through the gateway in turn.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, NamedTuple, cast

from bench.results import Bar, Result, at_most, program
from bench.sim import Connection, Kind, Load, Served, provider, request

PER_CORE = 600
ADDED_MS = 5.0
IN_FLIGHT = 64
ROUNDS = 3
CALLS, CALLS_QUICK = 4_000, 200
SLOW_CALLS, SLOW_CALLS_QUICK = 640, 64
SLOW_S = 0.25

CHAT = Kind("/v1/chat/completions", {"model": "m"})
STREAM = Kind("/v1/chat/completions", {"model": "m", "stream": True})
KINDS = {"whole": CHAT, "stream": STREAM}


# The gateway, in a process of its own ---------------------------------------------------------------

SERVE = "from bench.gateway import serve; serve({port})"


def serve(port: int) -> None:
    """Serve, and tell the processor time and the calls so far for each line that comes in."""
    asyncio.run(_serve(port))


async def _serve(port: int) -> None:
    from paceline.gateway.server import Gateway
    from paceline.gateway.upstreams import upstreams_in
    from paceline.pace.opening import Opening

    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "key"}
    loop = asyncio.get_running_loop()
    # Nothing is to be learned here: it is the gateway that is measured, and no provider.
    with Opening(adaptive=False, share=False, learn=False)():
        async with Gateway(upstreams_in(environ)) as gateway:
            with gateway.ticket() as ticket:
                print(gateway.url.rpartition(":")[2], ticket.token, flush=True)
                while await loop.run_in_executor(None, sys.stdin.readline):
                    print(time.process_time(), ticket.calls, flush=True)


class Through(NamedTuple):
    """A gateway that serves."""

    served: Served
    token: str

    def asks(self, kind: Kind) -> Kind:
        """The same call by way of the gateway."""
        return kind._replace(path=f"/{self.token}/openai{kind.path}")


@contextmanager
def gateway_to(port: int) -> Iterator[Through]:
    """One in front of a provider, for as long as it takes."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE.format(port=port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        where, token = process.stdout.readline().split()
        yield Through(Served(process, int(where)), token)
        process.stdin.close()


# The load -------------------------------------------------------------------------------------------


class Timing(Connection):
    """A connection that times its calls."""

    def __init__(self, load: Load, seconds: list[float], first: list[float], after: float) -> None:
        """`after` so many seconds it begins: calls that come in one instant wait for each other."""
        super().__init__(load)
        self._after = after
        self._seconds = seconds
        self._first = first
        self._began = 0.0
        self._heard = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        asyncio.get_running_loop().call_later(self._after, self._next)

    def data_received(self, data: bytes) -> None:
        if not self._heard:
            self._heard = True
            self._first.append(time.perf_counter() - self._began)
        done, began = self.load.done, self._began
        super().data_received(data)
        if self.load.done > done:
            self._seconds.append(time.perf_counter() - began)

    def _next(self) -> None:
        self._began, self._heard = time.perf_counter(), False
        super()._next()


class Timed(NamedTuple):
    """One round of calls."""

    calls: int
    wall_s: float
    seconds: list[float]
    first: list[float]


async def _put_on(port: int, kind: Kind, calls: int, spread_s: float) -> Timed:
    load = Load((request(kind, number) for number in range(calls)), bool(kind.fields.get("stream")))
    loop = asyncio.get_running_loop()
    seconds: list[float] = []
    first: list[float] = []
    began = time.perf_counter()
    opened = [
        await loop.create_connection(
            partial(Timing, load, seconds, first, spread_s * number / IN_FLIGHT), "127.0.0.1", port
        )
        for number in range(IN_FLIGHT)
    ]
    await asyncio.gather(*(connection.over for _, connection in opened))
    if load.wrong or load.done != calls:
        raise RuntimeError(f"{load.done} of {calls} calls came back, {load.wrong} were refused")
    return Timed(calls, time.perf_counter() - began, seconds, first)


def put_on(port: int, kind: Kind, calls: int, *, spread_s: float = 0.0) -> Timed:
    """So many calls, 64 at once, the first of which come over so many seconds."""
    return asyncio.run(_put_on(port, kind, calls, spread_s))


# What is measured -----------------------------------------------------------------------------------


def capacity(kind: Kind, calls: int, rounds: int) -> dict[str, Any]:
    """Calls a second that one core of the gateway carries, and that this machine carried with all three."""
    per_core, per_s = [], []
    with provider(0.0) as there, gateway_to(there.port) as gateway:
        put_on(gateway.served.port, gateway.asks(kind), IN_FLIGHT)  # connections are opened
        for _ in range(rounds):
            cpu, _ = gateway.served.so_far()
            timed = put_on(gateway.served.port, gateway.asks(kind), calls)
            per_core.append(calls / (gateway.served.so_far()[0] - cpu))
            per_s.append(calls / timed.wall_s)
    return {
        "per_core_per_s": round(statistics.median(per_core)),
        "cpu_us": round(1e6 / statistics.median(per_core)),
        "per_s": round(statistics.median(per_s)),
    }


def delays(kind: Kind, calls: int, rounds: int) -> dict[str, Any]:
    """By how much a call comes later, of calls that take the provider a quarter of a second."""
    direct: list[Timed] = []
    through: list[Timed] = []
    with provider(SLOW_S) as there, gateway_to(there.port) as gateway:
        put_on(gateway.served.port, gateway.asks(kind), IN_FLIGHT)
        for _ in range(rounds):
            direct.append(put_on(there.port, kind, calls, spread_s=SLOW_S))
            through.append(put_on(gateway.served.port, gateway.asks(kind), calls, spread_s=SLOW_S))

    def added(part: Literal["seconds", "first"]) -> float:
        before, after = (
            statistics.median([each for timed in rounds for each in getattr(timed, part)])
            for rounds in (direct, through)
        )
        return round(1000 * float(after - before), 2)

    return {"added_p50_ms": added("seconds"), "first_byte_added_p50_ms": added("first")}


def measure(quick: bool) -> Result:
    """All kinds."""
    calls, slow = (CALLS_QUICK, SLOW_CALLS_QUICK) if quick else (CALLS, SLOW_CALLS)
    rounds = 1 if quick else ROUNDS
    rows, bars = [], []
    for name, kind in KINDS.items():
        row = {"answers": name, **capacity(kind, calls, rounds), **delays(kind, slow, rounds)}
        rows.append(row)
        found = row["per_core_per_s"]
        bars.append(
            Bar(what=f"{name}: calls/s on one core", bar=f"≥ {PER_CORE}", found=found, met=found >= PER_CORE)
        )
        bars.append(at_most(f"{name}: added p50", ADDED_MS, row["added_p50_ms"], "ms"))
    return Result(
        title="Calls through the gateway",
        settings={"in_flight": IN_FLIGHT, "calls": calls, "rounds": rounds},
        rows=rows,
        bars=bars,
        notes=[
            "`per_s` is what this machine carried with provider, gateway and load on its two cores.",
            f"Delays are of {slow} calls of {SLOW_S:g} s, {IN_FLIGHT} at once and not all in one instant.",
        ],
    )


if __name__ == "__main__":
    program("gateway", measure)
