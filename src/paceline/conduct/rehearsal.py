"""Rehearsals: the same run, with a simulated provider in place of every other one.

Nothing is paid for and nothing is learned of a model; what is learned is whether the suite holds together,
how many calls it makes, and about what they will cost and take. A rehearsal has a name and a fingerprint of
its own, so it is never gone on with as if it were the run, and its report says what it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

DEFAULT: Final = "rehearsal"
"""The scenario of a rehearsal that names none."""
STAND_INS: Final = {"OPENAI_API_KEY": "simulated", "ANTHROPIC_API_KEY": "simulated"}
"""Keys for a machine that has none: clients insist on one, and the simulated provider takes any."""


def scenario_of(rehearse: bool | str) -> str:
    """The scenario that a rehearsal plays; empty where there is none."""
    return DEFAULT if rehearse is True else rehearse or ""


def check_rehearsal(rehearse: bool | str) -> None:
    """Refuse a scenario that cannot be played, before anything has begun."""
    if rehearse:
        from paceline.sim.scenario import Scenario

        Scenario.load(scenario_of(rehearse))


@contextmanager
def rehearsal(rehearse: bool | str) -> Iterator[str]:
    """A simulated provider for as long as the run lasts; its base URL."""
    from paceline.sim.scenario import Scenario
    from paceline.sim.server import start_in_thread

    scenario = Scenario.load(scenario_of(rehearse))
    put = put_stand_in_keys()
    sim = start_in_thread(scenario)
    try:
        yield sim.url
    finally:
        sim.stop()
        for name in put:
            os.environ.pop(name, None)


def put_stand_in_keys() -> list[str]:
    """Set keys for clients that insist on one, where there is none; which were set."""
    missing = [name for name in STAND_INS if not os.environ.get(name)]
    os.environ.update({name: STAND_INS[name] for name in missing})
    return missing


def predicted_seconds(rehearse: bool | str, wall: float) -> float:
    """How long the run would have taken at the provider's own speed."""
    from paceline.sim.scenario import Scenario

    return wall * Scenario.load(scenario_of(rehearse)).time_scale
