"""A simulated provider of models: quotas, latency, faults and answers; free, and the same every time.

    from paceline.sim import Scenario, start_in_thread

    scenario            how a provider behaves: limits, latency, faults, and how they change over time
    builtin             scenarios that have names
    provider            a scenario carried out, as a machine without waiting
    answers, schemas    what a simulated model says
    openai_wire, anthropic_wire, ...    the formats that the official SDKs speak
    http, requests      a server for answers that go wrong on purpose
    era, tally          time, and what was seen
    routes, serving, delivery, server    the same over HTTP, for programs that know nothing of it

Knows nothing of pools and controllers: it is what they are judged by.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from paceline.sim.scenario import Scenario as Scenario
    from paceline.sim.server import RunningSim as RunningSim
    from paceline.sim.server import SimServer as SimServer
    from paceline.sim.server import start_in_thread as start_in_thread
    from paceline.sim.tally import Seen as Seen

_ROOM_OF: Final = {
    "RunningSim": "server",
    "Scenario": "scenario",
    "Seen": "tally",
    "SimServer": "server",
    "start_in_thread": "server",
}

__all__ = [*_ROOM_OF]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"paceline.sim.{_ROOM_OF[name]}"), name)
