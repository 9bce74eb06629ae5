"""What the gateway costs: calls a second through it on one core, and by how much it delays them.

Provider, gateway and load are a process each. Processor time is that of the gateway's process alone, so
`per_core_per_s` is calls by seconds of it. Delays are those of calls that take the provider a while, 64 at
once, made directly and through the gateway in turn. "Alone" is `paceline gateway`. "In a run" each call
belongs to one of 64 attempts, its bodies are kept, and the end of its answer waits until they are on disk.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from bench.contest import scratch
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
PLACES = {"alone": False, "in a run": True}


# The gateway, in a process of its own ---------------------------------------------------------------

SERVE = "from bench.gateway import serve; serve({port}, recorded={recorded})"


def serve(port: int, *, recorded: bool) -> None:
    """Serve, and tell the processor time so far for each line that comes in."""
    with scratch() as folder:
        asyncio.run(_serve(port, folder if recorded else None))


async def _serve(port: int, folder: Path | None) -> None:
    from paceline.conduct.gatekeeping import safe
    from paceline.gateway.server import Gateway
    from paceline.gateway.upstreams import upstreams_in
    from paceline.journal import Journal
    from paceline.journal.records import RunLine
    from paceline.pace.opening import Opening

    environ = {"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1", "OPENAI_API_KEY": "key"}
    loop = asyncio.get_running_loop()
    with ExitStack() as around:
        # Nothing is to be learned here: it is the gateway that is measured, and no provider.
        around.enter_context(Opening(adaptive=False, share=False, learn=False)())
        listeners: list[Any] = [None]
        on_record = None
        if folder is not None:
            line = RunLine(run_id="bench", suite="bench", started=0.0, fingerprint={})
            journal = around.enter_context(Journal.create(folder / "run", line))
            listeners, on_record = _attempts(journal), partial(safe, journal)
        async with Gateway(upstreams_in(environ), on_record=on_record) as gateway:
            tickets = [around.enter_context(gateway.ticket(listener)) for listener in listeners]
            print(gateway.url.rpartition(":")[2], *(each.token for each in tickets), flush=True)
            while await loop.run_in_executor(None, sys.stdin.readline):
                print(time.process_time(), sum(each.calls for each in tickets), flush=True)


def _attempts(journal: Any) -> list[Any]:
    """Attempts of a run that keeps their calls."""
    from paceline.engine.bookkeeping import Bookkeeper
    from paceline.engine.calls import CallsOfAttempt
    from paceline.engine.clock import SystemClock
    from paceline.engine.events import Gauge
    from paceline.engine.ports import Work
    from paceline.engine.taping import Taping
    from paceline.journal.records import Key

    books, taping = Bookkeeper(journal, Gauge(), (), SystemClock()), Taping()
    return [
        CallsOfAttempt.here(
            Work(Key(f"case-{number}"), 1, None, record_call=books.call, taping=taping, counted={}),
            time.monotonic,
        )
        for number in range(IN_FLIGHT)
    ]


class Through(NamedTuple):
    """A gateway that serves."""

    served: Served
    tokens: list[str]

    def asks(self, kind: Kind) -> list[Kind]:
        """The same call by way of the gateway, by each of its tickets."""
        return [kind._replace(path=f"/{token}/openai{kind.path}") for token in self.tokens]


@contextmanager
def gateway_to(port: int, *, recorded: bool) -> Iterator[Through]:
    """One in front of a provider, for as long as it takes."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE.format(port=port, recorded=recorded)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        where, *tokens = process.stdout.readline().split()
        yield Through(Served(process, int(where)), tokens)
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


async def _put_on(port: int, kinds: Sequence[Kind], calls: int, spread_s: float) -> Timed:
    asked = (request(kinds[number % len(kinds)], number) for number in range(calls))
    load = Load(asked, bool(kinds[0].fields.get("stream")))
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


def put_on(port: int, kinds: Sequence[Kind], calls: int, *, spread_s: float = 0.0) -> Timed:
    """So many calls, 64 at once, the first of which come over so many seconds."""
    return asyncio.run(_put_on(port, kinds, calls, spread_s))


# What is measured -----------------------------------------------------------------------------------


def capacity(kind: Kind, calls: int, rounds: int, *, recorded: bool) -> dict[str, Any]:
    """Calls a second that one core of the gateway carries, and that this machine carried with all three."""
    per_core, per_s = [], []
    with provider(0.0) as there, gateway_to(there.port, recorded=recorded) as gateway:
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


def delays(kind: Kind, calls: int, rounds: int, *, recorded: bool) -> dict[str, Any]:
    """By how much a call comes later, of calls that take the provider a quarter of a second."""
    direct: list[Timed] = []
    through: list[Timed] = []
    with provider(SLOW_S) as there, gateway_to(there.port, recorded=recorded) as gateway:
        put_on(gateway.served.port, gateway.asks(kind), IN_FLIGHT)
        for _ in range(rounds):
            direct.append(put_on(there.port, [kind], calls, spread_s=SLOW_S))
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
    for (where, recorded), (name, kind) in product(PLACES.items(), KINDS.items()):
        row = {
            "gateway": where,
            "answers": name,
            **capacity(kind, calls, rounds, recorded=recorded),
            **delays(kind, slow, rounds, recorded=recorded),
        }
        rows.append(row)
        found = row["per_core_per_s"]
        bars.append(
            Bar(
                what=f"{where}, {name}: calls/s on one core",
                bar=f"≥ {PER_CORE}",
                found=found,
                met=found >= PER_CORE,
            )
        )
        bars.append(at_most(f"{where}, {name}: added p50", ADDED_MS, row["added_p50_ms"], "ms"))
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
