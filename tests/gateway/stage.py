"""A gateway between children and a simulated provider, with a desk and a door as in a run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from paceline.gateway.server import Gateway
from paceline.gateway.upstreams import upstreams_in
from paceline.pace.calls import Call
from paceline.pace.desk import Desk, installed
from paceline.pace.door import Door
from paceline.pace.retrying import Patience
from paceline.pace.tape import Tape, Taped
from paceline.pace.transport import install
from paceline.sim.scenario import Scenario
from paceline.sim.server import RunningSim, start_in_thread

OnRecord = Callable[[], Awaitable[None]]
REAL_KEY = "sk-real-0123456789abcdefghijklmnop"


class Ear:
    """Remembers the calls that it is told of."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.live = 0

    def begun(self) -> None:
        self.live += 1

    def waiting(self) -> None:
        pass

    def going(self) -> None:
        pass

    def ended(self, call: Call | None) -> None:
        self.live -= 1
        if call is not None:
            self.calls.append(call)


@contextmanager
def simulated(**scenario: Any) -> Iterator[RunningSim]:
    """A provider that takes the real key and no other."""
    sim = start_in_thread(Scenario.of({"latency": 0, "keys": [REAL_KEY], **scenario}))
    try:
        yield sim
    finally:
        sim.stop()


def environ_of(sim: RunningSim) -> dict[str, str]:
    """What the harness has in its environment."""
    return {
        "OPENAI_BASE_URL": f"{sim.url}/v1",
        "OPENAI_API_KEY": REAL_KEY,
        "ANTHROPIC_BASE_URL": sim.url,
        "ANTHROPIC_API_KEY": REAL_KEY,
    }


class Recording(Ear):
    """One whose calls are kept."""

    def __init__(self, *taped: Taped) -> None:
        super().__init__()
        self.tape = Tape(taped)


@asynccontextmanager
async def gateway_to(environ: dict[str, str], *, on_record: OnRecord | None = None) -> AsyncIterator[Gateway]:
    """A gateway, with the pace of a run around it."""
    desk = Desk()
    try:
        with installed(desk), install(Door(desk, patience=Patience(base=0.02))):
            async with Gateway(upstreams_in(environ), on_record=on_record) as gateway:
                yield gateway
    finally:
        desk.close()
